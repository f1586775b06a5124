// Makes the sums by value that are missing (a part of the job `roll_up_usage`): the newest hours first, so that of an installation that
// had none the months that are asked for most have them soon.
import type { Pool } from '../../db/index.ts';
import { monotonicMs } from '../../kernel/index.ts';
import { dropValues, lockUnsummed, markSummed, sumValues } from './store.ts';

/** Hours of one transaction. */
const BATCH = 1_000;
/** A run begins none after so long, so that the leader can stop while an installation that had no sums gets them. */
const RUN_MS = 60_000;

/** Sums what is missing, or what has changed, a day at a time for a minute; returns how many hours. Who changes one meanwhile waits, and notes it again. */
export async function sumMissing(pool: Pool): Promise<number> {
  const until = monotonicMs() + RUN_MS;
  let summed = 0;
  for (let more = true; more && monotonicMs() < until; ) {
    more = await pool.transaction(async (db) => {
      const hours = await lockUnsummed(db, BATCH);
      const again = hours.filter(({ changed_at }) => changed_at !== null);
      if (hours.length === 0) return false;
      if (again.length > 0) await dropValues(db, again);
      await sumValues(db, hours);
      await markSummed(db, hours);
      summed += hours.length;
      return true;
    });
  }
  return summed;
}
