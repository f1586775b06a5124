// The asynchronous writer: 10,000 rows queue in memory, go in batches of 500 or after 250 ms, and wait in
// a spool while the engine is away. The call path never waits for it and is never failed by it.
import type { Pool } from '../db/index.ts';
import { type Log, nowMs, type RequestId, ulidMs } from '../kernel/index.ts';
import { postgresSink } from './engine/postgres.ts';
import type { RowSink } from './engine/types.ts';
import { Replays } from './replays.ts';
import { openSpool, type Spool } from './spool.ts';
import type { RequestLog, RequestRow } from './types.ts';

const QUEUE_MAX = 10_000;
const BATCH_MAX = 500;
const WAIT_MS = 250;
const RETRY_MS = 1_000;

interface WriterOptions {
  readonly sink: RowSink;
  readonly log: Log;
  /** Directory of the spool. */
  readonly spool_dir: string;
}

class Writer implements RequestLog {
  readonly #sink: RowSink;
  readonly #log: Log;
  readonly #spool: Spool;
  #queue: RequestRow[] = [];
  #in_flight: RequestRow[] = [];
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  readonly #spilling = new Set<Promise<void>>();
  readonly #replays = new Replays();
  #away = false;
  #closed = false;
  #lost = 0;

  constructor(options: WriterOptions, spool: Spool) {
    this.#sink = options.sink;
    this.#log = options.log;
    this.#spool = spool;
  }

  get lost(): number {
    return this.#lost;
  }

  write(row: RequestRow): void {
    this.#queue.push(row);
    // The database is slow but not away: the oldest rows go to disk, so that memory stays bounded.
    if (this.#queue.length > QUEUE_MAX) this.#spill(this.#queue.splice(0, BATCH_MAX));
    if (this.#queue.length >= BATCH_MAX) void this.#drain();
    else this.#schedule(WAIT_MS);
  }

  replayed(request_id: RequestId): void {
    this.#replays.add(request_id);
    this.#schedule(WAIT_MS);
  }

  lag_s(): number {
    const first = this.#in_flight[0] ?? this.#queue[0];
    const oldest = Math.min(
      first === undefined ? Number.POSITIVE_INFINITY : ulidMs(first.request_id),
      this.#spool.oldestMs() ?? Number.POSITIVE_INFINITY,
    );
    return oldest === Number.POSITIVE_INFINITY ? 0 : Math.max(0, Math.floor((nowMs() - oldest) / 1000));
  }

  async flush(): Promise<void> {
    await this.#running;
    await this.#drain();
    await Promise.all(this.#spilling);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.flush();
  }

  #schedule(ms: number): void {
    if (this.#timer !== null || this.#running !== null) return;
    this.#timer = setTimeout(() => void this.#drain(), ms);
  }

  /** One drain at a time. */
  #drain(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#running ??= this.#drainAll().finally(() => {
      this.#running = null;
      if (this.#closed) return;
      if (this.#away) this.#schedule(RETRY_MS);
      else if (this.#queue.length > 0 || this.#spool.oldestMs() !== null) this.#schedule(WAIT_MS);
      else if (this.#replays.size > 0) this.#schedule(RETRY_MS);
    });
    return this.#running;
  }

  async #drainAll(): Promise<void> {
    this.#away = false;
    await this.#drainSpool();
    while (this.#queue.length > 0) {
      this.#in_flight = this.#queue.splice(0, BATCH_MAX);
      if (this.#away || !(await this.#insert(this.#in_flight))) await this.#keep(this.#in_flight);
      this.#in_flight = [];
    }
    if (!this.#away) await this.#countReplays();
  }

  /** After the rows, so that the rows of this process are there to be counted on. */
  async #countReplays(): Promise<void> {
    try {
      await this.#replays.flush((counts) => this.#sink.addReplays(counts));
    } catch (error) {
      this.#log.warn({ error, replays: this.#replays.size }, 'replays wait to be counted');
      this.#away = true;
    }
  }

  async #drainSpool(): Promise<void> {
    for (let next = await this.#spool.oldest(); next !== null; next = await this.#spool.oldest()) {
      if (!(await this.#insert(next.batch))) return;
      await this.#spool.remove(next.name);
    }
  }

  /** True when the batch is in; false when the engine is away. */
  async #insert(batch: readonly RequestRow[]): Promise<boolean> {
    try {
      await this.#sink.insert(batch);
      return true;
    } catch (error) {
      if (this.#sink.isAway(error)) {
        if (!this.#away)
          this.#log.warn(
            { error, engine: this.#sink.engine, rows: batch.length },
            'request rows wait in the spool',
          );
        this.#away = true;
        return false;
      }
      return this.#insertOneByOne(batch, error);
    }
  }

  /** Drops only the row that the engine refuses and stores the rest of its batch. */
  async #insertOneByOne(batch: readonly RequestRow[], cause: unknown): Promise<boolean> {
    if (batch.length === 1) {
      this.#lost++;
      this.#log.error({ error: cause, request_id: batch[0]?.request_id }, 'a request row was refused');
      return true;
    }
    for (const row of batch) if (!(await this.#insert([row]))) return false;
    return true;
  }

  #spill(batch: readonly RequestRow[]): void {
    const kept = this.#keep(batch).finally(() => {
      this.#spilling.delete(kept);
      if (!this.#closed) this.#schedule(RETRY_MS);
    });
    this.#spilling.add(kept);
  }

  async #keep(batch: readonly RequestRow[]): Promise<void> {
    let kept = false;
    try {
      kept = await this.#spool.put(batch);
    } catch (error) {
      this.#log.error({ error, rows: batch.length }, 'the spool of request rows cannot be written');
    }
    if (!kept) this.#lost += batch.length;
  }

  start(): void {
    this.#schedule(0);
  }
}

/** Opens a writer to one engine; what an earlier process left in the spool goes in first. */
export async function openWriter(options: WriterOptions): Promise<RequestLog> {
  const writer = new Writer(options, await openSpool(options.spool_dir));
  writer.start();
  return writer;
}

/** Opens the writer of this process to PostgreSQL alone. */
export function openRequestLog(options: {
  readonly db: Pool;
  readonly log: Log;
  readonly spool_dir: string;
}): Promise<RequestLog> {
  return openWriter({ sink: postgresSink(options.db), log: options.log, spool_dir: options.spool_dir });
}
