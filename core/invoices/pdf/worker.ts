// The thread that draws documents, one after the other.
import { parentPort } from 'node:worker_threads';
import type { Invoice } from '../types.ts';
import { render } from './render.ts';

export interface Job {
  readonly id: number;
  readonly invoice: Invoice;
}

/** `error` is empty when there are bytes. */
export interface Printed {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly error: string;
}

async function print({ id, invoice }: Job): Promise<Printed> {
  try {
    return { id, bytes: await render(invoice), error: '' };
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
