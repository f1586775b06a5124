// Plans over the wire and the real ledger: what a month and a change cost, when they apply, and what happens without credit.
import { silentLog } from '@svc/core/kernel/index.ts';
import { applyDueTasks, expireLots } from '@svc/core/ledger/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { openPeriods } from '@svc/core/plans/index.ts';
import { expect, test } from 'vitest';
import { clockAt } from '../credits/world.ts';
import { codeOf } from '../registry/harness.ts';
import { FEE, INCLUDED, pathOf, startPlanWorld } from './world.ts';

const { world, plan, ask, balance, planEntries, moved, mails, events, member, begin, step } =
  await startPlanWorld();
const { harness, context } = world;

test('at the start of a month the fee is taken and the included credit comes until the month ends', async () => {
  const tenant = await member('starts', 'team', 60_000_000);
  clockAt('2026-12-01T00:00:00Z');
  await openPeriods(context);
  expect(await planEntries(tenant)).toEqual([
    { kind: 'plan_fee', amount: -FEE.team, ref_id: `plan-${tenant.org.id}-202612` },
    { kind: 'plan_credit', amount: INCLUDED.team, ref_id: `plan-${tenant.org.id}-202612` },
  ]);
  expect(await plan(tenant)).toMatchObject({
    plan: { id: 'team', limits: { rpm: 1_500 } },
    period_start: '2026-12-01T00:00:00.000Z',
    period_end: '2027-01-01T00:00:00.000Z',
    next_plan_id: null,
    next_charge_micro: FEE.team,
    included_left_micro: INCLUDED.team,
    grace: null,
  });
  await world.call(tenant, 5_000_000);
  expect(await plan(tenant)).toMatchObject({ included_left_micro: 40_000_000 });
  clockAt('2027-01-01T00:00:00Z');
  expect(await plan(tenant)).toMatchObject({ included_left_micro: 0 });
  await expireLots(harness.pool);
  expect(await balance(tenant)).toBe(60_000_000 - FEE.team);
  const { days } = await world.get<{ days: object[] }>(
    '/v1/credits/reconciliation?from=2026-12-01&to=2026-12-01',
    tenant.key,
  );
  expect(days).toMatchObject([
    { added_micro: INCLUDED.team, other_debits_micro: FEE.team, charged_micro: 5_000_000, variance_micro: 0 },
  ]);
  await world.expectRight();
});

test('of two hundred beginnings of one month at once one takes the fee', async () => {
  const tenant = await member('two-hundred', 'team', 200_000_000);
  clockAt('2026-12-01T00:00:00Z');
  await Promise.all(Array.from({ length: 200 }, () => begin(tenant)));
  expect(await moved(tenant)).toEqual([
    ['plan_fee', -FEE.team],
    ['plan_credit', INCLUDED.team],
  ]);
  expect(
    await world.rows('select type from workflow_start where workflow_id = $1', [
      `plan-${tenant.org.id}-202612`,
    ]),
  ).toEqual([{ type: 'planPeriod' }]);
  await world.expectRight();
});

test('without enough credit there are three days with a mail on each, then payg, the event and a last mail', async () => {
  const tenant = await member('poor', 'team', 48_999_999);
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  expect(await plan(tenant)).toMatchObject({
    plan: { id: 'team' },
    grace: { fee_micro: FEE.team, until: expect.stringMatching(/^2026-12-04T00:00:/) },
    changes: [
      { plan: { id: 'payg' }, kind: 'downgrade', fee_micro: 0 },
      { plan: { id: 'team' }, kind: 'keep', fee_micro: FEE.team },
    ],
  });
  const counts: number[] = [];
  for (const time of ['01T12:00', '02T00:01', '02T12:00', '03T00:01', '03T23:59']) {
    clockAt(`2026-12-${time}:00Z`);
    expect(await step(tenant, '2026-12-01')).toMatchObject({ status: 'grace', tries: 1 });
    counts.push((await mails(tenant)).length);
  }
  expect(counts).toEqual([1, 2, 2, 3, 3]);
  clockAt('2026-12-04T00:01:00Z');
  expect(await step(tenant, '2026-12-01')).toMatchObject({ status: 'lapsed' });
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'payg' }, grace: null, next_charge_micro: 0 });
  expect(await mails(tenant)).toEqual(['plan_grace', 'plan_grace', 'plan_grace', 'plan_changed']);
  expect(await events(tenant)).toEqual([['team', 'payg']]);
  expect([await moved(tenant), await balance(tenant)]).toEqual([[], 48_999_999]);
});

test('without Temporal the grace ends all the same, also that of a month that began on its last day', async () => {
  const tenant = await member('no-workflow', 'team', 1_000_000);
  clockAt('2026-12-31T12:00:00Z');
  await openPeriods(context);
  expect((await plan(tenant)).grace?.until).toBe('2027-01-01T00:00:00.000Z');
  // The next month is charged for itself, with days of grace of its own.
  clockAt('2027-01-01T00:00:00Z');
  await openPeriods(context);
  expect((await plan(tenant)).grace?.until).toMatch(/^2027-01-04T00:00:/);
  expect(await events(tenant)).toEqual([]);
  clockAt('2027-01-04T00:01:00Z');
  await openPeriods(context);
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'payg' }, grace: null });
  expect([await events(tenant), await moved(tenant)]).toEqual([[['team', 'payg']], []]);
});

test('credit that comes in the days of grace pays the fee, whole, and the plan stays', async () => {
  const tenant = await member('saved', 'team', 1_000_000);
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  await world.paid(tenant, 50_000_000);
  clockAt('2026-12-02T05:00:00Z');
  expect(await step(tenant, '2026-12-01')).toMatchObject({ status: 'paid', tries: 2 });
  expect(await moved(tenant)).toEqual([
    ['plan_fee', -FEE.team],
    ['plan_credit', INCLUDED.team],
  ]);
  expect(await events(tenant)).toEqual([]);
  await world.expectRight();
});

test('in the days of grace the owner can give the plan up, try again, and change to nothing else', async () => {
  const tenant = await member('decides', 'scale', 100_000_000);
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  const other = await ask(tenant, 'team');
  expect([other.statusCode, other.json().error.details]).toEqual([409, { state: 'grace' }]);
  const again = await ask(tenant, 'scale');
  expect([codeOf(again), again.json().error.details]).toEqual([
    'insufficient_credits',
    { required_micro: FEE.scale, available_micro: 100_000_000 },
  ]);
  const given = await ask(tenant, 'payg');
  expect([given.statusCode, given.json()]).toMatchObject([200, { plan: { id: 'payg' }, grace: null }]);
  expect((await ask(tenant, 'team')).statusCode).toBe(200);
  expect(await events(tenant)).toEqual([
    ['scale', 'payg'],
    ['payg', 'team'],
  ]);
});

test('on 2026-11-21 team costs 16,333,333 and brings 15,000,000, at once; the month after costs the whole fee', async () => {
  const tenant = await member('vector', 'payg', 100_000_000);
  clockAt('2026-11-21T10:00:00Z');
  const { changes } = await plan(tenant);
  expect(changes.find((change) => change.plan.id === 'team')).toMatchObject({
    kind: 'upgrade',
    fee_micro: 16_333_333,
    included_micro: 15_000_000,
  });
  const answer = await ask(tenant, 'team');
  expect([answer.statusCode, answer.json()]).toMatchObject([
    200,
    {
      plan: { id: 'team' },
      since: expect.stringMatching(/^2026-11-21T10:00:/),
      included_left_micro: 15_000_000,
    },
  ]);
  expect(await moved(tenant)).toEqual([
    ['plan_fee', -16_333_333],
    ['plan_credit', 15_000_000],
  ]);
  await begin(tenant);
  expect(await moved(tenant)).toHaveLength(2);
  clockAt('2026-12-01T00:00:30Z');
  await begin(tenant);
  expect((await moved(tenant)).slice(2)).toEqual([
    ['plan_fee', -FEE.team],
    ['plan_credit', INCLUDED.team],
  ]);
  expect(await mails(tenant)).toEqual(['plan_changed']);
  await world.expectRight();
});

test('two upgrades in a month cost what each plan costs more than the one before it', async () => {
  const tenant = await member('twice', 'payg', 600_000_000);
  clockAt('2026-11-21T10:00:00Z');
  await ask(tenant, 'team');
  clockAt('2026-11-26T10:00:00Z');
  expect((await ask(tenant, 'scale')).statusCode).toBe(200);
  expect(await moved(tenant)).toEqual([
    ['plan_fee', -16_333_333],
    ['plan_credit', 15_000_000],
    ['plan_fee', -Math.floor((450_000_000 * 5) / 30)],
    ['plan_credit', Math.floor((430_000_000 * 5) / 30)],
  ]);
  expect((await planEntries(tenant)).map(({ ref_id }) => ref_id.slice(-8))).toEqual([
    '202611-1',
    '202611-1',
    '202611-2',
    '202611-2',
  ]);
  await world.expectRight();
});

test('of twenty upgrades at once one is charged', async () => {
  const tenant = await member('impatient', 'payg', 600_000_000);
  clockAt('2026-11-21T10:00:00Z');
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(tenant, 'team')));
  expect(answers.some(({ statusCode }) => statusCode === 200)).toBe(true);
  expect(new Set(answers.map(({ statusCode }) => statusCode)).difference(new Set([200, 409])).size).toBe(0);
  expect(await moved(tenant)).toHaveLength(2);
});

test('an upgrade that the ledger carries out when its month is over takes nothing', async () => {
  const tenant = await member('too-late', 'payg', 100_000_000);
  clockAt('2026-11-30T23:59:59Z');
  await world.rows(
    `insert into plan_charge (org_id, period, no, plan_id, fee_micro, included_micro, status, tries, created_at)
     values ($1, '2026-11-01', 1, 'team', 1633333, 1500000, 'pending', 1, now())`,
    [tenant.org.id],
  );
  const charge = {
    ref_id: `plan-${tenant.org.id}-202611-1`,
    fee_micro_usd: 1_633_333,
    included_micro_usd: 1_500_000,
  };
  const content = {
    ...charge,
    book_id: tenant.org.live_book_id,
    lot_id: `lot_${'0'.repeat(26)}`,
    ends_at: '2026-12-01T00:00:00Z',
  };
  await world.rows(
    `insert into ledger_task (shard, book_id, kind, reference, content, next_at, created_at)
     values ($1, $2, 'charge_plan', $3, $4, now(), now())`,
    [tenant.org.shard, tenant.org.live_book_id, `plan_fee plan ${charge.ref_id} 1`, JSON.stringify(content)],
  );
  expect(codeOf(await ask(tenant, 'scale'))).toBe('state_conflict');
  clockAt('2026-12-01T00:00:00Z');
  await applyDueTasks(harness.pool, silentLog);
  await openPeriods(context);
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'payg' }, grace: null });
  expect([await moved(tenant), await balance(tenant)]).toEqual([[], 100_000_000]);
});

test('an upgrade without enough credit changes nothing and says what it would take', async () => {
  const tenant = await member('short', 'payg', 16_333_332);
  clockAt('2026-11-21T10:00:00Z');
  const refused = await ask(tenant, 'team');
  expect([refused.statusCode, refused.json().error.details]).toEqual([
    402,
    { required_micro: 16_333_333, available_micro: 16_333_332 },
  ]);
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'payg' }, grace: null });
  await world.paid(tenant, 1);
  expect((await ask(tenant, 'team')).statusCode).toBe(200);
  await world.expectRight();
});

test('what calls hold does not pay for a plan', async () => {
  const tenant = await member('holds', 'payg', 20_000_000);
  clockAt('2026-11-21T10:00:00Z');
  const call = await world.begin(tenant, 5_000_000);
  expect(codeOf(await ask(tenant, 'team'))).toBe('insufficient_credits');
  await call.settle({ cost_micro: 1_000 });
  expect((await ask(tenant, 'team')).statusCode).toBe(200);
});

test('a smaller plan follows when the month ends, and can be taken back until then', async () => {
  const tenant = await member('shrinks', 'scale', 2_000_000_000);
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  clockAt('2026-12-10T00:00:00Z');
  const scheduled = await ask(tenant, 'team');
  expect(scheduled.json()).toMatchObject({
    plan: { id: 'scale' },
    next_plan_id: 'team',
    next_charge_micro: FEE.team,
  });
  expect((await ask(tenant, 'scale')).json()).toMatchObject({
    next_plan_id: null,
    next_charge_micro: FEE.scale,
  });
  await ask(tenant, 'payg');
  await ask(tenant, 'team');
  clockAt('2026-12-31T23:59:59Z');
  expect(await begin(tenant)).toBe(false);
  clockAt('2027-01-01T00:00:00Z');
  await begin(tenant);
  expect(await plan(tenant)).toMatchObject({
    plan: { id: 'team' },
    since: '2027-01-01T00:00:00.000Z',
    next_plan_id: null,
    included_left_micro: INCLUDED.team,
  });
  expect((await moved(tenant)).slice(2)).toEqual([
    ['plan_fee', -FEE.team],
    ['plan_credit', INCLUDED.team],
  ]);
  expect(await events(tenant)).toEqual([['scale', 'team']]);
  expect(await mails(tenant)).toEqual(['plan_changed']);
  await world.expectRight();
});

test('an upgrade, a smaller plan to follow, and a still larger one: the last word counts', async () => {
  const tenant = await member('wavers', 'payg', 700_000_000);
  clockAt('2026-11-21T10:00:00Z');
  await ask(tenant, 'team');
  await ask(tenant, 'payg');
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'team' }, next_plan_id: 'payg' });
  await ask(tenant, 'scale');
  expect(await plan(tenant)).toMatchObject({ plan: { id: 'scale' }, next_plan_id: null });
  expect((await moved(tenant)).filter(([kind]) => kind === 'plan_fee')).toEqual([
    ['plan_fee', -16_333_333],
    ['plan_fee', -150_000_000],
  ]);
});

test('an organization that is suspended when a month begins is not charged for it, nor one that is closed', async () => {
  const suspended = await member('suspended', 'team', 100_000_000);
  const closed = await member('closed', 'team', 100_000_000);
  await changeTerms(context, suspended.org.id, { status: 'suspended' });
  await changeTerms(context, closed.org.id, { status: 'closed' });
  clockAt('2026-12-01T00:00:00Z');
  await openPeriods(context);
  clockAt('2026-12-15T00:00:00Z');
  await changeTerms(context, suspended.org.id, { status: 'active' });
  await openPeriods(context);
  expect([await moved(suspended), await planEntries(closed)]).toEqual([[], []]);
  clockAt('2027-01-01T00:00:00Z');
  await openPeriods(context);
  expect(await moved(suspended)).toHaveLength(2);
});

test('months in which the installation was off are not charged; the one in which it runs is', async () => {
  const tenant = await member('asleep', 'team', 1_000_000_000);
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  clockAt('2027-12-20T00:00:00Z');
  await begin(tenant);
  await begin(tenant);
  expect((await planEntries(tenant)).map(({ kind, ref_id }) => [kind, ref_id.slice(-6)])).toEqual([
    ['plan_fee', '202612'],
    ['plan_credit', '202612'],
    ['plan_fee', '202712'],
    ['plan_credit', '202712'],
  ]);
  await world.expectRight();
});

test('enterprise cannot be chosen, only left at the end of a month; another organization is not found', async () => {
  const tenant = await member('hidden', 'payg', 0);
  const refused = await ask(tenant, 'enterprise');
  expect([refused.statusCode, refused.json().error.param]).toEqual([400, 'plan_id']);
  expect((await ask(tenant, 'gold')).json().error.param).toBe('plan_id');
  expect((await plan(tenant)).changes.map((change) => change.plan.id)).toEqual(['team', 'scale']);
  expect(
    codeOf(await harness.call('PUT', pathOf(harness.a), { key: tenant.key, body: { plan_id: 'team' } })),
  ).toBe('not_found');
  expect((await ask(harness.b, 'payg')).json()).toMatchObject({
    plan: { id: 'enterprise' },
    next_plan_id: 'payg',
  });
});

test('only an owner changes the plan, and a key whose maker is one', async () => {
  const tenant = await member('owners', 'payg', 100_000_000);
  const admin = await harness.makePerson(tenant, 'admin');
  const theirs = await harness.makeKey(tenant, { created_by: admin.id });
  const body = { plan_id: 'team' };
  expect(codeOf(await harness.call('PUT', pathOf(tenant), { key: theirs.secret, body }))).toBe(
    'permission_denied',
  );
  const test_key = await harness.call('PUT', pathOf(tenant), { key: tenant.test_key, body });
  expect(codeOf(test_key)).toBe('sandbox_key_not_allowed');
  const owner = await harness.makePerson(tenant, 'owner');
  const key = await harness.makeKey(tenant, { created_by: owner.id });
  expect((await harness.call('PUT', pathOf(tenant), { key: key.secret, body })).statusCode).toBe(200);
});

test('limits of the new plan apply to keys at once, above which a key is bounded and not rewritten', async () => {
  const tenant = await member('limits', 'payg', 100_000_000);
  const limits = () => world.get<{ plan: { rpm: number } }>('/v1/limits', tenant.key);
  clockAt('2026-11-21T10:00:00Z');
  const wide = { name: 'wide', project_id: tenant.live.id, scopes: ['inference'], limits: { rpm: 1_000 } };
  await ask(tenant, 'team');
  const made = await harness.call('POST', '/v1/keys', { key: tenant.key, body: wide });
  expect([made.statusCode, (await limits()).plan.rpm]).toEqual([201, 1_500]);
  await ask(tenant, 'payg');
  clockAt('2026-12-01T00:00:00Z');
  await begin(tenant);
  expect((await limits()).plan.rpm).toBe(300);
  const kept = await world.get<{ limits: { rpm: number } }>(`/v1/keys/${made.json().id}`, tenant.key);
  expect(kept.limits.rpm).toBe(1_000);
});
