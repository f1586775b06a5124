// Whether memory stays what it is: of each program the second half of its hours against the first, without the first hour, in which
// everything is used for the first time. A program that does the jobs has more than one that does not, so hours of the two are apart.
import type { Figures } from './look.ts';

/** So much more than in the hours before is growth, not the moment of a collection. */
const GROWTH_MAX = 1.15;
const GROWTH_MAX_MB = 40;
/** Fewer hours say nothing. */
const HOURS_MIN = 7;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Memory of each program by hours that can be compared. */
function series(figures: readonly Figures[]): Map<string, number[]> {
  const all = new Map<string, number[]>();
  for (const { memory, leader } of figures) {
    for (const [name, { own_mb, pid }] of Object.entries(memory)) {
      // A gateway is another process each hour, which is compared with those before it.
      const which = name.startsWith('gateway') ? name : `${name} (${pid})`;
      const key = leader === name ? `${which}, which does the jobs,` : which;
      all.set(key, [...(all.get(key) ?? []), own_mb]);
    }
  }
  return all;
}

/** Programs whose memory grows, in words. */
export function flat(figures: readonly Figures[]): string[] {
  return [...series(figures)].flatMap(([name, own]) => {
    if (own.length < HOURS_MIN) return [];
    const known = own.slice(1);
    const half = Math.floor(known.length / 2);
    const [before, after] = [mean(known.slice(0, half)), mean(known.slice(half))];
    if (after <= before * GROWTH_MAX || after <= before + GROWTH_MAX_MB) return [];
    return [`memory of ${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} MB`];
  });
}
