// What staff change of the plans themselves: a fee from a month on, limits at once, and never the terms of a month that runs.
import { changeSheet, openPeriods, type SheetChange } from '@svc/core/plans/index.ts';
import { expect, test } from 'vitest';
import { clockAt } from '../credits/world.ts';
import { runSvcctl } from '../support/programs/svcctl.ts';
import { startPlanWorld } from './world.ts';

const { world, plan, ask, moved, member, begin, step } = await startPlanWorld();
const { harness, context } = world;

const change = (wanted: Omit<SheetChange, 'plan_id' | 'reason'>, plan_id: SheetChange['plan_id'] = 'team') =>
  changeSheet(context, { plan_id, reason: 'the price list', ...wanted });

test('a new fee begins with a month: the one that runs, and an upgrade in it, keep their terms', async () => {
  const tenant = await member('priced', 'team', 200_000_000);
  const later = await member('joins-late', 'payg', 200_000_000);
  clockAt('2026-11-01T00:00:00Z');
  await begin(tenant);
  clockAt('2026-11-21T10:00:00Z');
  await change({ monthly_minor: 5_900, included_micro: 55_000_000 });
  await openPeriods(context);
  expect(await plan(tenant)).toMatchObject({
    plan: { monthly_minor: 4_900 },
    next_charge_micro: 49_000_000,
  });
  expect((await ask(later, 'team')).statusCode).toBe(200);
  expect(await moved(later)).toEqual([
    ['plan_fee', -16_333_333],
    ['plan_credit', 15_000_000],
  ]);
  // Those who have the plan were told on the 21st, and pay it from the first month that is thirty days away.
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  clockAt('2027-01-01T00:00:00Z');
  await begin(tenant);
  expect((await moved(tenant)).slice(4)).toEqual([
    ['plan_fee', -59_000_000],
    ['plan_credit', 55_000_000],
  ]);
  expect((await plan(tenant)).plan).toMatchObject({ monthly_minor: 5_900, included_micro: 55_000_000 });
  // From the present price to that of scale, for 31 of 31 days.
  const refused = await ask(tenant, 'scale');
  expect(refused.json().error.details).toMatchObject({ required_micro: 440_000_000 });
  const sheet = await world.get<{ plans: { id: string; monthly_minor: number }[] }>(
    '/v1/pricing',
    tenant.key,
  );
  expect(sheet.plans.find(({ id }) => id === 'team')).toMatchObject({ monthly_minor: 5_900 });
  await world.expectRight();
});

test('what a downgrade will cost is shown with the price of the month in which it begins', async () => {
  const tenant = await member('goes-down', 'scale', 600_000_000);
  clockAt('2027-01-15T00:00:00Z');
  await change({ monthly_minor: 7_900 });
  const team = (await plan(tenant)).changes.find(({ plan }) => plan.id === 'team');
  expect(team).toMatchObject({ kind: 'downgrade', plan: { monthly_minor: 7_900 } });
});

test('a grace that runs keeps its days; the next one has the new ones', async () => {
  const tenant = await member('waits', 'team', 0);
  clockAt('2027-03-01T00:00:00Z');
  await begin(tenant);
  await change({ grace_days: 10 });
  clockAt('2027-03-03T23:00:00Z');
  expect(await step(tenant, '2027-03-01')).toMatchObject({ status: 'grace' });
  expect((await plan(tenant)).grace?.until.slice(0, 10)).toBe('2027-03-04');
  clockAt('2027-03-04T00:01:00Z');
  expect(await step(tenant, '2027-03-01')).toMatchObject({ status: 'lapsed' });
  const next = await member('waits-longer', 'team', 0);
  clockAt('2027-04-01T00:00:00Z');
  await begin(next);
  expect((await plan(next)).grace?.until.slice(0, 10)).toBe('2027-04-11');
});

test('limits hold at once, for what is made and for keys that are in use; an override stays above them', async () => {
  const tenant = await member('bounded', 'team', 0);
  const most = async () => (await world.get<{ plan: { rpm: number } }>('/v1/limits', tenant.key)).plan.rpm;
  expect(await most()).toBe(1_500);
  const seen = () =>
    world.rows<{ n: number }>(
      'select count(*)::int as n from grant_change where org_id = $1 and key_id is null',
      [tenant.org.id],
    );
  const [before] = await seen();
  await change({ limits: { rpm: 2_000, keys: 1 } });
  const [after] = await seen();
  expect((after?.n ?? 0) - (before?.n ?? 0)).toBe(1);
  expect(await most()).toBe(2_000);
  const key = await harness.call('POST', '/v1/keys', {
    key: tenant.key,
    body: { name: 'one too many', project_id: tenant.live.id, scopes: ['inference'] },
  });
  expect([key.statusCode, key.json().error.details]).toEqual([409, { limit: 'keys', limit_value: 1 }]);
  await change({ limits: { rpm: null, keys: 100 } });
  expect(await most()).toBe(null);
});

test('what a plan cannot be is refused with its field, and nothing changes', async () => {
  clockAt('2027-05-10T00:00:00Z');
  await member('has-team', 'team', 0);
  const before = await world.rows('select value from settings where name = $1', ['plans']);
  const refused = async (
    wanted: Omit<SheetChange, 'plan_id' | 'reason'>,
    plan_id?: SheetChange['plan_id'],
  ) => {
    const error = await change(wanted, plan_id).catch((error) => error);
    return [error.code, error.param];
  };
  clockAt('2027-05-10T00:00:00Z');
  expect(await refused({})).toEqual(['invalid_request', '']);
  expect(await refused({ monthly_minor: 100 }, 'payg')).toEqual(['invalid_request', 'monthly_minor']);
  expect(await refused({ included_micro: 100 }, 'enterprise')).toEqual(['invalid_request', 'included_micro']);
  expect(await refused({ public: false }, 'payg')).toEqual(['invalid_request', 'public']);
  expect(await refused({ from: '2027-07-01', name: 'Crew' })).toEqual(['invalid_request', 'from']);
  expect(await refused({ from: '2027-07-02', monthly_minor: 100 })).toEqual(['invalid_request', 'from']);
  expect(await refused({ from: '2027-04-01', monthly_minor: 100 })).toEqual(['invalid_request', 'from']);
  expect(await refused({ from: '2027-05-01', monthly_minor: 100 })).toEqual(['state_conflict', 'from']);
  expect(await world.rows('select value from settings where name = $1', ['plans'])).toEqual(before);
});

test('of fifty changes at once none is lost, and each is an entry of the audit log', async () => {
  clockAt('2027-06-10T00:00:00Z');
  const count = () =>
    world.rows<{ n: number }>(
      `select count(*)::int as n from audit_entry where action = 'staff.plans.set' and after ->> 'id' is null`,
    );
  const [before] = await count();
  const from = (n: number) => `20${30 + n}-01-01`;
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => change({ from: from(n), monthly_minor: 10_000 + n }, 'scale')),
  );
  const [row] = await world.rows<{ value: { fees: { from: string; plan_id: string; fee: object }[] } }>(
    'select value from settings where name = $1',
    ['plans'],
  );
  const fees = row?.value.fees.filter(({ plan_id }) => plan_id === 'scale');
  expect(fees?.map(({ from, fee }) => [from, fee])).toEqual(
    Array.from({ length: 50 }, (_, n) => [from(n), { monthly_minor: 10_000 + n }]),
  );
  const [after] = await count();
  expect((after?.n ?? 0) - (before?.n ?? 0)).toBe(50);
});

test('svcctl shows the sheet and changes it; a month that nobody has the plan in can be the one that runs', async () => {
  const svcctl = (...args: string[]) =>
    runSvcctl(['plans', ...args], { SVC_DATABASE_URL: harness.url, SVC_DATA_DIR: '/nonexistent' });
  await world.rows(`update org set plan_id = 'payg', next_plan_id = null, next_plan_at = null`);
  await world.rows('delete from plan_charge');
  const from = `${new Date().toISOString().slice(0, 7)}-01`;
  const set = await svcctl(
    ...['set', '--plan', 'team', '--from', from, '--fee-minor', '3900', '--tpm', '0'],
    ...['--name', 'Crew', '--reason', 'from the start'],
  );
  expect([set.code, set.err]).toEqual([0, '']);
  expect(set.out).toContain(
    'team  3900 cents a month  included 45000000 micro-USD  grace 3 days  rpm none  tpm none',
  );
  const refused = await svcctl('set', '--plan', 'payg', '--fee-minor', '100', '--reason', 'no');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('it has no fee')]);
  expect((await svcctl('show')).out).toContain('from 2030-01-01  scale  monthly_minor 10000');
}, 60_000);
