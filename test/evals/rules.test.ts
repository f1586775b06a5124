// The rules of suites and of starting runs, over REST: sizes, counts, paths of faults, and who may do what.
import { expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';

const harness = await startHarness();
const MODEL = 'openai/gpt-4o-mini';
const post = (body: object, key = harness.a.key) => harness.call('POST', '/v1/evals/suites', { key, body });

const oneCase = (n: number, text = 'Say yes.') => ({
  id: `case ${n}`,
  input: { messages: [{ role: 'user', content: text }] },
  grader: { kind: 'exact', expected: 'yes' },
});
const casesOf = (count: number, text?: string) => Array.from({ length: count }, (_, n) => oneCase(n, text));

async function makeSuite(cases: object[] = casesOf(3), key?: string): Promise<string> {
  const made = await post({ name: 'Rules', cases }, key);
  expect(made.statusCode, made.body).toBe(201);
  return made.json().id;
}

test('a suite holds 5,000 cases and not one more', async () => {
  const whole = await post({ name: 'Whole', cases: casesOf(5_000) });
  expect(whole.statusCode, whole.body.slice(0, 300)).toBe(201);
  expect(whole.json().cases).toHaveLength(5_000);
  const over = await post({ name: 'Over', cases: casesOf(5_001) });
  expect([over.statusCode, over.json().error]).toMatchObject([
    400,
    { code: 'invalid_request', param: 'cases' },
  ]);
  const none = await post({ name: 'None', cases: [] });
  expect([none.statusCode, none.json().error.param]).toEqual([400, 'cases']);
});

test('a body of up to 8 MiB is taken, a larger one is refused by its size, and other routes keep their limit', async () => {
  const big = { name: 'Big', cases: casesOf(8, 'x'.repeat(1_040_000)) };
  expect(JSON.stringify(big).length).toBeGreaterThan(8_300_000);
  expect((await post(big)).statusCode).toBe(201);
  const over = await post({ name: 'Over', cases: casesOf(9, 'x'.repeat(940_000)) });
  expect([over.statusCode, over.json().error.code]).toEqual([413, 'request_too_large']);
  const elsewhere = await harness.call('POST', '/v1/evals/runs', {
    key: harness.a.key,
    body: { suite_id: 'x'.repeat(1_100_000), targets: [{}], budget_micro: 1 },
  });
  expect([elsewhere.statusCode, elsewhere.json().error.code]).toEqual([413, 'request_too_large']);
});

test('every faulty case is told by its path, and nothing of the suite is stored', async () => {
  const faulty = await post({
    name: 'Faulty',
    cases: [
      oneCase(1),
      oneCase(1),
      { ...oneCase(2), grader: { kind: 'regex', pattern: '(?=a)' } },
      { ...oneCase(3), grader: { kind: 'exact' } },
      { ...oneCase(4), input: { messages: [{ role: 'nobody', content: 'x' }] } },
    ],
  });
  expect(faulty.statusCode).toBe(400);
  const params = faulty.json().error.details.faults.map(({ param }: { param: string }) => param);
  expect(params).toEqual([
    'cases[1].id',
    'cases[2].grader.pattern',
    'cases[3].grader.expected',
    expect.stringMatching(/^cases\[4\]\.input\.messages\[0\]/),
  ]);
  const { data } = (await harness.call('GET', '/v1/evals/suites', { key: harness.a.key })).json();
  expect(data.map(({ name }: { name: string }) => name)).not.toContain('Faulty');
});

test('other cases are another revision; a revision that no run keeps is gone, and the page of its cases is empty', async () => {
  const id = await makeSuite();
  const patch = (cases: object[]) =>
    harness.call('PATCH', `/v1/evals/suites/${id}`, { key: harness.a.key, body: { cases } });
  expect((await patch(casesOf(5))).json()).toMatchObject({ revision: 2, case_count: 5 });
  const run = await harness.call('POST', '/v1/evals/runs', {
    key: harness.a.test_key,
    body: { suite_id: id, targets: [{ model: MODEL }], budget_micro: 1_000_000 },
  });
  expect([run.statusCode, run.json().run?.suite_revision], run.body).toEqual([201, 2]);
  expect((await patch(casesOf(7))).json().revision).toBe(3);
  const history = await harness.call('GET', `/v1/evals/suites/${id}/history`, { key: harness.a.key });
  expect(history.json()).toMatchObject({
    suite: { id, revision: 3, case_count: 7 },
    revisions: [
      { revision: 3, case_count: 7, runs: 0, current: true },
      { revision: 2, case_count: 5, runs: 1, current: false },
    ],
  });
  const cases = async (query: string) =>
    (await harness.call('GET', `/v1/evals/suites/${id}/cases?${query}`, { key: harness.a.key })).json();
  const first = await cases('revision=2&limit=3');
  const rest = await cases(`revision=2&limit=3&cursor=${encodeURIComponent(first.next_cursor)}`);
  expect([...first.data, ...rest.data].map((one: { id: string }) => one.id)).toEqual(
    casesOf(5).map((one) => one.id),
  );
  expect((await cases('revision=1')).data).toEqual([]);
});

test('a key without the scope inference starts no run and makes no suite; one without read:usage reads none', async () => {
  const suite_id = await makeSuite();
  const { secret: reader } = await harness.makeKey(harness.a, { scopes: ['read:usage'] });
  const { secret: caller } = await harness.makeKey(harness.a, { scopes: ['inference'] });
  const body = { suite_id, targets: [{ model: MODEL }], budget_micro: 1_000_000 };
  const started = await harness.call('POST', '/v1/evals/runs', { key: reader, body });
  expect([started.statusCode, started.json().error.code]).toEqual([403, 'permission_denied']);
  expect((await post({ name: 'No', cases: casesOf(1) }, reader)).statusCode).toBe(403);
  expect((await harness.call('GET', `/v1/evals/suites/${suite_id}`, { key: caller })).statusCode).toBe(403);
  const runs = (await harness.call('GET', `/v1/evals/runs?suite_id=${suite_id}`, { key: reader })).json();
  expect(runs.data).toEqual([]);
});

test('a run names models that exist, each once, and judges that exist; the estimate says what it costs at most', async () => {
  const judged = { ...oneCase(1), grader: { kind: 'judge', rubric: 'Is it polite?' } };
  const suite_id = await makeSuite([judged, oneCase(2)]);
  const start = (body: object) =>
    harness.call('POST', '/v1/evals/runs', {
      key: harness.a.test_key,
      body: { suite_id, targets: [{ model: MODEL }], budget_micro: 1_000_000, judge_model: MODEL, ...body },
    });
  for (const [body, param] of [
    [{ targets: [{ model: 'nobody/nothing' }] }, 'targets[0].model'],
    [{ targets: [{ model: MODEL }, { model: MODEL }] }, 'targets[1].model'],
    [{ targets: [{}] }, 'targets[0].model'],
    [{ targets: [{ model: MODEL, endpoint: 'ep_none' }] }, 'targets[0].endpoint'],
    [{ judge_model: 'nobody/nothing' }, 'judge_model'],
    [{ judge_model: '' }, 'judge_model'],
    [{ judge_samples: 10 }, 'judge_samples'],
    [{ judge_samples: 0 }, 'judge_samples'],
    [{ repeat: 6 }, 'repeat'],
    [{ concurrency: 17 }, 'concurrency'],
    [{ budget_micro: 0 }, 'budget_micro'],
  ] as const) {
    const refused = await start(body);
    expect([refused.statusCode, refused.json().error?.param], JSON.stringify(body)).toEqual([400, param]);
  }
  const estimate = async (judge_samples: number) => {
    const body = { suite_id, targets: [{ model: MODEL }], judge_model: MODEL, judge_samples };
    const said = await harness.call('POST', '/v1/evals/runs/estimate', { key: harness.a.test_key, body });
    expect(said.statusCode, said.body).toBe(200);
    return said.json();
  };
  const sums: number[] = [];
  for (let samples = 1; samples <= 9; samples++) sums.push((await estimate(samples)).estimate_micro);
  const [first = 0, second = 0] = sums;
  const judge_micro = second - first;
  expect(judge_micro).toBeGreaterThan(0);
  expect(sums.map((sum) => sum - first)).toEqual(Array.from({ length: 9 }, (_, n) => n * judge_micro));
  expect(await estimate(1)).toMatchObject({ answers: 2, suite_revision: 1 });
  const made = await start({ judge_samples: 9 });
  expect(made.json()).toMatchObject({ estimate_micro: sums[8], run: { judge_samples: 9 } });
});

test('a person starts runs for a project of the organization, which must be named where there are several', async () => {
  const tenant = await harness.makeTenant('people-run');
  const suite_id = await makeSuite(casesOf(2), tenant.key);
  const body = { suite_id, targets: [{ model: MODEL }], budget_micro: 1_000_000 };
  const start = (session: string, more: object = {}) =>
    harness.call('POST', '/v1/evals/runs', { key: session, body: { ...body, ...more } });
  const developer = await harness.signIn(await harness.makePerson(tenant, 'developer'));
  const viewer = await harness.signIn(await harness.makePerson(tenant, 'viewer'));
  expect((await start(viewer)).statusCode).toBe(403);
  // The live book of this organization is empty.
  const poor = await start(developer);
  expect([poor.statusCode, poor.json().error.code], poor.body).toEqual([402, 'insufficient_credits']);
  const read = await harness.call('GET', `/v1/evals/suites/${suite_id}/cases`, { key: viewer });
  expect(read.json().data).toHaveLength(2);
  const foreign = await start(developer, { project_id: harness.a.live.id });
  expect(foreign.statusCode).toBe(404);
  const runs = await harness.call('GET', '/v1/evals/runs', { key: viewer });
  expect(runs.json().data).toEqual([]);
});

test('a deleted suite is gone with its cases, its runs stay and are listed by it, and a run of it is refused', async () => {
  const [kept, other] = [await makeSuite(), await makeSuite()];
  const start = (suite_id: string) =>
    harness.call('POST', '/v1/evals/runs', {
      key: harness.a.test_key,
      body: { suite_id, targets: [{ model: MODEL }], budget_micro: 1_000_000 },
    });
  const run = (await start(kept)).json().run.id;
  expect((await start(other)).statusCode).toBe(201);
  const path = `/v1/evals/suites/${kept}`;
  expect((await harness.call('DELETE', path, { key: harness.b.key })).statusCode).toBe(404);
  const gone = await harness.call('DELETE', path, { key: harness.a.key });
  expect([gone.statusCode, gone.body]).toEqual([204, '']);
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['GET', `${path}/history`],
    ['GET', `${path}/cases`],
  ] as const)
    expect([at, (await harness.call(method, at, { key: harness.a.key })).statusCode]).toEqual([at, 404]);
  expect((await start(kept)).statusCode).toBe(404);
  const runs = async (query: string) =>
    (await harness.call('GET', `/v1/evals/runs${query}`, { key: harness.a.test_key })).json().data;
  expect((await runs(`?suite_id=${kept}`)).map(({ id }: { id: string }) => id)).toEqual([run]);
  expect((await runs(`?suite_id=${other}`)).map((one: { suite_id: string }) => one.suite_id)).toEqual([
    other,
  ]);
  expect(
    (await harness.call('GET', `/v1/evals/runs/${run}`, { key: harness.a.test_key })).json(),
  ).toMatchObject({
    suite_id: kept,
    suite_name: 'Rules',
  });
  // What the run is to ask stays with it.
  const { rows } = await harness.pool.query<{ cases: number }>({
    name: '',
    text: 'select count(*)::int as cases from eval_case where suite_id = $1',
    values: [kept],
  });
  expect(rows).toEqual([{ cases: 3 }]);
});
