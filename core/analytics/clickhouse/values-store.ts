// Sums by value of UTC days that are over: the figures of the calls of an organization with one value of what usage is grouped by,
// and of one hour. Made by the job that sums hours, after them.
//
// As the sums of hours these are never changed: a day is summed again, whole, as a further generation with the server's time at
// which it was begun, of all organizations or of one. A generation of a day may be read while it is as new as those of its 24 hours,
// none of which is read from rows, and so has the calls that they have. Calls without a tag are in no sum of it: what they come to is
// what all calls have more.
//
// An erasure opens the days of its calls before it unlinks them. From there on readers take these days of that organization from
// rows, until a generation was begun when the erasure had surely ended, done or not; the earlier ones are then dropped.
import type { Id } from '../../kernel/index.ts';
import { monotonicMs, ulidMs } from '../../kernel/index.ts';
import type { ClickHouse } from './client.ts';
import { FIGURES } from './figures-store.ts';
import { at } from './filter-store.ts';
import { VALUE_TYPES } from './tables-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than an erasure takes to write a batch of rows anew, which ends after 60 seconds. */
const OPEN_S = 120;
const OPEN_US = OPEN_S * 1_000_000;
/** A run begins no day after so long, so that the leader can stop while an installation that had no sums gets them. */
const RUN_MS = 60_000;
const KEYS = 'org_id, environment, kind, name, value';
const INTO = Object.keys(VALUE_TYPES).join(', ');

/** A day whose sums may be read, and the generation. */
export type SummedDay = readonly [day_ms: number, made_us: number];

/**
 * An expression: days between the parameters `first` and `end` that may be read of an organization, as `SummedDay`s, provided
 * that none of their hours is read from rows. `look` is the last look.
 */
export const SUMMED_DAYS = `
  (select groupArray((toUnixTimestamp(day) * 1000, toUnixTimestamp64Micro(made))) from (
     select h.day as day, v.made as made
       from (select toStartOfDay(hour) as day, max(made_at) as hours_made, uniqExact(hour) as hours from usage_seal
              where hour >= ${at('first')} and hour < ${at('end')} and state = 'summed' and made_at <= look.2
              group by day) as h
       join (select day, maxIf(made_at, state = 'summed' and made_at <= look.2) as made, maxIf(made_at, state = 'open') as opened
               from usage_value_seal
              where org_id in arrayPushFront({org_ids:Array(String)}, '') and day >= ${at('first')} and day < ${at('end')}
              group by day) as v on h.day = v.day
      where h.hours = 24 and v.made >= h.hours_made and v.made > v.opened + toIntervalSecond(${OPEN_S})))`;

async function writeSeals(
  db: ClickHouse,
  of: {
    readonly days: readonly number[];
    readonly org_id: string;
    readonly state: 'begun' | 'summed' | 'open';
    readonly made_at?: number;
  },
): Promise<void> {
  const time = of.made_at === undefined ? 'now64(6)' : 'fromUnixTimestamp64Micro({made_at:Int64})';
  await db.run({
    name: 'analytics.write_value_seals',
    text: `
      insert into usage_value_seal (day, org_id, made_at, state)
      select fromUnixTimestamp64Milli(arrayJoin({days:Array(Int64)}), 'UTC'), {org_id:String}, ${time}, {state:String}`,
    values: { days: of.days, org_id: of.org_id, state: of.state, made_at: of.made_at ?? 0 },
  });
}

/** From here on, and until they are summed again, the days of these calls are read from rows. Before the calls are unlinked. */
export async function openDays(
  db: ClickHouse,
  { org_id, request_ids }: { org_id: Id<'org'>; request_ids: readonly string[] },
): Promise<void> {
  const days = new Set(request_ids.map((id) => Math.floor(ulidMs(id) / DAY_MS) * DAY_MS));
  if (days.size > 0) await writeSeals(db, { days: [...days], org_id, state: 'open' });
}

/** Of the generations of a day of an organization or, where `org_id` is "", of all. Microseconds; 0: none. */
interface DaySeals {
  readonly day_ms: number;
  readonly org_id: string;
  /** The last that was made, and the last that every reader knows. */
  readonly made_us: number;
  readonly known_us: number;
  readonly opened_us: number;
  /** The first that was begun, and when the day was opened first, of what has not been dropped. */
  readonly first_begun_us: number;
  readonly first_opened_us: number;
}

/** A day to be summed, for all organizations or for one. */
interface DueDay {
  readonly day_ms: number;
  readonly org_id: string | null;
}

const wholeOf = (of_day: readonly DaySeals[]) => of_day.find(({ org_id }) => org_id === '');

/**
 * Which days are summed at `clock`, the newest first: those of `hours`, of which all 24 hours are summed, without a generation as new
 * as theirs, and what was opened of the others, once who opened it has ended.
 */
function findDue(
  hours: readonly { readonly day_ms: number; readonly made_us: number }[],
  seals: readonly DaySeals[],
  clock: number,
): DueDay[] {
  const by_day = Map.groupBy(seals, ({ day_ms }) => day_ms);
  const due = hours.flatMap(({ day_ms, made_us }): DueDay[] => {
    if (made_us > clock) return [];
    const of_day = by_day.get(day_ms) ?? [];
    const whole_us = wholeOf(of_day)?.made_us ?? 0;
    if (whole_us < made_us) return [{ day_ms, org_id: null }];
    return of_day
      .filter(({ opened_us }) => opened_us > 0 && opened_us + OPEN_US < clock)
      .filter((one) => one.opened_us + OPEN_US >= Math.max(one.made_us, whole_us))
      .map(({ org_id }) => ({ day_ms, org_id }));
  });
  return due.sort((a, b) => b.day_ms - a.day_ms);
}

/** The generations of which others took the place: of each day, those before `made_us` of an organization ("": of all). */
function findReplaced(seals: readonly DaySeals[]): Pick<DaySeals, 'day_ms' | 'org_id' | 'known_us'>[] {
  return [...Map.groupBy(seals, ({ day_ms }) => day_ms).values()].flatMap((of_day) => {
    const whole_us = wholeOf(of_day)?.known_us ?? 0;
    return of_day
      .map((one) => ({ ...one, known_us: Math.max(one.known_us, whole_us) }))
      .filter(
        ({ first_begun_us, first_opened_us, known_us }) =>
          (first_begun_us > 0 && first_begun_us < known_us) ||
          (first_opened_us > 0 && first_opened_us + OPEN_US < known_us),
      );
  });
}

/** What is known of the days from `first` on. */
function listSeals(db: ClickHouse, of: { first: number; checked: number }): Promise<DaySeals[]> {
  return db.query<DaySeals>({
    name: 'analytics.list_value_seals',
    text: `
      select toUnixTimestamp(day) * 1000 as day_ms, org_id,
             toUnixTimestamp64Micro(maxIf(made_at, state = 'summed')) as made_us,
             toUnixTimestamp64Micro(
               maxIf(made_at, state = 'summed' and made_at <= fromUnixTimestamp64Micro({checked:Int64}, 'UTC'))) as known_us,
             toUnixTimestamp64Micro(maxIf(made_at, state = 'open')) as opened_us,
             toUnixTimestamp64Micro(minIf(made_at, state <> 'open')) as first_begun_us,
             toUnixTimestamp64Micro(minIf(made_at, state = 'open')) as first_opened_us
        from usage_value_seal where day >= ${at('first')} group by day, org_id`,
    values: of,
  });
}

/** Days before `until` all of whose hours are summed, and when the last of these was. */
function listSummedDays(db: ClickHouse, of: { first: number; until: number }) {
  return db.query<{ day_ms: number; made_us: number }>({
    name: 'analytics.list_summed_days',
    text: `
      select toUnixTimestamp(toStartOfDay(hour)) * 1000 as day_ms, toUnixTimestamp64Micro(max(made)) as made_us
        from (select hour, max(made_at) as made from usage_seal where hour >= ${at('first')} and hour < ${at('until')}
               group by hour having argMax(state, made_at) = 'summed')
       group by day_ms having count() = 24`,
    values: of,
  });
}

/** Sums a day as the generation `clock`. That it was begun is written first, so that nothing of it is left if it never ends. */
async function sumDay(db: ClickHouse, { day_ms, org_id }: DueDay, clock: number): Promise<void> {
  const seal = { days: [day_ms], org_id: org_id ?? '', made_at: clock };
  await writeSeals(db, { ...seal, state: 'begun' });
  await db.run({
    name: 'analytics.sum_values',
    text: `
      insert into usage_value (day, made_at, ${INTO})
      select ${at('day')}, fromUnixTimestamp64Micro({made_at:Int64}), org_id, environment, said.1 as kind, said.2 as name,
             said.3 as value, ${FIGURES}
        from request_row final
       array join arrayConcat(
         [('hour', '', toString(toUnixTimestamp(toStartOfHour(ts)))), ('project', '', project_id), ('key', '', key_id),
          ('model', '', model), ('provider', '', provider), ('byok', '', if(byok, 'true', 'false')), ('app', '', app_id),
          ('user', '', user_hash), ('session', '', session_id)],
         arrayMap((name, value) -> ('tag', name, value), mapKeys(tags), mapValues(tags))) as said
       where ts >= ${at('day')} and ts < ${at('end')} ${org_id === null ? '' : 'and org_id = {org_id:String}'}
         and (said.1 <> 'tag' or said.3 <> '')
       group by ${KEYS}`,
    values: { day: day_ms, end: day_ms + DAY_MS, made_at: clock, org_id: org_id ?? '' },
    is_large: true,
  });
  await writeSeals(db, { ...seal, state: 'summed' });
}

/** Drops what `findReplaced` found of a day: the sums first, since their seals are what leads to them. */
async function dropReplaced(db: ClickHouse, replaced: ReturnType<typeof findReplaced>): Promise<void> {
  const [{ day_ms } = { day_ms: 0 }] = replaced;
  const values = {
    whole: replaced.find(({ org_id }) => org_id === '')?.known_us ?? 0,
    org_ids: replaced.map(({ org_id }) => org_id),
    known: replaced.map(({ known_us }) => known_us),
    day: day_ms,
  };
  const is_replaced = `
    toUnixTimestamp64Micro(made_at) < greatest({whole:Int64}, transform(org_id, {org_ids:Array(String)}, {known:Array(Int64)}, 0))`;
  const partition = new Date(day_ms).toISOString().slice(0, 10).replaceAll('-', '');
  await db.run({
    name: 'analytics.drop_replaced_values',
    text: `delete from usage_value in partition '${partition}' where ${is_replaced}`,
    values,
  });
  await db.run({
    name: 'analytics.drop_value_seals',
    text: `
      delete from usage_value_seal
       where day = ${at('day')} and ${is_replaced.replace('made_at', `if(state = 'open', made_at + toIntervalSecond(${OPEN_S}), made_at)`)}`,
    values,
  });
}

/**
 * Sums the days from `first` to `until` that are due, for a minute; returns how many. `clock` is when the run began, which has summed
 * hours since. Drops generations that another took the place of at the look `checked`: who reads them began before it, and has ended.
 */
export async function sumDays(
  db: ClickHouse,
  span: { readonly first: number; readonly until: number; readonly clock: number; readonly checked: number },
): Promise<number> {
  const last_ms = monotonicMs() + RUN_MS;
  const [hours, seals] = await Promise.all([listSummedDays(db, span), listSeals(db, span)]);
  for (const replaced of Map.groupBy(findReplaced(seals), ({ day_ms }) => day_ms).values())
    if (monotonicMs() < last_ms) await dropReplaced(db, replaced);
  let summed = 0;
  for (const due of findDue(hours, seals, span.clock)) {
    if (monotonicMs() >= last_ms) break;
    await sumDay(db, due, span.clock);
    summed++;
  }
  return summed;
}
