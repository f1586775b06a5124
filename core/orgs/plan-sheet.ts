// The setting `plans`: what staff changed of the plans, over those of the release. Words and limits hold at once. What a
// plan costs changes with a UTC month and not within one, so that a month that runs keeps its terms.
import { readSetting } from '../db/index.ts';
import type { Db } from '../kernel/index.ts';
import { builtInPlans, type Plan, type PlanId, type PlanLimits } from './plans.ts';

/** What of a plan holds from the beginning of a month. */
export type PlanFee = Partial<Pick<Plan, 'monthly_minor' | 'included_micro' | 'grace_days'>>;
/** What of a plan holds at once, beside its limits. */
export type PlanWords = Partial<Pick<Plan, 'name' | 'description' | 'public'>>;

interface PlansSetting {
  readonly words: { readonly [plan in PlanId]?: PlanWords };
  readonly limits: { readonly [plan in PlanId]?: Partial<PlanLimits> };
  /** Oldest first; each adds to those before. */
  readonly fees: readonly { readonly from: string; readonly plan_id: PlanId; readonly fee: PlanFee }[];
}

const NONE: PlansSetting = { words: {}, limits: {}, fees: [] };

/** The plans as they are at `at`. */
export function plansAt({ words, limits, fees }: PlansSetting, at: Date): Plan[] {
  const day = at.toISOString().slice(0, 10);
  return builtInPlans.map((plan) => {
    const due = fees.filter(({ from, plan_id }) => plan_id === plan.id && from <= day);
    return {
      ...plan,
      ...words[plan.id],
      ...(Object.assign({}, ...due.map(({ fee }) => fee)) as PlanFee),
      limits: { ...plan.limits, ...limits[plan.id] },
      features: { ...plan.features },
    };
  });
}

/** What staff have set. */
export async function readPlansSetting(db: Db): Promise<PlansSetting> {
  return { ...NONE, ...(await readSetting<Partial<PlansSetting>>(db, 'plans')) };
}

/** The plans as they are at `at`, in the order in which they are shown. */
export async function readPlans(db: Db, at: Date): Promise<Plan[]> {
  return plansAt(await readPlansSetting(db), at);
}
