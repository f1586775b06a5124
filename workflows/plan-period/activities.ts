// The side effects of the workflow `planPeriod`: one function of core that takes whatever step is due.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { advancePeriod, type PeriodProgress } from '@svc/core/plans/index.ts';

export interface PeriodArgs {
  readonly org_id: Id<'org'>;
  /** First UTC day of the month. */
  readonly period: string;
}

export interface PlanPeriodActivities {
  advancePeriod(args: PeriodArgs): Promise<PeriodProgress>;
}

/** The activities; each run gets its context from `open`. */
export function planPeriodActivities(open: () => Context): PlanPeriodActivities {
  return { advancePeriod: (args) => advancePeriod(open(), args) };
}
