// Sums of rows in ClickHouse.
import { SANDBOX } from '../../catalog/index.ts';
import type { Environment, Id, RequestId } from '../../kernel/index.ts';
import { excusedOf, STEP } from '../days/store.ts';
import type { AppDaySum, EndpointDaySum, OrgDay } from '../engine/types.ts';
import type { usageGroupings } from '../usage.ts';
import type { UsageBy, UsageFilter, UsageSum } from '../usage-store.ts';
import type { ClickHouse } from './client.ts';
import { at, saidOf } from './filter-store.ts';
import { callsOf } from './read-store.ts';

const DAY_MS = 86_400_000;

/** The key of each grouping; one that is added does not compile until it has a key here. */
const KEYS: Readonly<Record<(typeof usageGroupings)[number], string>> = {
  project: 'project_id',
  key: 'key_id',
  model: 'model',
  provider: 'provider',
  byok: `if(byok, 'true', 'false')`,
  app: 'app_id',
  tag: 'tags[{tag:String}]',
  user: 'user_hash',
  session: 'session_id',
};
const FIGURES = `
  count() as requests, countIf(status = 'ok') as ok, countIf(status in ('error', 'rejected')) as errors,
  sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cache_read_tokens) as cache_read_tokens,
  sum(cache_write_tokens) as cache_write_tokens, sum(reasoning_tokens) as reasoning_tokens, sum(cost_micro) as cost_micro`;
const NAMED = ['project_id', 'key_id', 'model', 'provider'] as const;
type Named = (typeof NAMED)[number];

/** Sums per bucket and value of the group. */
export async function sumUsage(
  db: ClickHouse,
  filter: UsageFilter,
  by: Pick<UsageBy, 'starts' | 'group' | 'tag'>,
): Promise<UsageSum[]> {
  const { org_id, environment, from, to, user, session, app, tag, tag_value, ...others } = filter;
  // Whatever is added to filters does not compile until it is asked here.
  const asked: Readonly<Record<Named, string | null>> & {
    [K in Exclude<keyof typeof others, Named>]: never;
  } = others;
  const key = by.group === null ? `''` : KEYS[by.group as keyof typeof KEYS];
  const named = NAMED.filter((name) => asked[name] !== null);
  const said = saidOf({ user, session, app, tag, tag_value });
  const rows = await db.query<Omit<UsageSum, 'bucket'> & { bucket_ms: number }>({
    name: 'analytics.sum_usage',
    text: `
      select roundDown(toUnixTimestamp64Milli(ts), {starts:Array(Int64)}) as bucket_ms, ${key} as key, ${FIGURES}
        from request_row final
       where org_id = {org_id:String} and environment = {environment:String} and ts >= ${at('from')} and ts < ${at('to')}
         ${named.map((name) => `and ${name} = {${name}:String}`).join(' ')}${said.text}
       group by bucket_ms, key`,
    values: {
      ...{ org_id, environment, from: from.getTime(), to: to.getTime(), tag: by.tag ?? '' },
      ...{ starts: by.starts, ...said.values },
      ...Object.fromEntries(named.map((name) => [name, asked[name]])),
    },
  });
  return rows.map(({ bucket_ms, ...row }) => ({ ...row, bucket: new Date(Number(bucket_ms)) }));
}

/** Sums of the live calls of several organizations. */
export async function sumOrgs(
  db: ClickHouse,
  args: { readonly org_ids: readonly Id<'org'>[]; readonly from: Date; readonly to: Date },
  by: { readonly starts: readonly number[]; readonly group: 'org' | 'model' | null },
): Promise<UsageSum[]> {
  const { org_ids, from, to } = args;
  if (org_ids.length === 0) return [];
  const key = { org: 'org_id', model: 'model', none: `''` }[by.group ?? 'none'];
  const rows = await db.query<Omit<UsageSum, 'bucket'> & { bucket_ms: number }>({
    name: 'analytics.sum_orgs',
    text: `
      select roundDown(toUnixTimestamp64Milli(ts), {starts:Array(Int64)}) as bucket_ms, ${key} as key, ${FIGURES}
        from request_row final
       where org_id in {org_ids:Array(String)} and environment = 'live' and ts >= ${at('from')} and ts < ${at('to')}
       group by bucket_ms, key`,
    values: { org_ids, from: from.getTime(), to: to.getTime(), starts: by.starts },
  });
  return rows.map(({ bucket_ms, ...row }) => ({ ...row, bucket: new Date(Number(bucket_ms)) }));
}

/** Calls since `since` that ended because no provider had capacity. */
export async function countCapacity(
  db: ClickHouse,
  args: { readonly org_id: Id<'org'>; readonly environment: Environment; readonly since: Date },
): Promise<number> {
  const { org_id, environment, since } = args;
  const [row] = await db.query<{ calls: number }>({
    name: 'analytics.count_capacity',
    text: `
      select count() as calls from request_row final
       where org_id = {org_id:String} and environment = {environment:String} and ts >= ${at('since')}
         and error_code in ('upstream_rate_limited', 'upstream_overloaded')`,
    values: { org_id, environment, since: since.getTime() },
  });
  return row?.calls ?? 0;
}

/** What the rows of these calls say that they cost. */
export async function readCosts(
  db: ClickHouse,
  { org_id, request_ids }: { readonly org_id: Id<'org'>; readonly request_ids: readonly RequestId[] },
): Promise<Map<RequestId, number>> {
  if (request_ids.length === 0) return new Map();
  const rows = await db.query<{ request_id: RequestId; cost_micro: number }>({
    name: 'analytics.read_costs',
    text: `
      select request_id, cost_micro from request_row final
       where org_id = {org_id:String} and environment in ('live', 'test') and ts >= ${at('first')} and ts <= ${at('last')}
         and request_id in {ids:Array(String)}`,
    values: { org_id, ...callsOf(request_ids) },
  });
  return new Map(rows.map(({ request_id, cost_micro }) => [request_id, cost_micro]));
}

/** Which of `models` each organization has called since `since`. */
export async function listModelsUsed(
  db: ClickHouse,
  of: { readonly org_ids: readonly Id<'org'>[]; readonly models: readonly string[]; readonly since: Date },
): Promise<Map<Id<'org'>, readonly string[]>> {
  if (of.org_ids.length === 0 || of.models.length === 0) return new Map();
  const rows = await db.query<{ org_id: Id<'org'>; models: string[] }>({
    name: 'analytics.list_models_used',
    // However often a row is stored, its model is the same.
    text: `
      select org_id, groupUniqArray(model) as models from request_row
       where org_id in {org_ids:Array(String)} and environment in ('live', 'test') and ts >= ${at('since')}
         and model in {models:Array(String)}
       group by org_id`,
    values: { org_ids: of.org_ids, models: of.models, since: of.since.getTime() },
  });
  return new Map(rows.map(({ org_id, models }) => [org_id, models]));
}

/** Organizations with live usage since `since`. */
export async function listUsers(db: ClickHouse, since: Date): Promise<Id<'org'>[]> {
  const rows = await db.query<{ org_id: Id<'org'> }>({
    name: 'analytics.list_users',
    text: `select distinct org_id from request_row where environment = 'live' and ts >= ${at('since')}`,
    values: { since: since.getTime() },
  });
  return rows.map(({ org_id }) => org_id);
}

const EXCUSED = excusedOf('');

const dayOf = (day: string) => ({ from: Date.parse(day), to: Date.parse(day) + DAY_MS, sandbox: SANDBOX });

interface Steps {
  readonly endpoint_id: string;
  readonly kind: 'ttft' | 'tpot';
  readonly step: number;
  readonly n: number;
}

function countsOf(steps: readonly Steps[], kind: Steps['kind']): Record<string, number> {
  return Object.fromEntries(steps.filter((one) => one.kind === kind).map(({ step, n }) => [step, n]));
}

/** What live attempts of calls of a UTC day did. */
export async function sumEndpoints(db: ClickHouse, day: string): Promise<EndpointDaySum[]> {
  const attempts = `
    select endpoint_id, outcome = 'ok' as ok, ${EXCUSED} and outcome <> 'ok' as excused,
           if(outcome = 'ok', ttft_ms, null) as ttft,
           if(outcome = 'ok' and output_tokens > 1 and duration_ms > ttft_ms,
              (duration_ms - ttft_ms) / (output_tokens - 1) * 1000, null) as tpot
      from request_attempt final
     where call_ts >= ${at('from')} and call_ts < ${at('to')} and environment = 'live' and endpoint_id <> ''
       and provider <> {sandbox:String}`;
  const values = dayOf(day);
  const [sums, steps] = await Promise.all([
    db.query<Omit<EndpointDaySum, 'ttft_counts' | 'tpot_counts'>>({
      name: 'analytics.sum_endpoint_day',
      text: `
        select endpoint_id, count() as attempts, countIf(ok) as ok, countIf(excused) as excused,
               quantileExactInclusiveOrNull(0.5)(ttft) as ttft_p50_ms,
               quantileExactInclusiveOrNull(0.95)(ttft) as ttft_p95_ms,
               quantileExactInclusiveOrNull(0.5)(tpot) / 1000 as tpot_p50_ms
          from (${attempts}) group by endpoint_id`,
      values,
    }),
    db.query<Steps>({
      name: 'analytics.sum_endpoint_steps',
      text: `
        select endpoint_id, time.1 as kind, toInt32(floor(log(greatest(assumeNotNull(time.2), 1)) / log(${STEP}))) as step,
               count() as n
          from (${attempts}) array join [('ttft', ttft), ('tpot', tpot)] as time
         where time.2 is not null group by endpoint_id, kind, step`,
      values,
    }),
  ]);
  const of_endpoint = Map.groupBy(steps, ({ endpoint_id }) => endpoint_id);
  return sums.map((sum) => {
    const own = of_endpoint.get(sum.endpoint_id) ?? [];
    return { ...sum, ttft_counts: countsOf(own, 'ttft'), tpot_counts: countsOf(own, 'tpot') };
  });
}

/** The answered live calls of a UTC day by organization, app and model. */
export async function sumAppCalls(db: ClickHouse, day: string): Promise<AppDaySum[]> {
  const rows = await db.query<Omit<AppDaySum, 'first_at'> & { first_ms: number }>({
    name: 'analytics.sum_app_day',
    text: `
      select org_id, app_id, model, count() as requests,
             sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) as tokens,
             toUnixTimestamp64Milli(min(ts)) as first_ms
        from request_row final
       where ts >= ${at('from')} and ts < ${at('to')} and environment = 'live' and status = 'ok'
         and provider <> {sandbox:String}
       group by org_id, app_id, model`,
    values: dayOf(day),
  });
  return rows.map(({ first_ms, ...row }) => ({ ...row, first_at: new Date(first_ms) }));
}

/** Count and cost of a UTC day, of all organizations. */
export async function sumOfDay(db: ClickHouse, day: string): Promise<{ rows: number; cost_micro: number }> {
  const { from, to } = dayOf(day);
  const [sum] = await db.query<{ rows: number; cost_micro: number }>({
    name: 'analytics.sum_of_day',
    text: `
      select count() as rows, sum(cost_micro) as cost_micro from request_row final
       where ts >= ${at('from')} and ts < ${at('to')}`,
    values: { from, to },
  });
  return sum ?? { rows: 0, cost_micro: 0 };
}

/** How many calls an organization has. */
export async function countOrg(db: ClickHouse, org_id: Id<'org'>): Promise<number> {
  const [row] = await db.query<{ n: number }>({
    name: 'analytics.count_org',
    text: 'select count() as n from request_row final where org_id = {org_id:String}',
    values: { org_id },
  });
  return row?.n ?? 0;
}

/** All calls of an organization by day. */
export function sumOrg(db: ClickHouse, org_id: Id<'org'>): Promise<OrgDay[]> {
  return db.query<OrgDay>({
    name: 'analytics.sum_org',
    text: `
      select environment, formatDateTime(ts, '%F') as day, model, provider, byok, ${FIGURES}
        from request_row final where org_id = {org_id:String}
       group by environment, day, model, provider, byok`,
    values: { org_id },
  });
}
