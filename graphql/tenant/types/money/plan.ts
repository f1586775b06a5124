// The plans, the one of the organization, and changing it.
import { PlanOfferView, planIds } from '@svc/core/orgs/index.ts';
import {
  changeKinds,
  getPlanOperation,
  listPlansOperation,
  OrgPlanView,
  PlanChangeView,
  setPlanOperation,
} from '@svc/core/plans/index.ts';
import type { OutputOptions } from '../../../derive.ts';
import { builder, derive } from '../../builder.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { Organization } from '../organization.ts';

/** Fields of a derived type are known to the schema, not to the compiler. */
type Fields = Parameters<NonNullable<OutputOptions['extra']>>[0];

derive.enum('PlanId', planIds);
derive.enum('PlanChangeKind', changeKinds);
const PlanOffer = derive.output('PlanOffer', PlanOfferView);

interface OfPlan {
  readonly plan: unknown;
}
const planField = (t: Fields) => t.field({ type: PlanOffer, resolve: ({ plan }: OfPlan) => plan });
const PlanChange = derive.output('PlanChange', PlanChangeView, {
  omit: ['plan'],
  extra: (t) => ({ plan: planField(t) }),
});
const OrganizationPlan = derive.output('OrganizationPlan', OrgPlanView, {
  omit: ['plan', 'changes'],
  extra: (t) => ({
    plan: planField(t),
    changes: t.field({
      type: [PlanChange],
      description: 'Plans that can be chosen, and what each costs today.',
      resolve: ({ changes }: { readonly changes: unknown }) => changes,
    }),
  }),
});

builder.queryField('plans', (t) =>
  t.field({
    type: [PlanOffer],
    nullable: true,
    description: 'The plans with their fees and limits, in the order in which they are shown.',
    extensions: { operation: listPlansOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listPlansOperation, {})).data,
  }),
);

builder.objectFields(Organization, (t) => ({
  plan: t.field({
    type: OrganizationPlan,
    nullable: true,
    description: 'The plan, its period, and what each change would cost today.',
    extensions: { operation: getPlanOperation.name },
    resolve: ({ id }: { readonly id: string }, _args, { runner }) =>
      nullWhenMissing(runner.run(getPlanOperation, { id })),
  }),
}));

mutation({
  name: 'changePlan',
  operation: setPlanOperation,
  input: setPlanOperation.input,
  description:
    'Changes the plan: to a larger one at once, paid from credits; to a smaller one when the month ends.',
  payload: (t) => ({
    plan: t.field({
      type: OrganizationPlan,
      resolve: ({ answer }: { readonly answer: unknown }) => answer,
    }),
  }),
});
