// Where a body is redacted: presets in the call's own thread, where they take microseconds; patterns and very large
// bodies in a worker that is started with the first of them. A body that cannot be redacted is refused, never let by.
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../kernel/index.ts';
import { type RedactedBody, redactBytes } from './bytes.ts';
import { Redactor } from './redactor.ts';
import type { RedactWish } from './types.ts';
import type { Job, Outcome } from './worker.ts';

/** Presets alone take about a millisecond for so many bytes of text, and a few dozen where they are made to be slow. */
const OWN_THREAD_MAX = 262_144;
/** Bytes that may wait for the worker, and of these such as wait for one organisation's patterns. */
const WAITING_MAX = 134_217_728;
const LINE_MAX = 67_108_864;
const PATIENCE_MS = 2_000;
/** One search that outlasts its patience by so much ends with its worker. */
const KILL_MS = 4_000;
const REDACTORS_MAX = 64;

interface Waiting {
  readonly job: Omit<Job, 'body'>;
  readonly body: Buffer;
  readonly done: (body: RedactedBody) => void;
  readonly failed: (error: ServiceError) => void;
}

function tooSlow(): ServiceError {
  return new ServiceError(
    'invalid_pattern',
    "The organization's redaction patterns took too long on this text. Simplify them; nothing was sent or charged.",
    { param: 'data_policy.redact.patterns' },
  );
}

function unavailable(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'The text could not be redacted, so it was not sent. Try again.',
    {
      details: { component: 'redaction' },
      retry_after_ms: 1_000,
    },
  );
}

/** What waits under one wish, first come, first served. */
interface Line {
  readonly waiting: Waiting[];
  /** Of what waits and what runs. */
  bytes: number;
}

class Pool {
  #worker: Worker | null = null;
  #running: Waiting | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** By wish, the one whose turn it is first: slow patterns make their own organisation wait. */
  readonly #lines = new Map<string, Line>();
  /** The line that was served last. */
  #served = '';
  #waiting_bytes = 0;
  #next_id = 1;

  redact(wish: RedactWish, body: Buffer, spared: readonly string[]): Promise<RedactedBody> {
    const { presets, patterns } = wish;
    const key = JSON.stringify([presets, patterns]);
    const line = this.#lines.get(key) ?? { waiting: [], bytes: 0 };
    // Presets are quick, and many share a line; nobody's patterns fill the queue of the others.
    const most = patterns.length === 0 ? WAITING_MAX : LINE_MAX;
    const is_full = (taken: number, most: number) => taken > 0 && taken + body.length > most;
    if (is_full(line.bytes, most) || is_full(this.#waiting_bytes, WAITING_MAX)) {
      return Promise.reject(unavailable());
    }
    this.#lines.set(key, line);
    this.#waiting_bytes += body.length;
    line.bytes += body.length;
    const job = { id: this.#next_id++, wish: { presets, patterns }, spared, patience_ms: PATIENCE_MS };
    return new Promise<RedactedBody>((done, failed) => {
      line.waiting.push({ job, body, done, failed });
      this.#next();
    }).finally(() => {
      this.#waiting_bytes -= body.length;
      line.bytes -= body.length;
      if (line.bytes === 0 && line.waiting.length === 0) this.#lines.delete(key);
    });
  }

  /** The first of the line whose turn it is; the one served last stands behind all others by now. */
  #first(): Waiting | undefined {
    const served = this.#lines.get(this.#served);
    if (served !== undefined) {
      this.#lines.delete(this.#served);
      this.#lines.set(this.#served, served);
    }
    for (const [key, line] of this.#lines) {
      const first = line.waiting.shift();
      if (first === undefined) continue;
      this.#served = key;
      return first;
    }
    return undefined;
  }

  #next(): void {
    if (this.#running !== null) return;
    const next = this.#first();
    if (next === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#running = next;
    const worker = this.#started();
    worker.ref();
    this.#timer = setTimeout(() => this.#lost(worker, tooSlow()), PATIENCE_MS + KILL_MS);
    // A copy of its own: a small Buffer is a window into memory that it shares with others.
    const body = new Uint8Array(next.body);
    worker.postMessage({ ...next.job, body } satisfies Job, [body.buffer]);
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    worker.on('message', (outcome: Outcome) => this.#ended(outcome));
    worker.on('error', () => this.#lost(worker, unavailable()));
    worker.on('exit', () => this.#lost(worker, unavailable()));
    this.#worker = worker;
    return worker;
  }

  #taken(): Waiting | null {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const running = this.#running;
    this.#running = null;
    return running;
  }

  #ended(outcome: Outcome): void {
    if (this.#running?.job.id !== outcome.id) return;
    const running = this.#taken() as Waiting;
    if ('fault' in outcome) running.failed(outcome.fault === 'failed' ? unavailable() : tooSlow());
    else {
      const { body, redactions, unscanned } = outcome;
      const made = body === null ? running.body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      running.done({ body: made, redactions, unscanned });
    }
    this.#next();
  }

  /** The worker is gone, or goes now: what it worked on fails, what waits gets another one. */
  #lost(worker: Worker, error: ServiceError): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#taken()?.failed(error);
    this.#next();
  }
}

const pool = new Pool();
const redactors = new Map<string, Redactor>();

function redactorOf(wish: RedactWish): Redactor {
  const key = wish.presets.join(' ');
  let redactor = redactors.get(key);
  if (redactor === undefined) {
    if (redactors.size >= REDACTORS_MAX) redactors.clear();
    redactor = new Redactor({ presets: wish.presets, patterns: [] });
    redactors.set(key, redactor);
  }
  return redactor;
}

/**
 * `body`, a JSON text, without what `wish` names; strings at the paths of `spared` (`model`, `svc.route`) stay. What is
 * not JSON comes back as it is. A promise where the worker does it.
 * @throws ServiceError (or rejects) invalid_pattern when the patterns take too long, service_unavailable.
 */
export function redactBody(
  wish: RedactWish,
  body: Buffer,
  spared: readonly string[] = [],
): RedactedBody | Promise<RedactedBody> {
  if (wish.patterns.length > 0 || body.length > OWN_THREAD_MAX) return pool.redact(wish, body, spared);
  return redactBytes(redactorOf(wish), body, spared);
}
