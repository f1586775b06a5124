// The setting `plans`: what staff changed of the plans, over those of the release. Words and limits hold at once. What a
// plan costs changes with a UTC month and not within one, so that a month that runs keeps its terms.
import { readSetting } from '../db/index.ts';
import type { Db } from '../kernel/index.ts';
import { builtInPlans, type Plan, type PlanId, type PlanLimits, planIn } from './plans.ts';

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

/** What an organization was told of a fee that rises: it holds for it from `begins_on`. */
export interface FeeNotice {
  readonly plan_id: PlanId;
  /** The day from which the sheet has it. */
  readonly sheet_from: string;
  readonly fee_minor: number;
  readonly begins_on: string;
}

/** On which plan an organization is, and since when. */
interface OnPlan {
  readonly plan_id: PlanId;
  readonly since: Date;
}

type Price = Pick<Plan, 'monthly_minor' | 'included_micro'>;

/** A rise of a fee. */
export interface Rise {
  readonly sheet_from: string;
  readonly from_minor: number;
  readonly to_minor: number;
  readonly included_micro: number;
}

/** The fees of a plan by the day from which they hold, oldest first; of two with one day the later one counts. */
function stepsOf({ fees }: PlansSetting, plan_id: PlanId): readonly [from: string, fee: PlanFee][] {
  const steps = new Map<string, PlanFee>();
  for (const { from, fee } of fees.filter((each) => each.plan_id === plan_id))
    steps.set(from, { ...steps.get(from), ...fee });
  return [...steps];
}

/**
 * Walks the fees of a plan up to `day` as they hold for one organization: what was in force when it came to the plan, each
 * fall at once, and each rise where `holds` says so.
 */
function walk(
  setting: PlansSetting,
  { plan_id, since }: OnPlan,
  { day, holds }: { day: string; holds: (rise: Rise) => boolean },
): Price {
  const came = since.toISOString().slice(0, 10);
  let { monthly_minor, included_micro }: Price = planIn(builtInPlans, plan_id);
  for (const [from, fee] of stepsOf(setting, plan_id)) {
    if (from > day) break;
    const to = { monthly_minor, included_micro, ...fee };
    const [from_minor, to_minor] = [monthly_minor ?? 0, to.monthly_minor ?? 0];
    const rise = { sheet_from: from, from_minor, to_minor, included_micro: to.included_micro ?? 0 };
    if (from > came && to_minor > from_minor && !holds(rise)) continue;
    ({ monthly_minor, included_micro } = to);
  }
  return { monthly_minor, included_micro };
}

const isOf = ({ sheet_from, fee_minor }: FeeNotice, rise: Rise) =>
  sheet_from === rise.sheet_from && fee_minor >= rise.to_minor;

/** The plans at `at` as they hold for an organization: its own at the fee that it was told of in time. */
export function plansFor(
  setting: PlansSetting,
  on: OnPlan & { readonly notices: readonly FeeNotice[] },
  at: Date,
): Plan[] {
  const day = at.toISOString().slice(0, 10);
  const holds = (rise: Rise) =>
    on.notices.some(
      (notice) => notice.plan_id === on.plan_id && isOf(notice, rise) && notice.begins_on <= day,
    );
  const price = walk(setting, on, { day, holds });
  return plansAt(setting, at).map((plan) => (plan.id === on.plan_id ? { ...plan, ...price } : plan));
}

/** The rises on the sheet up to the day of `until` that an organization was not told of. */
export function untoldRises(
  setting: PlansSetting,
  on: OnPlan & { readonly notices: readonly FeeNotice[] },
  until: Date,
): Rise[] {
  const untold: Rise[] = [];
  const holds = (rise: Rise) => {
    const is_noticed = on.notices.some((notice) => notice.plan_id === on.plan_id && isOf(notice, rise));
    if (!is_noticed) untold.push(rise);
    return true;
  };
  walk(setting, on, { day: until.toISOString().slice(0, 10), holds });
  return untold;
}
