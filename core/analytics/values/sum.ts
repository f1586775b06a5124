// Makes the sums by value that are missing (a part of the job `roll_up_usage`): the newest hours first, so that of an installation that
// had none the months that are asked for most have them soon.
import type { Pool } from '../../db/index.ts';
import { monotonicMs } from '../../kernel/index.ts';
import { dropSpan, findUnspanned, lockSums, markSpanned, sumSpan } from './spans-store.ts';
import { dropValues, lockUnsummed, markSummed, sumValues } from './store.ts';

/** Hours of one transaction. */
const BATCH = 1_000;
/** Spans of one transaction; a span of 20,000 end users takes a tenth of a second and more. */
const SPANS = 20;
/** A run begins none after so long, so that the leader can stop while an installation that had no sums gets them. */
const RUN_MS = 60_000;

/** Sums what is missing, or what has changed, a day at a time for a minute; returns how many hours. Who changes one meanwhile waits, and notes it again. */
export async function sumMissing(pool: Pool): Promise<number> {
  const until = monotonicMs() + RUN_MS;
  let summed = 0;
  for (let more = true; more && monotonicMs() < until; ) {
    more = await pool.transaction(async (db) => {
      await lockSums(db);
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

/**
 * Makes the spans that are missing, of hours with more values than are kept by the hour, for a minute; returns how many were looked at.
 */
export async function sumSpans(pool: Pool): Promise<number> {
  const until = monotonicMs() + RUN_MS;
  let made = 0;
  for (let more = true; more && monotonicMs() < until; ) {
    more = await pool.transaction(async (db) => {
      await lockSums(db);
      const spans = await findUnspanned(db, SPANS);
      for (const span of spans) {
        await dropSpan(db, span);
        for (const kind of span.kinds) await sumSpan(db, span, kind);
      }
      await markSpanned(db, spans);
      made += spans.length;
      return spans.length > 0;
    });
  }
  return made;
}
