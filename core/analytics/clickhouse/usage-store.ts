// Sums of rows in ClickHouse.
import type { Environment, Id, RequestId } from '../../kernel/index.ts';
import type { OrgDay } from '../engine/types.ts';
import { OTHER, type UsageSum } from '../usage/sums-store.ts';
import type { UsageBy, UsageFilter } from '../usage-store.ts';
import { type ClickHouse, TooManyGroups } from './client.ts';
import { FIGURES, SUMMED } from './figures-store.ts';
import { at } from './filter-store.ts';
import { findSummed, OF_ROWS, OF_SUMS, type SummedHours, summedValues } from './hours-store.ts';
import { hoursOf, OF_SPAN, type Question, questionOf } from './question-store.ts';
import { callsOf } from './read-store.ts';

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

function rowsText({ of, said, key }: Question, figures: Figures, more: string): string {
  return `
    select roundDown(toUnixTimestamp64Milli(ts), {starts:Array(Int64)}) as bucket_ms, ${key} as key, ${figures.of_rows}
      from request_row final where ${of} and ${OF_SPAN}${said} ${more}
     group by bucket_ms, key`;
}

/** Whole hours that were summed are read from their sums, all others from rows. */
function bothText(asked: Question, figures: Figures): string {
  return `
    select bucket_ms, key, ${figures.of_sums} from (
      select roundDown(toInt64(toUnixTimestamp(hour)) * 1000, {starts:Array(Int64)}) as bucket_ms, ${asked.key_of_sums} as key,
             ${figures.of_sums} from usage_hour as s where ${asked.of} and ${OF_SUMS}
       group by bucket_ms, key
      union all ${rowsText(asked, figures, `and ${OF_ROWS}`)}) as s
     group by bucket_ms, key`;
}

interface Answer {
  readonly figures?: Figures;
  /** Order and limit. */
  readonly order?: string;
  readonly groups_max?: number;
}

async function sum(
  db: ClickHouse,
  asked: Question,
  hours: SummedHours | null,
  { figures = ALL, order = '', groups_max }: Answer = {},
): Promise<UsageSum[]> {
  const { name, from, to, values } = asked;
  const rows = await db.query<Omit<UsageSum, 'bucket'> & { bucket_ms: number }>({
    name,
    text: (hours === null ? rowsText(asked, figures, '') : bothText(asked, figures)) + order,
    values: {
      ...{ ...values, from: from.getTime(), to: to.getTime() },
      ...(hours === null ? {} : summedValues(hours)),
    },
    ...(groups_max === undefined ? {} : { groups_max }),
  });
  return rows.map(({ bucket_ms, ...row }) => ({ ...row, bucket: new Date(Number(bucket_ms)) }));
}

/** All groups where they are not more than `most`; else null, soon. */
async function sumFew(
  db: ClickHouse,
  asked: Question,
  hours: SummedHours | null,
  { most, buckets }: { readonly most: number; readonly buckets: number },
): Promise<UsageSum[] | null> {
  try {
    const sums = await sum(db, asked, hours, { groups_max: most * buckets });
    return new Set(sums.map(({ key }) => key)).size > most ? null : sums;
  } catch (error) {
    if (error instanceof TooManyGroups) return null;
    throw error;
  }
}

/** The `most` groups with the highest cost, and the rest as one. */
async function sumGreatest(
  db: ClickHouse,
  asked: Question,
  hours: SummedHours | null,
  most: number,
): Promise<UsageSum[]> {
  const whole = { ...asked, values: { ...asked.values, starts: [0] } };
  const order = ` order by cost_micro desc, key limit ${most}`;
  const totals = await sum(db, whole, hours, { figures: COST, order });
  const folded = (key: string) =>
    `if(${key} in (select arrayJoin({greatest:Array(String)})), ${key}, '${OTHER}')`;
  const narrowed = {
    ...{ ...asked, key: folded(asked.key), key_of_sums: folded(asked.key_of_sums) },
    values: { ...asked.values, greatest: totals.map(({ key }) => key) },
  };
  return sum(db, narrowed, hours);
}

/** Sums per bucket and value of the group. */
export async function sumUsage(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<UsageSum[]> {
  const [question, hours] = [questionOf(filter, by), await hoursOf(db, filter, by)];
  if (by.most === null) return sum(db, question, hours);
  const few = await sumFew(db, question, hours, { most: by.most, buckets: by.starts.length });
  return few ?? sumGreatest(db, question, hours, by.most);
}

/** Sums of the live calls of several organizations. */
export async function sumOrgs(
  db: ClickHouse,
  args: { readonly org_ids: readonly Id<'org'>[]; readonly from: Date; readonly to: Date },
  by: { readonly starts: readonly number[]; readonly group: 'org' | 'model' | null },
): Promise<UsageSum[]> {
  if (args.org_ids.length === 0) return [];
  const key = { org: 'org_id', model: 'model', none: `''` }[by.group ?? 'none'];
  return sum(
    db,
    {
      name: 'analytics.sum_orgs',
      of: `org_id in {org_ids:Array(String)} and environment = 'live'`,
      ...{ said: '', key, key_of_sums: key, from: args.from, to: args.to },
      values: { org_ids: args.org_ids, starts: by.starts },
    },
    await findSummed(db, { ...args, environment: 'live' }),
  );
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

/** How many calls an organization has; of one without calls, how many sums a job has made of them that were deleted meanwhile. */
export async function countOrg(db: ClickHouse, org_id: Id<'org'>): Promise<number> {
  const [row] = await db.query<{ n: number; sums: number }>({
    name: 'analytics.count_org',
    text: `
      select sum(requests) as n,
             (select count() from usage_hour where org_id = {org_id:String})
             + (select count() from usage_value where org_id = {org_id:String}) as sums
        from (${ORG_DAYS})`,
    values: { org_id },
  });
  return row?.n || (row?.sums ?? 0);
}

/** All calls of an organization by day. */
export function sumOrg(db: ClickHouse, org_id: Id<'org'>): Promise<OrgDay[]> {
  return db.query<OrgDay>({ name: 'analytics.sum_org', text: ORG_DAYS, values: { org_id } });
}
