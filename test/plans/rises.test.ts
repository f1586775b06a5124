// A fee that rises: who is told, when, and that nobody pays it before. With the jobs as they run, by the product's clock.
import { schedulePlan } from '@svc/core/orgs/index.ts';
import { changeSheet, openPeriods, type SheetChange } from '@svc/core/plans/index.ts';
import pg from 'pg';
import { expect, test } from 'vitest';
import { clockAt } from '../credits/world.ts';
import type { Tenant } from '../registry/harness.ts';
import { atFileEnd } from '../support/ends.ts';
import { startPlanWorld } from './world.ts';

const { world, plan, ask, moved, member, begin } = await startPlanWorld();
const { harness, context } = world;

type Wanted = Omit<SheetChange, 'plan_id' | 'reason'>;
const change = (wanted: Wanted, plan_id: SheetChange['plan_id'] = 'team') =>
  changeSheet(context, { plan_id, reason: 'the price list', ...wanted });
const jobs = () => openPeriods(context);
const at = async (time: string) => {
  clockAt(time);
  await jobs();
};
const mailsTo = (tenant: Tenant) =>
  world.rows<{ recipient: string; data: Record<string, string> }>(
    `select recipient, data from mail where org_id = $1 and template = 'plan_fee_rises' order by id`,
    [tenant.org.id],
  );
const fees = async (tenant: Tenant) =>
  (await moved(tenant)).filter(([kind]) => kind === 'plan_fee').map(([, amount]) => -Number(amount) / 10_000);
/** Nobody has a plan and the sheet is that of the release. */
async function fresh() {
  await world.rows(`update org set plan_id = 'payg', next_plan_id = null, next_plan_at = null`);
  await world.rows('delete from plan_charge');
  await world.rows(`delete from settings where name = 'plans'`);
}

test('owners and the billing address are told forty-five days before, once, and pay the new fee from its month on', async () => {
  await fresh();
  const tenant = await member('early', 'team', 900_000_000);
  await world.rows(`update org set billing_email = 'books@told.example' where id = $1`, [tenant.org.id]);
  clockAt('2027-01-10T00:00:00Z');
  await change({ from: '2027-07-01', monthly_minor: 5_900, included_micro: 55_000_000 });
  await at('2027-05-16T23:59:00Z');
  expect(await mailsTo(tenant)).toEqual([]);
  clockAt('2027-05-17T00:00:00Z');
  await Promise.all(Array.from({ length: 40 }, jobs));
  const mails = await mailsTo(tenant);
  expect(mails.map(({ recipient }) => recipient).sort()).toEqual([
    'books@told.example',
    expect.stringMatching(/@/),
  ]);
  expect(mails[0]?.data).toMatchObject({
    ...{ plan: 'Team', fee: '$59.00', previous: '$49.00', included: '$55.00' },
    begins_at: '2027-07-01T00:00:00.000Z',
  });
  // What the mail says stands beside the plan, until it holds.
  expect(await plan(tenant)).toMatchObject({
    plan: { monthly_minor: 4_900 },
    coming_rise: {
      begins_at: '2027-07-01T00:00:00.000Z',
      fee_micro: 59_000_000,
      included_micro: 55_000_000,
    },
  });
  await at('2027-06-01T00:00:00Z');
  expect(await plan(tenant)).toMatchObject({
    plan: { monthly_minor: 4_900 },
    next_charge_micro: 59_000_000,
  });
  await at('2027-07-01T00:00:00Z');
  expect(await plan(tenant)).toMatchObject({
    plan: { monthly_minor: 5_900, included_micro: 55_000_000 },
    coming_rise: null,
  });
  expect(await fees(tenant)).toEqual([4_900, 4_900, 5_900]);
  expect(await mailsTo(tenant)).toHaveLength(2);
  await world.expectRight();
});

test('a rise that is set too late waits for those who have the plan; who comes later sees it and pays it', async () => {
  await fresh();
  const tenant = await member('late', 'team', 900_000_000);
  const later = await member('comes-later', 'payg', 900_000_000);
  await at('2027-11-21T10:00:00Z');
  await change({ from: '2027-12-01', monthly_minor: 5_900 });
  await jobs();
  // 1 December is ten days away, 1 January forty-one.
  expect((await mailsTo(tenant)).map(({ data }) => data['begins_at'])).toEqual(['2028-01-01T00:00:00.000Z']);
  expect(await plan(tenant)).toMatchObject({ next_charge_micro: 49_000_000 });
  await at('2027-12-01T00:00:00Z');
  expect((await plan(tenant)).plan).toMatchObject({ monthly_minor: 4_900 });
  expect((await ask(later, 'team')).statusCode).toBe(200);
  await at('2028-01-01T00:00:00Z');
  expect(await fees(tenant)).toEqual([4_900, 4_900, 5_900]);
  expect(await fees(later)).toEqual([5_900, 5_900]);
  expect(await mailsTo(later)).toEqual([]);
});

test('who was not told pays what was paid before, however long nobody was there to tell', async () => {
  await fresh();
  const tenant = await member('never', 'team', 900_000_000);
  clockAt('2028-01-10T00:00:00Z');
  await change({ from: '2028-07-01', monthly_minor: 6_900 });
  // The month begins without the job that tells.
  clockAt('2028-08-01T00:00:00Z');
  await begin(tenant);
  expect(await fees(tenant)).toEqual([4_900]);
  // Two of August are thirty days before the first of September; three are not.
  await at('2028-08-03T00:00:00Z');
  expect((await mailsTo(tenant)).map(({ data }) => data['begins_at'])).toEqual(['2028-10-01T00:00:00.000Z']);
  await at('2028-09-01T00:00:00Z');
  await at('2028-10-01T00:00:00Z');
  expect(await fees(tenant)).toEqual([4_900, 4_900, 6_900]);
});

test('a fall holds at once and nobody is written to; a rise after it is told', async () => {
  await fresh();
  const tenant = await member('falls', 'team', 900_000_000);
  await at('2029-01-10T00:00:00Z');
  await change({ from: '2029-02-01', monthly_minor: 3_900 });
  await change({ from: '2029-05-01', monthly_minor: 4_500 });
  await at('2029-02-01T00:00:00Z');
  expect([await fees(tenant), await mailsTo(tenant)]).toEqual([[4_900, 3_900], []]);
  await at('2029-03-20T00:00:00Z');
  expect((await mailsTo(tenant)).map(({ data }) => [data['previous'], data['fee']])).toEqual([
    ['$39.00', '$45.00'],
  ]);
});

test('whoever has left the plan, leaves it before or is closed gets no mail; who stays after all does', async () => {
  await fresh();
  const [left, leaves, closed] = [
    await member('has-left', 'team'),
    await member('leaves', 'team', 900_000_000),
    await member('is-closed', 'team'),
  ];
  clockAt('2030-01-10T00:00:00Z');
  await world.rows(`update org set plan_id = 'payg' where id = $1`, [left.org.id]);
  await world.rows(`update org set status = 'closed', closed_at = now() where id = $1`, [closed.org.id]);
  const ends = { next_plan_id: 'payg', next_plan_at: new Date('2030-02-01T00:00:00Z') } as const;
  await schedulePlan(context.db, { org_id: leaves.org.id, ...ends, at: context.now() });
  await change({ from: '2030-03-01', monthly_minor: 5_900 });
  await at('2030-01-16T00:00:00Z');
  expect([await mailsTo(left), await mailsTo(leaves), await mailsTo(closed)]).toEqual([[], [], []]);
  expect((await ask(leaves, 'team')).statusCode).toBe(200);
  await jobs();
  expect(await mailsTo(leaves)).toHaveLength(1);
});

test('a fee that is raised again is told again and waits again; one that is lowered below what was told is not', async () => {
  await fresh();
  const tenant = await member('twice', 'team', 900_000_000);
  await at('2031-01-10T00:00:00Z');
  await change({ from: '2031-03-01', monthly_minor: 5_900 });
  await at('2031-01-20T00:00:00Z');
  await change({ from: '2031-03-01', monthly_minor: 5_500 });
  await jobs();
  expect((await mailsTo(tenant)).map(({ data }) => data['fee'])).toEqual(['$59.00']);
  await at('2031-02-10T00:00:00Z');
  await change({ from: '2031-03-01', monthly_minor: 6_900 });
  await jobs();
  expect((await mailsTo(tenant)).map(({ data }) => [data['fee'], data['begins_at']?.slice(0, 10)])).toEqual([
    ['$59.00', '2031-03-01'],
    ['$69.00', '2031-04-01'],
  ]);
  await at('2031-03-01T00:00:00Z');
  await at('2031-04-01T00:00:00Z');
  expect((await fees(tenant)).slice(-2)).toEqual([4_900, 6_900]);
});

test('workers that die while they tell leave no half: one mail goes in the end', async () => {
  await fresh();
  const tenant = await member('killed', 'team', 900_000_000);
  clockAt('2032-01-10T00:00:00Z');
  await change({ from: '2032-02-01', monthly_minor: 5_900 });
  const holder = new pg.Client({ connectionString: harness.url });
  await holder.connect();
  atFileEnd(() => holder.end());
  // The mail is the last thing written: whoever holds its table stops them between notice and mail.
  await holder.query('begin; lock table mail in exclusive mode');
  const dying = Promise.allSettled(Array.from({ length: 3 }, jobs));
  const waiting = () =>
    world.rows<{ pid: number }>(
      `select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%into mail%'`,
    );
  await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBeGreaterThan(0);
  await world.rows('select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1)', [
    (await waiting()).map(({ pid }) => pid),
  ]);
  await holder.query('rollback');
  await dying;
  await jobs();
  expect(await mailsTo(tenant)).toHaveLength(1);
  expect(
    await world.rows('select fee_minor, begins_on::text from plan_fee_notice where org_id = $1', [
      tenant.org.id,
    ]),
  ).toEqual([{ fee_minor: 5_900, begins_on: '2032-03-01' }]);
});
