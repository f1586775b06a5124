// Runs end to end: suites over REST, calls through a gateway, grades, money.
import { beforeAll, expect, test, vi } from 'vitest';
import type { Json } from '../calls/caller.ts';
import type { Org } from '../calls/world.ts';
import { answering, chargedFor, startEvalWorld } from './world.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });
const world = await startEvalWorld();

beforeAll(async () => {
  await world.worker();
});

const ask = (text: string) => ({
  messages: [{ role: 'user', content: text }],
  generation: { max_tokens: 16 },
});

async function makeSuite(org: Org, cases: Json[]): Promise<string> {
  const made = await world.rest(org.live_key, 'POST', '/v1/evals/suites', { name: 'Numbers', cases });
  expect(made.status, JSON.stringify(made.json)).toBe(201);
  return made.json['id'];
}

async function start(org: Org, body: Json): Promise<Json> {
  const made = await world.rest(org.live_key, 'POST', '/v1/evals/runs', body);
  expect(made.status, JSON.stringify(made.json)).toBe(201);
  return made.json['run'];
}

test('a run grades every answer of every target, and costs what the ledger has charged', async () => {
  const org = await world.org(10_000_000);
  const [good, bad] = [world.model('script'), world.model('script')];
  const say = (of: (n: number) => number) => (asked: string) =>
    `It is ${of(Number(asked.match(/\d+/)?.[0]))}.`;
  world.script.on(
    good.upstream,
    'a',
    answering(
      say((n) => n * 2),
      () => ({ input: 12, output: 4 }),
    ),
  );
  world.script.on(
    bad.upstream,
    'a',
    answering(
      say((n) => (n < 10 ? n * 2 : n)),
      () => ({ input: 12, output: 4 }),
    ),
  );
  const cases = Array.from({ length: 30 }, (_, n) => ({
    input: ask(`Double ${n + 1}.`),
    grader: { kind: 'numeric', expected: (n + 1) * 2 },
  }));
  const suite_id = await makeSuite(org, cases);
  const run = await start(org, {
    ...{ suite_id, budget_micro: 5_000_000, concurrency: 8 },
    targets: [{ model: bad.id }, { model: good.id }],
  });
  expect(run).toMatchObject({ status: 'pending', counts: { total: 60, done: 0 } });
  const ended = await world.ended(org.live_key, run['id']);
  expect(ended).toMatchObject({
    ...{ status: 'completed', stop_reason: '', written_off_micro: 0 },
    counts: { total: 60, done: 60, passed: 39, failed: 21, errors: 0, skipped: 0 },
  });
  expect(ended['score']).toBeCloseTo(39 / 60, 10);
  expect(await chargedFor(world, org)).toEqual({ charged: ended['cost_micro'], calls: 60 });
  expect(ended['cost_micro']).toBeLessThanOrEqual(run['estimate_micro']);
  const results = await world.results(org.live_key, run['id']);
  expect(new Set(results.map(({ request_id }) => request_id)).size).toBe(60);
  const failed = await world.rest(
    org.live_key,
    'GET',
    `/v1/evals/runs/${run['id']}/results?passed=false&target=1`,
  );
  expect(failed.json['data']).toEqual([]);
  const compared = await world.rest(org.live_key, 'GET', `/v1/evals/runs/${run['id']}/compare`);
  expect(compared.json).toMatchObject({
    cases: 30,
    decision: 'better',
    to: { score: 1, passed: 30, of: 30 },
  });
  const grid = await world.rest(org.live_key, 'GET', `/v1/evals/runs/${run['id']}/cases?limit=2`);
  expect(grid.json['data'][0]).toMatchObject({
    case_id: 'case_1',
    cells: [{ pass_rate: 1 }, { pass_rate: 1 }],
  });
  const { rows } = await world.db.query<{ app_id: string; tags: Json }>(
    `select app_id, tags from request_row where request_id = $1`,
    [results[0]?.['request_id']],
  );
  expect(rows[0]).toMatchObject({ app_id: 'svc-evals', tags: { eval_run: run['id'] } });
});

test('a judge is asked as often as wanted, and most of its grades decide', async () => {
  const org = await world.org(10_000_000);
  const [model, judge] = [world.model('script'), world.model('script')];
  world.script.on(
    model.upstream,
    'a',
    answering(
      () => 'Kind regards',
      () => ({ input: 12, output: 4 }),
    ),
  );
  let asked = 0;
  const grades = () => `{"score":${[5, 2, 5, 4, 1][asked++ % 5]},"reason":"so"}`;
  world.script.on(
    judge.upstream,
    'a',
    answering(grades, () => ({ input: 200, output: 12 })),
  );
  const grader = { kind: 'judge', rubric: 'Is it polite?' };
  const suite_id = await makeSuite(org, [{ id: 'polite', input: ask('Close a letter.'), grader }]);
  const run = await start(org, {
    ...{ suite_id, targets: [{ model: model.id }], budget_micro: 1_000_000 },
    ...{ judge_model: judge.id, judge_samples: 5 },
  });
  const ended = await world.ended(org.live_key, run['id']);
  expect(ended).toMatchObject({ status: 'completed', counts: { passed: 1, done: 1 } });
  const [result] = await world.results(org.live_key, run['id']);
  expect(result).toMatchObject({ case_id: 'polite', status: 'passed', grader_detail: { pass_rate: 0.6 } });
  expect(result?.['score']).toBeCloseTo((1 + 0.25 + 1 + 0.75 + 0) / 5, 10);
  expect(result?.['judge_request_ids']).toHaveLength(5);
  // Three grades of five pass; the bounds are those of Wilson.
  const grid = await world.rest(org.live_key, 'GET', `/v1/evals/runs/${run['id']}/cases`);
  const [cell] = grid.json['data'][0]['cells'];
  expect(cell).toMatchObject({ passed: 3, of: 5, pass_rate: 0.6 });
  expect([cell['pass_low'], cell['pass_high']].map((bound) => Number(bound.toFixed(4)))).toEqual([
    0.2307, 0.8824,
  ]);
  expect(await chargedFor(world, org)).toEqual({ charged: ended['cost_micro'], calls: 6 });
  // Each sample has delimiters of its own.
  const bodies = world.script.received(judge.upstream).map(({ body }) => JSON.stringify(body['messages']));
  expect(new Set(bodies).size).toBe(5);
});

test('a judge that gives no grade is asked once more, and then the answer is an error that counts 0', async () => {
  const org = await world.org(10_000_000);
  const [model, judge] = [world.model('script'), world.model('script')];
  const tokens = () => ({ input: 12, output: 4 });
  world.script.on(
    model.upstream,
    'a',
    answering((asked) => `Yours, ${asked}`, tokens),
  );
  // The first case gets a grade at the second call, the other never.
  const asked = { slips: 0, never: 0 };
  const grade = (text: string) => {
    const which = text.includes('slips') ? 'slips' : 'never';
    return which === 'slips' && asked.slips++ > 0 ? '{"score":5,"reason":"so"}' : `${which} is nice`;
  };
  world.script.on(judge.upstream, 'a', answering(grade, tokens));
  const grader = { kind: 'judge', rubric: 'Is it polite?' };
  const suite_id = await makeSuite(org, [
    { id: 'slips', input: ask('slips'), grader },
    { id: 'never', input: ask('never'), grader },
  ]);
  const run = await start(org, {
    ...{ suite_id, targets: [{ model: model.id }], budget_micro: 1_000_000, judge_model: judge.id },
  });
  const ended = await world.ended(org.live_key, run['id']);
  expect(ended).toMatchObject({
    ...{ status: 'completed', score: 0.5 },
    counts: { total: 2, done: 2, passed: 1, failed: 0, errors: 1, skipped: 0 },
  });
  const results = await world.results(org.live_key, run['id']);
  expect(results.find(({ case_id }) => case_id === 'slips')).toMatchObject({ status: 'passed', score: 1 });
  expect(results.find(({ case_id }) => case_id === 'never')).toMatchObject({
    ...{ status: 'error', score: 0, error_code: 'judge_unreadable' },
  });
  for (const { judge_request_ids } of results) expect(new Set(judge_request_ids as string[]).size).toBe(2);
  expect(await chargedFor(world, org)).toEqual({ charged: ended['cost_micro'], calls: 6 });
});

test.each([1, 2, 9])(
  '%i samples of a judge are that many calls, and most of them decide',
  async (judge_samples) => {
    const org = await world.org(10_000_000);
    const [model, judge] = [world.model('script'), world.model('script')];
    const tokens = () => ({ input: 12, output: 4 });
    world.script.on(
      model.upstream,
      'a',
      answering(() => 'Kind regards', tokens),
    );
    let asked = 0;
    // A bare half of an even number is not most of them.
    const grades = () => `{"score":${asked++ < Math.floor(judge_samples / 2) ? 5 : 1},"reason":"so"}`;
    world.script.on(judge.upstream, 'a', answering(grades, tokens));
    const grader = { kind: 'judge', rubric: 'Is it polite?' };
    const suite_id = await makeSuite(org, [{ id: 'polite', input: ask('Close a letter.'), grader }]);
    const run = await start(org, {
      ...{ suite_id, targets: [{ model: model.id }], budget_micro: 1_000_000 },
      ...{ judge_model: judge.id, judge_samples },
    });
    const ended = await world.ended(org.live_key, run['id']);
    expect(ended).toMatchObject({ status: 'completed', counts: { failed: 1, done: 1 } });
    const [result] = await world.results(org.live_key, run['id']);
    expect(result?.['judge_request_ids']).toHaveLength(judge_samples);
    expect(await chargedFor(world, org)).toEqual({ charged: ended['cost_micro'], calls: 1 + judge_samples });
  },
);

// docs/outcomes.md#cost-above-the-cap
test('a provider that reports three times what a call can cost is paid by us, not by the run', async () => {
  const org = await world.org(10_000_000);
  const model = world.model('script');
  world.script.on(
    model.upstream,
    'a',
    answering(
      () => 'yes',
      (text) => ({ input: text.length, output: 16 }),
    ),
  );
  const cases = Array.from({ length: 40 }, (_, n) => ({
    input: ask(`${'lorem ipsum dolor '.repeat(60)} ${n}`),
    grader: { kind: 'exact', expected: 'yes' },
  }));
  const suite_id = await makeSuite(org, cases);
  const run = await start(org, {
    ...{ suite_id, targets: [{ model: model.id }], budget_micro: 12_345, concurrency: 16 },
  });
  const ended = await world.ended(org.live_key, run['id']);
  expect(ended).toMatchObject({ status: 'stopped', stop_reason: 'budget', counts: { done: 40 } });
  expect(ended['counts']['skipped']).toBeGreaterThan(0);
  expect(ended['counts']['passed']).toBeGreaterThan(10);
  expect(ended['cost_micro']).toBeLessThanOrEqual(12_345);
  expect(ended['written_off_micro']).toBeGreaterThan(0);
  const { charged, calls } = await chargedFor(world, org);
  expect({ charged, calls }).toEqual({ charged: ended['cost_micro'], calls: ended['counts']['passed'] });
});

test('a run that is cancelled begins no more calls, and keeps what it has', async () => {
  const org = await world.org(10_000_000);
  const model = world.model('script');
  const waiting: (() => void)[] = [];
  const answer = answering(
    () => 'yes',
    () => ({ input: 12, output: 1 }),
  );
  world.script.on(model.upstream, 'a', (response, received) => {
    waiting.push(() => answer(response, received));
  });
  const cases = Array.from({ length: 20 }, (_, n) => ({
    ...{ input: ask(`Case ${n}`), grader: { kind: 'exact', expected: 'yes' } },
  }));
  const suite_id = await makeSuite(org, cases);
  const run = await start(org, { suite_id, targets: [{ model: model.id }], budget_micro: 1_000_000 });
  await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(4);
  const path = `/v1/evals/runs/${run['id']}/cancel`;
  const cancelled = await world.rest(org.live_key, 'POST', path);
  expect(cancelled).toMatchObject({ status: 200, json: { status: 'running', stop_reason: 'cancelled' } });
  for (const go of waiting) go();
  const ended = await world.ended(org.live_key, run['id']);
  expect(ended).toMatchObject({ status: 'cancelled', counts: { done: 20, passed: 4, skipped: 16 } });
  expect(waiting).toHaveLength(4);
  expect((await world.rest(org.live_key, 'POST', path)).status).toBe(409);
});

test('credit that ends stops the run, and what was answered stays', async () => {
  const org = await world.org(2_000);
  const model = world.model('script');
  world.script.on(
    model.upstream,
    'a',
    answering(
      () => 'yes',
      () => ({ input: 12, output: 16 }),
    ),
  );
  const cases = Array.from({ length: 60 }, (_, n) => ({
    ...{ input: ask(`Case ${n}`), grader: { kind: 'exact', expected: 'yes' } },
  }));
  const suite_id = await makeSuite(org, cases);
  const body = { suite_id, targets: [{ model: model.id }] };
  const refused = await world.rest(org.live_key, 'POST', '/v1/evals/runs', {
    ...body,
    budget_micro: 1_000_000,
  });
  expect(refused).toMatchObject({ status: 402, json: { error: { code: 'insufficient_credits' } } });
  const run = await start(org, { ...body, budget_micro: 2_000, concurrency: 1 });
  await world.rest(org.live_key, 'GET', `/v1/evals/runs/${run['id']}`);
  const ended = await world.ended(org.live_key, run['id']);
  expect(ended['status']).toBe('stopped');
  const { charged } = await chargedFor(world, org);
  expect(ended['cost_micro']).toBe(charged);
  expect(charged).toBeLessThanOrEqual(2_000);
});
