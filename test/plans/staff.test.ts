// What staff do with the plan of an organization: put it on one, let one follow, give months, and end the days of grace.
import { changeTerms, type PlanId } from '@svc/core/orgs/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { expect, test } from 'vitest';
import { clockAt } from '../credits/world.ts';
import { FEE, INCLUDED, startPlanWorld } from './world.ts';

const { world, plan, moved, member, begin, step } = await startPlanWorld();
const { context } = world;

test('what staff set costs nothing until the next month, and ends the days of grace', async () => {
  const tenant = await member('staffed', 'team', 0);
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  await putOnPlan(context, tenant.org.id, {
    plan_id: 'enterprise',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  clockAt('2026-12-05T00:00:00Z');
  expect(await step(tenant, '2026-12-01')).toMatchObject({ status: 'lapsed' });
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'enterprise' }, next_charge_micro: 0 });
  await putOnPlan(context, tenant.org.id, {
    plan_id: 'scale',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  await begin(tenant);
  expect(await moved(tenant)).toEqual([]);
});

test('months that staff give have no fee and bring no credit; the first one after them does', async () => {
  const tenant = await member('given', 'payg', 60_000_000);
  clockAt('2026-11-21T10:00:00Z');
  const give = { plan_id: 'team', applies: 'now', free_months: 2, reason: 'a pilot' } as const;
  await putOnPlan(context, tenant.org.id, give);
  const { free_until } = await plan(tenant);
  expect([free_until, (await plan(tenant)).next_charge_micro]).toEqual(['2027-02-01T00:00:00.000Z', 0]);
  for (const month of ['2026-12', '2027-01']) {
    clockAt(`${month}-01T00:00:00Z`);
    expect(await begin(tenant)).toBe(false);
  }
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'team' }, next_charge_micro: FEE.team });
  clockAt('2027-02-01T00:00:00Z');
  expect(await begin(tenant)).toBe(true);
  expect(await moved(tenant)).toEqual([
    ['plan_fee', -FEE.team],
    ['plan_credit', INCLUDED.team],
  ]);
  expect(await plan(tenant)).toMatchObject({ free_until: null });
});

test('staff let a plan follow, take that back, and end the days of grace without changing the plan', async () => {
  const tenant = await member('decided', 'team', 0);
  const set = (plan_id: PlanId, applies: 'now' | 'month_end', free_months = 0) =>
    putOnPlan(context, tenant.org.id, { plan_id, applies, free_months, reason: 'asked by phone' });
  clockAt('2026-11-21T00:00:00Z');
  await set('scale', 'month_end');
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'team' }, next_plan_id: 'scale' });
  await set('team', 'month_end');
  expect(await plan(tenant)).toMatchObject({ next_plan_id: null });
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  expect((await plan(tenant)).grace).not.toBe(null);
  await set('team', 'now', 1);
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'team' }, grace: null, next_charge_micro: 0 });
  expect(await step(tenant, '2026-12-01')).toMatchObject({ status: 'lapsed' });
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'team' } });
  await expect(set('scale', 'month_end', 1)).rejects.toMatchObject({ param: 'free_months' });
  const acts = await world.rows<{ before: object; after: object; reason: string }>(
    `select before, after, reason from audit_entry where org_id = $1 and action = 'staff.orgs.plan.set' order by id`,
    [tenant.org.id],
  );
  expect(acts.slice(-3)).toEqual([
    {
      before: { plan_id: 'team', next_plan_id: null, free_until: null },
      after: { plan_id: 'team', next_plan_id: 'scale', free_until: null },
      reason: 'asked by phone',
    },
    expect.objectContaining({ after: { plan_id: 'team', next_plan_id: null, free_until: null } }),
    expect.objectContaining({
      after: { plan_id: 'team', next_plan_id: null, free_until: '2027-02-01T00:00:00.000Z' },
    }),
  ]);
});

test('a plan that staff set while a fee is being taken is refused; so is one of a closed organization', async () => {
  const tenant = await member('taking', 'payg', 600_000_000);
  clockAt('2026-11-21T00:00:00Z');
  const scale = { plan_id: 'scale', applies: 'now', free_months: 0, reason: 'x' } as const;
  await world.rows(
    `insert into plan_charge (org_id, period, no, plan_id, fee_micro, included_micro, status, tries, created_at)
     values ($1, '2026-11-01', 1, 'team', 1, 0, 'pending', 1, $2)`,
    [tenant.org.id, new Date('2026-11-21T00:00:00Z')],
  );
  await expect(putOnPlan(context, tenant.org.id, scale)).rejects.toMatchObject({
    code: 'state_conflict',
    details: { state: 'pending' },
  });
  await world.rows(`update plan_charge set status = 'refused', settled_at = created_at where org_id = $1`, [
    tenant.org.id,
  ]);
  await changeTerms(context, tenant.org.id, { status: 'closed' });
  await expect(putOnPlan(context, tenant.org.id, scale)).rejects.toMatchObject({
    details: { state: 'closed' },
  });
});
