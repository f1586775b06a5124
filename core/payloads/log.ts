// The asynchronous writer: content is redacted, encrypted and stored after its call has ended, one payload of an
// organization at a time and several organizations in parallel, in bounded memory. Unlike request rows it is never
// spooled, because content must not be stored on a gateway's disk.
import { isDatabaseFault, type Pool } from '../db/index.ts';
import { type Id, type Log, monotonicMs, nowMs, type RootKeyRing } from '../kernel/index.ts';
import { type RedactionSettings, redactBody } from '../redaction/index.ts';
import { sealPayload } from './sealing.ts';
import { insertPayloads, preparePayloadDays, type SealedPayload } from './store.ts';
import type { NewPayload, PayloadLog, PayloadSlot } from './types.ts';

/** Bytes of running calls whose content will be kept, and of ended calls that wait. */
const WAITING_MAX = 67_108_864;
/** How many of these may be used by organizations with more than `SMALL`; the rest is reserved for the others. */
const SHARED_MAX = 50_331_648;
const SMALL = 1_048_576;
/** How many bytes of one organization may wait; a single call may have more. */
const ORG_MAX = 16_777_216;
/** The size assumed for an answer that has not come yet. */
const ANSWER_BYTES = 65_536;
const BATCH_MAX = 50;
const BATCH_BYTES = 4_194_304;
const RETRY_MS = 1_000;
const TELL_MS = 60_000;
const DAY_MS = 86_400_000;
const DAYS_AHEAD = 3;
const PREPARE_MS = 3_600_000;

interface PayloadLogOptions {
  readonly db: Pool;
  readonly log: Log;
  /** `loadRootKey` of the key ring file. */
  readonly root_key: RootKeyRing;
}

/** One organization's part of the writer. */
interface Line {
  readonly org_id: string;
  readonly queue: NewPayload[];
  /** Bytes that wait or are reserved, until they are stored or dropped. */
  bytes: number;
  sealing: boolean;
}

interface Sealed extends SealedPayload {
  readonly line: Line;
}

class Writer implements PayloadLog {
  readonly #db: Pool;
  readonly #log: Log;
  readonly #root_key: RootKeyRing;
  readonly #lines = new Map<string, Line>();
  /** Sealings and the storing that are under way. */
  readonly #running = new Set<Promise<void>>();
  #batch: Sealed[] = [];
  #batch_bytes = 0;
  #waiting = 0;
  #dropped = 0;
  #storing = false;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  #reported_ms = Number.NEGATIVE_INFINITY;
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

  open(org_id: Id<'org'>, bytes: number): PayloadSlot | null {
    const room = bytes + ANSWER_BYTES;
    const line = this.#lines.get(org_id) ?? { org_id, queue: [], bytes: 0, sealing: false };
    const full = this.#closed ? 'closed' : this.#isFull(line, room);
    if (full !== null) {
      this.#dropped++;
      this.#warn(org_id, full);
      return null;
    }
    this.#lines.set(org_id, line);
    this.#take(line, room);
    return {
      write: (payload) => {
        line.queue.push(payload);
        this.#take(line, payload.bytes - room);
        this.#seal(line);
      },
      free: () => this.#take(line, -room),
    };
  }

  /** Why an organization may have no `room` more; null: it may. */
  #isFull(line: Line, room: number): 'organization' | 'process' | null {
    if (line.bytes > 0 && line.bytes + room > ORG_MAX) return 'organization';
    const most = line.bytes + room <= SMALL ? WAITING_MAX : SHARED_MAX;
    return this.#waiting + room > most ? 'process' : null;
  }

  #take(line: Line, bytes: number): void {
    line.bytes += bytes;
    this.#waiting += bytes;
    this.#forget(line);
  }

  /** Forgets an organization that has nothing waiting any more. */
  #forget({ org_id, bytes, queue, sealing }: Line): void {
    if (bytes === 0 && queue.length === 0 && !sealing) this.#lines.delete(org_id);
  }

  /** At most one line in the process log a minute, since dropped calls come in great numbers. */
  #warn(org_id: string, reason: string): void {
    const now_ms = monotonicMs();
    if (now_ms - this.#reported_ms < TELL_MS) return;
    this.#reported_ms = now_ms;
    const facts = { org_id, reason, waiting_bytes: this.#waiting, dropped: this.#dropped };
    this.#log.warn(facts, 'content of calls is not kept: too much of it waits');
  }

  async flush(): Promise<void> {
    this.#go();
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flush();
    for (const { queue } of this.#lines.values()) this.#dropped += queue.length;
    this.#dropped += this.#batch.length;
  }

  get #batch_is_full(): boolean {
    return this.#batch.length >= BATCH_MAX || this.#batch_bytes >= BATCH_BYTES;
  }

  #run(work: Promise<void>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  #go(): void {
    this.#store();
    for (const line of this.#lines.values()) this.#seal(line);
  }

  /** Begins to seal what waits in `line`, unless that is under way or the batch is full. */
  #seal(line: Line): void {
    if (line.sealing || line.queue.length === 0 || this.#batch_is_full) return;
    line.sealing = true;
    this.#run(this.#sealAll(line));
  }

  async #sealAll(line: Line): Promise<void> {
    while (line.queue.length > 0 && !this.#batch_is_full) {
      // After everything that the call still has to do, and taking turns with other organizations.
      await new Promise((done) => setImmediate(done));
      await this.#sealOne(line, line.queue.shift() as NewPayload);
      this.#store();
    }
    line.sealing = false;
    this.#forget(line);
  }

  /** Adds a payload to the batch, or drops it when it cannot be read or redacted. */
  async #sealOne(line: Line, payload: NewPayload): Promise<void> {
    const { request_id, org_id, redact, bytes } = payload;
    try {
      const { request, response } = await payload.texts();
      const texts = { request, response: await redacted(redact, response, org_id) };
      const sealed = await sealPayload(this.#root_key, request_id, texts);
      this.#take(line, sealed.length - bytes);
      this.#batch.push({ request_id, org_id, sealed, line });
      this.#batch_bytes += sealed.length;
    } catch (error) {
      this.#take(line, -bytes);
      this.#dropped++;
      // The error's message could quote the content.
      this.#log.warn({ request_id, kind: (error as Error).name }, 'content of a call was not kept');
    }
  }

  /** Begins to store sealed payloads, unless that is under way or it waits for PostgreSQL. */
  #store(): void {
    if (this.#storing || this.#timer !== null || this.#batch.length === 0) return;
    this.#storing = true;
    this.#run(this.#storeAll());
  }

  async #storeAll(): Promise<void> {
    let away = false;
    while (this.#batch.length > 0 && !away) {
      const batch = this.#batch;
      this.#batch = [];
      this.#batch_bytes = 0;
      // The next batch is filled while this one is stored.
      for (const line of this.#lines.values()) this.#seal(line);
      const left = await this.#insert(batch);
      away = left.length > 0;
      if (!away) continue;
      this.#batch = [...left, ...this.#batch];
      this.#batch_bytes = this.#batch.reduce((sum, { sealed }) => sum + sealed.length, 0);
    }
    this.#storing = false;
    if (!away || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#go();
    }, RETRY_MS);
  }

  /** Stores `batch` without the payloads that PostgreSQL refuses, and returns those that remain while it is away. */
  async #insert(batch: readonly Sealed[]): Promise<readonly Sealed[]> {
    try {
      await this.#prepare();
      await insertPayloads(this.#db, batch);
    } catch (error) {
      const kind = (error as Error).name;
      if (isDatabaseFault(error)) {
        this.#log.warn({ payloads: batch.length, kind }, 'content of calls waits');
        return batch;
      }
      if (batch.length > 1) return this.#insertEach(batch);
      this.#dropped++;
      this.#log.error({ request_id: batch[0]?.request_id, kind }, 'content of a call was refused');
    }
    for (const { line, sealed } of batch) this.#take(line, -sealed.length);
    return [];
  }

  /** Stores payloads one by one, so that one that is refused does not affect the others. */
  async #insertEach(batch: readonly Sealed[]): Promise<readonly Sealed[]> {
    for (let i = 0; i < batch.length; i++) {
      const left = await this.#insert(batch.slice(i, i + 1));
      if (left.length > 0) return batch.slice(i);
    }
    return [];
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

async function redacted(
  settings: RedactionSettings | null,
  text: string | null,
  org_id: string,
): Promise<string | null> {
  if (settings === null || text === null) return text;
  const { body } = await redactBody(settings, Buffer.from(text), { org_id });
  return body.toString();
}

/** The writer of this process. */
export function openPayloadLog(options: PayloadLogOptions): PayloadLog {
  return new Writer(options);
}
