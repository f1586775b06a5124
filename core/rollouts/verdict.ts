// What is to become of a canary. Pure.
import type { ArmCounts } from '../analytics/index.ts';
import type { CanaryPlan } from '../policies/index.ts';
import { SHARES } from '../policies/index.ts';
import { evidenceOf, plus, type Window } from './evidence.ts';

/** `red` is for good: the version that it was found under does not get better. */
export type JudgedState = 'pending' | 'green' | 'red';

export interface Verdict {
  readonly state: JudgedState;
  readonly p_value: number;
  /** Why it is red, for people; empty otherwise. */
  readonly reason: string;
}

function rate(errors: number, calls: number): number {
  return calls === 0 ? 0 : errors / calls;
}

/** Whether these counts show a difference that the policy does not excuse. */
function isWorse(since: ArmCounts, { min_effect, max_error_rate }: CanaryPlan): boolean {
  if (since.control_calls === 0) return false;
  const canary = rate(since.canary_errors, since.canary_calls);
  const control = rate(since.control_errors, since.control_calls);
  return canary - control >= min_effect && canary > (max_error_rate ?? 0);
}

/** The verdict on a canary over all its windows. */
export function judge(plan: CanaryPlan, windows: readonly Window[]): Verdict {
  const { p_value, since } = evidenceOf(windows, plan.share / SHARES);
  if (p_value <= plan.alpha && isWorse(since, plan)) {
    const { canary_errors, canary_calls, control_errors, control_calls } = since;
    const reason =
      `${canary_errors} of ${canary_calls} calls failed at the canary, ` +
      `${control_errors} of ${control_calls} elsewhere`;
    return { state: 'red', p_value, reason };
  }
  const all = windows.reduce<ArmCounts>((sum, window) => plus(sum, window), {
    ...{ canary_calls: 0, canary_errors: 0, control_calls: 0, control_errors: 0 },
  });
  const seen = Math.min(all.canary_calls, all.control_calls);
  return { state: seen >= plan.min_samples ? 'green' : 'pending', p_value, reason: '' };
}
