// New rows of organizations, as long as somebody watches. Rows are found by polling, since a NOTIFY would take a lock
// across all commits. A row appears when its call has ended but carries the time of its start, so the last half minute
// is read every second and the last quarter of an hour every ten seconds.
import type { Pool } from '../../db/index.ts';
import { type Environment, type Id, type Log, nowMs, ServiceError } from '../../kernel/index.ts';
import { postgresReader } from '../engine/postgres.ts';
import type { RowReader } from '../engine/types.ts';
import type { RowView } from '../schema.ts';
import type { StoredRow } from '../types.ts';
import { viewRow } from '../view.ts';

/** A row, and the tags by which it can be asked for. */
export type ArrivedRow = RowView & Pick<StoredRow, 'tags'>;

export interface RequestFeed {
  /**
   * Rows that become readable from now on, each once, oldest first. Ends with `signal` or `close`.
   * @throws ServiceError rate_limit_exceeded when the organization has `streams_max` open in this process.
   */
  follow(watch: Watch, signal: AbortSignal): Promise<AsyncGenerator<ArrivedRow, void, undefined>>;
  readonly streams: number;
  close(): void;
}

interface Watch {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
}

interface FeedOptions {
  readonly db: Pick<Pool, 'query'>;
  /** Of another engine than PostgreSQL. */
  readonly reader?: RowReader | undefined;
  readonly log: Log;
  readonly interval_ms?: number;
  readonly streams_max?: number;
}

const INTERVAL_MS = 1_000;
const NEAR_MS = 30_000;
const FAR_MS = 15 * 60_000;
/** Every tenth poll looks back a quarter of an hour. */
const FAR_EVERY = 10;
/** Rows of one poll; a busier organization sees a part of its calls, newest first. */
const ROWS_MAX = 200;
/** Rows that may wait for a slow reader; beyond that the oldest are left out. */
const QUEUE_MAX = 1_000;
/** Ids that are remembered, so that no row is sent twice: more than the longest look back can find. */
const KNOWN_MAX = 5_000;

interface Reader {
  readonly queue: ArrivedRow[];
  wake: (() => void) | null;
}

/** One organization's rows in one environment, polled once for all its readers. */
class Channel {
  readonly readers = new Set<Reader>();
  readonly #known = new Set<string>();
  readonly #watch: Watch;
  readonly #options: FeedOptions;
  #timer: NodeJS.Timeout | null = null;
  #polls = 0;
  #open = true;
  /** Resolves once the rows from before the first reader are known. */
  readonly primed: Promise<void>;

  constructor(watch: Watch, options: FeedOptions) {
    this.#watch = watch;
    this.#options = options;
    this.primed = this.#read(FAR_MS, KNOWN_MAX - ROWS_MAX).then(() => this.#schedule());
  }

  #schedule(): void {
    if (!this.#open) return;
    this.#timer = setTimeout(() => void this.#poll(), this.#options.interval_ms ?? INTERVAL_MS);
  }

  async #poll(): Promise<void> {
    this.#polls++;
    try {
      const rows = await this.#read(this.#polls % FAR_EVERY === 0 ? FAR_MS : NEAR_MS, ROWS_MAX);
      for (const row of rows.reverse()) this.#send(row);
    } catch (error) {
      this.#options.log.warn({ error, org_id: this.#watch.org_id }, 'the tail of requests cannot be read');
    }
    this.#schedule();
  }

  async #read(back_ms: number, limit: number): Promise<ArrivedRow[]> {
    const since = new Date(nowMs() - back_ms);
    const known = [...this.#known];
    const reader = this.#options.reader ?? postgresReader(this.#options.db);
    const rows = await reader.listArrivals({ ...this.#watch, since, known, limit });
    for (const row of [...rows].reverse()) this.#known.add(row.request_id);
    for (const id of this.#known) {
      if (this.#known.size <= KNOWN_MAX) break;
      this.#known.delete(id);
    }
    return rows.map((row) => ({ ...viewRow(row), tags: row.tags }));
  }

  #send(row: ArrivedRow): void {
    for (const reader of this.readers) {
      reader.queue.push(row);
      if (reader.queue.length > QUEUE_MAX) reader.queue.shift();
      reader.wake?.();
    }
  }

  close(): void {
    this.#open = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const reader of this.readers) reader.wake?.();
  }

  get open(): boolean {
    return this.#open;
  }
}

interface Following {
  readonly channel: Channel;
  readonly reader: Reader;
  readonly signal: AbortSignal;
  /** Gives the reader's place back; once. */
  leave(): void;
}

class Feed implements RequestFeed {
  readonly #options: FeedOptions;
  readonly #channels = new Map<string, Channel>();
  readonly #of_org = new Map<string, number>();
  streams = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  async follow(watch: Watch, signal: AbortSignal): Promise<AsyncGenerator<ArrivedRow, void, undefined>> {
    const limit = this.#options.streams_max ?? 50;
    const open = this.#of_org.get(watch.org_id) ?? 0;
    if (open >= limit) {
      throw new ServiceError(
        'rate_limit_exceeded',
        `An organization follows at most ${limit} streams at once.`,
        {
          details: { limit: 'streams', scope: 'org', limit_value: limit },
        },
      );
    }
    this.#of_org.set(watch.org_id, open + 1);
    this.streams++;
    const reader: Reader = { queue: [], wake: null };
    const channel = this.#enter(watch, reader);
    let left = false;
    // A stream whose reader left before the first row is never iterated, so the signal must free its place as well.
    const leave = () => {
      if (left) return;
      left = true;
      signal.removeEventListener('abort', leave);
      this.#leave(watch, channel, reader);
      reader.wake?.();
    };
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    try {
      await channel.primed;
    } catch (error) {
      leave();
      throw error;
    }
    return this.#rows({ channel, reader, signal, leave });
  }

  async *#rows({ channel, reader, signal, leave }: Following): AsyncGenerator<ArrivedRow, void, undefined> {
    try {
      while (!signal.aborted && channel.open) {
        const row = reader.queue.shift();
        if (row !== undefined) {
          yield row;
          continue;
        }
        await new Promise<void>((done) => {
          reader.wake = done;
          if (signal.aborted || !channel.open || reader.queue.length > 0) done();
        });
        reader.wake = null;
      }
    } finally {
      leave();
    }
  }

  #enter(watch: Watch, reader: Reader): Channel {
    const key = `${watch.org_id} ${watch.environment}`;
    const known = this.#channels.get(key);
    const channel = known ?? new Channel(watch, this.#options);
    if (known === undefined) this.#channels.set(key, channel);
    channel.readers.add(reader);
    return channel;
  }

  #leave(watch: Watch, channel: Channel, reader: Reader): void {
    this.streams--;
    const left = (this.#of_org.get(watch.org_id) ?? 1) - 1;
    if (left === 0) this.#of_org.delete(watch.org_id);
    else this.#of_org.set(watch.org_id, left);
    channel.readers.delete(reader);
    if (channel.readers.size > 0) return;
    channel.close();
    const key = `${watch.org_id} ${watch.environment}`;
    if (this.#channels.get(key) === channel) this.#channels.delete(key);
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
  }
}

/** The feed of one process; polls only what is watched. */
export function openRequestFeed(options: FeedOptions): RequestFeed {
  return new Feed(options);
}
