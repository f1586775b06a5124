// The jobs of shadows: they count what copies showed, and drop what nobody asks for any more.
import type { Context } from '../../kernel/index.ts';
import { dropShadowDays } from '../../policies/index.ts';
import { countSamples, dropHours } from './shadow-store.ts';

const DAY_MS = 86_400_000;
/** A day more than the longest time that can be asked for. */
const KEPT_DAYS = 31;

/** Counts the copies of all shadows since the last time; returns how many. One transaction: none is counted twice. */
export function countShadows(context: Context): Promise<number> {
  return context.transaction((context) => countSamples(context.db));
}

/** Drops the hours that are too old to be asked for, and the counts of days that are over; returns how many rows went. */
export async function dropShadowHours(context: Context): Promise<number> {
  const at = context.now();
  const hours = await dropHours(context.db, new Date(at.getTime() - KEPT_DAYS * DAY_MS));
  return hours + (await dropShadowDays(context.db, at));
}
