// Whether memory stays what it is: of each program the second half of the hours against the first, without the first hour, in which
// everything is used for the first time.
import type { Figures } from './look.ts';

/** So much more than in the hours before is growth, not the moment of a collection. */
const GROWTH_MAX = 1.15;
const GROWTH_MAX_MB = 40;
/** Fewer hours say nothing. */
const HOURS_MIN = 7;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Programs whose memory grows, in words. */
export function flat(figures: readonly Figures[]): string[] {
  if (figures.length < HOURS_MIN) return [];
  const known = figures.slice(1);
  const half = Math.floor(known.length / 2);
  const names = Object.keys(known[0]?.memory ?? {});
  return names.flatMap((name) => {
    const own = known.map(({ memory }) => memory[name]?.own_mb ?? 0);
    const [before, after] = [mean(own.slice(0, half)), mean(own.slice(half))];
    if (after <= before * GROWTH_MAX || after <= before + GROWTH_MAX_MB) return [];
    return [`memory of ${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} MB`];
  });
}
