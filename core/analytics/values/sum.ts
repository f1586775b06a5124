// Makes the sums by value that are missing (a part of the job `roll_up_usage`): the newest hours first, so that of an installation that
// had none the months that are asked for most have them soon.
import type { Pool } from '../../db/index.ts';
import { dropValues, lockUnsummed, markSummed, sumValues } from './store.ts';

/** Hours of one transaction. */
const BATCH = 1_000;

/** Sums what is missing, or what has changed, a day at a time; returns how many hours. Who changes one meanwhile waits, and notes it again. */
export async function sumMissing(pool: Pool): Promise<number> {
  let summed = 0;
  for (let more = true; more; ) {
    more = await pool.transaction(async (db) => {
      const hours = await lockUnsummed(db, BATCH);
      const again = hours.filter(({ changed_at }) => changed_at !== null);
      if (hours.length === 0) return false;
      if (again.length > 0) await dropValues(db, again);
      await sumValues(db, hours);
      await markSummed(db, hours);
      summed += hours.length;
      return hours.length > 0;
    });
  }
  return summed;
}
