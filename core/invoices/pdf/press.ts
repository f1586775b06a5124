// Draws documents in a thread of their own, because drawing one takes longer than a call may be delayed. The thread
// begins with the first document and keeps no program alive.
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../kernel/index.ts';
import type { Invoice } from '../types.ts';
import type { PrintedText } from './text.ts';
import type { Job, Printable, Printed } from './worker.ts';

/** Documents that may wait; more are refused and asked for again. */
const WAITING_MAX = 64;

interface Waiting {
  readonly done: (bytes: Buffer) => void;
  readonly failed: (error: Error) => void;
}

class Press {
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, Waiting>();
  #next_id = 1;

  print(what: Printable): Promise<Buffer> {
    if (this.#waiting.size >= WAITING_MAX) {
      const words = 'Too many documents are being drawn. Try again.';
      const options = { details: { component: 'documents' }, retry_after_ms: 1_000 };
      return Promise.reject(new ServiceError('service_unavailable', words, options));
    }
    const worker = this.#open();
    const job: Job = { id: this.#next_id++, what };
    return new Promise((done, failed) => {
      this.#waiting.set(job.id, { done, failed });
      worker.ref();
      worker.postMessage(job);
    });
  }

  #open(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    worker.on('message', (printed: Printed) => this.#settle(worker, printed));
    // An error of the thread itself, such as one out of memory: it is over, and the next document begins another.
    worker.on('error', (error) => this.#end(worker, error as Error));
    worker.on('exit', () => this.#end(worker, new Error('the thread that draws documents ended')));
    this.#worker = worker;
    return worker;
  }

  #settle(worker: Worker, { id, bytes, error }: Printed): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) worker.unref();
    if (error === '') waiting?.done(Buffer.from(bytes));
    else waiting?.failed(new Error(`a document could not be drawn: ${error}`));
  }

  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    for (const waiting of this.#waiting.values()) waiting.failed(error);
    this.#waiting.clear();
  }
}

const press = new Press();

/** The bytes of a document. @throws ServiceError service_unavailable when too many wait. */
export function print(invoice: Invoice): Promise<Buffer> {
  return press.print({ invoice });
}

/** The bytes of a text. @throws ServiceError service_unavailable when too many wait. */
export function printText(text: PrintedText): Promise<Buffer> {
  return press.print({ text });
}
