// The tables in ClickHouse: made where they are missing, with the columns that a newer release adds.
//
// A row may be stored several times: a batch is sent again when nobody knows its fate, cut in another way, and an erasure
// writes a row anew. The engine keeps the row with the highest `version` when it merges, and `final` when it reads; both only
// within a partition, which is the day of the call, so what belongs together always meets. `version` is first the rank, by
// which a row of the sweeper, or one that was rebuilt, gives way to that of the call's real end, and each to itself without its end
// user; then the first that was stored, so that nothing read changes when a batch comes again.
import { KEPT_DAYS } from '../store.ts';
import type { RequestRow } from '../types.ts';
import type { ClickHouse } from './client.ts';

/** Ranks of rows; an erased row has one more. */
export const RANKS = { lost: 1, rebuilt: 3, ended: 5 } as const;

const WORD = 'LowCardinality(String)';

/** Every member of a row and its type; one that is added to rows does not compile until it has a column here. */
export const ROW_TYPES: Readonly<Record<keyof Omit<RequestRow, 'attempt_rows' | 'shadow'>, string>> = {
  request_id: 'String',
  org_id: 'String',
  environment: WORD,
  project_id: WORD,
  key_id: WORD,
  model: WORD,
  provider: WORD,
  endpoint_id: WORD,
  region: WORD,
  status: WORD,
  http_status: 'Int32',
  error_code: WORD,
  stop_reason: WORD,
  attempts: 'Int32',
  input_tokens: 'Int64',
  output_tokens: 'Int64',
  cache_read_tokens: 'Int64',
  cache_write_tokens: 'Int64',
  reasoning_tokens: 'Int64',
  usage_source: WORD,
  cost_micro: 'Int64',
  ttft_ms: 'Nullable(Float64)',
  duration_ms: 'Nullable(Float64)',
  upstream_ttft_ms: 'Nullable(Float64)',
  gw_overhead_ms: 'Nullable(Float64)',
  stream: 'Bool',
  byok: 'Bool',
  zdr: 'Bool',
  logged: 'Bool',
  app_id: WORD,
  user_hash: 'String',
  session_id: 'String',
  cell: WORD,
  dialect_in: WORD,
  upstream_model: WORD,
  price_version_id: WORD,
  bytes_in: 'Int64',
  bytes_out: 'Int64',
  tool_calls: 'Int32',
  has_images: 'Bool',
  has_tools: 'Bool',
  has_schema: 'Bool',
  tags: 'Map(LowCardinality(String), String)',
  user_agent: WORD,
  client_ip_prefix: 'String',
  route_trace: 'String CODEC(ZSTD)',
  warnings: 'String CODEC(ZSTD)',
};
const ATTEMPT_TYPES: Readonly<Record<string, string>> = {
  ...{ request_id: 'String', org_id: 'String', environment: WORD, attempt: 'Int32' },
  ...{ provider: WORD, endpoint_id: WORD, pool_id: WORD, key_hint: 'String', outcome: WORD },
  ...{ http_status: 'Int32', error_class: WORD, ttft_ms: 'Nullable(Float64)' },
  ...{ duration_ms: 'Nullable(Float64)', output_tokens: 'Int64' },
};
const TIME = "DateTime64(3, 'UTC')";
const HOUR = "DateTime('UTC')";
const MADE = "DateTime64(6, 'UTC')";
const FIGURE_TYPES = {
  ...{ requests: 'UInt64', ok: 'UInt64', errors: 'UInt64', input_tokens: 'Int64', output_tokens: 'Int64' },
  ...{ cache_read_tokens: 'Int64', cache_write_tokens: 'Int64', reasoning_tokens: 'Int64' },
  cost_micro: 'Int64',
} as const;
/** What sums of an hour are made by, and their figures. */
export const HOUR_TYPES = {
  ...{ org_id: 'String', environment: WORD, project_id: WORD, key_id: WORD, model: WORD, provider: WORD },
  ...{ byok: 'Bool', app_id: WORD, ...FIGURE_TYPES },
} as const;
/** What sums by value of a UTC day are made by, and their figures: small numbers, of which the codec keeps a third less. */
export const VALUE_TYPES = {
  ...{ org_id: WORD, environment: WORD, kind: WORD, name: WORD, value: 'String' },
  ...(Object.fromEntries(
    Object.entries(FIGURE_TYPES).map(([name, type]) => [name, `${type} CODEC(T64, LZ4)`]),
  ) as Readonly<Record<keyof typeof FIGURE_TYPES, string>>),
};
/** 2^56 less a time in microseconds: the earlier, the higher. */
const VERSION =
  'UInt64 default bitShiftLeft(toUInt64(rank), 56) + (72057594037927935 - toUnixTimestamp64Micro(stored_at))';
const STORED = {
  stored_at: "DateTime64(6, 'UTC') default now64(6)",
  rank: 'UInt8',
  version: VERSION,
} as const;

interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly indexes: readonly string[];
  readonly rest: string;
}

/** Days become one part a day after their last row came: from then on `final` costs nothing, and what was erased is gone. */
const SETTINGS = `
  settings non_replicated_deduplication_window = 2000, ttl_only_drop_parts = 1,
           min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1`;

const TABLES: readonly Table[] = [
  {
    name: 'request_row',
    columns: { ts: TIME, ...ROW_TYPES, replays: 'UInt32 default 0', ...STORED },
    indexes: [
      'index by_id request_id type bloom_filter(0.01) granularity 4',
      'index by_user user_hash type bloom_filter(0.01) granularity 4',
      'index by_arrival stored_at type minmax granularity 1',
    ],
    rest: `engine = ReplacingMergeTree(version) partition by toYYYYMMDD(ts)
  order by (org_id, environment, ts, request_id) ttl toDateTime(ts) + toIntervalDay(${KEPT_DAYS.rows}) ${SETTINGS}`,
  },
  {
    name: 'request_attempt',
    columns: { call_ts: TIME, ts: TIME, ...ATTEMPT_TYPES, ...STORED },
    indexes: [],
    rest: `engine = ReplacingMergeTree(version) partition by toYYYYMMDD(call_ts)
  order by (request_id, attempt) ttl toDateTime(call_ts) + toIntervalDay(${KEPT_DAYS.attempts}) ${SETTINGS}`,
  },
  {
    name: 'request_replay',
    columns: { call_ts: TIME, request_id: 'String', times: 'UInt64' },
    indexes: [],
    rest: `engine = SummingMergeTree(times) partition by toYYYYMM(call_ts)
  order by request_id ttl toDateTime(call_ts) + toIntervalDay(${KEPT_DAYS.rows}) settings ttl_only_drop_parts = 1`,
  },
  // Sums of hours, which stay when their rows are gone (hours-store.ts).
  {
    name: 'usage_hour',
    columns: { hour: HOUR, made_at: MADE, ...HOUR_TYPES },
    indexes: [],
    rest: 'engine = MergeTree partition by toYYYYMM(hour) order by (org_id, environment, hour, made_at)',
  },
  {
    name: 'usage_seal',
    columns: { hour: HOUR, made_at: MADE, state: WORD },
    indexes: [],
    rest: 'engine = MergeTree order by (hour, made_at)',
  },
  // Sums by value of UTC days, which go when their rows go (values-store.ts).
  {
    name: 'usage_value',
    columns: { day: HOUR, made_at: MADE, ...VALUE_TYPES },
    indexes: [],
    rest: `engine = MergeTree partition by toYYYYMMDD(day) order by (org_id, environment, kind, name, value, made_at)
  ttl day + toIntervalDay(${KEPT_DAYS.rows + 1}) settings index_granularity = 1024, ttl_only_drop_parts = 1,
      min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1`,
  },
  {
    name: 'usage_value_seal',
    columns: { day: HOUR, org_id: 'String', made_at: MADE, state: WORD },
    indexes: [],
    rest: `engine = MergeTree order by (day, org_id, made_at) ttl day + toIntervalDay(${KEPT_DAYS.rows + 1})`,
  },
  {
    name: 'usage_look',
    columns: { until: HOUR, checked: MADE },
    indexes: [],
    rest: 'engine = MergeTree order by checked ttl toDateTime(checked) + toIntervalDay(60)',
  },
];

async function prepareTable(db: ClickHouse, { name, columns, indexes, rest }: Table): Promise<void> {
  const found = await db.query<{ name: string }>({
    name: 'analytics.columns',
    text: 'select name from system.columns where database = currentDatabase() and table = {table:String}',
    values: { table: name },
  });
  const have = new Set(found.map((column) => column.name));
  const wanted = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  if (have.size === 0) {
    const text = `create table if not exists ${name} (${[...wanted, ...indexes].join(', ')}) ${rest}`;
    await db.run({ name: 'analytics.create', text });
    return;
  }
  const missing = Object.entries(columns).filter(([column]) => !have.has(column));
  if (missing.length === 0) return;
  const added = missing.map(([column, type]) => `add column if not exists ${column} ${type}`);
  await db.run({ name: 'analytics.add_columns', text: `alter table ${name} ${added.join(', ')}` });
}

/** Makes the tables and columns that are missing. */
export async function prepareTables(db: ClickHouse): Promise<void> {
  for (const table of TABLES) await prepareTable(db, table);
}

/** Drops the days that are past their time at `at`; the server drops them itself too, by its own clock. How many went. */
export async function dropDays(db: ClickHouse, at: Date): Promise<number> {
  let dropped = 0;
  for (const [table, days] of [
    ['request_row', KEPT_DAYS.rows],
    ['request_attempt', KEPT_DAYS.attempts],
    ['usage_value', KEPT_DAYS.rows],
  ] as const) {
    const before = new Date(at.getTime() - days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
    const parts = await db.query<{ partition: string }>({
      name: 'analytics.old_days',
      text: `
        select distinct partition from system.parts
         where database = currentDatabase() and table = {table:String} and active and partition < {before:String}`,
      values: { table, before },
    });
    for (const { partition } of parts) {
      await db.run({
        name: 'analytics.drop_day',
        text: `alter table ${table} drop partition '${partition}'`,
      });
      dropped++;
    }
  }
  return dropped;
}

/** Resolves when rows can be summed, which needs more of a server than that it answers. @throws Error */
export async function lookAtTables(db: ClickHouse): Promise<void> {
  await prepareTables(db);
  await db.query({
    name: 'analytics.look',
    text: 'select count() as n, sum(cost_micro) as cost_micro from request_row where ts >= now() - 60',
  });
}
