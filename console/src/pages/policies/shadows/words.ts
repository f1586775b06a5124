// What the shadows of a policy showed. Pure.
import type { PolicyShadowsQuery } from '../../../api/gen/tools/graphql.ts';
import { exactText } from '../../../ui/format/money.ts';
import { durationText, plural, shareText } from '../../../ui/format/numbers.ts';

export type ShadowShown = NonNullable<PolicyShadowsQuery['policyShadows']>[number];

/** What it copies, and who pays: "1% of the calls, at most 500 a day; the platform pays". */
export function scopeText({
  percent,
  maxPerDay,
  bill,
}: Pick<ShadowShown, 'percent' | 'maxPerDay' | 'bill'>): string {
  const most = maxPerDay == null ? '' : `, at most ${maxPerDay} a day`;
  const payer = bill === 'PLATFORM' ? '; the platform pays' : '';
  return `${shareText(percent / 100)} of the calls${most}${payer}`;
}

type Costs = Pick<ShadowShown, 'runs' | 'errors' | 'primaryCostMicro' | 'shadowCostMicro' | 'costDeltaMicro'>;

/** The cost of a copy beside that of its call: "−48% ($0.000947 instead of $0.001822)"; null without answers. */
export function costText({
  runs,
  errors,
  primaryCostMicro,
  shadowCostMicro,
  costDeltaMicro,
}: Costs): string | null {
  const answered = runs - errors;
  if (answered <= 0) return null;
  const each = (micro: string) => exactText(Math.round(Number(micro) / answered));
  const [before, delta] = [Number(primaryCostMicro), Number(costDeltaMicro)];
  const sign = delta < 0 ? '−' : '+';
  const share = before === 0 ? '' : `${sign}${shareText(Math.abs(delta) / before)} `;
  return `${share}(${each(shadowCostMicro)} instead of ${each(primaryCostMicro)})`;
}

/** "301 ms instead of 412 ms"; null where no first tokens were seen. */
export function ttftText({
  primaryTtftMs,
  shadowTtftMs,
}: Pick<ShadowShown, 'primaryTtftMs' | 'shadowTtftMs'>): string | null {
  if (primaryTtftMs == null || shadowTtftMs == null) return null;
  return `${durationText(shadowTtftMs)} instead of ${durationText(primaryTtftMs)}`;
}

/** "9 of 409 ended for another reason; 3 failed". */
export function endsText({
  runs,
  errors,
  stopMismatch,
}: Pick<ShadowShown, 'runs' | 'errors' | 'stopMismatch'>) {
  if (runs === 0) return 'no copy yet';
  return `${stopMismatch} of ${plural(runs - errors, 'copy', 'copies')} ended for another reason; ${errors} failed`;
}
