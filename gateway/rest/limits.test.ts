// GET /v1/limits: what is allowed, what is left, what was refused.
import { getLimitsOperation } from '@svc/core/analytics/index.ts';
import { FileAnswer, type KeyCaller, type Services } from '@svc/core/kernel/index.ts';
import { type LimitStore, openMemoryLimits, subjectOf } from '@svc/core/limits/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { expect, test } from 'vitest';
import { startHarness, type Tenant } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';

const harness = await startHarness();
const { a, b } = harness;

async function limitsOf(tenant: Tenant, limits?: LimitStore, secret = tenant.key) {
  const { caller } = await harness.keys.verify(secret);
  const services = (limits === undefined ? {} : { limits }) as unknown as Services;
  const { pool, context } = harness;
  const view = await getLimitsOperation.run(
    createContext({
      ...{ request_id: context.request_id, caller: caller as KeyCaller, pool, log: context.log, services },
    }),
    {},
  );
  if (view instanceof FileAnswer) throw new Error('a file');
  return view;
}

test('a key shows what is left of it while its calls run, and its plan what was refused', async () => {
  const limits = openMemoryLimits();
  const grant = await harness.keys.verify(a.key);
  const key_limits = { rpm: 10, tpm: 1_000, concurrency: 1 };
  const subject = subjectOf({ ...grant, limits: { ...grant.limits, key: key_limits } });
  const place = limits.enter(subject);
  limits.enter(subject);
  const view = await limitsOf(a, limits);
  // By agreement: no bound of the plan.
  expect(view.plan).toEqual({
    ...{ rpm: null, tpm: null, concurrency: null, keys: null, projects: null },
    live: { rpm_remaining: null, tpm_remaining: null, concurrency_in_use: 1 },
  });
  // A project without limits shows what its keys do.
  expect(view.projects).toEqual([
    {
      ...{ project_id: a.live.id, configured: { rpm: null, tpm: null, concurrency: null } },
      live: { rpm_remaining: null, tpm_remaining: null, concurrency_in_use: 1 },
    },
  ]);
  const key = view.keys.find(({ key_id }) => key_id === a.key_id);
  expect(key).toMatchObject({
    ...{ name: 'a key', project_id: a.live.id, status: 'active' },
    configured: { rpm: null, tpm: null, concurrency: null },
    live: { concurrency_in_use: 1 },
    ...{ spend_today_micro: 0, spend_month_micro: 0 },
  });
  expect(key?.live.rpm_remaining).toBe(null);
  expect(view.rejected_24h).toEqual({ rpm: 0, tpm: 0, concurrency: 1 });
  expect([view.live, view.analytics]).toEqual([true, true]);
  expect((await limitsOf(b, limits)).rejected_24h).toEqual({ rpm: 0, tpm: 0, concurrency: 0 });
  if ('leave' in place) place.leave();
  expect((await limitsOf(a, limits)).keys.find(({ key_id }) => key_id === a.key_id)?.live).toMatchObject({
    concurrency_in_use: 0,
  });
});

test('a project shows its limits, and what its keys together have left and run', async () => {
  const limits = openMemoryLimits();
  const tenant = await harness.makeTenant('bounded');
  const body = { limits: { rpm: 10, tpm: 1_000, concurrency: 3 } };
  const path = `/v1/projects/${tenant.live.id}`;
  expect((await harness.call('PATCH', path, { key: tenant.key, body })).statusCode).toBe(200);
  const second = await harness.makeKey(tenant);
  const places = [];
  for (const secret of [tenant.key, second.secret]) {
    // The change is heard of within a second.
    await expect
      .poll(async () => (await harness.keys.verify(secret)).limits.project)
      .toEqual({ rpm: 10, tpm: 1_000, concurrency: 3 });
    places.push(limits.enter(subjectOf(await harness.keys.verify(secret))));
  }
  const view = await limitsOf(tenant, limits);
  expect(view.projects).toEqual([
    {
      ...{ project_id: tenant.live.id, configured: { rpm: 10, tpm: 1_000, concurrency: 3 } },
      live: { rpm_remaining: 8, tpm_remaining: 1_000, concurrency_in_use: 2 },
    },
  ]);
  expect(view.plan.live.concurrency_in_use).toBe(2);
  for (const { live } of view.keys) {
    // What is left of a key is what its project has left.
    expect(live).toMatchObject({ rpm_remaining: 8, tpm_remaining: 1_000, concurrency_in_use: 1 });
  }
  // Calls of test keys are counted apart, those of the test project too.
  const test = await limitsOf(tenant, limits, tenant.test_key);
  expect(test.projects.map(({ project_id }) => project_id)).toEqual([tenant.test.id]);
  expect(test.plan.live.concurrency_in_use).toBe(0);
  for (const place of places) if ('leave' in place) place.leave();
});

test('a key sees the keys of its environment and organization alone, and none that has ended', async () => {
  const past = await harness.makeKey(b, { expires_at: new Date(Date.now() - 1_000) });
  const live = await limitsOf(b);
  expect(live.keys.map(({ key_id }) => key_id)).toContain(b.key_id);
  expect(live.keys.map(({ key_id }) => key_id)).not.toContain(past.id);
  expect(live.keys.map(({ key_id }) => key_id)).not.toContain(a.key_id);
  for (const { project_id } of (await limitsOf(b, undefined, b.test_key)).keys)
    expect(project_id).toBe(b.test.id);
});

test('calls without capacity are those of the rows', async () => {
  const row = { key_id: a.key_id, project_id: a.live.id };
  for (const error_code of ['upstream_rate_limited', 'upstream_overloaded', 'upstream_error']) {
    harness.request_log.write(rowOf(a, { ...row, status: 'error', error_code, cost_micro: 0 }));
  }
  harness.request_log.write(rowOf(b, { status: 'error', error_code: 'upstream_overloaded' }));
  await harness.request_log.flush();
  const view = await limitsOf(a);
  expect(view.upstream_capacity_24h).toBe(2);
});

test('where the rows cannot be read the rest is answered, and says so', async () => {
  const rename = (from: string, to: string) =>
    harness.pool.query({ name: '', text: `alter table ${from} rename to ${to}`, values: [] });
  await rename('request_row', 'request_row_away');
  try {
    const answer = await harness.call('GET', '/v1/limits', { key: a.key });
    expect([answer.statusCode, answer.json()]).toMatchObject([
      200,
      { analytics: false, upstream_capacity_24h: 0, keys: [{ key_id: expect.any(String) }] },
    ]);
  } finally {
    await rename('request_row_away', 'request_row');
  }
  const { analytics } = (await harness.call('GET', '/v1/limits', { key: a.key })).json();
  expect(analytics).toBe(true);
});

test('a process that takes no calls says that its counters are not there', async () => {
  const answer = await harness.call('GET', '/v1/limits', { key: a.key });
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ live: false, analytics: true });
});
