// What reads and writes rows of calls, whichever engine keeps them.
import type { Environment, Id, RequestId } from '../../kernel/index.ts';
import type { Answered } from '../read-store.ts';
import type { RowFilter } from '../store.ts';
import type { SubjectCall } from '../subjects/store.ts';
import type { RequestRow, StoredAttempt, StoredRow } from '../types.ts';
import type { UsageBy, UsageFilter, UsageSum } from '../usage-store.ts';

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
  sumUsage(filter: UsageFilter, by: UsageBy): Promise<UsageSum[]>;
  /** For how many whole seconds the rows that came in the last minute had waited; 0 without any. */
  readArrivalLag(args: Place): Promise<number>;
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
  /** Stores a batch. Sent again, in another order or cut differently, it is stored once. */
  insert(batch: readonly RequestRow[]): Promise<void>;
  /** Adds to the replays of rows; returns the ids whose row is there. */
  addReplays(
    counts: readonly { readonly request_id: RequestId; readonly times: number }[],
  ): Promise<RequestId[]>;
  /** Whether `error` says that the engine is away or busy, as against a fault of a row. */
  isAway(error: unknown): boolean;
}

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    /** Reads rows of calls in another engine than PostgreSQL. */
    readonly row_reader?: RowReader | undefined;
  }
}
