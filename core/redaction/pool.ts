// Where a body is redacted: presets in the call's own thread, where they take microseconds; patterns and very large
// bodies in a worker that is started with the first of them. A body that cannot be redacted is refused and never sent
// as it is.
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../kernel/index.ts';
import { type RedactedBody, redactBytes } from './bytes.ts';
import { Redactor } from './redactor.ts';
import type { RedactionSettings } from './types.ts';
import type { Job, RedactionResult } from './worker.ts';

/** Presets alone take about a millisecond for so many bytes of text, and a few dozen where they are made to be slow. */
const OWN_THREAD_MAX = 262_144;
/** Bytes of one organization that may wait for the worker; one body may, whatever its size. */
const ORG_MAX = 67_108_864;
/** Bytes of all organizations that may wait; an organization without a waiting body may add one in any case. */
const WAITING_MAX = 268_435_456;
const TIMES: PoolTimes = { patience_ms: 2_000, lost_ms: 6_000 };
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

function unavailable(
  message = 'The text could not be redacted, so it was not sent. Try again.',
): ServiceError {
  return new ServiceError('service_unavailable', message, {
    details: { component: 'redaction' },
    retry_after_ms: 1_000,
  });
}

const TOO_MUCH = "Too much of the organization's text waits to be redacted, so this was not sent. Try again.";

/** How long the worker may take. */
interface PoolTimes {
  /** After which no further search begins. */
  readonly patience_ms: number;
  /** After which it is given up, in the middle of a search. */
  readonly lost_ms: number;
}

/** What one organization has waiting, first come, first served. */
interface Line {
  readonly waiting: Waiting[];
  /** Of what waits and what runs. */
  bytes: number;
}

/** One worker for all organizations of the process, which take turns there. */
export class RedactionPool {
  readonly #times: PoolTimes;
  #worker: Worker | null = null;
  #running: Waiting | null = null;
  #timer: NodeJS.Timeout | null = null;
  /**
   * By organization, the next in turn first, so that large bodies and slow patterns only delay their own organization.
   */
  readonly #lines = new Map<string, Line>();
  /** The line that was served last. */
  #served = '';
  #waiting_bytes = 0;
  #next_id = 1;

  constructor(times: PoolTimes = TIMES) {
    this.#times = times;
  }

  /** Rejects with service_unavailable where too much of the organization's text waits already. */
  redact(
    settings: RedactionSettings,
    body: Buffer,
    { org_id, spared = [] }: RedactionOf,
  ): Promise<RedactedBody> {
    const { presets, patterns } = settings;
    const { patience_ms } = this.#times;
    const line = this.#lines.get(org_id) ?? { waiting: [], bytes: 0 };
    const { length } = body;
    const is_full = line.bytes + length > ORG_MAX || this.#waiting_bytes + length > WAITING_MAX;
    if (line.bytes > 0 && is_full) return Promise.reject(unavailable(TOO_MUCH));
    this.#lines.set(org_id, line);
    this.#waiting_bytes += body.length;
    line.bytes += body.length;
    const job = { id: this.#next_id++, settings: { presets, patterns }, spared, patience_ms };
    return new Promise<RedactedBody>((done, failed) => {
      line.waiting.push({ job, body, done, failed });
      this.#next();
    }).finally(() => {
      this.#waiting_bytes -= body.length;
      line.bytes -= body.length;
      if (line.bytes === 0 && line.waiting.length === 0) this.#lines.delete(org_id);
    });
  }

  /** The first body of the next organization in turn; the one served last is now behind all others. */
  #first(): Waiting | undefined {
    const served = this.#lines.get(this.#served);
    if (served !== undefined) {
      this.#lines.delete(this.#served);
      this.#lines.set(this.#served, served);
    }
    for (const [org_id, line] of this.#lines) {
      const first = line.waiting.shift();
      if (first === undefined) continue;
      this.#served = org_id;
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
    this.#timer = setTimeout(() => this.#lost(worker, tooSlow()), this.#times.lost_ms);
    // A copy of its own: a small Buffer is a window into memory that it shares with others.
    const body = new Uint8Array(next.body);
    worker.postMessage({ ...next.job, body } satisfies Job, [body.buffer]);
  }

  #started(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    worker.on('message', (outcome: RedactionResult) => this.#ended(outcome));
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

  #ended(outcome: RedactionResult): void {
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

  /** The worker has ended or is ended now: its present body fails, and waiting bodies get a new worker. */
  #lost(worker: Worker, error: ServiceError): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#taken()?.failed(error);
    this.#next();
  }
}

/** Whose text it is, and what of it stays. */
interface RedactionOf {
  /** Of all that wait, organizations take turns. */
  readonly org_id: string;
  /** Paths whose strings stay (`model`, `svc.route`). */
  readonly spared?: readonly string[];
}

const pool = new RedactionPool();
const redactors = new Map<string, Redactor>();

function redactorOf(settings: RedactionSettings): Redactor {
  const key = settings.presets.join(' ');
  let redactor = redactors.get(key);
  if (redactor === undefined) {
    if (redactors.size >= REDACTORS_MAX) redactors.clear();
    redactor = new Redactor({ presets: settings.presets, patterns: [] });
    redactors.set(key, redactor);
  }
  return redactor;
}

/**
 * `body`, a JSON text of the organization that `of` names, without what `settings` names. What is not JSON comes back
 * as it is. A promise where the worker does it, in which each waits for one body of each other organization at most.
 * @throws ServiceError (or rejects) invalid_pattern when the patterns take too long, service_unavailable.
 */
export function redactBody(
  settings: RedactionSettings,
  body: Buffer,
  of: RedactionOf,
): RedactedBody | Promise<RedactedBody> {
  if (settings.patterns.length > 0 || body.length > OWN_THREAD_MAX) return pool.redact(settings, body, of);
  return redactBytes(redactorOf(settings), body, of.spared ?? []);
}
