// SQL of request rows.
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, type Environment, type Id, type RequestId, ulidMs } from '../kernel/index.ts';
import { batchLiterals } from './encode.ts';
import { armSampleColumns } from './samples/experiments.ts';
import { sampleColumns } from './samples/samples.ts';
import { shadowSampleColumns } from './samples/shadows.ts';
import type { RequestRow, StoredAttempt, StoredRow } from './types.ts';
import { dropOldSpans } from './values/spans-store.ts';
import { dropSaid } from './values/store.ts';

/** The columns of a row but `replays`, which is added later than the row. */
export const ROW_COLUMNS = `
  request_id, ts, org_id, environment, project_id, key_id, model, provider, endpoint_id, region, status,
  http_status, error_code, stop_reason, attempts, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, reasoning_tokens, usage_source, cost_micro, ttft_ms, duration_ms, upstream_ttft_ms,
  gw_overhead_ms, stream, byok, zdr, logged, app_id, user_hash, cell, dialect_in, upstream_model,
  price_version_id, bytes_in, bytes_out, tool_calls, has_images, has_tools, has_schema, tags, user_agent,
  client_ip_prefix, route_trace, warnings, session_id`;
const ATTEMPT_COLUMNS = `
  request_id, call_ts, attempt, ts, provider, endpoint_id, pool_id, key_hint, outcome, http_status, error_class,
  ttft_ms, duration_ms, output_tokens`;

const ALL_OF_ROW = ROW_COLUMNS.split(',').map((name) => `${name.trim()} = excluded.${name.trim()}`);
const ALL_OF_ATTEMPT = ATTEMPT_COLUMNS.split(',').map((name) => `${name.trim()} = excluded.${name.trim()}`);

/** Sums the samples of those rows that were not there yet, so that a batch that is sent twice is counted once. */
const INSERT_SAMPLES = `
  insert into canary_sample (org_id, name, version, endpoint_id, canary_calls, canary_errors, control_calls,
                             control_errors)
  select row.org_id, name, version, endpoint_id,
         count(*) filter (where is_canary), count(*) filter (where is_canary and failed),
         count(*) filter (where not is_canary), count(*) filter (where not is_canary and failed)
    from unnest($3::text[], $4::text[], $5::int[], $6::text[], $7::bool[], $8::bool[])
           as s (request_id, name, version, endpoint_id, is_canary, failed)
    join row using (request_id)
   group by row.org_id, name, version, endpoint_id`;

/** The same of experiments, a row for each call; `at` is the number of the first parameter. */
function insertArmSamples(at: number): string {
  const $ = (i: number) => `$${at + i}`;
  return `
  insert into experiment_sample (org_id, environment, name, version, experiment, arm, bucket, hour, ttft_ms, failed,
                                 cost_micro, output_tokens)
  select row.org_id, row.environment, name, version, experiment, arm, bucket, date_trunc('hour', row.ts, 'UTC'),
         row.ttft_ms, row.status = 'error', row.cost_micro, row.output_tokens
    from unnest(${$(0)}::text[], ${$(1)}::text[], ${$(2)}::int[], ${$(3)}::text[], ${$(4)}::text[], ${$(5)}::int[])
           as s (request_id, name, version, experiment, arm, bucket)
    join row using (request_id)`;
}

/** The same of shadows; `at` is the number of the first parameter. */
function insertShadowSamples(at: number): string {
  const types = 'text text int text text text bool bigint bigint float8 float8'.split(' ');
  const columns = types.map((type, i) => `$${at + i}::${type}[]`).join(', ');
  return `
  insert into shadow_sample (org_id, environment, hour, failed, name, version, shadow_endpoint, primary_endpoint, bill,
                             stop_mismatch, primary_cost_micro, shadow_cost_micro, primary_ttft_ms, shadow_ttft_ms)
  select row.org_id, row.environment, date_trunc('hour', row.ts, 'UTC'), row.status <> 'ok', name, version,
         shadow_endpoint, primary_endpoint, bill, stop_mismatch, primary_cost_micro, shadow_cost_micro, primary_ttft_ms,
         shadow_ttft_ms
    from unnest(${columns}) as s (request_id, name, version, shadow_endpoint, primary_endpoint, bill, stop_mismatch,
                                  primary_cost_micro, shadow_cost_micro, primary_ttft_ms, shadow_ttft_ms)
    join row using (request_id)`;
}

/** What a batch says of canaries, experiments and shadows, as further parts of the statement that writes it. */
function samplesOf(batch: readonly RequestRow[]) {
  const canaries = sampleColumns(batch);
  const arms = armSampleColumns(batch);
  const shadows = shadowSampleColumns(batch);
  const before = (...columns: (readonly unknown[][] | null)[]) =>
    columns.reduce((at, found) => at + (found?.length ?? 0), 3);
  const parts = [
    canaries === null ? '' : `, sample as (${INSERT_SAMPLES})`,
    arms === null ? '' : `, arm_sample as (${insertArmSamples(before(canaries))})`,
    shadows === null ? '' : `, shadow as (${insertShadowSamples(before(canaries, arms))})`,
  ];
  const ends = [canaries && '_and_samples', arms && '_and_arms', shadows && '_and_shadows'];
  return {
    name: ends.join(''),
    text: parts.join(''),
    values: [...(canaries ?? []), ...(arms ?? []), ...(shadows ?? [])],
  };
}

/** Whether `row` was written by the sweeper, for a call whose process seemed to be dead. */
function isLost({ attempt_rows: [attempt] }: RequestRow): boolean {
  return attempt?.error_class === 'gateway_lost';
}

/** Leaves one row per call, since a statement cannot write a row twice: of a lost and an ended one, the ended. */
function oncePerCall(batch: readonly RequestRow[]): readonly RequestRow[] {
  if (!batch.some(isLost)) return batch;
  const ended = new Set(batch.filter((row) => !isLost(row)).map(({ request_id }) => request_id));
  return batch.filter((row) => !isLost(row) || !ended.has(row.request_id));
}

/**
 * Inserts rows and their attempts in one statement; a row that is there already stays as it is, unless its call was
 * taken for lost and has ended after all (such a settle is charged and corrects the row), or its row was rebuilt from
 * metering. The row of a lost call, which has no model, corrects none that has one.
 */
export async function insertRows(db: Db, batch: readonly RequestRow[]): Promise<void> {
  const once = oncePerCall(batch);
  const { rows, attempts } = batchLiterals(once);
  const samples = samplesOf(once);
  await db.query({
    name: `analytics.insert_rows${samples.name}`,
    text: `
      with row as (
        insert into request_row as r (${ROW_COLUMNS})
        select ${ROW_COLUMNS} from unnest($1::request_row_v2[])
        on conflict (request_id, ts) do update set ${ALL_OF_ROW}
          where (r.model = '' or excluded.model <> '')
            and exists (select from request_attempt a
                         where a.request_id = r.request_id and a.attempt = 1 and a.call_ts = r.ts
                           and a.error_class in ('gateway_lost', 'rebuilt'))
        returning request_id, org_id, environment, ts, status, ttft_ms, cost_micro, output_tokens)${samples.text}
      insert into request_attempt as a (${ATTEMPT_COLUMNS})
      select ${ATTEMPT_COLUMNS} from unnest($2::request_attempt_v1[])
      on conflict (request_id, attempt, call_ts) do update set ${ALL_OF_ATTEMPT}
        where a.error_class in ('gateway_lost', 'rebuilt')`,
    values: [rows, attempts, ...samples.values],
  });
}

/** Adds `times` to the replays of each row; returns the ids whose row is there. */
export async function addReplays(
  db: Db,
  counts: readonly { readonly request_id: RequestId; readonly times: number }[],
): Promise<RequestId[]> {
  const { rows } = await db.query<{ request_id: RequestId }>({
    name: 'analytics.add_replays',
    text: `
      update request_row r set replays = r.replays + c.times
        from unnest($1::text[], $2::timestamptz[], $3::int[]) as c (request_id, ts, times)
       where r.request_id = c.request_id and r.ts = c.ts
      returning r.request_id`,
    values: [
      counts.map(({ request_id }) => request_id),
      counts.map(({ request_id }) => new Date(ulidMs(request_id))),
      counts.map(({ times }) => times),
    ],
  });
  return rows.map(({ request_id }) => request_id);
}

/** Makes the day partitions from `first` to `last` (dates, UTC) that are missing; returns how many were made. */
export async function prepareDays(db: Db, args: { first: string; last: string }): Promise<number> {
  const { rows } = await db.query<{ made: number }>({
    name: 'analytics.prepare_days',
    text: 'select analytics_prepare_days($1, $2) as made',
    values: [args.first, args.last],
  });
  return rows[0]?.made ?? 0;
}

const DAY_MS = 86_400_000;
/** For how many days rows of calls can be looked up, and rows of attempts. */
export const KEPT_DAYS = { rows: 400, attempts: 90 } as const;

/** A day that has been left for a day is asked for so often in one turn, each time for 100 ms. */
const OVERDUE_TRIES = 10;
const OVERDUE_PAUSE_MS = 200;

/** The oldest partition that should have gone a day ago and more. */
async function findOverdue(db: Db, rows_until: string, attempts_until: string): Promise<string | null> {
  const { rows } = await db.query<{ part: string }>({
    name: 'analytics.find_overdue',
    text: `
      select c.relname as part from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent in ('request_row'::regclass, 'request_attempt'::regclass) and c.relname ~ '_\\d{8}$'
         and to_date(right(c.relname, 8), 'YYYYMMDD') + 1
             < case i.inhparent when 'request_row'::regclass then $1::date else $2::date end
       order by right(c.relname, 8), c.relname limit 1`,
    values: [rows_until, attempts_until],
  });
  return rows[0]?.part ?? null;
}

/**
 * Drops the days of rows and of attempts that are past their time at `at`, and what sums say of callers' words then; returns how many
 * partitions went. What something reads meanwhile is left to the next turn. A job.
 * @throws Error when a day has been left for a day: nobody learns otherwise that rows are kept longer than they may be.
 */
export async function dropOldDays(db: Db, at: Date): Promise<number> {
  const before = (days: number) => new Date(at.getTime() - days * DAY_MS).toISOString().slice(0, 10);
  await dropSaid(db, new Date(before(KEPT_DAYS.rows)));
  await dropOldSpans(db, new Date(before(KEPT_DAYS.rows)));
  const untils = [before(KEPT_DAYS.rows), before(KEPT_DAYS.attempts)] as const;
  let dropped = 0;
  let refused = 0;
  for (;;) {
    const { rows } = await db.query<{ part: string | null }>({
      name: 'analytics.drop_day',
      text: 'select analytics_drop_day($1, $2) as part',
      values: [...untils],
    });
    if ((rows[0]?.part ?? null) !== null) {
      dropped++;
      continue;
    }
    const overdue = await findOverdue(db, ...untils);
    if (overdue === null) return dropped;
    if (++refused === OVERDUE_TRIES)
      throw new Error(`${overdue} is past its time and cannot be dropped: something reads it for long`);
    await delay(OVERDUE_PAUSE_MS);
  }
}

/** One row of an organization; `environment` null sees both. Null when missing or out of sight. */
export async function findRow(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; request_id: string },
): Promise<StoredRow | null> {
  const { rows } = await db.query<StoredRow>({
    name: 'analytics.find_row',
    text: `
      select ${ROW_COLUMNS}, replays from request_row
       where request_id = $1 and ts = $2 and org_id = $3 and ($4::text is null or environment = $4)`,
    values: [args.request_id, new Date(ulidMs(args.request_id)), args.org_id, args.environment],
  });
  return rows[0] ?? null;
}

/** The attempts of one call in order. The caller has found the row already, and so may see them. */
export async function listAttempts(db: Db, request_id: string): Promise<StoredAttempt[]> {
  const { rows } = await db.query<StoredAttempt>({
    name: 'analytics.list_attempts',
    text: `
      select attempt, ts, provider, endpoint_id, pool_id, key_hint, outcome, http_status, error_class, ttft_ms,
             duration_ms, output_tokens
        from request_attempt where request_id = $1 and call_ts = $2 order by attempt`,
    values: [request_id, new Date(ulidMs(request_id))],
  });
  return rows;
}

export interface RowFilter {
  readonly since: Date | null;
  readonly until: Date | null;
  readonly project_id: string | null;
  readonly key_id: string | null;
  readonly model: string | null;
  readonly provider: string | null;
  readonly status: string | null;
  readonly errors_only: boolean;
  readonly fallbacks_only: boolean;
  readonly min_cost_micro: number | null;
  readonly max_cost_micro: number | null;
  /** Prefix of a request id, upper case. */
  readonly q: string | null;
  /** The `user_hash`; "" is the calls without one. The same for session and app. */
  readonly user: string | null;
  readonly session: string | null;
  readonly app: string | null;
  /** Of a tag: its name, and its value ("" where a call does not have it); without a value, calls that have it. */
  readonly tag: string | null;
  readonly tag_value: string | null;
}

/** What a filter asks of a row, with its values as $3 to $19 (`filterValues`). */
export const FILTERED = `
         and ($3::timestamptz is null or ts >= $3)
         and ($4::timestamptz is null or ts < $4)
         and ($5::text is null or project_id = $5)
         and ($6::text is null or key_id = $6)
         and ($7::text is null or model = $7)
         and ($8::text is null or provider = $8)
         and ($9::text is null or status = $9)
         and (not $10 or status in ('error', 'rejected'))
         and (not $11 or attempts > 1)
         and ($12::bigint is null or cost_micro >= $12)
         and ($13::bigint is null or cost_micro <= $13)
         and ($14::text is null or starts_with(request_id, $14))
         and ($15::text is null or user_hash = $15)
         and ($16::text is null or session_id = $16)
         and ($17::text is null or app_id = $17)
         and ($18::text is null or ($19::text is null and tags ? $18) or coalesce(tags ->> $18, '') = $19)`;

/** The values of `FILTERED`, in their order. */
export function filterValues(filter: RowFilter): readonly unknown[] {
  const { since, until, project_id, key_id, model, provider, status } = filter;
  const { errors_only, fallbacks_only, min_cost_micro, max_cost_micro, q } = filter;
  const { user, session, app, tag, tag_value } = filter;
  return [
    ...[since, until, project_id, key_id, model, provider, status],
    ...[errors_only, fallbacks_only, min_cost_micro, max_cost_micro, q],
    ...[user, session, app, tag, tag_value],
  ];
}

/** A page of rows, newest first, strictly after `after`. `since` is inclusive, `until` exclusive. */
export async function listRows(
  db: Db,
  args: {
    org_id: Id<'org'>;
    environment: Environment;
    filter: RowFilter;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<StoredRow[]> {
  const { filter, after } = args;
  const { rows } = await db.query<StoredRow>({
    name: 'analytics.list_rows',
    text: `
      select ${ROW_COLUMNS}, replays from request_row
       where org_id = $1 and environment = $2 ${FILTERED}
         and ($20::timestamptz is null or (ts, request_id) < ($20, $21))
       order by ts desc, request_id desc
       limit $22`,
    values: [
      ...[args.org_id, args.environment, ...filterValues(filter)],
      ...[after === null ? null : new Date(after.at), after?.id ?? null, args.limit],
    ],
  });
  return rows;
}
