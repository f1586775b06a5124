// Sums of live calls by UTC day, from which figures for everybody are made (a part of the job `publish_figures`). A day is summed again every time
// while it runs, once more when late rows of it should have come, and at last a week later for what lay in a spool.
import type { Pool } from '../../db/index.ts';
import type { Db } from '../../kernel/index.ts';
import { postgresReader } from '../engine/postgres.ts';
import type { RowReader } from '../engine/types.ts';
import { sumApps, sumModelDays } from './app-store.ts';
import { dropDaysBefore, lockDays, markSummed, putAppDay, putEndpointDay, readSummed } from './store.ts';
import { readWindow, sumWindows } from './window-store.ts';

const DAY_MS = 86_400_000;
/** Rankings go back this far. */
export const SUMMED_DAYS = 90;
/** How long after its end a day is summed again. */
const AGAIN_MS = [60 * 60_000, DAY_MS, 7 * DAY_MS] as const;

/** The UTC date of `at`. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** The UTC date `days` before that of `at`. */
export function dayBefore(at: Date, days: number): string {
  return dayOf(new Date(at.getTime() - days * DAY_MS));
}

/** Whether the day that ended at `end_ms` has changed, or may have, since it was summed at `summed_ms`. */
export function isDue(end_ms: number, summed_ms: number | undefined, now_ms: number): boolean {
  if (summed_ms === undefined || summed_ms < end_ms) return true;
  return AGAIN_MS.some((after) => summed_ms < end_ms + after && now_ms >= end_ms + after);
}

/** Removes the sums of days that no figure looks at any more. A job. */
export function dropSums(pool: Pool, now: Date): Promise<number> {
  return dropDaysBefore(pool, dayBefore(now, SUMMED_DAYS));
}

/** Windows of rankings that are asked most: those of the pages. */
const WINDOWS = [1, 7, 30, 90] as const;

/** Sums the windows of `apps` that end at `now`; which apps these are, `listApps` says under the lock. */
export async function sumAppWindows(
  pool: Pool,
  now: Date,
  listApps: (db: Db) => Promise<Parameters<typeof sumWindows>[1]['apps']>,
): Promise<void> {
  const windows = WINDOWS.map((days) => ({ days, since: dayBefore(now, days - 1) }));
  await pool.transaction(async (db) => {
    await lockDays(db);
    await sumWindows(db, { apps: await listApps(db), windows });
  });
}

/** What `apps` sum up to over the last `days`: read from the window where they are in one, else summed of days. */
export async function readAppSums(
  db: Db,
  of: { apps: Parameters<typeof sumApps>[1]['apps']; now: Date; days: number; model: string | null },
): Promise<Awaited<ReturnType<typeof sumApps>>> {
  const since = dayBefore(of.now, of.days - 1);
  const { sums, missing } = await readWindow(db, { ...of, since });
  if (missing.length === 0) return sums;
  return [...sums, ...(await sumApps(db, { ...of, since, apps: missing }))];
}

/** Sums the days that are due at `now` from rows that `reader` reads, PostgreSQL's unless given, each in its own transaction; returns how many that were. */
export async function sumDays(pool: Pool, now: Date, reader?: RowReader): Promise<number> {
  const days = Array.from({ length: SUMMED_DAYS }, (_, back) => dayBefore(now, back));
  const summed = await readSummed(pool, days);
  const due = days.filter((day) => {
    const end_ms = Date.parse(day) + DAY_MS;
    // A clock that was set back: sums of later than now tell of calls that are still to come.
    const at = summed.get(day)?.getTime();
    const known = at !== undefined && at > now.getTime() ? undefined : at;
    return isDue(end_ms, known, now.getTime());
  });
  for (const day of due) {
    await pool.transaction(async (db) => {
      await lockDays(db);
      const from = reader ?? postgresReader(db);
      await putEndpointDay(db, day, await from.sumEndpoints(day));
      await putAppDay(db, day, await from.sumAppCalls(day));
      await markSummed(db, day, now);
    });
  }
  await pool.transaction(async (db) => {
    await lockDays(db);
    await sumModelDays(db, days.at(-1) as string);
  });
  return due.length;
}
