// Canaries as a policy asks for them: a share of the calls goes to an endpoint on trial, and the rest is its control.
import { canaryBreaches, type PolicyDocument } from './types.ts';

/** A canary with everything that its policy leaves to the standard. */
export interface CanaryPlan {
  readonly endpoint_id: string;
  /** Of 10,000 calls this many are for the endpoint. */
  readonly share: number;
  /** Up to this share of failures it is never rolled back; null: none is excused. */
  readonly max_error_rate: number | null;
  /** Calls of either side before it can be called good. */
  readonly min_samples: number;
  /** For how long traffic counts as present, and how often the judgement begins anew as well. */
  readonly window_s: number;
  readonly on_breach: (typeof canaryBreaches)[number];
  /** The probability, at most, that a canary as good as its control is ever found worse. */
  readonly alpha: number;
  /** A canary that fails less than this share more often than its control stays. */
  readonly min_effect: number;
}

export const SHARES = 10_000;

/** `percent` in ten-thousandths: what a call's bucket is compared with. */
export function shareOf(percent: number): number {
  return Math.round(percent * 100);
}

/** The canaries of a policy, in the order of its text; an endpoint is the canary of one place only. */
export function canariesOf({ defaults, rules = [] }: PolicyDocument): CanaryPlan[] {
  const found: CanaryPlan[] = [];
  for (const { canary } of [defaults ?? {}, ...rules]) {
    if (canary === undefined) continue;
    found.push({
      endpoint_id: canary.endpoint,
      share: shareOf(canary.percent),
      max_error_rate: canary.max_error_rate ?? null,
      min_samples: canary.min_samples ?? 100,
      window_s: canary.window_s ?? 3_600,
      on_breach: canary.on_breach ?? canaryBreaches[0],
      alpha: canary.alpha ?? 0.01,
      min_effect: canary.min_effect ?? 0.02,
    });
  }
  return found;
}
