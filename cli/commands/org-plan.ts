// Shows the plan of an organization: its period, what follows, and what it was charged.
import { listCharges, refOf, viewPlan } from '@svc/core/plans/index.ts';
import type { Command } from '../command.ts';
import { staffContext } from '../context.ts';
import { withDatabase } from '../installation.ts';
import { getOrg } from '../lookup.ts';

/** Two years of months, with upgrades. */
const CHARGES = 36;

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
  },
  example: 'svcctl org plan --org acme',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const org = await getOrg(context, input.get('org'));
      const { plan, changes: _, ...view } = await viewPlan(context, org);
      const charges = (await listCharges(pool, { org_id: org.id, limit: CHARGES })).map((charge) => ({
        name: refOf(charge),
        plan_id: charge.plan_id,
        status: charge.status,
        fee_micro: charge.fee_micro,
        included_micro: charge.included_micro,
        grace_until: charge.grace_until?.toISOString() ?? null,
        created_at: charge.created_at.toISOString(),
      }));
      const lines = [
        `${org.slug}  ${plan.id} since ${view.since}`,
        `period  ${view.period_start} to ${view.period_end}`,
        `then  ${view.next_plan_id ?? plan.id}, fee ${view.next_charge_micro} micro-USD`,
        `included  ${view.included_left_micro} micro-USD left`,
        ...(view.grace === null
          ? []
          : [`grace  ${view.grace.fee_micro} micro-USD until ${view.grace.until}`]),
        ...charges.map(({ created_at, name, plan_id, status, fee_micro }) =>
          [created_at, name, plan_id, status, `${fee_micro} micro-USD`].join('  '),
        ),
      ];
      return { json: { org_id: org.id, plan_id: plan.id, ...view, charges }, text: lines.join('\n') };
    });
  },
};
