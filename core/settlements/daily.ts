// When which day is compared: each morning the last seven, because rails settle late and report later, every day that was
// missed before, and what somebody asked for.
import type { Context } from '../kernel/index.ts';
import {
  moneyIn,
  putStaffItem,
  type Rail,
  RailError,
  type RailName,
  railNames,
  resolveStaffItem,
} from '../topups/index.ts';
import { compareDay } from './compare.ts';
import { askedDays, comparisonsOf, firstTopupAt, lastCompared, noteFailed } from './store.ts';
import type { Comparison } from './types.ts';

/** By then a rail has listed the day before. */
const HOUR_UTC = 4;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_AGAIN = 7;
const DAYS_MAX = 92;
/** A rail that could not be asked is left alone for so long. */
const PAUSE_MS = 10 * 60_000;
/** A rail that could not be compared for so long is put before the staff. */
const OVERDUE_MS = 2 * DAY_MS;

const dayOf = (date: Date) => date.toISOString().slice(0, 10);
const dayAfter = (day: string, days: number) => dayOf(new Date(Date.parse(day) + days * DAY_MS));

/** The morning of a day, from which on the day before may be compared. */
const morningOf = (day: string) => new Date(Date.parse(day) + HOUR_UTC * HOUR_MS);

/**
 * Whether a day is compared at `now`, where it was last compared at `last`: once it is over, and again each morning until
 * a week has passed. Pure.
 */
export function isDue(day: string, last: Date | null, now: Date): boolean {
  if (now < morningOf(dayAfter(day, 1))) return false;
  if (last === null) return true;
  const today = morningOf(dayOf(now));
  const newest = now < today ? morningOf(dayAfter(dayOf(now), -1)) : today;
  return last < newest && last < morningOf(dayAfter(day, DAYS_AGAIN));
}

/** The days of a rail that are due at `now`, oldest first; none while it is left alone. */
async function dueDays(context: Context, rail: RailName, now: Date): Promise<string[]> {
  const first = await firstTopupAt(context.db, rail);
  // Before the first top-up there is nothing to compare.
  if (first === null) return [];
  const [to, earliest] = [dayAfter(dayOf(now), -1), dayAfter(dayOf(now), -DAYS_MAX)];
  const from = dayOf(first) > earliest ? dayOf(first) : earliest;
  const rows = await comparisonsOf(context.db, { rail, from, to });
  const paused = rows.some(
    ({ failed_at }) => failed_at !== null && now.getTime() - failed_at.getTime() < PAUSE_MS,
  );
  if (paused) return [];
  const last = new Map(rows.map(({ day, compared_at }) => [day, compared_at]));
  const days: string[] = [];
  for (let day = from; day <= to; day = dayAfter(day, 1))
    if (isDue(day, last.get(day) ?? null, now)) days.push(day);
  return days;
}

async function noteOverdue(context: Context, rail: RailName, error: RailError): Promise<void> {
  const at = context.now();
  const last = await lastCompared(context.db, rail);
  const since = last === null ? await firstTopupAt(context.db, rail) : morningOf(dayAfter(last, 1));
  if (since === null || at.getTime() - since.getTime() < OVERDUE_MS) return;
  const details = { rail, last_day: last, error: error.message };
  await putStaffItem(context.db, { kind: 'comparison_overdue', subject: rail, details, at });
}

/** Compares one day; false where the rail could not be asked. */
async function tryDay(context: Context, rail: Rail, day: string): Promise<boolean> {
  try {
    await compareDay(context, rail, day);
    return true;
  } catch (error) {
    if (!(error instanceof RailError)) throw error;
    context.log.warn({ error, rail: rail.name, day }, 'a rail could not be compared');
    const failure = error.message;
    await noteFailed(context.db, { rail: rail.name, day, failure, at: context.now() });
    await noteOverdue(context, rail.name, error);
    return false;
  }
}

async function compareRail(context: Context, rail: Rail): Promise<number> {
  let compared = 0;
  for (const day of await dueDays(context, rail.name, context.now())) {
    if (!(await tryDay(context, rail, day))) return compared;
    compared++;
  }
  if (compared > 0)
    await resolveStaffItem(context.db, { kind: 'comparison_overdue', subject: rail.name, at: context.now() });
  return compared;
}

async function compareAsked(context: Context): Promise<number> {
  let compared = 0;
  for (const { rail: name, day } of await askedDays(context.db)) {
    const rail = moneyIn(context).rails[name];
    if (rail !== null && (await tryDay(context, rail, day))) compared++;
  }
  return compared;
}

/** Compares every day that is due or was asked for; returns how many. A job; it goes on where it was stopped. */
export async function compareRails(context: Context): Promise<number> {
  let compared = await compareAsked(context);
  for (const name of railNames) {
    const rail = moneyIn(context).rails[name];
    if (rail !== null) compared += await compareRail(context, rail);
  }
  return compared;
}

/** What was found on a day, where it was compared. */
export async function findComparison(
  context: Pick<Context, 'db'>,
  args: { readonly rail: RailName; readonly day: string },
): Promise<Comparison | null> {
  const [row] = await comparisonsOf(context.db, { rail: args.rail, from: args.day, to: args.day });
  return row ?? null;
}
