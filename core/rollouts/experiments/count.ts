// The jobs of experiments: they count what calls showed, and drop what nobody asks for any more.
import type { Context } from '../../kernel/index.ts';
import { countSamples, dropHours } from './experiment-store.ts';

const DAY_MS = 86_400_000;
/** A day more than the longest time that can be asked for. */
const KEPT_DAYS = 31;

/** Counts the calls of all experiments since the last time; returns how many. One transaction: none is counted twice. */
export function countExperiments(context: Context): Promise<number> {
  return context.transaction((context) => countSamples(context.db));
}

/** Drops the hours that are too old to be asked for; returns how many rows went. */
export function dropExperimentHours(context: Context): Promise<number> {
  return dropHours(context.db, new Date(context.now().getTime() - KEPT_DAYS * DAY_MS));
}
