// Sums of rows in ClickHouse.
import type { Environment, Id, RequestId } from '../../kernel/index.ts';
import type { OrgDay } from '../engine/types.ts';
import { isSaid, OTHER, type UsageApart, type UsageFigures, type UsageSum } from '../usage/sums-store.ts';
import type { usageGroupings } from '../usage.ts';
import type { UsageBy, UsageFilter } from '../usage-store.ts';
import { type ClickHouse, TooManyGroups } from './client.ts';
import { at, saidOf } from './filter-store.ts';
import {
  FIGURES,
  findSummed,
  OF_ROWS,
  OF_SUMS,
  SUMMED,
  type SummedHours,
  summedValues,
} from './hours-store.ts';
import { callsOf } from './read-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Rows of a shorter time are summed sooner than what is known of their hours is read. */
const SHORT_MS = 3 * DAY_MS;

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
const NAMED = ['project_id', 'key_id', 'model', 'provider'] as const;
type Named = (typeof NAMED)[number];

interface Asked {
  readonly name: string;
  /** Which calls, in rows and in sums alike; with its parameters, which include `starts`. */
  readonly of: string;
  /** A further condition that only rows can meet. */
  readonly said: string;
  readonly key: string;
  readonly key_of_sums: string;
  readonly from: Date;
  readonly to: Date;
  readonly values: Readonly<Record<string, unknown>>;
}

const OF_SPAN = `ts >= ${at('from')} and ts < ${at('to')}`;

/** Figures of rows, and the same of sums. */
interface Figures {
  readonly of_rows: string;
  readonly of_sums: string;
}
const ALL: Figures = { of_rows: FIGURES, of_sums: SUMMED };
const COST: Figures = {
  of_rows: 'sum(cost_micro) as cost_micro',
  of_sums: 'sum(s.cost_micro) as cost_micro',
};

function rowsText({ of, said, key }: Asked, figures: Figures, more: string): string {
  return `
    select roundDown(toUnixTimestamp64Milli(ts), {starts:Array(Int64)}) as bucket_ms, ${key} as key, ${figures.of_rows}
      from request_row final where ${of} and ${OF_SPAN}${said} ${more}
     group by bucket_ms, key`;
}

/** Whole hours that were summed are read from their sums, all others from rows. */
function bothText(asked: Asked, figures: Figures): string {
  return `
    select bucket_ms, key, ${figures.of_sums} from (
      select roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {starts:Array(Int64)}) as bucket_ms, ${asked.key_of_sums} as key,
             ${figures.of_sums} from usage_hour as s where ${asked.of} and ${OF_SUMS}
       group by bucket_ms, key
      union all ${rowsText(asked, figures, `and ${OF_ROWS}`)}) as s
     group by bucket_ms, key`;
}

/** Sums of a bucket have the key "", and those of a key are in no bucket. All are of the same calls: it is one statement. */
const apartText = (text: string) => `
  select grouping(key) as of_bucket, bucket_ms, key, ${SUMMED} from (${text}) as s
   group by grouping sets ((bucket_ms), (key))`;

interface Answer {
  readonly figures?: Figures;
  readonly apart?: boolean;
  /** Order and limit. */
  readonly order?: string;
  readonly groups_max?: number;
}

interface Summed extends UsageFigures {
  readonly bucket_ms: number;
  readonly key: string;
  /** Where sums are apart: 1 is of a bucket, 0 of a key. */
  readonly of_bucket?: 0 | 1;
}

function sum(
  db: ClickHouse,
  asked: Asked,
  hours: SummedHours | null,
  { figures = ALL, order = '', groups_max, apart = false }: Answer = {},
): Promise<Summed[]> {
  const { name, from, to, values } = asked;
  const text = hours === null ? rowsText(asked, figures, '') : bothText(asked, figures);
  return db.query<Summed>({
    name,
    text: (apart ? apartText(text) : text) + order,
    values: {
      ...{ ...values, from: from.getTime(), to: to.getTime() },
      ...(hours === null ? {} : summedValues(hours)),
    },
    ...(groups_max === undefined ? {} : { groups_max }),
  });
}

const toSum = ({ bucket_ms, of_bucket: _, ...sum }: Summed): UsageSum => ({
  ...sum,
  bucket: new Date(Number(bucket_ms)),
});

/** All groups where they are not more than `most`; else null, soon. */
async function sumFew(
  db: ClickHouse,
  asked: Asked,
  hours: SummedHours | null,
  { most, buckets, apart }: { readonly most: number; readonly buckets: number; readonly apart: boolean },
): Promise<Summed[] | null> {
  try {
    const sums = await sum(db, asked, hours, { groups_max: most * buckets, apart });
    const keys = new Set(sums.filter(({ of_bucket }) => of_bucket !== 1).map(({ key }) => key));
    return keys.size > most ? null : sums;
  } catch (error) {
    if (error instanceof TooManyGroups) return null;
    throw error;
  }
}

/** The `most` groups with the highest cost, and the rest as one. */
async function sumGreatest(
  db: ClickHouse,
  asked: Asked,
  hours: SummedHours | null,
  { most, apart }: { readonly most: number; readonly apart: boolean },
): Promise<Summed[]> {
  const whole = { ...asked, values: { ...asked.values, starts: [0] } };
  const order = ` order by cost_micro desc, key limit ${most}`;
  const totals = await sum(db, whole, hours, { figures: COST, order });
  const folded = (key: string) =>
    `if(${key} in (select arrayJoin({greatest:Array(String)})), ${key}, '${OTHER}')`;
  const narrowed = {
    ...{ ...asked, key: folded(asked.key), key_of_sums: folded(asked.key_of_sums) },
    values: { ...asked.values, greatest: totals.map(({ key }) => key) },
  };
  return sum(db, narrowed, hours, { apart });
}

/** The hours whose sums may answer; those whose rows are gone even where only rows know what is asked, as "". */
async function hoursOf(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<SummedHours | null> {
  const { org_id, environment, from, to, user, session, tag, tag_value } = filter;
  const asks_of_rows = [user, session, tag].some((value) => value !== null);
  if (asks_of_rows && ![user, session, tag === null ? null : (tag_value ?? tag)].every((value) => !value))
    return null;
  const of_rows = asks_of_rows || isSaid(by.group);
  if (to.getTime() - from.getTime() <= SHORT_MS && from.getTime() >= by.kept_from) return null;
  const end = of_rows ? new Date(Math.min(to.getTime(), by.kept_from)) : to;
  const hours = await findSummed(db, { org_ids: [org_id], environment, from, to: end });
  if (hours === null) return null;
  // An hour without rows cannot be split between two buckets: it is in the one that it begins in.
  const split = by.starts
    .filter((start, i) => i > 0 && start % HOUR_MS !== 0)
    .map((start) => Math.floor(start / HOUR_MS) * HOUR_MS)
    .filter((hour) => hour >= by.kept_from && hour < hours.until);
  return { ...hours, of_rows: [...new Set([...hours.of_rows, ...split])] };
}

async function sumBy(db: ClickHouse, filter: UsageFilter, by: UsageBy, apart: boolean): Promise<Summed[]> {
  const { org_id, environment, from, to, user, session, app, tag, tag_value, ...others } = filter;
  // Whatever is added to filters does not compile until it is asked here.
  const asked: Readonly<Record<Named, string | null>> & {
    [K in Exclude<keyof typeof others, Named>]: never;
  } = others;
  const named = NAMED.filter((name) => asked[name] !== null);
  const said = saidOf({ user, session, app: null, tag, tag_value });
  const key = by.group === null ? `''` : KEYS[by.group as keyof typeof KEYS];
  const hours = await hoursOf(db, filter, by);
  const equal = [...named, ...(app === null ? [] : ['app_id'])];
  const question: Asked = {
    name: 'analytics.sum_usage',
    of: ['org_id', 'environment', ...equal].map((name) => `${name} = {${name}:String}`).join(' and '),
    ...{ said: said.text, key, key_of_sums: isSaid(by.group) ? `''` : key, from, to },
    values: {
      ...{ org_id, environment, app_id: app, tag: by.tag ?? '', starts: by.starts, ...said.values },
      ...Object.fromEntries(named.map((name) => [name, asked[name]])),
    },
  };
  if (by.most === null) return sum(db, question, hours, { apart });
  const few = await sumFew(db, question, hours, { most: by.most, buckets: by.starts.length, apart });
  return few ?? sumGreatest(db, question, hours, { most: by.most, apart });
}

/** Sums per bucket and value of the group. */
export async function sumUsage(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<UsageSum[]> {
  return (await sumBy(db, filter, by, false)).map(toSum);
}

/** Sums per bucket, and sums per value of the group. */
export async function sumUsageApart(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<UsageApart> {
  const sums = await sumBy(db, filter, by, true);
  const [series, groups] = [1, 0].map((is) => sums.filter(({ of_bucket }) => of_bucket === is).map(toSum));
  return {
    series: (series as UsageSum[]).map(({ key: _, ...sum }) => sum),
    groups: (groups as UsageSum[]).map(({ bucket: _, ...sum }) => sum),
  };
}

/** Sums of the live calls of several organizations. */
export async function sumOrgs(
  db: ClickHouse,
  args: { readonly org_ids: readonly Id<'org'>[]; readonly from: Date; readonly to: Date },
  by: { readonly starts: readonly number[]; readonly group: 'org' | 'model' | null },
): Promise<UsageSum[]> {
  if (args.org_ids.length === 0) return [];
  const key = { org: 'org_id', model: 'model', none: `''` }[by.group ?? 'none'];
  const sums = await sum(
    db,
    {
      name: 'analytics.sum_orgs',
      of: `org_id in {org_ids:Array(String)} and environment = 'live'`,
      ...{ said: '', key, key_of_sums: key, from: args.from, to: args.to },
      values: { org_ids: args.org_ids, starts: by.starts },
    },
    await findSummed(db, { ...args, environment: 'live' }),
  );
  return sums.map(toSum);
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

/** Calls of an organization by day, those of hours whose rows are gone from their sums. */
const ORG_DAYS = `
  select environment, formatDateTime(ts, '%F') as day, model, provider, byok, ${FIGURES}
    from request_row final where org_id = {org_id:String}
   group by environment, day, model, provider, byok
  union all
  select environment, formatDateTime(hour, '%F') as day, model, provider, byok, ${SUMMED}
    from usage_hour as s
   where org_id = {org_id:String} and hour < (select toStartOfDay(if(count() = 0, now(), min(ts))) from request_row)
     and (hour, made_at) in (select hour, max(made_at) from usage_seal where state = 'summed' group by hour)
   group by environment, day, model, provider, byok`;

/** How many calls an organization has. */
export async function countOrg(db: ClickHouse, org_id: Id<'org'>): Promise<number> {
  const [row] = await db.query<{ n: number }>({
    name: 'analytics.count_org',
    text: `select sum(requests) as n from (${ORG_DAYS})`,
    values: { org_id },
  });
  return row?.n ?? 0;
}

/** All calls of an organization by day. */
export function sumOrg(db: ClickHouse, org_id: Id<'org'>): Promise<OrgDay[]> {
  return db.query<OrgDay>({ name: 'analytics.sum_org', text: ORG_DAYS, values: { org_id } });
}
