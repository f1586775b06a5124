// What an organization may use: the limits of its plan, and what staff granted it beyond them.
import { type PlanLimits, planLimits } from './plans.ts';
import type { LimitOverrides, Org, Project } from './types.ts';

/** The larger of the plan's limit and the granted one; null is no bound. */
function larger(of_plan: number | null, granted: number | undefined): number | null {
  return of_plan === null || granted === undefined ? of_plan : Math.max(of_plan, granted);
}

/**
 * The limits that hold for `org` as a whole and for each of its keys. What was granted never lowers the plan's, so an
 * upgrade is not undone by a grant from before.
 */
export function limitsOf(org: Pick<Org, 'plan_id' | 'plan_limits' | 'limit_overrides'>): PlanLimits {
  const plan = planLimits(org);
  const { rpm, tpm, concurrency }: LimitOverrides = org.limit_overrides;
  return {
    ...plan,
    rpm: larger(plan.rpm, rpm),
    tpm: larger(plan.tpm, tpm),
    concurrency: larger(plan.concurrency, concurrency),
  };
}

/** The limits of all keys of a project together; null: it has none. */
export function projectLimits({
  rpm,
  tpm,
  concurrency,
}: Pick<Project, 'rpm' | 'tpm' | 'concurrency'>): Pick<Project, 'rpm' | 'tpm' | 'concurrency'> | null {
  return rpm === null && tpm === null && concurrency === null ? null : { rpm, tpm, concurrency };
}
