// A ClickHouse server by its address. Every statement has a name, which the server keeps in its log of queries, and bounds
// on time and memory, so that a question that is too large fails alone.
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { ServiceError } from '../../kernel/index.ts';

/** One statement. `values` are its parameters, `{name:Type}` in the text. */
interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values?: Readonly<Record<string, unknown>>;
  /** More groups end the statement with `TooManyGroups`, mostly long before it has read everything. */
  readonly groups_max?: number;
  /** May have more groups than fit into memory: these are summed on disk. */
  readonly is_large?: boolean;
}

/** A statement has more groups than it may. */
export class TooManyGroups extends Error {}
const TOO_MANY_ROWS = '158';

export interface ClickHouse {
  query<Row>(statement: Statement): Promise<Row[]>;
  /** A statement that returns nothing. */
  run(statement: Statement): Promise<void>;
  /** Stores rows. The same `token` again within the last few thousand inserts of a table stores nothing. */
  insert(rows: { table: string; values: readonly object[]; token: string | null }): Promise<void>;
  /** Resolves when statements are answered. @throws Error */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const QUERY_S = 10;
const MEMORY_BYTES = 1_000_000_000;
const GROUPS_BYTES = 300_000_000;
/** A tail relies on it: what a statement stores can be read within this time of `stored_at`. */
const INSERT_S = 5;
/** Of a statement that copies rows (an erasure). */
const RUN_S = 60;

/** What is wrong with a row, as against with the server: that row is lost alone, everything else waits in the spool. */
const ROW_FAULTS = new Set(
  [6, 26, 27, 32, 33, 38, 41, 53, 69, 70, 72, 117, 130, 321, 349, 467, 469, 628].map(String),
);

/** Whether a row is at fault, and not the server. */
export function isRowFault(error: unknown): boolean {
  return error instanceof ClickHouseError && ROW_FAULTS.has(error.code);
}

/** What a caller is told while rows cannot be read. */
function away(cause: unknown): ServiceError {
  const refusal = new ServiceError(
    'service_unavailable',
    'Rows of calls cannot be read now. Calls go on. Try again shortly.',
    { details: { component: 'analytics' }, retry_after_ms: 1_000 },
  );
  refusal.cause = cause;
  return refusal;
}

function settings(name: string, seconds: number, is_large = false) {
  return {
    ...{ log_comment: name, max_execution_time: seconds, max_memory_usage: String(MEMORY_BYTES) },
    ...(is_large ? { max_bytes_before_external_group_by: String(GROUPS_BYTES) } : {}),
  };
}

/** A client of the server at `url` (`http://user:password@host:8123/database`), whose credentials are shown nowhere. */
export function openClickHouse(url: string): ClickHouse {
  const client = createClient({
    url,
    request_timeout: (RUN_S + 5) * 1_000,
    max_open_connections: 8,
    // Its own log would show statements with their values.
    log: { level: ClickHouseLogLevel.OFF },
  });
  return {
    async query<Row>({ name, text, values = {}, groups_max, is_large = false }: Statement) {
      try {
        const answer = await client.query({
          query: text,
          query_params: values as Record<string, unknown>,
          format: 'JSONEachRow',
          clickhouse_settings: {
            ...settings(name, QUERY_S, is_large),
            output_format_json_quote_64bit_integers: 0,
            // A row and what takes its place are always of the same day.
            do_not_merge_across_partitions_select_final: 1,
            use_skip_indexes_if_final: 0,
            ...(groups_max === undefined ? {} : { max_rows_to_group_by: String(groups_max) }),
          },
        });
        return (await answer.json()) as Row[];
      } catch (error) {
        if (groups_max !== undefined && error instanceof ClickHouseError && error.code === TOO_MANY_ROWS)
          throw new TooManyGroups();
        throw away(error);
      }
    },
    async run({ name, text, values = {}, is_large = false }) {
      await client.command({
        query: text,
        query_params: values as Record<string, unknown>,
        clickhouse_settings: {
          ...settings(name, RUN_S, is_large),
          use_skip_indexes_if_final: 0,
          insert_deduplicate: 0,
        },
      });
    },
    async insert({ table, values, token }) {
      if (values.length === 0) return;
      await client.insert({
        table,
        values: values as object[],
        format: 'JSONEachRow',
        clickhouse_settings: {
          ...settings(`analytics.insert.${table}`, INSERT_S),
          ...(token === null ? { insert_deduplicate: 0 } : { insert_deduplication_token: token }),
        },
      });
    },
    async ping() {
      const answer = await client.ping({ select: true });
      if (!answer.success) throw answer.error;
    },
    close: () => client.close(),
  };
}
