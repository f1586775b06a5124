// The life of an experiment: what calls show of its arms, and what is said of them.
import { countExperiments, dropExperimentHours } from '@svc/core/rollouts/index.ts';
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { armRow, rowOf } from '../../test/registry/rows.ts';

const harness = await startHarness();
const { a, b } = harness;
type Row = Parameters<typeof rowOf>[1];

const send = (method: 'POST' | 'GET', path: string, body?: object) =>
  harness.call(method, path, { key: a.key, ...(body === undefined ? {} : { body }) });

/** A policy with an experiment, active for the organization; returns its name. */
async function activate(name: string): Promise<string> {
  const arms = '[{name: control, percent: 80}, {name: candidate, percent: 20, model: openai/gpt-4o}]';
  const yaml = `defaults: {experiment: {name: cheaper, stick: user, arms: ${arms}}}`;
  const made = await send('POST', '/v1/policies', { name, yaml });
  expect(made.statusCode, made.body).toBe(201);
  expect((await send('POST', `/v1/policies/${name}/activate`, { version: 1 })).statusCode).toBe(200);
  return name;
}

/** `count` calls of an arm, each in a bucket of its own; `rowAt` says how each went. */
function calls(
  policy: string,
  arm: 'control' | 'candidate',
  count: number,
  rowAt: (i: number) => Row = () => ({}),
) {
  const first = arm === 'control' ? 0 : 8_000;
  return Array.from({ length: count }, (_, i) => {
    const call = { policy, version: 1, experiment: 'cheaper', arm, bucket: first + (i % 2_000) };
    return armRow(a, call, rowAt(i));
  });
}

async function write(rows: readonly ReturnType<typeof armRow>[]): Promise<number> {
  for (const row of rows) harness.request_log.write(row);
  await harness.request_log.flush();
  return countExperiments(harness.context);
}

async function armsOf(name: string, query = '') {
  const reply = await send('GET', `/v1/policies/${name}/experiments${query}`);
  expect(reply.statusCode, reply.body).toBe(200);
  const { data } = reply.json();
  return { control: data[0], candidate: data[1], all: data, hours: reply.json().hours };
}

test('an experiment without calls has two arms and tells nothing', async () => {
  const name = await activate('quiet');
  const { control, candidate, all, hours } = await armsOf(name);
  expect(all).toHaveLength(2);
  expect(hours).toBe(24);
  expect(control).toMatchObject({
    ...{ arm: 'control', experiment: 'cheaper', version: 1, active: true, percent: 80, requests: 0 },
    ...{ ttft_p50_ms: null, samples: 0, mean: null, estimate: null, srm_p: null, decision: null, reason: '' },
  });
  expect(candidate).toMatchObject({
    ...{ arm: 'candidate', percent: 20, decision: 'cannot_tell', reason: '0 of 200 calls of either arm' },
  });
});

test('the arms are shown by hours, and compared since the version began, whatever is measured', async () => {
  const name = await activate('compared');
  const failing = (every: number) => (i: number) => ({
    ...(i % every === 0 ? { status: 'error' as const, cost_micro: 0 } : { cost_micro: 1_000 }),
    ...{ ttft_ms: i % 10 === 0 ? 1_000 : 200, output_tokens: 100 },
  });
  const cheap = (i: number) => ({ ...failing(5)(i), cost_micro: 400 });
  const found = await write([
    ...calls(name, 'control', 4_000, failing(50)),
    ...calls(name, 'candidate', 1_000, cheap),
    // Neither of an experiment, nor ever attempted.
    rowOf(a),
    ...calls(name, 'candidate', 1, () => ({ attempts: 0, attempt_rows: [] })),
  ]);
  expect(found).toBe(5_000);
  const errors = await armsOf(name, '?hours=1');
  expect(errors.control).toMatchObject({ requests: 4_000, errors: 80, samples: 4_000, mean: 0.02 });
  expect(errors.control.ttft_p50_ms / 200).toBeCloseTo(1, 1);
  expect(errors.control.ttft_p95_ms / 1_000).toBeCloseTo(1, 1);
  expect(errors.candidate).toMatchObject({
    ...{ requests: 1_000, errors: 200, cost_micro: 400_000, output_tokens: 100_000 },
    ...{ metric: 'error_rate', decision: 'worse', reason: '', srm_p: 1 },
  });
  expect(errors.candidate.estimate).toBeCloseTo(0.18, 10);
  expect(errors.candidate.low).toBeGreaterThan(0);
  const cost = (await armsOf(name, '?metric=cost_micro')).candidate;
  expect(cost).toMatchObject({ metric: 'cost_micro', mean: 400, estimate: -580, decision: 'better' });
  const ttft = (await armsOf(name, '?metric=ttft_ms')).candidate;
  expect(ttft).toMatchObject({ estimate: 0, decision: 'cannot_tell', reason: 'no difference shows' });
});

test('nothing is read from arms that are not split as the policy says', async () => {
  const name = await activate('uneven');
  await write([
    ...calls(name, 'control', 2_000),
    ...calls(name, 'candidate', 2_000, () => ({ status: 'error' })),
  ]);
  const { candidate } = await armsOf(name);
  expect(candidate.srm_p).toBeLessThan(0.001);
  expect(candidate).toMatchObject({ decision: 'cannot_tell' });
  expect(candidate.reason).toContain('not split as the policy says');
});

test('a call is counted once: a batch that is sent twice, and counts that fall together', async () => {
  const name = await activate('once');
  const [row] = calls(name, 'candidate', 1);
  if (row === undefined) throw new Error('no row');
  const rows = calls(name, 'control', 50);
  for (const one of [...rows, row, row]) harness.request_log.write(one);
  await harness.request_log.flush();
  harness.request_log.write(row);
  await harness.request_log.flush();
  const counted = await Promise.all(Array.from({ length: 4 }, () => countExperiments(harness.context)));
  expect(counted.reduce((sum, one) => sum + one, 0)).toBe(51);
  const { control, candidate } = await armsOf(name);
  expect([control.requests, control.samples, candidate.samples]).toEqual([50, 50, 1]);
});

test('a call of the test environment counts there alone', async () => {
  const name = await activate('apart');
  const test_call = { environment: 'test', project_id: a.test.id } as const;
  await write([...calls(name, 'control', 3), ...calls(name, 'control', 2, () => test_call)]);
  expect((await armsOf(name)).control.requests).toBe(3);
  const path = `/v1/policies/${name}/experiments`;
  const { data } = (await harness.call('GET', path, { key: a.test_key })).json();
  expect(data[0].requests).toBe(2);
});

test('a version that rules nothing any more keeps what it showed; one that never did is not there', async () => {
  const name = await activate('ended');
  await write(calls(name, 'control', 3));
  const versions = `/v1/policies/${name}/versions`;
  const arms = '[{name: control, percent: 50}, {name: candidate, percent: 50, model: openai/gpt-4o}]';
  const yaml = `defaults: {experiment: {name: other, arms: ${arms}}}`;
  expect((await send('POST', versions, { yaml })).statusCode).toBe(201);
  await send('POST', `/v1/policies/${name}/deactivate`, {});
  const { all } = await armsOf(name);
  expect(all.map((arm: { experiment: string }) => arm.experiment)).toEqual(['cheaper', 'cheaper']);
  expect(all[0]).toMatchObject({ active: false, samples: 3 });
});

test('hours that nobody can ask for any more are dropped, and the comparison keeps its calls', async () => {
  const name = await activate('old');
  await write(calls(name, 'control', 3));
  await harness.pool.query({
    name: 'test.age_hours',
    text: `update experiment_hour set hour = hour - interval '32 days' where name = $1`,
    values: [name],
  });
  expect(await dropExperimentHours(harness.context)).toBeGreaterThan(0);
  expect((await armsOf(name, '?hours=720')).control).toMatchObject({ requests: 0, samples: 3 });
});

test.each(['?hours=0', '?hours=721', '?hours=x', '?metric=joy'])('%s is refused', async (query) => {
  expect((await send('GET', `/v1/policies/quiet/experiments${query}`)).statusCode).toBe(400);
});

test('the experiments of another organization are not there', async () => {
  const other = await harness.call('GET', '/v1/policies/quiet/experiments', { key: b.key });
  expect(codeOf(other)).toBe('not_found');
});
