// The asynchronous writer: content is redacted, sealed and stored after its call has ended, one at a time, in bounded
// memory. Unlike request rows it is never spooled: the disk of a gateway is no place for content.
import { isDatabaseFault, type Pool } from '../db/index.ts';
import { type Log, monotonicMs, nowMs } from '../kernel/index.ts';
import { type RedactWish, redactBody } from '../redaction/index.ts';
import { sealPayload } from './sealing.ts';
import { insertPayloads, preparePayloadDays, type SealedPayload } from './store.ts';
import type { NewPayload, PayloadLog, PayloadSlot } from './types.ts';

/** Requests of running calls that will be kept, and ended calls that wait. */
const WAITING_MAX = 67_108_864;
/** Assumed for an answer that is not there yet. */
const ANSWER_BYTES = 65_536;
const BATCH_MAX = 50;
const BATCH_BYTES = 4_194_304;
const RETRY_MS = 1_000;
const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
const PREPARE_MS = 3_600_000;

export interface PayloadLogOptions {
  readonly db: Pool;
  readonly log: Log;
  /** `loadRootKey` of the key ring file. */
  readonly root_key: Uint8Array;
}

class Writer implements PayloadLog {
  readonly #db: Pool;
  readonly #log: Log;
  readonly #root_key: Uint8Array;
  readonly #queue: NewPayload[] = [];
  #batch: SealedPayload[] = [];
  #batch_bytes = 0;
  #waiting = 0;
  #dropped = 0;
  #running: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  #away = false;
  #prepared_ms = Number.NEGATIVE_INFINITY;

  constructor(options: PayloadLogOptions) {
    this.#db = options.db;
    this.#log = options.log;
    this.#root_key = options.root_key;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get waiting_bytes(): number {
    return this.#waiting;
  }

  open(bytes: number): PayloadSlot | null {
    const room = bytes + ANSWER_BYTES;
    if (this.#closed || this.#waiting + room > WAITING_MAX) {
      this.#dropped++;
      return null;
    }
    this.#waiting += room;
    return {
      write: (payload) => {
        this.#waiting += payload.bytes - room;
        this.#queue.push(payload);
        this.#wake();
      },
      free: () => {
        this.#waiting -= room;
      },
    };
  }

  async flush(): Promise<void> {
    await this.#running;
    await this.#wake();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flush();
    this.#dropped += this.#queue.length + this.#batch.length;
  }

  /** One drain at a time. */
  #wake(): Promise<void> {
    if (this.#timer !== null) return Promise.resolve();
    this.#running ??= this.#drain().finally(() => {
      this.#running = null;
      if (this.#closed) return;
      if (this.#away) {
        this.#timer = setTimeout(() => {
          this.#timer = null;
          void this.#wake();
        }, RETRY_MS);
      } else if (this.#queue.length > 0) void this.#wake();
    });
    return this.#running;
  }

  async #drain(): Promise<void> {
    this.#away = false;
    // Behind whatever the call that woke it has still to do.
    await new Promise((done) => setImmediate(done));
    while (!this.#away && (this.#queue.length > 0 || this.#batch.length > 0)) {
      while (this.#queue.length > 0 && this.#batch.length < BATCH_MAX && this.#batch_bytes < BATCH_BYTES) {
        await this.#seal(this.#queue.shift() as NewPayload);
      }
      if (this.#batch.length > 0) await this.#store();
    }
  }

  /** Into the batch, or dropped: one that cannot be read or redacted is not kept. */
  async #seal(payload: NewPayload): Promise<void> {
    const { request_id, org_id, redact, bytes } = payload;
    try {
      const { request, response } = payload.texts();
      const texts = { request, response: await redacted(redact, response) };
      const sealed = await sealPayload(this.#root_key, request_id, texts);
      this.#waiting += sealed.length - bytes;
      this.#batch.push({ request_id, org_id, sealed });
      this.#batch_bytes += sealed.length;
    } catch (error) {
      this.#waiting -= bytes;
      this.#dropped++;
      // The error's own message may quote what it could not read.
      this.#log.warn({ request_id, kind: (error as Error).name }, 'content of a call was not kept');
    }
  }

  async #store(): Promise<void> {
    const batch = this.#batch;
    try {
      await this.#prepare();
      await insertPayloads(this.#db, batch);
    } catch (error) {
      if (isDatabaseFault(error)) {
        this.#log.warn({ payloads: batch.length, kind: (error as Error).name }, 'content of calls waits');
        this.#away = true;
        return;
      }
      this.#dropped += batch.length;
      this.#log.error(
        { payloads: batch.length, kind: (error as Error).name },
        'content of calls was refused',
      );
    }
    this.#waiting -= this.#batch_bytes;
    this.#batch = [];
    this.#batch_bytes = 0;
  }

  async #prepare(): Promise<void> {
    if (monotonicMs() - this.#prepared_ms < PREPARE_MS) return;
    const today = nowMs();
    await preparePayloadDays(this.#db, {
      first: new Date(today - DAY_MS).toISOString().slice(0, 10),
      last: new Date(today + DAYS_AHEAD * DAY_MS).toISOString().slice(0, 10),
    });
    this.#prepared_ms = monotonicMs();
  }
}

async function redacted(wish: RedactWish | null, text: string | null): Promise<string | null> {
  if (wish === null || text === null) return text;
  const { body } = await redactBody(wish, Buffer.from(text));
  return body.toString();
}

/** The writer of this process. */
export function openPayloadLog(options: PayloadLogOptions): PayloadLog {
  return new Writer(options);
}
