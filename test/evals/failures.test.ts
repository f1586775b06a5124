// What a run makes of calls that fail, how its score weighs cases, and how long it keeps what models answered.
import { createPool } from '@svc/core/db/index.ts';
import { purgeEvalOutputs } from '@svc/core/evals/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Json } from '../calls/caller.ts';
import { type Handler, refuse } from '../calls/upstream.ts';
import type { Org } from '../calls/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { answering, askedOf, startEvalWorld } from './world.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });
const world = await startEvalWorld();
const DAY_MS = 86_400_000;
/** A run tries a call that failed three times more. */
const CALLS_OF_A_FAILURE = 4;

beforeAll(async () => {
  await world.worker();
});

const tokens = () => ({ input: 12, output: 4 });
const yes = answering(() => 'yes', tokens);
const broken = refuse(500, { error: { message: 'out of order', type: 'server_error' } });

function caseOf(id: string, more: Json = {}): Json {
  const input = { messages: [{ role: 'user', content: id }], generation: { max_tokens: 16 } };
  return { id, input, grader: { kind: 'exact', expected: 'yes' }, ...more };
}

/** Runs `cases` against one scripted model, to the end; begun by `key` and read with the first key of `org`. */
async function run(
  org: Org,
  cases: Json[],
  handler: Handler,
  { key = org.live_key, ...more }: Json = {},
): Promise<Json> {
  const model = world.model('script');
  world.script.on(model.upstream, 'a', handler);
  const suite = await world.rest(org.live_key, 'POST', '/v1/evals/suites', { name: 'Failures', cases });
  expect(suite.status, JSON.stringify(suite.json)).toBe(201);
  const body = { suite_id: suite.json['id'], targets: [{ model: model.id }], budget_micro: 1_000_000 };
  const made = await world.rest(key, 'POST', '/v1/evals/runs', { ...body, ...more });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
  return world.ended(org.live_key, made.json['run']['id']);
}

/** How the calls of a run went, as their rows say. */
async function rowsOf(run_id: string): Promise<string[]> {
  const { rows } = await world.db.query<{ status: string }>(
    `select status from request_row where tags ->> 'eval_run' = $1 order by ts`,
    [run_id],
  );
  return rows.map(({ status }) => status);
}

test('a call that the provider fails is made three times more, and then its answer is an error', async () => {
  const org = await world.org(10_000_000);
  const ended = await run(org, [caseOf('never')], broken);
  expect(ended).toMatchObject({
    ...{ status: 'completed', stop_reason: '', score: 0, cost_micro: 0 },
    counts: { total: 1, done: 1, passed: 0, failed: 0, errors: 1, skipped: 0 },
  });
  const [result] = await world.results(org.live_key, ended['id']);
  expect(result).toMatchObject({ status: 'error', score: 0, error_code: 'upstream_error', cost_micro: 0 });
  await expect.poll(() => rowsOf(ended['id'])).toEqual(Array(CALLS_OF_A_FAILURE).fill('error'));
});

test('a provider that recovers is asked again, and its answer is graded and paid once', async () => {
  const org = await world.org(10_000_000);
  let failures = 3;
  const ended = await run(org, [caseOf('slips')], (response, received) => {
    const handler = failures-- > 0 ? broken : yes;
    handler(response, received);
  });
  expect(ended).toMatchObject({ status: 'completed', counts: { passed: 1, errors: 0 }, score: 1 });
  await expect.poll(async () => (await rowsOf(ended['id'])).at(-1)).toBe('ok');
  const statuses = await rowsOf(ended['id']);
  expect(statuses.filter((status) => status === 'ok')).toHaveLength(1);
});

test('what a provider refuses for good is an error at once', async () => {
  const org = await world.org(10_000_000);
  const refused = refuse(400, { error: { message: 'no such parameter', type: 'invalid_request_error' } });
  const ended = await run(org, [caseOf('refused')], refused);
  expect(ended).toMatchObject({ status: 'completed', counts: { errors: 1 } });
  await expect.poll(() => rowsOf(ended['id'])).toHaveLength(1);
});

test('a score weighs each case by its weight; an error counts 0 with the weight of its case', async () => {
  const org = await world.org(10_000_000);
  const cases = [
    caseOf('right', { weight: 5 }),
    caseOf('wrong', { weight: 2 }),
    caseOf('fails', { weight: 1 }),
  ];
  const refused = refuse(400, { error: { message: 'no', type: 'invalid_request_error' } });
  const ended = await run(org, cases, (response, received) => {
    const asked = askedOf(received.body);
    if (asked === 'fails') refused(response, received);
    else answering(() => (asked === 'right' ? 'yes' : 'no'), tokens)(response, received);
  });
  expect(ended).toMatchObject({ counts: { passed: 1, failed: 1, errors: 1 } });
  expect(ended['score']).toBeCloseTo(5 / 8, 10);
});

test('cases that a run did not come to do not count in its score', async () => {
  const org = await world.org(10_000_000);
  const cases = Array.from({ length: 20 }, (_, n) => caseOf(`Case ${n}`));
  const ended = await run(org, cases, yes, { budget_micro: 600, concurrency: 1 });
  expect(ended).toMatchObject({ status: 'stopped', stop_reason: 'budget', score: 1 });
  expect(ended['counts']['passed']).toBeGreaterThan(0);
  expect(ended['counts']['skipped']).toBeGreaterThan(0);
});

test('a run whose key is revoked meanwhile stops with reason error, and keeps what it has', async () => {
  const org = await world.org(10_000_000, [{ name: 'owner' }, { name: 'runs' }]);
  const [, runs] = org.keys;
  const cases = Array.from({ length: 12 }, (_, n) => caseOf(`Case ${n}`));
  let calls = 0;
  const handler: Handler = async (response, received) => {
    if (++calls === 3) await world.rest(org.live_key, 'DELETE', `/v1/keys/${runs?.key_id}`);
    yes(response, received);
  };
  const ended = await run(org, cases, handler, { key: runs?.secret, concurrency: 1 });
  expect(ended).toMatchObject({ status: 'stopped', stop_reason: 'error' });
  expect(ended['counts']['passed']).toBeGreaterThanOrEqual(2);
  expect(ended['counts']['skipped']).toBeGreaterThan(0);
});

test('answers are kept for the days of the data policy, and then their hash alone', async () => {
  const org = await world.org(10_000_000);
  const path = `/v1/orgs/${org.org_id}`;
  const data_policy = { retention_days: 3 };
  expect((await world.rest(org.live_key, 'PATCH', path, { data_policy })).status).toBe(200);
  const ended = await run(org, [caseOf('kept')], yes);
  const outputs = async () => {
    const { rows } = await world.db.query<Json>(
      `select output, output_hash as hash from eval_result where run_id = $1`,
      [ended['id']],
    );
    return rows[0] as Json;
  };
  const { hash } = await outputs();
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  const made = new Date(ended['created_at']).getTime();
  const pool = createPool(world.database_url, { max: 1, application: 'svc-test' });
  atFileEnd(() => pool.end());
  await purgeEvalOutputs(pool, new Date(made + 3 * DAY_MS - 1));
  expect(await outputs()).toEqual({ output: 'yes', hash });
  await purgeEvalOutputs(pool, new Date(made + 3 * DAY_MS));
  expect(await outputs()).toEqual({ output: null, hash });
});

test('with zero data retention no text of an answer is ever stored', async () => {
  const org = await world.org(10_000_000);
  const path = `/v1/orgs/${org.org_id}`;
  expect((await world.rest(org.live_key, 'PATCH', path, { data_policy: { zdr: true } })).status).toBe(200);
  const ended = await run(org, [caseOf('zdr')], yes);
  expect(ended).toMatchObject({ status: 'completed', score: 1 });
  const { rows } = await world.db.query<Json>(
    'select output, grader_detail from eval_result where run_id = $1',
    [ended['id']],
  );
  expect(rows).toEqual([{ output: null, grader_detail: {} }]);
});
