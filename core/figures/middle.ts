// Where the middle of many times lies, from counts by steps of their logarithm. Pure.

/** The time below which `share` of `counts` lies: the middle of its step, by `base`. null of none. */
export function quantile(counts: ReadonlyMap<number, number>, share: number, base: number): number | null {
  const steps = [...counts].filter(([, n]) => n > 0).sort(([a], [b]) => a - b);
  const total = steps.reduce((sum, [, n]) => sum + n, 0);
  let left = total * share;
  for (const [step, n] of steps) {
    left -= n;
    if (left <= 0) return base ** (step + 0.5);
  }
  return null;
}

/** `counts` of several put together. */
export function together(all: Iterable<ReadonlyMap<number, number>>): Map<number, number> {
  const sum = new Map<number, number>();
  for (const counts of all) for (const [step, n] of counts) sum.set(step, (sum.get(step) ?? 0) + n);
  return sum;
}

/** `value` with `digits` digits that count; whole where those are more. */
export function significant(value: number, digits = 3): number {
  return Number(value.toPrecision(digits));
}

/** `value` with one place behind the point. */
export function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
