// The decisions of a limit store. Two of them keep the same contract (`contract.test.ts`): one in the memory of a
// single process, one in Redis for many.
import type { Spread } from '../kernel/index.ts';

/** Limits of a key, a project or a plan; null is no limit of its own. */
export interface Rates {
  /** Requests per minute. */
  readonly rpm: number | null;
  /** Tokens per minute, input and output together. */
  readonly tpm: number | null;
  /** Calls that have not ended. */
  readonly concurrency: number | null;
}

/** Whose limit it is. */
export type LimitScope = 'key' | 'project' | 'trial' | 'plan';

/** Buckets that a call counts in, and what bounds them. */
export interface LimitBound {
  readonly scope: LimitScope;
  /** Name of the buckets. All keys of a rotation chain share one; live and test calls never do. */
  readonly bucket: string;
  /** Who is bound: the id of a key, a project or an organization. */
  readonly subject: string;
  readonly rates: Rates;
}

/** Where a call counts. */
export interface LimitSubject {
  /** Keeps the keys of one decision on one Redis shard. */
  readonly org_id: string;
  /** The organization under its plan, live and test apart, under which refusals are counted. */
  readonly plan: string;
  /** All of them hold, so that the smallest is what counts. Narrowest first: the first that is passed is named. */
  readonly bounds: readonly LimitBound[];
}

export type LimitName = 'rpm' | 'tpm' | 'concurrency';

/** One bucket as callers see it in headers. */
export interface Gauge {
  readonly limit: number;
  /** Whole units left now, never below 0. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again. */
  readonly reset_ms: number;
}

/** The strictest of all bounds for each bucket; null where none has the limit. */
export interface Gauges {
  readonly requests: Gauge | null;
  readonly tokens: Gauge | null;
}

/** Why a call does not go on (`rate_limit_exceeded`). */
export interface LimitRefusal {
  readonly limit: LimitName;
  readonly scope: LimitScope;
  /** The id of the key, project or organization that is bound. */
  readonly subject: string;
  readonly limit_value: number;
  /** When the same request can succeed; for concurrency a guess, since nobody knows when a call ends. */
  readonly reset_ms: number;
  readonly gauges: Gauges;
}

/** The place of one running call. */
export interface LimitSlot {
  /** As of the last decision for this call. */
  readonly gauges: Gauges;
  /**
   * Debits what the size of the body costs: each request of the minute stands for a megabyte. The buckets may go below
   * zero: the next call waits.
   */
  weigh(bytes: number): void;
  /** Debits the estimated input tokens; a refusal debits nothing. */
  spend(tokens: number): LimitRefusal | null | Promise<LimitRefusal | null>;
  /** Corrects the debit to what was really used. The buckets may go below zero: the next call waits. */
  settle(tokens: number): void;
  /** Gives the place back; further times do nothing. */
  leave(): void;
}

export interface LimitStore {
  /**
   * Takes one request of the buckets and a place among the running calls, of all bounds together, or nothing.
   * Answers at once where nothing has to be asked.
   */
  enter(subject: LimitSubject): LimitSlot | LimitRefusal | Promise<LimitSlot | LimitRefusal>;
  /** The present buckets of `subject`, without taking anything (`GET /v1/limits`). */
  look(subject: LimitSubject): Promise<LimitView>;
  /** Calls of the plan of `subject` that were refused within 24 hours, a second late over processes. */
  rejections(subject: Pick<LimitSubject, 'plan'>): Promise<Rejections>;
  /** `exact`: limits are shared by all processes. `local_share`: Redis is away and this process enforces its share. */
  readonly mode: 'exact' | 'local_share';
  /** Processes that share the limits, as last heard. */
  readonly processes: number;
  /** What asking Redis took in this process; absent where there is none. */
  readonly redis_figures?: RedisFigures;
  close(): Promise<void>;
}

/** By script. An answer that came too late for its caller counts with the time that it took. */
export interface RedisFigures {
  readonly durations: ReadonlyMap<string, Spread>;
  readonly failures: ReadonlyMap<string, number>;
}

/** What is left under the strictest bound, and the running calls of the narrowest. */
export interface LimitView {
  readonly rpm_remaining: number | null;
  readonly tpm_remaining: number | null;
  readonly concurrency_in_use: number;
}

/** Whether `entered` is a refusal. */
export function isRefusal(entered: LimitSlot | LimitRefusal): entered is LimitRefusal {
  return 'limit' in entered;
}

/** Calls refused within 24 hours, by the limit that refused them. */
export type Rejections = { readonly [K in LimitName]: number };
