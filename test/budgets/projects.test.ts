// Projects and their budgets over REST: what is refused, what is shown, and how a pause ends.

import type { ProjectView } from '@svc/core/budgets/index.ts';
import { shiftClock } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startBudgetWorld } from './world.ts';

const world = await startBudgetWorld();
const { harness } = world;
atFileEnd(async () => shiftClock(0));
const path = (id: string) => `/v1/projects/${id}`;

test('a project is made, changed and archived; its slug is free again, and a project with keys stays', async () => {
  const tenant = await world.tenant('maker');
  const send = <T = ProjectView>(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) =>
    world.send<T>(tenant, method, at, body);
  const made = await send('POST', '/v1/projects', {
    slug: 'search',
    name: 'Search',
    budget: { monthly_micro: 5_000 },
  });
  expect(made).toMatchObject({
    ...{ slug: 'search', environment: 'live', status: 'active', alerts: [50, 80, 100], paused: null },
    ...{ budget: { monthly_micro: 5_000, hard: true }, spend_today_micro: 0, spend_month_micro: 0 },
  });
  const twice = await harness.call('POST', '/v1/projects', {
    key: tenant.key,
    body: { slug: 'search', name: 'S' },
  });
  expect([twice.statusCode, twice.json().error.code]).toEqual([409, 'already_exists']);
  const patched = await send('PATCH', path(made.id), { name: 'Find', budget: { hard: false }, alerts: [90] });
  expect(patched).toMatchObject({
    name: 'Find',
    budget: { monthly_micro: 5_000, hard: false },
    alerts: [90],
  });
  expect(await send('PATCH', path(made.id), {})).toEqual(patched);
  expect(patched.limits).toEqual({ rpm: null, tpm: null, concurrency: null });
  const bounded = await send('PATCH', path(made.id), { limits: { rpm: 60, concurrency: 4 } });
  expect(bounded.limits).toEqual({ rpm: 60, tpm: null, concurrency: 4 });
  // A merge patch: what is left out stays, null is no limit.
  const merged = await send('PATCH', path(made.id), { limits: { rpm: null, tpm: 9_000 } });
  expect(merged.limits).toEqual({ rpm: null, tpm: 9_000, concurrency: 4 });
  expect((await send('PATCH', path(made.id), { limits: null })).limits).toEqual(patched.limits);
  expect(await send('PATCH', path(made.id), { budget: null, alerts: null })).toMatchObject({
    budget: { monthly_micro: null, hard: true },
    alerts: [50, 80, 100],
  });
  const key = await world.send<{ id: string }>(tenant, 'POST', '/v1/keys', {
    ...{ name: 'k', project_id: made.id, scopes: ['inference'] },
  });
  const busy = await harness.call('DELETE', path(made.id), { key: tenant.key });
  expect([busy.statusCode, busy.json().error.code]).toEqual([409, 'in_use']);
  await world.send(tenant, 'DELETE', `/v1/keys/${key.id}`);
  expect((await harness.call('DELETE', path(made.id), { key: tenant.key })).statusCode).toBe(204);
  expect((await harness.call('GET', path(made.id), { key: tenant.key })).statusCode).toBe(404);
  expect((await send('POST', '/v1/projects', { slug: 'search', name: 'Again' })).id).not.toBe(made.id);
});

test('the plan bounds active projects, both environments together; one that was archived does not count', async () => {
  const tenant = await world.tenant('few');
  await harness.pool.query({
    name: 'test.plan',
    text: `update org set plan_id = 'payg' where id = $1`,
    values: [tenant.org.id],
  });
  const make = (slug: string) =>
    harness.call('POST', '/v1/projects', { key: tenant.key, body: { slug, name: slug } });
  const made = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(make));
  // Two came with the organization; pay as you go has five.
  expect(made.filter(({ statusCode }) => statusCode === 201)).toHaveLength(3);
  const refused = await make('g');
  expect([refused.statusCode, refused.json().error]).toMatchObject([
    409,
    { code: 'plan_limit_reached', details: { limit: 'projects', limit_value: 5 } },
  ]);
  const first = made.find(({ statusCode }) => statusCode === 201)?.json() as ProjectView;
  expect((await harness.call('DELETE', path(first.id), { key: tenant.key })).statusCode).toBe(204);
  expect([(await make('h')).statusCode, (await make('i')).statusCode]).toEqual([201, 409]);
});

test('wrong budgets and alerts are refused with their place, and nothing is changed', async () => {
  const tenant = await world.tenant('wrong');
  const wrong: [object, string][] = [
    [{ budget: { monthly_micro: -1 } }, 'budget.monthly_micro'],
    [{ budget: { monthly_micro: 1.5 } }, 'budget.monthly_micro'],
    [{ budget: { monthly_micro: '5' } }, 'budget.monthly_micro'],
    [{ budget: { daily_micro: 5 } }, 'budget.daily_micro'],
    [{ limits: { rpm: 0 } }, 'limits.rpm'],
    [{ limits: { tpm: 1.5 } }, 'limits.tpm'],
    [{ limits: { concurrency: '5' } }, 'limits.concurrency'],
    [{ limits: { rpm: 2_147_483_648 } }, 'limits.rpm'],
    [{ limits: { rps: 5 } }, 'limits.rps'],
    [{ limits: 5 }, 'limits'],
    [{ alerts: [0] }, 'alerts[0]'],
    [{ alerts: [50, 101] }, 'alerts[1]'],
    [{ alerts: [50, 50] }, 'alerts'],
    [{ alerts: Array.from({ length: 11 }, (_, at) => at + 1) }, 'alerts'],
    [{ name: '' }, 'name'],
  ];
  for (const [body, param] of wrong) {
    const answer = await harness.call('PATCH', path(tenant.live.id), { key: tenant.key, body });
    expect([answer.statusCode, answer.json().error.param]).toEqual([400, param]);
  }
  const [unchanged] = (await world.send<{ data: ProjectView[] }>(tenant, 'GET', '/v1/projects')).data;
  expect(unchanged).toMatchObject({ name: 'Default', budget: { monthly_micro: null, hard: true } });
});

test('a write with the version of an older read is refused', async () => {
  const tenant = await world.tenant('versions');
  const read = await harness.call('GET', path(tenant.live.id), { key: tenant.key });
  const headers = { 'if-match': String(read.headers['etag']) };
  const change = { key: tenant.key, body: { name: 'One' }, headers };
  expect((await harness.call('PATCH', path(tenant.live.id), change)).statusCode).toBe(200);
  expect((await harness.call('PATCH', path(tenant.live.id), change)).statusCode).toBe(412);
});

test('a test key sees and makes projects of the test environment alone', async () => {
  const tenant = await world.tenant('sandboxed');
  const key = tenant.test_key;
  const live = await harness.call('POST', '/v1/projects', { key, body: { slug: 'a', name: 'A' } });
  expect([live.statusCode, live.json().error.code]).toEqual([403, 'sandbox_key_not_allowed']);
  const body = { slug: 'a', name: 'A', environment: 'test' };
  expect((await harness.call('POST', '/v1/projects', { key, body })).statusCode).toBe(201);
  const touched = await harness.call('PATCH', path(tenant.live.id), { key, body: { name: 'B' } });
  expect(touched.statusCode).toBe(404);
});

test('a hard budget pauses a project, exactly, under many calls at once; each way out of the pause works', async () => {
  const tenant = await world.tenant('paused');
  const { id } = tenant.live;
  const read = () => world.send<ProjectView>(tenant, 'GET', path(id));
  const patch = (budget: object | null) => world.send<ProjectView>(tenant, 'PATCH', path(id), { budget });
  await patch({ monthly_micro: 10_000 });
  const ended = await Promise.all(Array.from({ length: 30 }, () => world.call(tenant, 1_000)));
  expect(ended.filter((status) => status === 'ok')).toHaveLength(10);
  const now = new Date();
  const next_month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString();
  const paused = { reason: 'budget', since: expect.any(String), resumes_at: next_month };
  expect(await read()).toMatchObject({
    status: 'active',
    paused,
    spend_today_micro: 10_000,
    spend_month_micro: 10_000,
  });

  expect((await patch({ monthly_micro: 12_000 })).paused).toBe(null);
  expect([await world.call(tenant, 2_000), await world.call(tenant, 1)]).toEqual(['ok', 'budget_exhausted']);
  expect((await read()).paused).toMatchObject(paused);

  expect((await patch({ hard: false })).paused).toBe(null);
  expect(await world.call(tenant, 1_000)).toBe('ok');

  expect(await patch({ hard: true })).toMatchObject({ budget: { hard: true } });
  expect(await world.call(tenant, 1)).toBe('budget_exhausted');
  expect((await world.send<ProjectView>(tenant, 'POST', `${path(id)}/resume`)).paused).toBe(null);
  expect(await world.call(tenant, 1_000)).toBe('ok');
  const again = await harness.call('POST', `${path(id)}/resume`, { key: tenant.key });
  expect([again.statusCode, again.json().error.code]).toEqual([409, 'state_conflict']);
  const audited = await harness.pool.query<{ target_id: string }>({
    name: 'test.audited',
    text: `select target_id from audit_entry where action = 'projects.resume' and org_id = $1`,
    values: [tenant.org.id],
  });
  expect(audited.rows).toEqual([{ target_id: id }]);

  await patch({ monthly_micro: 14_000 });
  expect(await world.call(tenant, 1)).toBe('budget_exhausted');
  shiftClock(Date.parse(next_month) - Date.now() + 60_000);
  expect(await read()).toMatchObject({ paused: null, spend_today_micro: 0, spend_month_micro: 0 });
  expect(await world.call(tenant, 1_000)).toBe('ok');
  shiftClock(0);
});

test('a rotated key goes on in the window of the first: its budget is not renewed, and today is counted once', async () => {
  const tenant = await world.tenant('rotating');
  const first = await world.send<{ id: string }>(tenant, 'POST', '/v1/keys', {
    ...{ name: 'k', project_id: tenant.live.id, scopes: ['inference'], budget: { daily_micro: 1_000 } },
  });
  expect(await world.call(tenant, 900, first.id)).toBe('ok');
  let id = first.id;
  for (let turn = 0; turn < 3; turn++)
    ({ id } = await world.send<{ id: string }>(tenant, 'POST', `/v1/keys/${id}/rotate`, {
      grace_seconds: 60,
    }));
  expect(await world.call(tenant, 200, id)).toBe('budget_exhausted');
  expect(await world.call(tenant, 100, id)).toBe('ok');
  const project = await world.send<ProjectView>(tenant, 'GET', path(tenant.live.id));
  expect(project).toMatchObject({ spend_today_micro: 1_000, spend_month_micro: 1_000 });
  const key = await world.send<{ paused: object | null }>(tenant, 'GET', `/v1/keys/${id}`);
  expect(key.paused).toMatchObject({ reason: 'budget' });
});

test('who may change a project: developers its budget, owners and admins its end, billing and viewers neither', async () => {
  const tenant = await world.tenant('roles');
  const spare = await world.send<ProjectView>(tenant, 'POST', '/v1/projects', {
    slug: 'spare',
    name: 'Spare',
  });
  for (const [role, patch, archive] of [
    ['viewer', 403, 403],
    ['billing', 403, 403],
    ['developer', 200, 403],
    ['admin', 200, 204],
  ] as const) {
    const key = await harness.signIn(await harness.makePerson(tenant, role));
    const changed = await harness.call('PATCH', path(spare.id), { key, body: { name: role } });
    const ended = await harness.call('DELETE', path(spare.id), { key });
    expect([role, changed.statusCode, ended.statusCode]).toEqual([role, patch, archive]);
  }
});
