// The life of a canary: what calls show of it, how it is judged, and what comes of that.
import { silentLog } from '@svc/core/kernel/index.ts';
import { openPolicyCache } from '@svc/core/policies/index.ts';
import { judgeCanaries } from '@svc/core/rollouts/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { canaryRow } from '../../test/registry/rows.ts';
import { atFileEnd } from '../../test/support/ends.ts';

const harness = await startHarness();
const { a, b } = harness;
let endpoint_id = '';
beforeAll(async () => {
  const body = { model: 'openai/gpt-4o', yaml: 'sort: price' };
  const dry = await harness.call('POST', '/v1/policies/x/dry-run', { key: a.test_key, body });
  endpoint_id = dry.json().plan[0].endpoint_id;
});

const send = (method: 'POST' | 'GET', path: string, body?: object) =>
  harness.call(method, path, { key: a.key, ...(body === undefined ? {} : { body }) });

/** A policy with a canary, active for the organization; returns its name. */
async function activate(name: string, more = ''): Promise<string> {
  const yaml = `defaults: {canary: {endpoint: ${endpoint_id}, percent: 10, min_samples: 20${more}}}`;
  const made = await send('POST', '/v1/policies', { name, yaml });
  expect(made.statusCode, made.body).toBe(201);
  expect((await send('POST', `/v1/policies/${name}/activate`, { version: 1 })).statusCode).toBe(200);
  return name;
}

type Outcome = Parameters<typeof canaryRow>[1]['outcome'];

/** Writes rows of calls of both sides, the canary's with these outcomes, and has them judged. */
async function called(policy: string, at_canary: readonly Outcome[], control: number): Promise<number> {
  const call = { policy, version: 1, endpoint_id };
  for (const outcome of at_canary) {
    harness.request_log.write(canaryRow(a, { ...call, arm: 'canary', outcome }));
  }
  for (let i = 0; i < control; i++) {
    harness.request_log.write(canaryRow(a, { ...call, arm: 'control', outcome: 'ok' }));
  }
  await harness.request_log.flush();
  return judgeCanaries(harness.context);
}

async function canaryOf(name: string) {
  const { data } = (await send('GET', `/v1/policies/${name}/canaries`)).json();
  expect(data).toHaveLength(1);
  return data[0];
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test('a canary is pending until both sides had calls enough, then green, and pending again without traffic', async () => {
  const name = await activate('good');
  expect(await canaryOf(name)).toMatchObject({
    ...{ version: 1, endpoint_id, state: 'pending', percent: 10, samples: 0, error_rate: null },
    ...{ control_samples: 0, p_value: 1, evaluated_at: null, alpha: 0.01, min_effect: 0.02 },
  });
  await called(name, times(19, 'ok'), 180);
  expect(await canaryOf(name)).toMatchObject({ state: 'pending', reason: '19 of 20 calls of either side' });
  // What its caller ended says nothing, and what went elsewhere than its side asks was not chance's.
  const call = { policy: name, version: 1, endpoint_id, arm: 'control', outcome: 'error' } as const;
  harness.request_log.write(canaryRow(a, { ...call, at: endpoint_id }));
  await called(name, ['ok', 'cancelled'], 20);
  expect(await canaryOf(name)).toMatchObject({
    ...{ state: 'green', reason: '', samples: 20, error_rate: 0, control_samples: 200 },
    control_error_rate: 0,
  });
  await harness.pool.query({
    name: 'test.age_canary',
    text: `update canary set canary_at = canary_at - interval '61 minutes' where name = $1`,
    values: [name],
  });
  expect(await canaryOf(name)).toMatchObject({ state: 'pending' });
});

test('one that fails more often is rolled back: every gateway takes its share away, and it stays red', async () => {
  const { changes } = harness;
  const cache = openPolicyCache({ changes, log: silentLog, process_name: 'gateway' });
  atFileEnd(() => cache.close());
  const percent = async () =>
    (await cache.policiesOf(a.org.id)).of(a.live.id)?.halted.has(endpoint_id) === true ? 0 : 10;
  const name = await activate('bad');
  await vi.waitFor(async () => expect((await cache.policiesOf(a.org.id)).of(a.live.id)?.name).toBe(name));
  expect(await percent()).toBe(10);
  await called(name, [...times(8, 'error' as const), ...times(10, 'ok' as const)], 160);
  expect(await canaryOf(name)).toMatchObject({
    ...{ state: 'red', percent: 0, samples: 18, on_breach: 'rollback' },
    reason: '8 of 18 calls failed at the canary, 0 of 160 elsewhere',
  });
  await vi.waitFor(async () => expect(await percent()).toBe(0));
  await called(name, times(500, 'ok'), 4_500);
  expect(await canaryOf(name)).toMatchObject({ state: 'red', percent: 0 });
});

test('an alert is red too, and keeps its share; a version that rules nothing is done', async () => {
  const name = await activate('watched', ', on_breach: alert');
  await called(name, times(20, 'error'), 200);
  expect(await canaryOf(name)).toMatchObject({ state: 'red', percent: 10 });
  const done = await activate('ended');
  await called(done, times(20, 'ok'), 200);
  await send('POST', `/v1/policies/${done}/deactivate`, {});
  expect(await canaryOf(done)).toMatchObject({ state: 'done' });
});

test('a batch of rows that is sent twice is counted once', async () => {
  const name = await activate('twice');
  const row = canaryRow(a, { policy: name, version: 1, endpoint_id, arm: 'canary', outcome: 'ok' });
  for (let i = 0; i < 2; i++) {
    harness.request_log.write(row);
    await harness.request_log.flush();
  }
  await judgeCanaries(harness.context);
  expect(await canaryOf(name)).toMatchObject({ samples: 1 });
});

test('an endpoint is the canary of one rule, so that its share is known', async () => {
  const rule = (model: string) =>
    `{match: {models: ['${model}']}, canary: {endpoint: ${endpoint_id}, percent: 5}}`;
  const yaml = `rules: [${rule('openai/*')}, ${rule('acme/*')}]`;
  const verdict = (await send('POST', '/v1/policies/validate', { yaml })).json();
  expect(verdict.path).toBe('rules[1].canary.endpoint');
  expect(verdict.message).toContain('is the canary of another rule');
});

test('the canaries of another organization are not there', async () => {
  const other = await harness.call('GET', '/v1/policies/good/canaries', { key: b.key });
  expect(codeOf(other)).toBe('not_found');
});
