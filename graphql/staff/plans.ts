// Plans of organizations in the staff schema.
import { PlanOfferView, planIds } from '@svc/core/orgs/index.ts';
import {
  getStaffPlanOperation,
  OrgPlanView,
  planTimes,
  setStaffPlanOperation,
} from '@svc/core/plans/index.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the plan of an organization, and the act that changes it. */
export function addPlans({ builder, derive, mutation, StaffOrg }: Parts): void {
  derive.enum('PlanId', planIds);
  derive.enum('PlanTime', planTimes);
  const PlanOffer = derive.output('PlanOffer', PlanOfferView);
  // What a customer could choose is of no use here: staff may choose any.
  const OrgPlan = derive.output('OrganizationPlan', OrgPlanView, {
    omit: ['plan', 'changes'],
    extra: (t: Any) => ({ plan: t.field({ type: PlanOffer, resolve: ({ plan }: Any) => plan }) }),
  });
  builder.objectFields(StaffOrg, (t: Any) => ({
    plan: t.field({
      type: OrgPlan,
      nullable: true,
      description: 'The plan, its period, and what follows.',
      extensions: { operation: getStaffPlanOperation.name },
      resolve: ({ id }: { id: string }, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getStaffPlanOperation, { id }),
    }),
  }));
  mutation({
    name: 'setOrgPlan',
    operation: setStaffPlanOperation,
    description:
      'Puts an organization on a plan, at once or when the month ends, with months that are given.',
    rename: { id: 'orgId' },
    payload: (t) => ({ plan: t.field({ type: OrgPlan, resolve: (answer: unknown) => answer }) }),
  });
}
