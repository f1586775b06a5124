// What is shown of the shadows of a policy: how copies went beside the calls that they were made of.
import { countShadows, dropShadowHours } from '@svc/core/rollouts/index.ts';
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';
import { rowOf, shadowRow } from '../registry/rows.ts';

const harness = await startHarness();
const { a, b } = harness;

const send = (method: 'POST' | 'GET', path: string, body?: object) =>
  harness.call(method, path, { key: a.key, ...(body === undefined ? {} : { body }) });

const endpointOf = async (model: string): Promise<string> => {
  const body = { model, yaml: 'sort: price' };
  const dry = await harness.call('POST', '/v1/policies/x/dry-run', { key: a.test_key, body });
  return dry.json().plan[0].endpoint_id;
};
const shadow_endpoint = await endpointOf('openai/gpt-4o-mini');
const other = await endpointOf('openai/gpt-4o');

/** A policy with a shadow, active for the organization; returns its name. */
async function activate(name: string): Promise<string> {
  const yaml = `defaults: {shadow: {endpoint: ${shadow_endpoint}, percent: 2.5, max_per_day: 500}}`;
  const made = await send('POST', '/v1/policies', { name, yaml });
  expect(made.statusCode, made.body).toBe(201);
  expect((await send('POST', `/v1/policies/${name}/activate`, { version: 1 })).statusCode).toBe(200);
  return name;
}

type Row = Parameters<typeof shadowRow>[3];

/** A copy of a call of the policy, of which `over` says how it went. */
const copy = (policy: string, over: Parameters<typeof shadowRow>[2] = {}, row: Row = {}) =>
  shadowRow(a, { name: policy, shadow_endpoint, primary_endpoint: other }, over, row);

async function write(rows: readonly ReturnType<typeof copy>[]): Promise<number> {
  for (const row of rows) harness.request_log.write(row);
  await harness.request_log.flush();
  return countShadows(harness.context);
}

async function shadowsOf(name: string, query = '') {
  const reply = await send('GET', `/v1/policies/${name}/shadows${query}`);
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.json();
}

test('a shadow without copies is there and tells nothing', async () => {
  const { data, hours } = await shadowsOf(await activate('quiet'));
  expect(hours).toBe(24);
  expect(data).toEqual([
    {
      ...{ shadow_endpoint, primary_endpoint: null, policy_version: 1, active: true, percent: 2.5 },
      ...{ max_per_day: 500, bill: 'org', runs: 0, errors: 0, stop_mismatch: 0, cost_delta_micro: 0 },
      ...{ primary_cost_micro: 0, shadow_cost_micro: 0, primary_ttft_ms: null, shadow_ttft_ms: null },
    },
  ]);
});

test('costs, times and ends are summed over copies that were answered, for each endpoint that answered', async () => {
  const name = await activate('summed');
  const taken = await write([
    copy(name, {
      primary_cost_micro: 1_000,
      shadow_cost_micro: 400,
      primary_ttft_ms: 300,
      shadow_ttft_ms: 100,
    }),
    copy(name, {
      primary_cost_micro: 3_000,
      shadow_cost_micro: 600,
      primary_ttft_ms: 500,
      shadow_ttft_ms: 200,
    }),
    copy(name, {
      primary_cost_micro: 500,
      shadow_cost_micro: 700,
      stop_mismatch: true,
      shadow_ttft_ms: null,
    }),
    copy(name, { primary_cost_micro: 9_000, stop_mismatch: true }, { status: 'error', cost_micro: 0 }),
    copy(name, {
      primary_endpoint: shadow_endpoint,
      bill: 'platform',
      primary_cost_micro: 10,
      shadow_cost_micro: 10,
    }),
    // No copy.
    rowOf(a),
  ]);
  expect(taken).toBe(5);
  const { data } = await shadowsOf(name, '?hours=1');
  expect(data).toHaveLength(2);
  expect(data[0]).toMatchObject({
    ...{ primary_endpoint: other, bill: 'org', runs: 4, errors: 1, stop_mismatch: 1 },
    ...{ primary_cost_micro: 4_500, shadow_cost_micro: 1_700, cost_delta_micro: -2_800 },
    ...{ primary_ttft_ms: 400, shadow_ttft_ms: 150 },
  });
  expect(data[1]).toMatchObject({ primary_endpoint: shadow_endpoint, bill: 'platform', runs: 1 });
});

test('a copy is counted once: a batch that is sent twice, and counts that fall together', async () => {
  const name = await activate('once');
  const rows = Array.from({ length: 40 }, () => copy(name));
  for (const row of [...rows, ...rows]) harness.request_log.write(row);
  await harness.request_log.flush();
  for (const row of rows) harness.request_log.write(row);
  await harness.request_log.flush();
  const counted = await Promise.all(Array.from({ length: 4 }, () => countShadows(harness.context)));
  expect(counted.reduce((sum, one) => sum + one, 0)).toBe(40);
  expect((await shadowsOf(name)).data[0].runs).toBe(40);
});

test('a copy of the test environment counts there alone', async () => {
  const name = await activate('apart');
  await write([copy(name), copy(name, {}, { environment: 'test', project_id: a.test.id })]);
  expect((await shadowsOf(name)).data[0].runs).toBe(1);
  const path = `/v1/policies/${name}/shadows`;
  expect((await harness.call('GET', path, { key: a.test_key })).json().data[0].runs).toBe(1);
});

test('a version that rules nothing any more keeps what it showed; one that never did is not there', async () => {
  const name = await activate('ended');
  await write([copy(name)]);
  const yaml = `defaults: {shadow: {endpoint: ${other}, percent: 1}}`;
  expect((await send('POST', `/v1/policies/${name}/versions`, { yaml })).statusCode).toBe(201);
  await send('POST', `/v1/policies/${name}/deactivate`, {});
  const { data } = await shadowsOf(name);
  expect(data).toHaveLength(1);
  expect(data[0]).toMatchObject({ active: false, runs: 1, policy_version: 1 });
});

test('hours that nobody can ask for any more are dropped', async () => {
  const name = await activate('old');
  await write([copy(name)]);
  await harness.pool.query({
    name: 'test.age_shadow_hours',
    text: `update shadow_hour set hour = hour - interval '32 days' where name = $1`,
    values: [name],
  });
  expect(await dropShadowHours(harness.context)).toBeGreaterThan(0);
  expect((await shadowsOf(name, '?hours=720')).data[0].runs).toBe(0);
});

test.each(['?hours=0', '?hours=721', '?hours=x'])('%s is refused', async (query) => {
  expect((await send('GET', `/v1/policies/quiet/shadows${query}`)).statusCode).toBe(400);
});

test('the shadows of another organization are not there', async () => {
  expect(codeOf(await harness.call('GET', '/v1/policies/quiet/shadows', { key: b.key }))).toBe('not_found');
});
