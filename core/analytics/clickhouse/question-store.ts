// A question about usage: which calls, by what, and which of its hours sums answer.
import { isSaid } from '../usage/sums-store.ts';
import type { usageGroupings } from '../usage.ts';
import type { UsageBy, UsageFilter } from '../usage-store.ts';
import type { ClickHouse } from './client.ts';
import { at, saidOf } from './filter-store.ts';
import { findSummed, NAMED_MAX, type SummedHours } from './hours-store.ts';

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

export interface Question {
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

/** Rows of the span. */
export const OF_SPAN = `ts >= ${at('from')} and ts < ${at('to')}`;

/** Hours of a span, in milliseconds. */
function hoursBetween(first: number, until: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.ceil((until - first) / HOUR_MS)) },
    (_, i) => first + i * HOUR_MS,
  );
}

/** Hours that two buckets divide. One without rows cannot be: it is in the bucket that it begins in. */
function splitHours({ starts, kept_from }: UsageBy, until: number): number[] {
  return starts
    .filter((start, i) => i > 0 && start % HOUR_MS !== 0)
    .map((start) => Math.floor(start / HOUR_MS) * HOUR_MS)
    .filter((hour) => hour >= kept_from && hour < until);
}

/** The hours whose sums may answer; those whose rows are gone even where only rows know what is asked, as "". */
export async function hoursOf(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<SummedHours | null> {
  const { org_id, environment, from, to, user, session, tag, tag_value } = filter;
  const asks_of_rows = [user, session, tag].some((value) => value !== null);
  if (asks_of_rows && ![user, session, tag === null ? null : (tag_value ?? tag)].every((value) => !value))
    return null;
  const of_rows = asks_of_rows || isSaid(by.group);
  if (to.getTime() - from.getTime() <= SHORT_MS && from.getTime() >= by.kept_from) return null;
  const end = of_rows ? new Date(Math.min(to.getTime(), by.kept_from)) : to;
  const hours = await findSummed(db, { org_ids: [org_id], environment, from, to: end });
  if (hours === null) return null;
  return { ...hours, of_rows: [...new Set([...hours.of_rows, ...splitHours(by, hours.until)])] };
}

/**
 * The same for a question that asks nothing but a group of all calls: sums by value of days know it, which of what callers said only
 * these do.
 */
export async function daysOf(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<SummedHours | null> {
  const { org_id, environment, from, to } = filter;
  if (to.getTime() - from.getTime() <= DAY_MS && from.getTime() >= by.kept_from) return null;
  const hours = await findSummed(db, { org_ids: [org_id], environment, from, to, by_value: true });
  if (hours === null) return null;
  const days = hours.days.filter(([day]) => day >= by.kept_from);
  if (days.length === 0) return hoursOf(db, filter, by);
  const summed = new Set(days.map(([day]) => day));
  const first_kept = Math.max(hours.first, Math.ceil(by.kept_from / HOUR_MS) * HOUR_MS);
  const unknown = isSaid(by.group)
    ? hoursBetween(first_kept, hours.until).filter((hour) => !summed.has(hour - (hour % DAY_MS)))
    : [];
  const of_rows = new Set([...hours.of_rows, ...splitHours(by, hours.until), ...unknown]);
  return of_rows.size > NAMED_MAX ? null : { ...hours, days, of_rows: [...of_rows] };
}

/** What is asked. */
export function questionOf(filter: UsageFilter, by: UsageBy): Question {
  const { org_id, environment, from, to, user, session, app, tag, tag_value, ...others } = filter;
  // Whatever is added to filters does not compile until it is asked here.
  const asked: Readonly<Record<Named, string | null>> & {
    [K in Exclude<keyof typeof others, Named>]: never;
  } = others;
  const named = NAMED.filter((name) => asked[name] !== null);
  const said = saidOf({ user, session, app: null, tag, tag_value });
  const key = by.group === null ? `''` : KEYS[by.group as keyof typeof KEYS];
  const equal = [...named, ...(app === null ? [] : ['app_id'])];
  return {
    name: 'analytics.sum_usage',
    of: ['org_id', 'environment', ...equal].map((name) => `${name} = {${name}:String}`).join(' and '),
    ...{ said: said.text, key, key_of_sums: isSaid(by.group) ? `''` : key, from, to },
    values: {
      ...{ org_id, environment, app_id: app, tag: by.tag ?? '', starts: by.starts, ...said.values },
      ...Object.fromEntries(named.map((name) => [name, asked[name]])),
    },
  };
}
