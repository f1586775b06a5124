// A settled cost checked against its metering record, which has every unit that a price bills.
import type { PriceVersion } from '../catalog/index.ts';
import { price } from './price.ts';
import type { Cost, Usage } from './types.ts';

export interface Recomputed {
  readonly cost: Cost;
  /** Whether that is what was settled. */
  readonly exact: boolean;
}

/**
 * The cost of what was metered at `version` in micro-USD, held against what was settled. An `insured` answer costs
 * nothing and has no lines.
 * @throws RangeError as `price`.
 */
export function recompute(
  metered: { readonly usage: Usage; readonly insured: boolean },
  version: PriceVersion,
  settled_micro_usd: number,
): Recomputed {
  const full = price(metered.usage, version);
  const cost = metered.insured ? { ...full, total_micro_usd: 0, lines: [] } : full;
  return { cost, exact: cost.total_micro_usd === settled_micro_usd };
}
