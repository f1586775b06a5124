// Staff put an organization on a plan: at once or when the month ends, with a fee or with months that are given. Each act is
// an entry of the audit log, in its transaction.
import { Type } from 'typebox';
import { auditTargetOf, getStaffOrg, lookInto } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import { type Context, invalid, lineOf, notFound, oneOf, operation, ServiceError } from '../kernel/index.ts';
import {
  lockOrg,
  monthOf,
  type Org,
  type PlanId,
  planIds,
  readPlanTerms,
  schedulePlan,
  setPlanFree,
  unschedulePlan,
} from '../orgs/index.ts';
import { movePlan } from './charge.ts';
import { closeCharge, findOpenCharge } from './store.ts';
import { OrgPlanView, orgPlanExample, viewPlan } from './view.ts';

/** When a plan that staff set applies. */
export const planTimes = ['now', 'month_end'] as const;
/** Two years: who has a plan for longer without paying has an agreement, which is what `enterprise` is for. */
export const FREE_MONTHS_MAX = 24;

export interface StaffPlan {
  readonly plan_id: PlanId;
  readonly applies: (typeof planTimes)[number];
  /** Of how many coming months no fee is taken. */
  readonly free_months: number;
  readonly reason: string;
}

/** The beginning of the month that is `months` after the next one; null for none. */
function freeUntil(at: Date, months: number): Date | null {
  if (months === 0) return null;
  const { ends_at } = monthOf(at);
  return new Date(Date.UTC(ends_at.getUTCFullYear(), ends_at.getUTCMonth() + months, 1));
}

function conflict(state: string, message: string): ServiceError {
  return new ServiceError('state_conflict', message, { details: { state } });
}

/** Puts `org` on the plan now. What was due for this month is not asked for any more. Under its lock. */
async function applyNow(context: Context, org: Org, { plan_id, free_months }: StaffPlan): Promise<void> {
  const { db } = context;
  const at = context.now();
  const free_until = freeUntil(at, free_months);
  const open = await findOpenCharge(db, org.id);
  // Its answer could put the organization on another plan after this one.
  if (open?.status === 'pending')
    throw conflict('pending', 'A fee of this organization is being taken. Try again shortly.');
  if (open !== null) await closeCharge(db, open, { status: 'lapsed', at });
  if (plan_id !== org.plan_id) {
    const reference = `${org.id}-staff-${context.request_id}`;
    return movePlan(context, org, { plan_id, free_until, reference });
  }
  await unschedulePlan(db, { org_id: org.id, at });
  await setPlanFree(db, { org_id: org.id, free_until, at });
}

/** Lets the plan follow when the month ends; the present one takes back that another follows. Under its lock. */
async function applyLater(context: Context, org: Org, { plan_id }: StaffPlan): Promise<void> {
  const at = context.now();
  if (plan_id === org.plan_id) return unschedulePlan(context.db, { org_id: org.id, at });
  await schedulePlan(context.db, {
    ...{ org_id: org.id, next_plan_id: plan_id, at },
    next_plan_at: monthOf(at).ends_at,
  });
}

async function auditFacts(context: Context, org_id: Org['id']): Promise<Record<string, unknown>> {
  const { plan_id, next_plan_id, free_until } = await readPlanTerms(context.db, org_id);
  return { plan_id, next_plan_id, free_until: free_until?.toISOString() ?? null };
}

/**
 * Puts an organization on a plan. At once no fee is taken for the rest of this month, nor for `free_months` after it.
 * @throws ServiceError not_found, invalid_request, state_conflict for one that is closed or whose fee is being taken.
 */
export async function putOnPlan(context: Context, org_id: Org['id'], wanted: StaffPlan): Promise<void> {
  if (wanted.applies === 'month_end' && wanted.free_months > 0)
    throw invalid('free_months', 'unsupported', 'Months are given with a plan that applies now.');
  await context.transaction(async (context) => {
    const org = await lockOrg(context.db, org_id);
    if (org === null) throw notFound();
    if (org.status === 'closed') throw conflict('closed', 'The organization is closed.');
    const before = await auditFacts(context, org_id);
    await (wanted.applies === 'now' ? applyNow : applyLater)(context, org, wanted);
    const after = await auditFacts(context, org_id);
    const { reason } = wanted;
    await writeAudit(context, {
      action: 'staff.orgs.plan.set',
      ...auditTargetOf(org),
      before,
      after,
      reason,
    });
  });
}

export const getStaffPlanOperation = operation({
  name: 'staff.orgs.plan.get',
  method: 'GET',
  path: '/staff/orgs/:id/plan',
  summary: 'Read the plan of an organization and what follows',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({ id: Type.String() }),
  output: OrgPlanView,
  errors: [],
  example: orgPlanExample,
  run: (context, { id }) =>
    context.transaction(async (context) => {
      return viewPlan(context, await lookInto(context, id, 'staff.orgs.plan.get'));
    }),
});

export const setStaffPlanOperation = operation({
  name: 'staff.orgs.plan.set',
  method: 'POST',
  path: '/staff/orgs/:id/plan',
  summary: 'Put an organization on a plan, at once or when the month ends, with months that are given',
  audience: { kind: 'staff', roles: ['finance'] },
  input: Type.Object({
    id: Type.String(),
    plan_id: oneOf(planIds, 'PlanId'),
    applies: oneOf(planTimes, 'PlanTime'),
    free_months: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: FREE_MONTHS_MAX,
        description: 'coming months without fee and without included credit',
      }),
    ),
    reason: lineOf(500),
  }),
  output: OrgPlanView,
  errors: ['state_conflict'],
  example: orgPlanExample,
  async run(context, { id, free_months = 0, ...wanted }) {
    const org = await getStaffOrg(context, id);
    await putOnPlan(context, org.id, { ...wanted, free_months });
    return viewPlan(context, await getStaffOrg(context, id));
  },
});

export const staffPlanOperations = [getStaffPlanOperation, setStaffPlanOperation] as const;
