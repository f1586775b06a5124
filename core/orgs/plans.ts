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
