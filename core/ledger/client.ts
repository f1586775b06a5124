// The ledger as a running process uses it: batchers for hold, settle, extend and release, the process lease, and the
// journal that keeps settles when PostgreSQL is away.
import {
  fixedPlacement,
  isDatabaseFault,
  isPrepared,
  ledgerNaming,
  ledgerSchemaOf,
  openPlaced,
  type Placement,
  type Pool,
} from '../db/index.ts';
import { type Log, type MicroUsd, monotonicMs, now, type RequestId, Spread } from '../kernel/index.ts';
import { holdFault, type Item, namesOf, settleFault, withoutCharge } from './batch/batch.ts';
import { Batcher, type BatcherOptions, patient, type Waiting } from './batch/batcher.ts';
import {
  byBook,
  byBookAndId,
  type ExtendResult,
  type Extension,
  type Release,
  runExtensions,
  runHolds,
  runReleases,
  runSettles,
} from './batch/store.ts';
import { type Dialect, ROLE, type Sync, targetOf } from './batch/target.ts';
import { Journal } from './journal/journal.ts';
import { Lease } from './lease/lease.ts';
import { readLeaseHolds } from './lease/store.ts';
import { readBalance } from './read-store.ts';
import { readRun } from './runs/store.ts';
import { followWith } from './shards/follow.ts';
import type {
  Balance,
  Hold,
  HoldResult,
  LedgerFigures,
  LedgerHandle,
  LedgerOptions,
  RunSpend,
  Settle,
  SettleResult,
  Subject,
} from './types.ts';

/** A hold that has waited so long is answered `unavailable`, a settle goes to the journal. */
const PATIENCE = { hold_ms: 3_000, settle_ms: 1_000 };
const TICK_MS = 100;
const RECONCILE_MS = 60_000;
/** While PostgreSQL does not answer it is asked so often: without traffic no flush would ever find it back. */
const PROBE_MS = 500;
/** For the lease and for balances, which are read at once or never: a network may forget a connection in silence. */
const ANSWER_MS = 10_000;
const MAX_BATCH = 512;
const MAX_HINTS = 200_000;

/**
 * Opens the ledger: takes a lease, adopts the journals of dead processes and starts booking them.
 * @throws Error when PostgreSQL cannot be reached, unless it `may_be_away`, or the journal directory cannot be read.
 */
export async function openLedger(options: LedgerOptions): Promise<LedgerHandle> {
  const ledger = new Ledger(options);
  await ledger.open();
  return ledger;
}

class Ledger implements LedgerHandle {
  private readonly log: Log;
  private readonly process_name: string;
  private readonly placement: Placement;
  private readonly may_be_away: boolean;
  private readonly dialect: Dialect;
  private readonly control: Pool;
  private readonly lease: Lease;
  private readonly journal: Journal;
  private readonly holds: Batcher<Hold, HoldResult>;
  private readonly settles: Batcher<Settle, SettleResult>;
  private readonly extensions: Batcher<Extension & Item, ExtendResult | 'unavailable'>;
  private readonly releases: Batcher<Release & Item, true>;
  /**
   * Holds this process believes to stand, from the call of `hold` to the answer that ends them, each with the life of
   * the lease that it was made in.
   */
  private readonly own = new Map<string, number>();
  private readonly hints = new Map<number, number>();
  private readonly settle_delays = new Spread();
  private readonly timers: NodeJS.Timeout[] = [];
  private up = true;

  constructor(options: LedgerOptions) {
    this.log = options.log;
    this.process_name = options.process_name;
    const { url, may_be_away = false } = options;
    this.may_be_away = may_be_away;
    this.placement = options.placement ?? fixedPlacement(url);
    this.control = openPlaced(this.placement, {
      max: 2,
      application: `svc-ledger ${options.process_name}`,
      role: ROLE,
      answer_ms: ANSWER_MS,
    });
    this.lease = new Lease({
      ...{ db: this.control, process: options.process_name, log: options.log },
      seconds: options.lease_seconds ?? 60,
      places: this.placement.places.map(({ name }) => name),
    });
    this.journal = new Journal(options.journal_dir, options.log);
    this.dialect = { named: ledgerNaming(ledgerSchemaOf(url)), prepared: isPrepared(url) };
    const patience = options.patience ?? PATIENCE;
    this.holds = new Batcher(this.holdOptions(options.sync_holds === true ? 'on' : 'off', patience.hold_ms));
    this.settles = new Batcher(this.settleOptions(patience.settle_ms));
    this.holds.takeTurnsWith(this.settles);
    this.settles.takeTurnsWith(this.holds);
    this.extensions = new Batcher({
      ...this.common(),
      ...patient<Extension & Item, ExtendResult | 'unavailable'>('unavailable', patience.hold_ms),
      compare: byBook,
      run: (db, items) => runExtensions(targetOf(db, this.dialect, 'off'), items),
    });
    this.releases = new Batcher(this.releaseOptions());
  }

  /** What the batchers share. */
  private common() {
    return {
      url: () => this.placement.url,
      config: {
        connectionTimeoutMillis: 3_000,
        keepAlive: true,
        application_name: `svc-ledger ${this.process_name}`,
      },
      max_batch: MAX_BATCH,
      follow: followWith(this.placement, this.log),
      onHealth: (healthy: boolean, error: Error | null) => this.onHealth(healthy, error),
      onLapsed: () => this.lease.renew(),
    };
  }

  private readonly tell = (book_id: number, available: number): void => {
    this.hints.set(book_id, available);
  };

  private holdOptions(sync: Sync, late_after_ms: number): BatcherOptions<Hold, HoldResult> {
    return {
      ...this.common(),
      ...{ late_after_ms, drops_late: true },
      compare: byBook,
      // A claim that a crash of PostgreSQL took along would let the retry of an answered call pay again.
      run: (db, items) =>
        runHolds(
          targetOf(db, this.dialect, items.some(({ idempotency }) => idempotency) ? 'on' : sync),
          items,
          {
            lease_id: this.lease.id,
            now: now(),
            tell: this.tell,
          },
        ),
      onAnswer: ({ item, late }, { status }) => {
        if (status === 'unknown')
          this.log.warn(namesOf(item), 'ledger: a hold for what is not known here yet');
        if (status !== 'ok') this.own.delete(item.request_id);
        // Its caller was told `unavailable`, but the batch was in the air and has been committed.
        else if (late) this.release(item, item.request_id);
      },
      onLate: (waiting) => {
        for (const { item, resolve } of waiting) {
          this.own.delete(item.request_id);
          resolve({ status: 'unavailable' });
        }
      },
      onDefect: (item, error) => {
        this.log.error({ error, request_id: item.request_id }, 'ledger: a hold cannot be decided');
        return { status: 'refused', reason: 'the ledger could not decide the hold' };
      },
    };
  }

  private settleOptions(late_after_ms: number): BatcherOptions<Settle, SettleResult> {
    return {
      ...this.common(),
      compare: byBookAndId,
      run: (db, items) =>
        runSettles(targetOf(db, this.dialect, 'on'), items, { now: now(), tell: this.tell }),
      late_after_ms,
      drops_late: false,
      onAnswer: ({ item, at }, result) => {
        // The record takes the place of the charge also in the journal, which keeps it until it is booked.
        if (result.status === 'replaced') return this.settles.put(withoutCharge(item), () => {}, false);
        this.settle_delays.observe((monotonicMs() - at) / 1_000);
        this.onSettled(item, result);
      },
      onLate: (waiting) => void this.writeJournal(waiting),
      onDefect: (item, error) => {
        this.log.error({ error, request_id: item.request_id }, 'ledger: a settle fails, trying again');
        return null;
      },
    };
  }

  private releaseOptions(): BatcherOptions<Release & Item, true> {
    return {
      ...this.common(),
      compare: byBook,
      run: (db, items) => runReleases(targetOf(db, this.dialect, 'on'), items),
      late_after_ms: Number.POSITIVE_INFINITY,
      drops_late: false,
      onAnswer: () => {},
      onLate: () => {},
      onDefect: (item, error) => {
        this.log.error({ error, request_id: item.request_id }, 'ledger: a hold cannot be released');
        return null;
      },
    };
  }

  async open(): Promise<void> {
    try {
      await this.placement.ready();
      await this.lease.renew().catch((error: unknown) => {
        if (!this.may_be_away || !isDatabaseFault(error)) throw error;
        // The first answer to a probe takes the lease.
        this.onHealth(false, error as Error);
      });
      for (const settle of await this.journal.adopt()) this.settles.put(settle, () => {}, true);
    } catch (error) {
      await this.control.end();
      throw error;
    }
    this.every(TICK_MS, () => this.tick());
    this.every((this.lease.seconds * 1_000) / 3, () => {
      void this.lease
        .renew()
        .catch((error: unknown) => this.log.warn({ error }, 'ledger: the lease was not renewed'));
      void this.journal.touch();
    });
    this.every(RECONCILE_MS, () => void this.reconcile().catch(() => {}));
    this.every(PROBE_MS, () => this.probe());
  }

  /** A gateway out of rotation gets no calls, so its batchers flush nothing: the lease's renewal tells that all is well. */
  private probe(): void {
    if (this.up) return;
    this.lease.renew().then(
      () => this.onHealth(true, null),
      () => {},
    );
  }

  private every(ms: number, work: () => void): void {
    this.timers.push(setInterval(work, ms).unref());
  }

  private tick(): void {
    for (const batcher of [this.holds, this.settles, this.extensions, this.releases]) {
      if (batcher.size > 0) batcher.tick();
    }
    if (this.hints.size > MAX_HINTS) this.hints.clear();
  }

  private onHealth(healthy: boolean, error: Error | null): void {
    if (healthy === this.up) return;
    this.up = healthy;
    if (healthy) {
      this.log.info({ lease_id: this.lease_id }, 'ledger: PostgreSQL answers again');
      // A batch that was in the air when the connection broke may have been committed.
      void this.reconcile().catch(() => {});
    } else {
      this.log.warn({ error, pending: this.pending }, 'ledger: PostgreSQL does not answer');
    }
  }

  /** Whether the call of `settle` may have been taken for dead, so that its Idempotency-Key may be another call's. */
  private mayBeReplaced({ claimed, request_id }: Settle): boolean {
    return claimed === true && !this.lease.lasts(this.own.get(request_id) ?? 0);
  }

  hold(hold: Hold): Promise<HoldResult> {
    const fault = holdFault(hold);
    if (fault !== null) return Promise.resolve({ status: 'refused', reason: fault });
    this.own.set(hold.request_id, this.lease.life);
    return this.holds.add(hold);
  }

  extend(
    subject: Subject,
    request_id: RequestId,
    total_micro_usd: MicroUsd,
  ): Promise<ExtendResult | 'unavailable'> {
    const { book_id, key_no, project_no } = subject;
    return this.extensions.add({ book_id, key_no, project_no, request_id, total_micro_usd });
  }

  settle(settle: Settle): Promise<SettleResult> {
    const fault = settleFault(settle);
    if (fault === null) return this.settles.add(settle);
    this.log.error({ request_id: settle.request_id, fault }, 'ledger: a settle was refused');
    // It will never be booked: what is held for it would be kept from its owner as long as this process lives.
    if (this.own.has(settle.request_id)) this.release(settle, settle.request_id);
    return Promise.resolve({ status: 'refused', charged_micro_usd: null });
  }

  release(subject: Subject, request_id: RequestId): void {
    this.own.delete(request_id);
    const { book_id, key_no, project_no } = subject;
    this.releases.put({ book_id, key_no, project_no, request_id }, () => {}, false);
  }

  private onSettled(settle: Settle, { status }: SettleResult): void {
    this.own.delete(settle.request_id);
    this.journal.booked(settle.request_id);
    if (status === 'refused') {
      this.log.error(
        { request_id: settle.request_id, book_id: settle.book_id },
        'ledger: a settle was refused',
      );
    }
  }

  private async writeJournal(waiting: Waiting<Settle, SettleResult>[]): Promise<void> {
    try {
      await this.journal.append(waiting.map(({ item }) => item));
    } catch (error) {
      // No disk and no database: the callers wait for whichever comes back first.
      this.log.error({ error, settles: waiting.length }, 'ledger: the journal cannot be written');
      for (const one of waiting) one.late = false;
      return;
    }
    for (const { item, resolve, acknowledged } of waiting) {
      if (acknowledged) this.journal.booked(item.request_id);
      // Only PostgreSQL knows whose the key is by now: its answer resolves this settle, whenever it comes.
      else if (!this.mayBeReplaced(item)) resolve({ status: 'journaled', charged_micro_usd: null });
    }
  }

  availableHint(book_id: number): number | null {
    return this.hints.get(book_id) ?? null;
  }

  balance(book_id: number): Promise<Balance> {
    return readBalance(this.control, book_id);
  }

  run(book_id: number, run: string): Promise<RunSpend | null> {
    return readRun(this.control, { book_id, run });
  }

  get lease_id(): number {
    return this.lease.id;
  }

  async reconcile(): Promise<number> {
    const strays = (await readLeaseHolds(this.control, this.lease_id)).filter(
      ({ request_id }) => !this.own.has(request_id),
    );
    for (const { request_id, ...subject } of strays) this.release(subject, request_id);
    if (strays.length > 0)
      this.log.warn({ strays: strays.length }, 'ledger: holds without a call are released');
    return strays.length;
  }

  get pending(): number {
    return this.settles.size;
  }

  get healthy(): boolean {
    return this.up;
  }

  get journaled(): number {
    return this.journal.size;
  }

  get figures(): LedgerFigures {
    const sentBy = ({ flushes, sent }: { flushes: number; sent: number }) => ({ sent: flushes, items: sent });
    const { journaled, settle_delays } = this;
    return { journaled, settle_delays, batches: { hold: sentBy(this.holds), settle: sentBy(this.settles) } };
  }

  /** Waits for what is under way as long as PostgreSQL answers; the rest is on disk, or its holds are swept. */
  async close(): Promise<void> {
    const batchers = [this.holds, this.settles, this.extensions, this.releases];
    const isIdle = () => batchers.every((batcher) => batcher.size === 0);
    const isSafe = () => !this.up && this.settles.size <= this.journal.size;
    const deadline = monotonicMs() + 10_000;
    while (!isIdle() && !isSafe() && monotonicMs() < deadline) await new Promise((r) => setTimeout(r, 5));
    for (const timer of this.timers) clearInterval(timer);
    await Promise.all(batchers.map((batcher) => batcher.close()));
    // With settles in the journal the holds must stand until the next process has booked them.
    if (this.journal.size === 0) await this.lease.end().catch(() => {});
    await this.journal.close();
    await this.control.end();
  }
}
