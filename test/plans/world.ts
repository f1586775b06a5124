// Organizations on plans, over the world of credits, and what tests ask of them.
import type { PlanId } from '@svc/core/orgs/index.ts';
import { advancePeriod, type OrgPlanView, openPeriod, putOnPlan } from '@svc/core/plans/index.ts';
import type { Static } from 'typebox';
import { clockAt, startWorld } from '../credits/world.ts';
import type { Tenant } from '../registry/harness.ts';

type Plan = Static<typeof OrgPlanView>;
export const FEE = { team: 49_000_000, scale: 499_000_000 } as const;
export const INCLUDED = { team: 45_000_000, scale: 475_000_000 } as const;
export const pathOf = ({ org }: Tenant) => `/v1/orgs/${org.id}/plan`;

/** Starts everything on a database of its own; it ends after the file. */
export async function startPlanWorld() {
  const world = await startWorld();
  const { harness, context } = world;
  const plan = (tenant: Tenant) => world.get<Plan>(pathOf(tenant), tenant.key);
  const ask = (tenant: Tenant, plan_id: string) =>
    harness.call('PUT', pathOf(tenant), { key: tenant.key, body: { plan_id } });
  const balance = async (tenant: Tenant) =>
    (await world.get<{ available_micro_usd: number }>('/v1/credits', tenant.key)).available_micro_usd;
  const planEntries = (tenant: Tenant) =>
    world.rows<{ kind: string; amount: number; ref_id: string }>(
      `select k.name as kind, e.amount, e.ref_id from ledger.entry e join ledger.entry_kind k on k.kind = e.kind
        where e.book_id = $1 and e.ref_type = 'plan' order by e.seq`,
      [tenant.org.live_book_id],
    );
  const moved = async (tenant: Tenant) =>
    (await planEntries(tenant)).map(({ kind, amount }) => [kind, amount]);
  const mails = async (tenant: Tenant) =>
    (
      await world.rows<{ template: string }>(
        `select template from mail where org_id = $1 and template like 'plan%' order by id`,
        [tenant.org.id],
      )
    ).map(({ template }) => template);
  const events = async (tenant: Tenant) =>
    (
      await world.rows<{ payload: { plan_id: string; previous_plan_id: string } }>(
        `select payload from outbox where org_id = $1 and topic = 'plan.changed' order by outbox_id`,
        [tenant.org.id],
      )
    ).map(({ payload }) => [payload.previous_plan_id, payload.plan_id]);

  /** An organization with a mailbox that has been on `plan_id` since 2026-01-10, with `micro` of paid credit. */
  async function member(slug: string, plan_id: PlanId, micro = 0): Promise<Tenant> {
    const tenant = await harness.makeTenant(slug);
    await harness.makePerson(tenant, 'owner');
    clockAt('2026-01-10T00:00:00Z');
    await putOnPlan(context, tenant.org.id, {
      plan_id,
      applies: 'now',
      free_months: 0,
      reason: 'by agreement',
    });
    if (micro > 0) await world.paid(tenant, micro);
    await world.rows('delete from outbox where org_id = $1', [tenant.org.id]);
    await world.rows('delete from mail where org_id = $1', [tenant.org.id]);
    return tenant;
  }

  const begin = (tenant: Tenant) => openPeriod(context, tenant.org.id);
  const step = (tenant: Tenant, period: string) => advancePeriod(context, { org_id: tenant.org.id, period });
  return { world, plan, ask, balance, planEntries, moved, mails, events, member, begin, step };
}
