// Plans of organizations in the staff schema.
import { PlanOfferView, planIds } from '@svc/core/orgs/index.ts';
import {
  getSheetOperation,
  getStaffPlanOperation,
  OrgPlanView,
  planTimes,
  SheetView,
  setSheetOperation,
  setStaffPlanOperation,
} from '@svc/core/plans/index.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** The sheet of all plans, and the act that changes it. */
function addSheet({ builder, derive, mutation }: Parts, PlanOffer: Any): void {
  // Both parts of the sheet, for the query and for the act.
  const Coming = derive.output('ComingPlanFee', SheetView.properties.coming.items);
  const OnPlan = derive.output('OnPlan', SheetView.properties.on_plans.items);
  const sheet = (t: Any) => ({
    plans: t.field({ type: [PlanOffer], resolve: ({ plans }: SheetView) => plans }),
    coming: t.field({
      type: [Coming],
      description: 'What changes with a coming month; null: stays.',
      resolve: ({ coming }: SheetView) => coming,
    }),
    onPlans: t.field({
      type: [OnPlan],
      description: 'How many organizations that are not closed are on each plan.',
      resolve: ({ on_plans }: SheetView) => on_plans,
    }),
    period: t.field({
      type: 'Date',
      description: 'First day of the month that runs.',
      resolve: ({ period }: SheetView) => period,
    }),
    riseBeginsOn: t.field({
      type: 'Date',
      description: 'First month from which who has a plan can pay more, if that is decided now.',
      resolve: ({ rise_begins_on }: SheetView) => rise_begins_on,
    }),
  });
  const PlanSheet = builder.objectRef('PlanSheet').implement({ fields: sheet });
  builder.queryField('planSheet', (t: Any) =>
    t.field({
      type: PlanSheet,
      nullable: true,
      description: 'The plans as they are, and what changes with coming months.',
      extensions: { operation: getSheetOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getSheetOperation, {}),
    }),
  );
  mutation({
    name: 'setPlan',
    operation: setSheetOperation,
    description: 'Changes a plan for everybody: limits and words at once, its fee from a month on.',
    payload: sheet,
  });
}

/** Adds the plan of an organization, the sheet of all plans, and the acts that change them. */
export function addPlans(parts: Parts): void {
  const { builder, derive, mutation, StaffOrg } = parts;
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
  addSheet(parts, PlanOffer);
}
