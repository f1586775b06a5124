// Mails about budgets and the balance: once per window and address, whoever relays, and only for live money.
import { expect, test } from 'vitest';
import { type BudgetWorld, startBudgetWorld } from './world.ts';

const world = await startBudgetWorld();
const { harness } = world;
const mailed = async (tenant: Awaited<ReturnType<BudgetWorld['tenant']>>) =>
  (await world.mails(tenant)).map(({ template, data }) => [template, data['threshold_percent'] ?? null]);

test('owners, admins and billing are mailed at each threshold and at the end, once, however many relay', async () => {
  const tenant = await world.tenant('watched');
  for (const role of ['owner', 'admin', 'billing', 'developer', 'viewer'] as const)
    await harness.makePerson(tenant, role);
  await world.send(tenant, 'PATCH', `/v1/projects/${tenant.live.id}`, {
    budget: { monthly_micro: 10_000_000, hard: false },
  });
  const seen: number[] = [];
  for (const micro of [4_999_999, 1, 3_000_000, 2_500_000, 100]) {
    expect(await world.call(tenant, micro)).toBe('ok');
    await Promise.all([world.relay(), world.relay(), world.relay()]);
    seen.push((await world.mails(tenant)).length);
  }
  // Three people; thresholds 50, 80 and 100 after the second, third and fourth settle.
  expect(seen).toEqual([0, 3, 6, 9, 9]);
  const mails = await world.mails(tenant);
  const roles = mails.slice(0, 3).map(({ recipient }) => recipient.replace(/\d+@.*/, ''));
  expect(roles.sort()).toEqual(['admin', 'billing', 'owner']);
  expect(mails[3]).toMatchObject({
    template: 'budget_threshold',
    data: {
      ...{ scope: 'project', name: 'Default', slug: 'watched', threshold_percent: 80, hard: false },
      ...{ spend: '$8.00', budget: '$10.00' },
    },
  });
});

test('the end of a hard budget of a key is mailed with the name of the key and when it begins anew', async () => {
  const tenant = await world.tenant('stopped');
  await harness.makePerson(tenant, 'owner');
  const key = await world.send<{ id: string }>(tenant, 'POST', '/v1/keys', {
    ...{ name: 'backend', project_id: tenant.live.id, scopes: ['inference'] },
    ...{ budget: { daily_micro: 1_000 }, alerts: [] },
  });
  expect(await world.call(tenant, 1_000, key.id)).toBe('ok');
  for (let turn = 0; turn < 3; turn++) expect(await world.call(tenant, 10, key.id)).toBe('budget_exhausted');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  expect(await world.mails(tenant)).toMatchObject([
    {
      template: 'budget_exhausted',
      data: {
        scope: 'key',
        name: 'backend',
        hard: true,
        resumes_at: `${tomorrow}T00:00:00.000Z`,
        budget: '$0.001000',
      },
    },
  ]);
});

test('raising a budget arms the thresholds above the new share again', async () => {
  const tenant = await world.tenant('raised');
  await harness.makePerson(tenant, 'owner');
  const budget = (monthly_micro: number) =>
    world.send(tenant, 'PATCH', `/v1/projects/${tenant.live.id}`, { budget: { monthly_micro, hard: false } });
  await budget(1_000);
  await world.call(tenant, 900);
  await budget(1_500);
  await world.call(tenant, 400);
  expect(await mailed(tenant)).toEqual([
    ['budget_threshold', 50],
    ['budget_threshold', 80],
    ['budget_threshold', 80],
  ]);
});

test('a low balance is mailed when it is crossed, at the mark that the organization chose, and never at 0', async () => {
  const tenant = await world.tenant('low', 20_000_000);
  await harness.makePerson(tenant, 'billing');
  const org = `/v1/orgs/${tenant.org.id}`;
  expect(await world.send(tenant, 'GET', org)).toMatchObject({ low_balance_micro: 5_000_000, paused: null });
  expect(await world.send(tenant, 'PATCH', org, { low_balance_micro: 15_000_000 })).toMatchObject({
    low_balance_micro: 15_000_000,
  });
  await world.call(tenant, 4_000_000);
  expect(await mailed(tenant)).toEqual([]);
  await world.call(tenant, 2_000_000);
  await world.call(tenant, 1_000_000);
  expect(await world.mails(tenant)).toMatchObject([
    { template: 'low_balance', data: { available: '$14.00', threshold: '$15.00', slug: 'low' } },
  ]);
  await world.send(tenant, 'PATCH', org, { low_balance_micro: 0 });
  await world.call(tenant, 10_000_000);
  expect(await world.call(tenant, 50_000_000)).toBe('insufficient_credits');
  expect(await mailed(tenant)).toHaveLength(1);
  expect(await world.send(tenant, 'PATCH', org, { low_balance_micro: null })).toMatchObject({
    low_balance_micro: 5_000_000,
  });
});

test('nothing left is mailed once a day', async () => {
  const tenant = await world.tenant('empty', 6_000_000);
  await harness.makePerson(tenant, 'owner');
  for (let turn = 0; turn < 3; turn++)
    expect(await world.call(tenant, 7_000_000)).toBe('insufficient_credits');
  expect(await mailed(tenant)).toEqual([['credits_exhausted', null]]);
});

test('a low balance is set by owners, admins and billing alone, and only to an amount', async () => {
  const tenant = await world.tenant('marks');
  const path = `/v1/orgs/${tenant.org.id}`;
  const body = { low_balance_micro: 1 };
  for (const [role, status] of [
    ['billing', 200],
    ['developer', 403],
    ['viewer', 403],
  ] as const) {
    const key = await harness.signIn(await harness.makePerson(tenant, role));
    expect([role, (await harness.call('PATCH', path, { key, body })).statusCode]).toEqual([role, status]);
  }
  for (const wrong of [-1, 1.5, '5']) {
    const answer = await harness.call('PATCH', path, { key: tenant.key, body: { low_balance_micro: wrong } });
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'low_balance_micro']);
  }
});
