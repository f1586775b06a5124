// Reading and changing the plan of an organization.
import { Type } from 'typebox';
import { writeAudit } from '../identity/index.ts';
import { type Context, idOf, listOf, notFound, oneOf, operation, orgCaller } from '../kernel/index.ts';
import { findOrg, type Org, PlanOfferView, planExample, planIds, readPlans } from '../orgs/index.ts';
import { requestPlan } from './change.ts';
import { OrgPlanView, orgPlanExample, viewPlan } from './view.ts';

const everybody = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;

/** The organization that is named, which must be the caller's. @throws ServiceError not_found. */
async function callersOrg(context: Context, id: string): Promise<Org> {
  const { org_id } = orgCaller(context);
  const org = id === org_id ? await findOrg(context.db, org_id) : null;
  if (org === null) throw notFound();
  return org;
}

export const listPlansOperation = operation({
  name: 'plans.list',
  method: 'GET',
  path: '/v1/plans',
  summary: 'List the plans with their fees and limits, in the order in which they are shown',
  audience: { kind: 'key', scopes: 'any', session: everybody },
  input: Type.Object({}),
  output: listOf(PlanOfferView),
  errors: [],
  example: { object: 'list', data: [planExample] },
  async run({ db, now }) {
    const plans = await readPlans(db, now());
    return { object: 'list' as const, data: plans.map((plan) => ({ ...plan, limits: { ...plan.limits } })) };
  },
});

export const getPlanOperation = operation({
  name: 'orgs.plan.get',
  method: 'GET',
  path: '/v1/orgs/:id/plan',
  summary: 'Read the plan of an organization, its period, and what each change would cost today',
  audience: { kind: 'key', scopes: ['read:credits'], session: everybody },
  input: Type.Object({ id: idOf('org') }),
  output: OrgPlanView,
  errors: [],
  example: orgPlanExample,
  run: async (context, { id }) => viewPlan(context, await callersOrg(context, id)),
});

export const setPlanOperation = operation({
  name: 'orgs.plan.update',
  method: 'PUT',
  path: '/v1/orgs/:id/plan',
  summary:
    'Change the plan: to a larger one at once, paid from credits; to a smaller one when the month ends',
  audience: { kind: 'key', scopes: ['manage:credits'], session: ['owner'], sandbox: false },
  input: Type.Object({ id: idOf('org'), plan_id: oneOf(planIds, 'PlanId') }),
  output: OrgPlanView,
  errors: ['insufficient_credits', 'state_conflict', 'service_unavailable'],
  // The fee is taken after the commit. Where the process dies before it answers, the change is made by the job.
  own_transactions: true,
  request: { plan_id: 'team' },
  example: orgPlanExample,
  async run(context, { id, plan_id }) {
    const before = await viewPlan(context, await callersOrg(context, id));
    const { org_id } = orgCaller(context);
    await requestPlan(context, org_id, plan_id);
    const after = await viewPlan(context, await callersOrg(context, id));
    const named = ({ plan, next_plan_id }: typeof after) => ({ plan_id: plan.id, next_plan_id });
    await writeAudit(context, {
      ...{ action: 'orgs.plan.update', org_id, target: { type: 'org', id: org_id } },
      ...{ before: named(before), after: named(after) },
    });
    return after;
  },
});

export const planOperations = [listPlansOperation, getPlanOperation, setPlanOperation] as const;
