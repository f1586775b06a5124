// A settled cost checked against its metering record. The record counts tokens; searches, and tokens of sound and
// pictures, are billed but not among its columns, so what the counted units leave open is looked for.
import type { PriceVersion, RateKind } from '../catalog/index.ts';
import { price } from './price.ts';
import type { Cost, Usage } from './types.ts';

/** What of a usage is billed and not metered, and the rate that bills it. */
const RATES = {
  search_units: 'search_unit',
  audio_output_tokens: 'audio_output',
  image_output_tokens: 'image_output',
  audio_input_tokens: 'audio_input',
  image_input_tokens: 'image_input',
} as const satisfies Partial<Record<keyof Usage, RateKind>>;
type Unmetered = keyof typeof RATES;

export interface Recomputed {
  readonly cost: Cost;
  /**
   * `exact`: the units give the settled cost. `inferred`: they do with some number of one kind that is not metered.
   * `within`: several such kinds have rates, and some numbers of them may give it. `uncharged`: nothing was produced and
   * nothing charged (4.8 principle 3, or estimated under a hold that pays for nothing). `differs`: none of these.
   */
  readonly verdict: 'exact' | 'inferred' | 'within' | 'uncharged' | 'differs';
}

function most(kind: Unmetered, usage: Usage, settled: number): number {
  // A search costs at least a nano-USD.
  if (kind === 'search_units') return Math.min(2_147_483_647, (settled + 1) * 1_000);
  return kind.endsWith('output_tokens') ? usage.output_tokens : usage.input_tokens;
}

/** The least count of `kind` whose cost is `settled`, or null; the cost rises or falls with the count all the way. */
function countFor(kind: Unmetered, usage: Usage, version: PriceVersion, settled: number): number | null {
  const at = (count: number) => price({ ...usage, [kind]: count }, version).total_micro_usd;
  let low = 0;
  let high = most(kind, usage, settled);
  const rises = at(high) > at(0);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const cost = at(middle);
    if (rises ? cost >= settled : cost <= settled) high = middle;
    else low = middle + 1;
  }
  return at(low) === settled ? low : null;
}

/** Whether `settled` lies between the least and the most that kinds without a count can make of `usage`. */
function mayCost(kinds: readonly Unmetered[], usage: Usage, version: PriceVersion, settled: number): boolean {
  let least = Number.POSITIVE_INFINITY;
  let dearest = 0;
  for (let choice = 0; choice < 1 << kinds.length; choice++) {
    const counts = kinds.map((kind, i) => [kind, (choice >> i) % 2 === 0 ? 0 : most(kind, usage, settled)]);
    const cost = price({ ...usage, ...Object.fromEntries(counts) }, version).total_micro_usd;
    least = Math.min(least, cost);
    dearest = Math.max(dearest, cost);
  }
  return least <= settled && settled <= dearest;
}

/**
 * The cost of metered `usage` at `version` in micro-USD, held against what was settled.
 * @throws RangeError as `price`.
 */
export function recompute(usage: Usage, version: PriceVersion, settled_micro_usd: number): Recomputed {
  const cost = price(usage, version);
  if (cost.total_micro_usd === settled_micro_usd) return { cost, verdict: 'exact' };
  if (settled_micro_usd === 0 && usage.output_tokens === 0) return { cost, verdict: 'uncharged' };
  const rows = [version, ...version.bands, ...(version.list === undefined ? [] : [version.list])];
  const kinds = Object.keys(RATES) as Unmetered[];
  const open = kinds.filter((kind) => rows.some(({ rates }) => rates[RATES[kind]] !== undefined));
  for (const kind of open) {
    const count = countFor(kind, usage, version, settled_micro_usd);
    if (count !== null) return { cost: price({ ...usage, [kind]: count }, version), verdict: 'inferred' };
  }
  const within = open.length > 1 && mayCost(open, usage, version, settled_micro_usd);
  return { cost, verdict: within ? 'within' : 'differs' };
}
