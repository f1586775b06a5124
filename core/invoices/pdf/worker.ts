// The thread that draws documents, one after the other.
import { parentPort } from 'node:worker_threads';
import type { Invoice } from '../types.ts';
import { render } from './render.ts';
import { type PrintedText, renderText } from './text.ts';

/** What is drawn. */
export type Printable = { readonly invoice: Invoice } | { readonly text: PrintedText };

export interface Job {
  readonly id: number;
  readonly what: Printable;
}

/** `error` is empty when there are bytes. */
export interface Printed {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly error: string;
}

async function print({ id, what }: Job): Promise<Printed> {
  try {
    const bytes = await ('invoice' in what ? render(what.invoice) : renderText(what.text));
    return { id, bytes, error: '' };
  } catch (error) {
    return {
      id,
      bytes: new Uint8Array(),
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

let last: Promise<void> = Promise.resolve();
parentPort?.on('message', (job: Job) => {
  last = last.then(async () => parentPort?.postMessage(await print(job)));
});
