// When a monthly budget is used up, at the pace of the month so far. Pure.

const DAY_MS = 86_400_000;
/** Before this much of the month the pace says nothing. */
const KNOWN_AFTER_MS = DAY_MS;

export type Forecast =
  /** Nothing was spent, or the month is too young. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'spent' }
  /** The month ends before, with this much spent. */
  | { readonly kind: 'enough'; readonly month_micro: bigint }
  | { readonly kind: 'ends'; readonly at: Date };

/** The UTC month of `now`. */
function monthOf(now: Date): { start: number; end: number } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
}

export function forecastOf(
  { budget_micro, spend_micro }: { budget_micro: bigint; spend_micro: bigint },
  now: Date,
): Forecast {
  if (spend_micro >= budget_micro) return { kind: 'spent' };
  const { start, end } = monthOf(now);
  const elapsed = BigInt(now.getTime() - start);
  if (spend_micro === 0n || elapsed < KNOWN_AFTER_MS) return { kind: 'unknown' };
  const month_micro = (spend_micro * BigInt(end - start)) / elapsed;
  if (month_micro <= budget_micro) return { kind: 'enough', month_micro };
  return { kind: 'ends', at: new Date(start + Number((budget_micro * elapsed) / spend_micro)) };
}

/** Whole percent of a budget that is spent, rounded down, at most 999; 100 for a budget of nothing. */
export function percentOf(spend_micro: bigint, budget_micro: bigint): number {
  if (budget_micro === 0n) return 100;
  const percent = (spend_micro * 100n) / budget_micro;
  return percent > 999n ? 999 : Number(percent);
}
