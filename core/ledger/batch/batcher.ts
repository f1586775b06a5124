// Group commit: one connection, one batch in the air, and whatever arrives meanwhile goes with the next. Nothing
// waits while no flush is in the air, so the batch size sets itself (a cap below 256 costs threefold). The batchers of
// holds and settles lock the same books and take turns.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isLeft, ledgerSchemaOf, meetLedger } from '../../db/index.ts';
import { monotonicMs } from '../../kernel/index.ts';

/** A flush that has not been answered for so long is on a dead connection. */
const HUNG_MS = 15_000;
/** A batch of so many is no more expensive per item for going alone; a smaller one waits so long at most for its turn. */
const TURN_BATCH = 64;
/** After a smaller batch there is no load, and nobody waits. */
const TURN_LOAD = 4;
const TURN_MS = 10;
const RETRY_MS_FIRST = 20;
const RETRY_MS_MAX = 1_000;
/** A single item whose statement is a defect of ours is tried again this often, apart from its neighbours. */
const STUCK_RETRY_MS = 5_000;

export interface Waiting<I, R> {
  readonly item: I;
  /** When it was queued, by the monotonic clock. */
  readonly at: number;
  /** Resolves the caller's promise; calls after the first have no effect. */
  readonly resolve: (result: R) => void;
  /** `onLate` has been told. */
  late: boolean;
  /** PostgreSQL has answered for it. */
  acknowledged: boolean;
}

export interface BatcherOptions<I, R> {
  /** Where the ledger is now. */
  readonly url: () => string;
  readonly config: pg.ClientConfig;
  /** Looks whether the ledger is elsewhere than at `tried`, which has `refused` a batch or does not answer. Never rejects. */
  readonly follow: (tried: string, refused: boolean) => Promise<boolean>;
  readonly max_batch: number;
  readonly compare: (a: I, b: I) => number;
  readonly run: (db: pg.Client, items: readonly I[]) => Promise<R[]>;
  /** Items older than this are handed to `onLate` once, by `tick`. */
  readonly late_after_ms: number;
  readonly onLate: (items: Waiting<I, R>[]) => void;
  /** Late items are given up (true) or tried for ever (false). */
  readonly drops_late: boolean;
  /** Told each item that PostgreSQL answered for. */
  readonly onAnswer: (waiting: Waiting<I, R>, result: R) => void;
  /** A statement failed as a defect for this one item: its result, or null to go on trying. */
  readonly onDefect: (item: I, error: Error) => R | null;
  readonly onHealth: (healthy: boolean, error: Error | null) => void;
  /** The process's lease has lapsed; resolves when there is one again. */
  readonly onLapsed: () => Promise<void>;
}

/** Another batcher as the one that takes turns with it sees it. */
interface Turn {
  /** A batch is in the air. */
  readonly flying: boolean;
  kick(): void;
}

type Fault = 'again' | 'lapsed' | 'defect';

/** Whether the same batch can go again: everything in it may be repeated, so when in doubt it does. */
function classify(error: unknown): Fault {
  if (error instanceof RangeError || error instanceof TypeError) return 'defect';
  const code = (error as { code?: unknown }).code;
  if (code === '55L01') return 'lapsed';
  return typeof code === 'string' && /^(21|22|23|XX|P0|0A)...$/.test(code) ? 'defect' : 'again';
}

export class Batcher<I, R> {
  private readonly options: BatcherOptions<I, R>;
  private queue: Waiting<I, R>[] = [];
  private air: Waiting<I, R>[] = [];
  private stuck: Waiting<I, R>[] = [];
  private airSince = 0;
  private db: pg.Client | null = null;
  /** Where the last connection was asked for. */
  private url = '';
  private scheduled = false;
  private other: Turn | null = null;
  private turn_timer: NodeJS.Timeout | null = null;
  /** Items of the last batch. */
  private last_batch = 0;
  flying = false;
  private closed = false;
  /** Batches sent and items in them, for metrics and benchmarks. */
  flushes = 0;
  sent = 0;

  constructor(options: BatcherOptions<I, R>) {
    this.options = options;
  }

  /** Items without an answer. */
  get size(): number {
    return this.queue.length + this.air.length + this.stuck.length;
  }

  add(item: I): Promise<R> {
    return new Promise((resolve) => this.put(item, resolve, false));
  }

  /** Queues an item whose caller has been answered already (`late`), or that has none. */
  put(item: I, resolve: (result: R) => void, late: boolean): void {
    this.queue.push({ item, at: monotonicMs(), resolve, late, acknowledged: false });
    this.kick();
  }

  /** Finds late items and dead connections; the client calls it every 100 ms while anything waits. */
  tick(): void {
    const now = monotonicMs();
    const { late_after_ms, drops_late, onLate } = this.options;
    const late: Waiting<I, R>[] = [];
    for (const list of [this.stuck, this.air, this.queue]) {
      for (const waiting of list) {
        if (waiting.late || waiting.acknowledged || now - waiting.at <= late_after_ms) continue;
        waiting.late = true;
        late.push(waiting);
      }
    }
    if (late.length > 0) {
      if (drops_late) this.queue = this.queue.filter((waiting) => !waiting.late);
      onLate(late);
    }
    if (this.flying && this.db !== null && now - this.airSince > HUNG_MS) destroy(this.db);
  }

  /**
   * Under load, while `other` has a batch in the air, a small one of this batcher waits for it, and gathers. Both lock the
   * same books, so what waits here would wait in PostgreSQL, as a batch of its own: with 48 calls in flight batches of
   * 16 became up to 24, and PostgreSQL's CPU per call a sixth to a third less.
   */
  takeTurnsWith(other: Turn): void {
    this.other = other;
  }

  /** Sends what is queued, if nothing is in the air and it is this batcher's turn. */
  kick(): void {
    if (this.scheduled || this.flying || this.queue.length === 0) return;
    this.scheduled = true;
    // Everything that comes in this turn of the event loop goes at once.
    setImmediate(() => {
      this.scheduled = false;
      if (!this.flying && this.queue.length > 0 && !this.waitsForTurn()) void this.flush();
    });
  }

  private waitsForTurn(): boolean {
    if (this.other?.flying !== true || this.last_batch < TURN_LOAD) return false;
    if (this.queue.length >= TURN_BATCH) return false;
    // Bounded, because the other one may be on a connection that does not answer.
    this.turn_timer ??= setTimeout(() => {
      this.turn_timer = null;
      if (!this.flying && this.queue.length > 0) void this.flush();
    }, TURN_MS);
    return true;
  }

  private async flush(): Promise<void> {
    this.flying = true;
    if (this.turn_timer !== null) clearTimeout(this.turn_timer);
    this.turn_timer = null;
    this.air =
      this.queue.length <= this.options.max_batch ? this.queue : this.queue.slice(0, this.options.max_batch);
    this.queue = this.air === this.queue ? [] : this.queue.slice(this.options.max_batch);
    this.last_batch = this.air.length;
    await this.send(this.air);
    this.air = [];
    this.flying = false;
    this.other?.kick();
    this.kick();
  }

  /** Sends `batch` until it is answered; halves it when the statement itself is at fault. */
  private async send(batch: Waiting<I, R>[]): Promise<void> {
    const { compare, drops_late, onHealth, onLapsed } = this.options;
    let left = batch;
    for (let wait = RETRY_MS_FIRST; left.length > 0; wait = Math.min(wait * 2, RETRY_MS_MAX)) {
      if (left.length > 1) left.sort((a, b) => compare(a.item, b.item));
      try {
        this.airSince = monotonicMs();
        this.answer(left, await this.attempt(left));
        onHealth(true, null);
        return;
      } catch (caught) {
        const error = caught as Error;
        const fault = classify(error);
        if (fault === 'defect') return this.divide(left, error);
        if (fault === 'lapsed') {
          await onLapsed().catch(() => delay(wait));
        } else {
          if (this.db !== null) destroy(this.db);
          this.db = null;
          if (await this.leads(error)) continue;
          onHealth(false, error);
          if (this.closed) return;
          await delay(wait, undefined, { ref: !this.closed });
        }
        if (drops_late) left = left.filter((waiting) => !waiting.late);
      }
    }
  }

  /** Whether the batch can go at once because the ledger is elsewhere now; what it has left refuses, or is gone. */
  private async leads(error: Error): Promise<boolean> {
    if (this.closed) return false;
    const refused = isLeft(error);
    const followed = this.options.follow(this.url, refused);
    // Of a place that does not answer nobody knows yet whether it was left: that must keep nothing waiting.
    return refused && followed;
  }

  private async attempt(batch: Waiting<I, R>[]): Promise<R[]> {
    if (this.db === null) {
      this.url = this.options.url();
      this.db = await connect(this.url, this.options.config);
    }
    this.flushes++;
    this.sent += batch.length;
    return this.options.run(
      this.db,
      batch.map((waiting) => waiting.item),
    );
  }

  private answer(batch: Waiting<I, R>[], results: R[]): void {
    for (let i = 0; i < batch.length; i++) {
      const waiting = batch[i]!;
      const result = results[i]!;
      waiting.acknowledged = true;
      waiting.resolve(result);
      this.options.onAnswer(waiting, result);
    }
  }

  /** A bad item never fails its neighbours: what the SQL does not catch by item is found by halving. */
  private async divide(batch: Waiting<I, R>[], error: Error): Promise<void> {
    const only = batch[0]!;
    if (batch.length > 1) {
      const middle = batch.length >> 1;
      await this.send(batch.slice(0, middle));
      await this.send(batch.slice(middle));
      return;
    }
    const result = this.options.onDefect(only.item, error);
    if (result !== null) return this.answer(batch, [result]);
    this.stuck.push(only);
    setTimeout(() => {
      this.stuck = this.stuck.filter((waiting) => waiting !== only);
      this.queue.push(only);
      this.kick();
    }, STUCK_RETRY_MS).unref();
  }

  /** Ends the connection; what is unanswered stays unanswered. */
  async close(): Promise<void> {
    this.closed = true;
    const { db } = this;
    this.db = null;
    // A farewell on a connection that does not answer would be waited for without end.
    if (db !== null && this.flying) destroy(db);
    else if (db !== null) await db.end().catch(() => {});
  }
}

async function connect(url: string, config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...config, connectionString: url });
  // A connection that breaks while idle is found by the next flush.
  client.on('error', () => {});
  try {
    await client.connect();
    await meetLedger(client, ledgerSchemaOf(url));
  } catch (error) {
    destroy(client);
    throw error;
  }
  return client;
}

/** Drops a connection without a farewell, so that a query on it fails now. */
function destroy(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
  void client.end().catch(() => {});
}

/** The batcher settings of items that are given up when PostgreSQL does not answer in time. */
export function patient<I, R>(
  unavailable: R,
  late_after_ms: number,
): Pick<BatcherOptions<I, R>, 'late_after_ms' | 'drops_late' | 'onLate' | 'onAnswer' | 'onDefect'> {
  return {
    late_after_ms,
    drops_late: true,
    onLate: (waiting) => {
      for (const { resolve } of waiting) resolve(unavailable);
    },
    onAnswer: () => {},
    onDefect: () => unavailable,
  };
}
