// Sums of hours that are over (the job `roll_up_usage`). An hour is sealed when all its rows should have come. For a
// row that comes later nevertheless, from a spool, the transaction that writes it sums its hour again.
import type { Pool } from '../db/index.ts';
import { type Environment, type Id, ulidMs } from '../kernel/index.ts';
import { insertRows } from './store.ts';
import type { RequestRow } from './types.ts';
import { dropHour, findFirstHour, lockSeal, resumHour, sealUntil, unsealFrom } from './usage-store.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * A row carries the start of its call and is written at its end: at most ten minutes later, and ten more when draining.
 */
const LATE_MS = 30 * 60_000;
/** `LATE_MS` and a margin for clocks of two processes that differ and for a slow transaction. */
export const SEAL_AFTER_MS = 45 * 60_000;

/** Whether a row of the call `request_id` may belong to a sealed hour at `now_ms`. */
export function isLate(request_id: string, now_ms: number): boolean {
  return now_ms - ulidMs(request_id) > LATE_MS;
}

/** Writes rows of which some are late: their hours, where sealed, are summed anew before anybody can see them. */
export async function insertLateRows(pool: Pool, batch: readonly RequestRow[]): Promise<void> {
  await pool.transaction(async (db) => {
    const sealed_until = await lockSeal(db);
    await insertRows(db, batch);
    if (sealed_until === null) return;
    const hours = new Map<string, { org_id: Id<'org'>; environment: Environment; hour: Date }>();
    for (const { request_id, org_id, environment } of batch) {
      const hour = new Date(Math.floor(ulidMs(request_id) / HOUR_MS) * HOUR_MS);
      if (hour < sealed_until)
        hours.set(`${org_id} ${environment} ${hour.getTime()}`, { org_id, environment, hour });
    }
    for (const hour of hours.values()) {
      await dropHour(db, hour);
      await resumHour(db, hour);
    }
  });
}

/** Seals the hours that are over at `now`, a day at a time; returns the sums made. */
export async function rollUpUsage(pool: Pool, now: Date): Promise<number> {
  const target = new Date(Math.floor((now.getTime() - SEAL_AFTER_MS) / HOUR_MS) * HOUR_MS);
  let sums = 0;
  for (let more = true; more; ) {
    more = await pool.transaction(async (db) => {
      const from = (await lockSeal(db)) ?? (await findFirstHour(db, target)) ?? target;
      // A test clock was set back: the hours after it are open again.
      if (from > target) {
        await unsealFrom(db, target);
        return false;
      }
      const until = new Date(Math.min(target.getTime(), from.getTime() + DAY_MS));
      sums += await sealUntil(db, { from, until });
      return until < target;
    });
  }
  return sums;
}
