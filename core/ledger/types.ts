// What callers of the ledger hand in and get back.
import type { Placement } from '../db/index.ts';
import type { Log, MicroUsd, RequestId, Spread } from '../kernel/index.ts';
import type { OtherUnit } from './kinds.ts';

/** Numbers of the rows that a call touches; they come with the key (core/keys). */
export interface Subject {
  /** Book of (org, live | sandbox). */
  readonly book_id: number;
  /** First key of the rotation chain: its windows go on when a key is rotated. */
  readonly key_no: number;
  readonly project_no: number;
}

/** Written in the hold's own transaction; unique by (scope, key). */
export interface IdempotencyClaim {
  /** Project, environment and path. */
  readonly scope: string;
  /** SHA-256 of the Idempotency-Key. */
  readonly key_hash: Buffer;
  /** SHA-256 over method, path, version and canonical body. */
  readonly fingerprint: Buffer;
}

/** A subject, and the shard of the ledger that its book is in. */
export interface PlacedSubject extends Subject {
  readonly shard: string;
}

/** What the calls of one run of an agent may cost together. */
export interface RunBudget {
  /** UUID; names the run within its project (core/budgets). */
  readonly run: string;
  /** The budget holds for the whole run as its newest call gives it. */
  readonly max_micro_usd: MicroUsd;
}

export interface Hold extends Subject {
  readonly request_id: RequestId;
  readonly amount_micro_usd: MicroUsd;
  readonly budget?: RunBudget;
  readonly idempotency?: IdempotencyClaim;
}

export type HoldResult =
  | { readonly status: 'ok' }
  | { readonly status: 'insufficient_credits' }
  | { readonly status: 'budget_exhausted'; readonly scope: 'key' | 'project' | 'run' }
  /** The idempotency key is taken: the caller looks at its row. Nothing is held. */
  | { readonly status: 'claimed' }
  /** The ledger has not heard of the book, key or project: it was away when they were made, and their order waits. */
  | { readonly status: 'unknown' }
  /** The values are impossible: a defect of the caller. */
  | { readonly status: 'refused'; readonly reason: string }
  /** PostgreSQL did not answer in time; nothing is held, or the reconcile step releases it. */
  | { readonly status: 'unavailable' };

/** What a call has beside its tokens, or of them; a kind that is left out counts 0, `requests` 1. */
export type OtherUnits = { readonly [K in OtherUnit]?: number };

/** Units that were priced; all that it takes to recompute the bill with the price version. */
export interface MeteredUnits {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  /** All cache writes; the 5 m and 1 h ones are parts of it. */
  readonly cache_write_tokens: number;
  readonly cache_write_5m_tokens: number;
  readonly cache_write_1h_tokens: number;
  readonly reasoning_tokens: number;
  /** Left out for the many calls that have none. */
  readonly other?: OtherUnits;
}

/** How the call ended, as metered. */
export type MeterOutcome = 'ok' | 'cancelled' | 'error';

export interface Settle extends Subject {
  readonly request_id: RequestId;
  /** Settled cost by the price function; 0 leaves a metering record and no entry. */
  readonly cost_micro_usd: MicroUsd;
  readonly model_no: number;
  readonly endpoint_no: number;
  readonly price_no: number;
  readonly units: MeteredUnits;
  readonly estimated: boolean;
  readonly outcome: MeterOutcome;
  /** The run that the hold named: without a hold it counts there all the same. */
  readonly run?: string;
  /** The hold carried an idempotency claim: the settle's transaction ends it (its answer is stored apart). */
  readonly claimed?: boolean;
}

export interface SettleResult {
  /**
   * `settled`; `late`: the hold was gone (swept or lost) and the charge came from what is available;
   * `duplicate`: settled before; `journaled`: PostgreSQL is away, the settle is on disk and will be booked; `replaced`: its
   * hold was swept, and its Idempotency-Key is another call's by now: it is recorded without a charge.
   */
  readonly status: 'settled' | 'late' | 'duplicate' | 'journaled' | 'replaced' | 'refused';
  /** What left the balance; below the cost when a write-off was recorded, 0 of a replaced call. null when not known yet or a duplicate. */
  readonly charged_micro_usd: MicroUsd | null;
}

export interface Balance {
  readonly available_micro_usd: MicroUsd;
  readonly held_micro_usd: MicroUsd;
  readonly granted_micro_usd: MicroUsd;
}

/** Where a run stands. */
export interface RunSpend {
  readonly max_micro_usd: MicroUsd;
  readonly spent_micro_usd: MicroUsd;
  readonly held_micro_usd: MicroUsd;
}

/** The ledgers of an installation, as a running gateway uses them. */
export interface Ledgers {
  /** The one with the books of that shard. @throws Error on a name that the configuration does not list. */
  at(shard: string): LedgerClient;
  /** By shard. */
  readonly figures: ReadonlyMap<string, LedgerFigures>;
  /** Settles not yet acknowledged, over all. */
  readonly pending: number;
  /** Shards whose last flush did not reach PostgreSQL. */
  readonly away: readonly string[];
  /** Whether any of them answers. */
  readonly healthy: boolean;
  close(): Promise<void>;
}

/** One ledger. */
/** What a client counts for metrics. */
export interface LedgerFigures {
  /** Settles in the journal that PostgreSQL has not booked. */
  readonly journaled: number;
  /** Batches sent and items in them, by batcher. */
  readonly batches: Readonly<Record<'hold' | 'settle', { readonly sent: number; readonly items: number }>>;
  /** Seconds from the end of a call to the commit of its settle. */
  readonly settle_delays: Spread;
}

export interface LedgerClient {
  hold(hold: Hold): Promise<HoldResult>;
  /** Raises a hold to a new total. `missing`: settled, swept or lost. */
  extend(
    subject: Subject,
    request_id: RequestId,
    total_micro_usd: MicroUsd,
  ): Promise<'ok' | 'insufficient_credits' | 'budget_exhausted' | 'missing' | 'unavailable'>;
  /**
   * Resolves once the settle is durable: committed, or in the journal. One with a claim that another call may have by now, as
   * this process's lease may have run out, resolves only when it is committed. Never rejects for a database fault.
   */
  settle(settle: Settle): Promise<SettleResult>;
  /** Gives a hold back whole; resolves at once, done in the background until it succeeds. */
  release(subject: Subject, request_id: RequestId): void;
  /** Last known `available` of a book (from hold and settle answers), or null when none is known yet. A hint, never a decision. */
  availableHint(book_id: number): number | null;
  /** The balance as committed now. */
  balance(book_id: number): Promise<Balance>;
  /** Where a run stands as committed now; null when no call has named it. */
  run(book_id: number, run: string): Promise<RunSpend | null>;
  /** Settles not yet acknowledged by PostgreSQL. */
  readonly pending: number;
  /** Whether the last flush reached PostgreSQL. */
  readonly healthy: boolean;
  readonly figures: LedgerFigures;
  close(): Promise<void>;
}

export interface LedgerOptions {
  /** The database, and as its parameter `ledger_schema` which of its ledgers. */
  readonly url: string;
  /** Where the ledger is when it has more than one place; without it at `url` for good. */
  readonly placement?: Placement;
  readonly process_name: string;
  /** Directory of the journals; shared by the processes of one machine. */
  readonly journal_dir: string;
  readonly log: Log;
  /** Commit holds synchronously too; without it a crash of PostgreSQL can lose the newest holds. */
  readonly sync_holds?: boolean;
  /** Life of the lease without renewal, 60 by default. */
  readonly lease_seconds?: number;
  /** Whether to open it also while it cannot be asked: holds are `unavailable` until it answers. */
  readonly may_be_away?: boolean;
  /** How long a hold and a settle wait for PostgreSQL; three seconds and one by default. */
  readonly patience?: { readonly hold_ms: number; readonly settle_ms: number };
}

/** What the program that opens the ledger needs beside the calls' view of it. */
export interface LedgerHandle extends LedgerClient {
  readonly lease_id: number;
  /** Settles in the journal that PostgreSQL has not booked. */
  readonly journaled: number;
  /** Compares this process's holds in the table with those in memory and releases strays; returns how many. */
  reconcile(): Promise<number>;
}
