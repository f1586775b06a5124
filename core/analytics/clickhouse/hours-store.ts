// Sums of hours that are over, in ClickHouse (the job `roll_up_usage`).
//
// Nothing here is a transaction, so an hour's sums are never changed: they are made again, whole, as a further generation with
// the server's time at which they were begun. `usage_seal` names the generations that are complete. Each look of the job ends
// in a row of `usage_look`: hours before `until` have been summed, with every row stored until `checked` less `SETTLED_S`. So
// what a reader must not take from sums is found by when it was stored, and the index of that time leads straight to it.
import type { Environment, Id } from '../../kernel/index.ts';
import { SEAL_AFTER_MS } from '../roll-up.ts';
import { KEPT_DAYS } from '../store.ts';
import type { ClickHouse } from './client.ts';
import { FIGURES } from './figures-store.ts';
import { at } from './filter-store.ts';
import { HOUR_TYPES } from './tables-store.ts';
import { SUMMED_DAYS, type SummedDay, sumDays } from './values-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than a row may be invisible after the time that it is stored under: what an insert may last, several times. */
const SETTLED_S = 60;
const SETTLED = `toIntervalSecond(${SETTLED_S})`;
/** How old a look may get while nothing is to be done: readers search what was stored since for late rows. */
const LOOK_EVERY_US = 5 * 60_000_000;
/** More hours than this are not named one by one: such a question is answered from rows alone. */
export const NAMED_MAX = 1_000;
const KEYS = ['org_id', 'environment', 'project_id', 'key_id', 'model', 'provider', 'byok', 'app_id'].join(
  ', ',
);

const INTO = Object.keys(HOUR_TYPES).join(', ');
const HOUR_OF = 'toUnixTimestamp(toStartOfHour(ts)) * 1000';
/** The last look; of an installation without one, the year 1970. */
const LOOK = '(select (argMax(until, (checked, until)), max(checked)) from usage_look)';

/** What a question may read from sums. Times in milliseconds. */
export interface SummedHours {
  readonly first: number;
  readonly until: number;
  /** Hours between these that are read from rows. */
  readonly of_rows: readonly number[];
  /** No generation after it is read. Microseconds. */
  readonly checked: number;
  /** In order: UTC days between these, none of whose hours is read from rows, with the generation of their sums by value. */
  readonly days: readonly SummedDay[];
}

interface Found {
  readonly until_ms: number;
  readonly checked: number;
  readonly late: readonly number[];
  readonly open: readonly number[];
  readonly days: readonly SummedDay[];
}

/** Which hours of `[from, to)` are read from sums; null where none is. */
export async function findSummed(
  db: ClickHouse,
  of: {
    readonly org_ids: readonly Id<'org'>[];
    readonly environment: Environment;
    readonly from: Date;
    readonly to: Date;
    /** Whether days are asked for too. */
    readonly by_value?: boolean;
  },
): Promise<SummedHours | null> {
  const first = Math.ceil(of.from.getTime() / HOUR_MS) * HOUR_MS;
  const end = Math.floor(of.to.getTime() / HOUR_MS) * HOUR_MS;
  if (end <= first) return null;
  const [found] = await db.query<Found>({
    name: 'analytics.find_summed',
    text: `
      with ${LOOK} as look
      select toUnixTimestamp(look.1) * 1000 as until_ms, toUnixTimestamp64Micro(look.2) as checked,
             (select groupUniqArray(${HOUR_OF}) from request_row
               where org_id in {org_ids:Array(String)} and environment = {environment:String}
                 and ts >= ${at('first')} and ts < ${at('end')} and ts < look.1 and stored_at > look.2 - ${SETTLED}) as late,
             (select groupArray(toUnixTimestamp(hour) * 1000) from
               (select hour from usage_seal where hour >= ${at('first')} and hour < ${at('end')}
                 group by hour
                having argMax(state, made_at) <> 'summed' or maxIf(made_at, state <> 'summed') > look.2)) as open,
             ${of.by_value === true ? SUMMED_DAYS : '[]'} as days`,
    values: { org_ids: of.org_ids, environment: of.environment, first, end },
  });
  if (found === undefined) return null;
  const until = Math.min(end, found.until_ms);
  const of_rows = [...new Set([...found.late, ...found.open])].filter((hour) => hour < until);
  if (until <= first || of_rows.length > NAMED_MAX) return null;
  const broken = new Set(of_rows.map((hour) => Math.floor(hour / DAY_MS) * DAY_MS));
  const days = found.days
    .filter(([day]) => day + DAY_MS <= until && !broken.has(day))
    .sort(([a], [b]) => a - b);
  return { first, until, of_rows, checked: found.checked, days };
}

/** Conditions of sums and of rows that together count each call of a span once; parameters from `summedValues`. */
export const OF_SUMS = `
  hour >= ${at('first')} and hour < ${at('until')}
  and not has({of_rows:Array(Int64)}, toInt64(toUnixTimestamp(hour)) * 1000)
  and (hour, made_at) in (
    select hour, max(made_at) from usage_seal
     where hour >= ${at('first')} and hour < ${at('until')} and state = 'summed'
       and made_at <= fromUnixTimestamp64Micro({checked:Int64}, 'UTC')
     group by hour)`;
/** Named as sets of times, by which days and granules are chosen. */
export const OF_ROWS = `
  (ts < ${at('first')} or ts >= ${at('until')}
   or toStartOfHour(ts) in (
     select fromUnixTimestamp64Milli(arrayJoin({of_rows:Array(Int64)}), 'UTC')))`;

/** The parameters of `OF_SUMS` and `OF_ROWS`. */
export function summedValues({ first, until, of_rows, checked }: SummedHours) {
  return { first, until, of_rows, checked };
}

async function writeStates(
  db: ClickHouse,
  hours: readonly number[],
  state: 'summed' | 'held' | 'open',
  made_at?: number,
): Promise<void> {
  if (hours.length === 0) return;
  const time = made_at === undefined ? 'now64(6)' : 'fromUnixTimestamp64Micro({made_at:Int64})';
  await db.run({
    name: 'analytics.write_seals',
    text: `
      insert into usage_seal (hour, made_at, state)
      select fromUnixTimestamp64Milli(arrayJoin({hours:Array(Int64)}), 'UTC'), ${time}, {state:String}`,
    values: { hours, state, made_at: made_at ?? 0 },
  });
}

const hoursOfDay = (day: string) => Array.from({ length: 24 }, (_, hour) => Date.parse(day) + hour * HOUR_MS);

/** From here on the hours of a UTC day are read from rows: rows come that say that they were stored long ago. */
export function holdDay(db: ClickHouse, day: string): Promise<void> {
  return writeStates(db, hoursOfDay(day), 'held');
}

/** Lets the hours of a UTC day that was held be summed again. */
export function releaseDay(db: ClickHouse, day: string): Promise<void> {
  return writeStates(db, hoursOfDay(day), 'open');
}

/** Sums `hours` of one UTC day as the generation `made_at`. */
async function sumDay(db: ClickHouse, hours: readonly number[], made_at: number): Promise<void> {
  await db.run({
    name: 'analytics.sum_hours',
    text: `
      insert into usage_hour (hour, made_at, ${INTO})
      select toStartOfHour(ts) as hour, fromUnixTimestamp64Micro({made_at:Int64}), ${KEYS}, ${FIGURES}
        from request_row final
       where ts >= ${at('first')} and ts < ${at('end')}
         and toStartOfHour(ts) in (select fromUnixTimestamp64Milli(arrayJoin({hours:Array(Int64)}), 'UTC'))
       group by hour, ${KEYS}`,
    values: { hours, made_at, first: Math.min(...hours), end: Math.max(...hours) + HOUR_MS },
  });
  await writeStates(db, hours, 'summed', made_at);
}

interface Work {
  /** The server's time, microseconds. */
  readonly clock: number;
  readonly until_ms: number;
  /** Microseconds. */
  readonly checked: number;
  readonly late: readonly number[];
  readonly open: readonly number[];
  readonly held: readonly number[];
}

/** What the job has to do for hours that have rows still. */
async function findWork(db: ClickHouse, kept_from: number): Promise<Work> {
  const stateIs = (state: string) => `
    (select groupArray(toUnixTimestamp(hour) * 1000) from
      (select hour from usage_seal where hour >= ${at('kept_from')} group by hour having argMax(state, made_at) = '${state}'))`;
  const [work] = await db.query<Work>({
    name: 'analytics.find_work',
    text: `
      with ${LOOK} as look
      select toUnixTimestamp64Micro(now64(6)) as clock, toUnixTimestamp(look.1) * 1000 as until_ms,
             toUnixTimestamp64Micro(look.2) as checked,
             (select groupUniqArray(${HOUR_OF}) from request_row
               where ts >= ${at('kept_from')} and ts < look.1 and stored_at > look.2 - ${SETTLED}) as late,
             ${stateIs('open')} as open, ${stateIs('held')} as held`,
    values: { kept_from },
  });
  if (work === undefined) throw new Error('ClickHouse answered without a row');
  return work;
}

/** The first hour of the day of the first call that has a row; null without any. */
async function findFirstHour(db: ClickHouse, kept_from: number): Promise<number | null> {
  const [row] = await db.query<{ n: number; hour: number }>({
    name: 'analytics.find_first_hour',
    text: `
      select count() as n, toUnixTimestamp(toStartOfDay(min(ts))) * 1000 as hour
        from request_row where ts >= ${at('kept_from')}`,
    values: { kept_from },
  });
  return row === undefined || row.n === 0 ? null : row.hour;
}

async function writeLook(db: ClickHouse, until: number, checked: number): Promise<void> {
  await db.run({
    name: 'analytics.write_look',
    text: `
      insert into usage_look (until, checked)
      select ${at('until')}, fromUnixTimestamp64Micro({checked:Int64}, 'UTC')`,
    values: { until, checked },
  });
}

/**
 * Drops generations that another took the place of at the look before this one, `checked`: who began to read before that look has
 * ended since.
 */
async function dropReplaced(db: ClickHouse, checked: number): Promise<void> {
  const old = await db.query<{ hour_s: number; made_us: string }>({
    name: 'analytics.find_replaced',
    text: `
      select toUnixTimestamp(hour) as hour_s, toString(toUnixTimestamp64Micro(arrayJoin(
               arrayFilter(made -> made < arrayMax(made_ats), groupArray(made_at) as made_ats)))) as made_us
        from usage_seal where state = 'summed' and made_at <= fromUnixTimestamp64Micro({checked:Int64}, 'UTC')
       group by hour having count() > 1 limit ${NAMED_MAX}`,
    values: { checked },
  });
  if (old.length === 0) return;
  const list = old.map(({ hour_s, made_us }) => `(${hour_s}, ${made_us})`).join(', ');
  for (const table of ['usage_hour', 'usage_seal'])
    await db.run({
      name: 'analytics.drop_replaced',
      text: `delete from ${table} where (toUnixTimestamp(hour), toUnixTimestamp64Micro(made_at)) in (${list})`,
    });
}

/** Sums the hours from `from` to `target`, a day at a time; returns how many. */
async function sumNew(
  db: ClickHouse,
  of: {
    readonly from: number;
    readonly target: number;
    readonly without: readonly number[];
    readonly clock: number;
  },
): Promise<number> {
  let hours = 0;
  for (let until = of.from; until < of.target; await writeLook(db, until, of.clock)) {
    const end = Math.min(of.target, (Math.floor(until / DAY_MS) + 1) * DAY_MS);
    const all = Array.from({ length: (end - until) / HOUR_MS }, (_, i) => until + i * HOUR_MS);
    const free = all.filter((hour) => !of.without.includes(hour));
    if (free.length > 0) await sumDay(db, free, of.clock);
    hours += free.length;
    until = end;
  }
  return hours;
}

/** Sums the hours that are over at `now`, and those again that rows came to since; returns how many hours. */
export async function sumHours(db: ClickHouse, now: Date): Promise<number> {
  const kept_from = Math.ceil((now.getTime() - KEPT_DAYS.rows * DAY_MS) / DAY_MS) * DAY_MS;
  const target = Math.floor((now.getTime() - SEAL_AFTER_MS) / HOUR_MS) * HOUR_MS;
  const { clock, until_ms, checked, late, open, held } = await findWork(db, kept_from);
  const from = checked > 0 ? until_ms : await findFirstHour(db, kept_from);
  if (from === null) return 0;
  const again = [...new Set([...late, ...open])].filter((hour) => hour < target && !held.includes(hour));
  const of_day = Map.groupBy(again, (hour) => Math.floor(hour / DAY_MS));
  for (const hours of of_day.values()) await sumDay(db, hours, clock);
  const added = await sumNew(db, { from, target, without: [...held, ...again], clock });
  const days = await sumDays(db, { first: kept_from, until: target, clock, checked });
  const is_stale = clock - checked > LOOK_EVERY_US;
  // An hour after the target was summed where the clock of a test was set back: it is read from rows again.
  if (from > target || (from === target && (again.length + days > 0 || is_stale)))
    await writeLook(db, target, clock);
  await dropReplaced(db, checked);
  return again.length + added;
}
