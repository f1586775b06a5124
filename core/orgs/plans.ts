// The plans as the release has them (docs/limits.md, docs/money/plans.md); what staff changed of them is in plan-sheet.ts.

export const planIds = ['payg', 'team', 'scale', 'enterprise'] as const;
export type PlanId = (typeof planIds)[number];

/** A key's limit is never above its plan's; null is "by agreement", no bound of the plan. */
export interface PlanLimits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly keys: number | null;
  readonly projects: number | null;
}

/** What a plan costs and has; null is by agreement. */
export interface Plan {
  readonly id: PlanId;
  readonly name: string;
  readonly monthly_minor: number | null;
  readonly currency: 'USD';
  readonly included_micro: number | null;
  /** How long a month's fee may wait for credit. */
  readonly grace_days: number;
  readonly limits: PlanLimits;
  readonly features: Readonly<Record<'hedging' | 'sso' | 'scim' | 'audit_export', boolean>>;
  readonly description: string;
  readonly public: boolean;
  readonly sort: number;
}

const FEATURES = { hedging: false, sso: true, scim: true, audit_export: true };

/** In the order in which they are shown. */
export const builtInPlans: readonly Plan[] = [
  {
    id: 'payg',
    name: 'Pay as you go',
    monthly_minor: 0,
    currency: 'USD',
    included_micro: 0,
    grace_days: 3,
    limits: { rpm: 300, tpm: 1_000_000, concurrency: 20, keys: 20, projects: 5 },
    features: FEATURES,
    description: 'No monthly fee: credits are bought and spent.',
    public: true,
    sort: 1,
  },
  {
    id: 'team',
    name: 'Team',
    monthly_minor: 4_900,
    currency: 'USD',
    included_micro: 45_000_000,
    grace_days: 3,
    limits: { rpm: 1_500, tpm: 5_000_000, concurrency: 100, keys: 100, projects: 25 },
    features: FEATURES,
    description: 'For a team in production, with credit each month.',
    public: true,
    sort: 2,
  },
  {
    id: 'scale',
    name: 'Scale',
    monthly_minor: 49_900,
    currency: 'USD',
    included_micro: 475_000_000,
    grace_days: 3,
    limits: { rpm: 6_000, tpm: 20_000_000, concurrency: 400, keys: 500, projects: 100 },
    features: { ...FEATURES, hedging: true },
    description: 'For heavy use, with credit each month.',
    public: true,
    sort: 3,
  },
  {
    id: 'enterprise',
    name: 'Enterprise',
    monthly_minor: null,
    currency: 'USD',
    included_micro: null,
    grace_days: 3,
    limits: { rpm: null, tpm: null, concurrency: null, keys: null, projects: null },
    features: { ...FEATURES, hedging: true },
    description: 'Limits and terms by agreement.',
    public: false,
    sort: 4,
  },
];

/** The plan `plan_id` of `plans`. @throws Error (a defect) on a plan that does not exist. */
export function planIn(plans: readonly Plan[], plan_id: string): Plan {
  const plan = plans.find(({ id }) => id === plan_id);
  if (plan === undefined) throw new Error(`unknown plan ${plan_id}`);
  return plan;
}

/** The limits of the plan of `org`: those of the release under what staff set. */
export function planLimits(org: {
  readonly plan_id: string;
  readonly plan_limits: Partial<PlanLimits> | null;
}): PlanLimits {
  return { ...planIn(builtInPlans, org.plan_id).limits, ...org.plan_limits };
}

const DAY_MS = 86_400_000;

/** A UTC month, which is the period of every plan, as seen from a moment in it. */
interface Month {
  /** Its first day, `2026-11-01`. */
  readonly period: string;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly days: number;
  /** Today counts. */
  readonly days_left: number;
}

/** The month that `at` lies in. */
export function monthOf(at: Date): Month {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  const starts_at = new Date(Date.UTC(year, month, 1));
  const ends_at = new Date(Date.UTC(year, month + 1, 1));
  const days = (ends_at.getTime() - starts_at.getTime()) / DAY_MS;
  return {
    ...{ period: starts_at.toISOString().slice(0, 10), starts_at, ends_at, days },
    days_left: days - at.getUTCDate() + 1,
  };
}
