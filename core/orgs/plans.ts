// Plan limits (docs/limits.md). A key's limit is never above its plan's; null is "by agreement", no bound of the plan.

interface PlanLimits {
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly concurrency: number | null;
  readonly keys: number | null;
  readonly projects: number | null;
}

const plans: Readonly<Record<string, PlanLimits>> = {
  payg: { rpm: 300, tpm: 1_000_000, concurrency: 20, keys: 20, projects: 5 },
  team: { rpm: 1_500, tpm: 5_000_000, concurrency: 100, keys: 100, projects: 25 },
  scale: { rpm: 6_000, tpm: 20_000_000, concurrency: 400, keys: 500, projects: 100 },
  enterprise: { rpm: null, tpm: null, concurrency: null, keys: null, projects: null },
};

export const planIds = ['payg', 'team', 'scale', 'enterprise'] as const;
export type PlanId = (typeof planIds)[number];

/** The limits of plan `plan_id`. @throws Error (a defect) on a plan that does not exist. */
export function planLimits(plan_id: string): PlanLimits {
  const limits = plans[plan_id];
  if (limits === undefined) throw new Error(`unknown plan ${plan_id}`);
  return limits;
}

/** What a plan costs and has, as the pricing sheet shows it; null is by agreement. */
export interface PlanOffer {
  readonly id: PlanId;
  readonly name: string;
  readonly monthly_minor: number | null;
  readonly currency: 'USD';
  readonly included_micro: number | null;
  readonly features: Readonly<Record<'hedging' | 'sso' | 'scim' | 'audit_export', boolean>>;
  readonly description: string;
  readonly public: boolean;
}

const FEATURES = { hedging: false, sso: true, scim: true, audit_export: true };

const offers: readonly PlanOffer[] = [
  {
    id: 'payg',
    name: 'Pay as you go',
    monthly_minor: 0,
    currency: 'USD',
    included_micro: 0,
    features: FEATURES,
    description: 'No monthly fee: credits are bought and spent.',
    public: true,
  },
  {
    id: 'team',
    name: 'Team',
    monthly_minor: 4_900,
    currency: 'USD',
    included_micro: 45_000_000,
    features: FEATURES,
    description: 'For a team in production, with credit of $45 each month.',
    public: true,
  },
  {
    id: 'scale',
    name: 'Scale',
    monthly_minor: 49_900,
    currency: 'USD',
    included_micro: 475_000_000,
    features: { ...FEATURES, hedging: true },
    description: 'For heavy use, with credit of $475 each month.',
    public: true,
  },
  {
    id: 'enterprise',
    name: 'Enterprise',
    monthly_minor: null,
    currency: 'USD',
    included_micro: null,
    features: { ...FEATURES, hedging: true },
    description: 'Limits and terms by agreement.',
    public: false,
  },
];

/** What plan `plan_id` costs and has. @throws Error (a defect) on a plan that does not exist. */
export function planOffer(plan_id: string): PlanOffer {
  const offer = offers.find(({ id }) => id === plan_id);
  if (offer === undefined) throw new Error(`unknown plan ${plan_id}`);
  return offer;
}

/** All plans with their limits, in the order in which they are shown. */
export function planSheet() {
  return offers.map((offer, at) => ({
    ...offer,
    features: { ...offer.features },
    limits: planLimits(offer.id),
    sort: at + 1,
  }));
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
