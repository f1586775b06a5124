// Counts tokens in a worker, apart from the thread that serves calls. The worker starts with the first question; both
// the text that waits for it and the time that anybody waits are bounded. When it is too busy the answer is null, and
// the caller estimates.
import { Worker } from 'node:worker_threads';
import type { CountResult, Job, Tokenizer } from './worker.ts';

/** Limit on UTF-16 units, and on questions, that wait for the worker. */
const WAITING_MAX = 16_777_216;
const QUESTIONS_MAX = 256;
/** How long a question may wait for its answer, and how much of that is working time. */
const PATIENCE_MS = 2_000;
const WORK_MS = 1_500;
/**
 * A worker that has not answered by then is ended. The limit is generous because loading the vocabularies takes a
 * second on a busy machine.
 */
const KILL_MS = 15_000;

export interface Tokens {
  readonly tokens: number;
  /** True for the tokenizer's own count; false when the text had to be cut within a word. */
  readonly exact: boolean;
}

export interface TokenCounter {
  /** Tokens of `texts`; null when they cannot be counted within two seconds. Never rejects. */
  count(tokenizer: Tokenizer, texts: readonly string[]): Promise<Tokens | null>;
  /** Ends the worker; waiting questions are answered with null. */
  close(): Promise<void>;
}

const tokenizers: readonly string[] = ['o200k_base', 'cl100k_base'] satisfies Tokenizer[];

/** Whether `name` is a bundled tokenizer that the catalog declares exact for text. */
export function isExact(name: string | undefined): name is Tokenizer {
  return name !== undefined && tokenizers.includes(name);
}

interface Waiting {
  readonly job: Job;
  readonly chars: number;
  /** Null once the question has been answered or nobody waits any more. */
  answer: ((tokens: Tokens | null) => void) | null;
  timer: NodeJS.Timeout | null;
}

class WorkerCounter implements TokenCounter {
  #worker: Worker | null = null;
  #running: Waiting | null = null;
  #kill: NodeJS.Timeout | null = null;
  #queue: Waiting[] = [];
  #waiting_chars = 0;
  #next_id = 1;
  #closed = false;

  count(tokenizer: Tokenizer, texts: readonly string[]): Promise<Tokens | null> {
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    if (this.#closed || this.#queue.length >= QUESTIONS_MAX) return Promise.resolve(null);
    if (this.#waiting_chars + chars > WAITING_MAX) return Promise.resolve(null);
    this.#waiting_chars += chars;
    const job: Job = { id: this.#next_id++, tokenizer, texts, patience_ms: WORK_MS };
    return new Promise((answer) => {
      const waiting: Waiting = { job, chars, answer, timer: null };
      waiting.timer = setTimeout(() => this.#giveUp(waiting), PATIENCE_MS);
      this.#queue.push(waiting);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#ended(null);
    for (const waiting of this.#queue) this.#settle(waiting, null);
    this.#queue = [];
    await worker?.terminate();
  }

  #settle(waiting: Waiting, tokens: Tokens | null): void {
    const { answer, timer } = waiting;
    if (answer === null) return;
    waiting.answer = null;
    if (timer !== null) clearTimeout(timer);
    this.#waiting_chars -= waiting.chars;
    answer(tokens);
  }

  #giveUp(waiting: Waiting): void {
    this.#queue = this.#queue.filter((other) => other !== waiting);
    this.#settle(waiting, null);
  }

  #next(): void {
    if (this.#running !== null || this.#closed) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#running = next;
    const worker = this.#started();
    this.#kill = setTimeout(() => this.#lost(worker), KILL_MS);
    worker.postMessage(next.job);
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    worker.on('message', ({ id, tokens, exact }: CountResult) => {
      if (this.#running?.job.id !== id) return;
      this.#ended(tokens === null ? null : { tokens, exact });
      this.#next();
    });
    worker.on('error', () => this.#lost(worker));
    worker.on('exit', () => this.#lost(worker));
    // An idle worker does not keep the process alive; those who wait hold a timer.
    worker.unref();
    this.#worker = worker;
    return worker;
  }

  #ended(tokens: Tokens | null): void {
    if (this.#kill !== null) clearTimeout(this.#kill);
    this.#kill = null;
    const running = this.#running;
    this.#running = null;
    if (running !== null) this.#settle(running, tokens);
  }

  /** The worker is ending: the question it works on is not counted, and the waiting ones get a new worker. */
  #lost(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#ended(null);
    this.#next();
  }
}

/** Creates a counter. Nothing runs before the first question. */
export function createTokenCounter(): TokenCounter {
  return new WorkerCounter();
}
