// Buckets of UTC, for tests and benchmarks that sum rows.

const STEPS = { hour: 3_600_000, day: 86_400_000, all: Number.POSITIVE_INFINITY } as const;

/** What usage of `[from, to)` is summed by: hours, days or nothing, with the sums of hours left out of it. */
export function bucketsOf(
  { from, to }: { readonly from: Date; readonly to: Date },
  unit: keyof typeof STEPS,
): { readonly starts: readonly number[]; readonly kept_from: number; readonly most: null } {
  const step = STEPS[unit];
  if (unit === 'all') return { starts: [from.getTime()], kept_from: 0, most: null };
  const first = Math.floor(from.getTime() / step) * step;
  const count = Math.ceil((to.getTime() - first) / step);
  return { starts: Array.from({ length: count }, (_, i) => first + i * step), kept_from: 0, most: null };
}
