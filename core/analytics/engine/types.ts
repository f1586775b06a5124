// What reads and writes rows of calls, whichever engine keeps them.
import type { Environment, Id, RequestId } from '../../kernel/index.ts';
import type { AdvisedCall } from '../advice/store.ts';
import type { Answered } from '../read-store.ts';
import type { RowFilter } from '../store.ts';
import type { SubjectCall } from '../subjects/store.ts';
import type { RequestRow, StoredAttempt, StoredRow } from '../types.ts';
import type { UsageApart, UsageFigures, UsageSum } from '../usage/sums-store.ts';
import type { UsageBy, UsageFilter } from '../usage-store.ts';

type EngineName = 'postgres' | 'clickhouse';

/** A row in a list, which does not say how often its answer was given again. */
export type ListedRow = Omit<StoredRow, 'replays'>;

interface Place {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
}
/** `environment` null sees both. */
interface Sight {
  readonly org_id: Id<'org'>;
  readonly environment: Environment | null;
}

/** What an endpoint did on a day, as `endpoint_day` keeps it. */
export interface EndpointDaySum {
  readonly endpoint_id: string;
  readonly attempts: number;
  readonly ok: number;
  readonly excused: number;
  readonly ttft_p50_ms: number | null;
  readonly ttft_p95_ms: number | null;
  readonly tpot_p50_ms: number | null;
  /** Attempts by step of their time (`STEP`). */
  readonly ttft_counts: Readonly<Record<string, number>>;
  readonly tpot_counts: Readonly<Record<string, number>>;
}

/** The answered calls of a day by organization, app and model, as `app_day` keeps them. */
export interface AppDaySum {
  readonly org_id: Id<'org'>;
  readonly app_id: string;
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
  readonly first_at: Date;
}

/** Reads rows. Every engine gives the same answers, to the micro-USD (test/analytics/contract.test.ts). */
export interface RowReader {
  readonly engine: EngineName;
  findRow(args: Sight & { readonly request_id: string }): Promise<StoredRow | null>;
  findRows(args: Sight & { readonly request_ids: readonly string[] }): Promise<StoredRow[]>;
  /** In order. The caller has found the row, and so may see them. */
  listAttempts(request_id: string): Promise<StoredAttempt[]>;
  listAttemptsOf(
    request_ids: readonly string[],
  ): Promise<(StoredAttempt & { readonly request_id: string })[]>;
  /** The copies that shadows got, by the call that was copied. */
  listCopies(
    of: Sight & { readonly request_ids: readonly string[] },
  ): Promise<ReadonlyMap<string, readonly string[]>>;
  /** A page, newest first, strictly after `after`. */
  listRows(
    args: Place & {
      readonly filter: RowFilter;
      readonly after: { readonly at: number; readonly id: string } | null;
      readonly limit: number;
    },
  ): Promise<ListedRow[]>;
  /** The newest rows of calls begun at or after `since` that are not `known`. */
  listArrivals(
    args: Place & { readonly since: Date; readonly known: readonly string[]; readonly limit: number },
  ): Promise<ListedRow[]>;
  /** Rows stored in `(from, until]` by the engine's clock that are not `sent`, in the order in which they were. */
  listStored(
    args: Place & {
      readonly filter: RowFilter;
      readonly from: Date;
      readonly until: Date;
      readonly sent: readonly string[];
      readonly limit: number;
    },
  ): Promise<(ListedRow & { readonly stored_at: Date })[]>;
  findArrival(args: Place & { readonly request_id: RequestId }): Promise<Date | null>;
  /** Which of these calls, of whatever organization, have a row that is not the sweeper's. */
  findKnown(request_ids: readonly RequestId[]): Promise<Set<RequestId>>;
  /** The clock by which rows are stored. */
  readClock(): Promise<Date>;
  listAnswered(
    args: Place & {
      readonly project_id: string | null;
      readonly without: readonly string[];
      readonly from: Date;
      readonly to: Date;
      readonly limit: number;
    },
  ): Promise<{ readonly rows: readonly Answered[]; readonly total: number }>;
  /** The newest `limit` calls in `[from, to)` that reached an endpoint, newest first. */
  listAdvisedCalls(
    args: Place & { readonly from: Date; readonly to: Date; readonly limit: number },
  ): Promise<AdvisedCall[]>;
  /** Per bucket and key: as many sums as there are buckets times keys. */
  sumUsage(filter: UsageFilter, by: UsageBy): Promise<UsageSum[]>;
  /** The same per bucket, and per key, of one moment: their sums are equal also while rows come. */
  sumUsageApart(filter: UsageFilter, by: UsageBy): Promise<UsageApart>;
  /** For how many whole seconds the rows that came in the last minute had waited; 0 without any. */
  readArrivalLag(args: Place): Promise<number>;
  /** Sums of the live calls of several organizations in `[from, to)`, by bucket and by organization, model or nothing. */
  sumOrgs(
    args: { readonly org_ids: readonly Id<'org'>[]; readonly from: Date; readonly to: Date },
    by: { readonly starts: readonly number[]; readonly group: 'org' | 'model' | null },
  ): Promise<UsageSum[]>;
  countCapacity(args: Place & { readonly since: Date }): Promise<number>;
  readCosts(args: {
    readonly org_id: Id<'org'>;
    readonly request_ids: readonly RequestId[];
  }): Promise<Map<RequestId, number>>;
  listModelsUsed(of: {
    readonly org_ids: readonly Id<'org'>[];
    readonly models: readonly string[];
    readonly since: Date;
  }): Promise<Map<Id<'org'>, readonly string[]>>;
  /** Organizations with live usage since `since`. */
  listUsers(since: Date): Promise<Id<'org'>[]>;
  /** A page of the calls of an end user, newest first, strictly after `after`. */
  pageSubjectCalls(args: {
    readonly org_id: Id<'org'>;
    readonly subject_hash: string;
    readonly after: SubjectCall | null;
    readonly limit: number;
  }): Promise<SubjectCall[]>;
  /** What live attempts of calls of the UTC day `day` did. */
  sumEndpoints(day: string): Promise<EndpointDaySum[]>;
  sumAppCalls(day: string): Promise<AppDaySum[]>;
}

/** Where a request log writes. */
export interface RowSink {
  readonly engine: EngineName;
  /** Stores a batch. Sent again, in another order or cut differently, it is stored once. */
  insert(batch: readonly RequestRow[]): Promise<void>;
  /** Adds to the replays of rows; returns the ids whose row is there. */
  addReplays(
    counts: readonly { readonly request_id: RequestId; readonly times: number }[],
  ): Promise<RequestId[]>;
  /** Whether `error` says that the engine is away or busy, as against a fault of a row. */
  isAway(error: unknown): boolean;
}

/** The sums of an organization's calls of a day, without what leads back to it. */
export interface OrgDay extends UsageFigures {
  readonly environment: Environment;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly model: string;
  readonly provider: string;
  readonly byok: boolean;
}

/** Upkeep and erasure in an engine beside PostgreSQL. What is erased there is so after the transaction that notes it. */
export interface RowKeeper {
  /** At most `limit` calls of an end user that began until `until`. */
  listSubjectCalls(args: {
    readonly org_id: Id<'org'>;
    readonly subject_hash: string;
    readonly until: Date;
    readonly limit: number;
  }): Promise<Pick<SubjectCall, 'request_id' | 'logged'>[]>;
  /** Takes end user and tags out of rows. */
  unlink(args: { readonly org_id: Id<'org'>; readonly request_ids: readonly string[] }): Promise<void>;
  countOrg(org_id: Id<'org'>): Promise<number>;
  sumOrg(org_id: Id<'org'>): Promise<OrgDay[]>;
  eraseOrg(org_id: Id<'org'>): Promise<void>;
  /** Sums the hours that are over at `now`; returns how many were summed. A job; it may run twice at once. */
  sumHours(now: Date): Promise<number>;
  /** Drops days that are past their time at `at`; returns how many. */
  dropDays(at: Date): Promise<number>;
}

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    /** Reads rows of calls in another engine than PostgreSQL. */
    readonly row_reader?: RowReader | undefined;
    /** Of an engine that has rows beside PostgreSQL, whether they are read there or not. */
    readonly row_keeper?: RowKeeper | undefined;
  }
}
