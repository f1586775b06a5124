// Single cases of a suite over REST and GraphQL: read, added, changed, removed, each in a revision of its own; and two people who
// edit at once lose nothing of what the other wrote.
import { expect, test } from 'vitest';
import { startWorld } from '../graphql/world.ts';
import { codeOf } from '../registry/harness.ts';

const world = await startWorld();
const { harness, tenant } = world;
const { a, b } = harness;
const { key } = a;

const oneCase = (id: string | null, text = 'Say yes.') => ({
  ...(id === null ? {} : { id }),
  input: { messages: [{ role: 'user', content: text }], generation: { max_tokens: 8 } },
  grader: { kind: 'exact', expected: 'yes' },
});

async function makeSuite(ids: readonly string[] = ['one', 'two', 'three']): Promise<string> {
  const body = { name: 'Edited', cases: ids.map((id) => oneCase(id)) };
  const made = await harness.call('POST', '/v1/evals/suites', { key, body });
  expect(made.statusCode, made.body).toBe(201);
  return made.json().id;
}

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
const send = (method: Method, id: string, path: string, body?: object) =>
  harness.call(method, `/v1/evals/suites/${id}/cases${path}`, {
    key,
    ...(body === undefined ? {} : { body }),
  });

async function idsOf(id: string): Promise<string[]> {
  const { data } = (await send('GET', id, '?limit=200')).json();
  return data.map((one: { id: string }) => one.id);
}

test('a case keeps its place when it is changed or renamed, and what changes nothing makes no revision', async () => {
  const id = await makeSuite();
  const { id: _, ...fields } = oneCase('two', 'Say no.');
  const changed = await send('PUT', id, '/two', { ...fields, new_id: 'zwei', weight: 2, tags: ['de'] });
  expect([changed.statusCode, changed.json()], changed.body).toMatchObject([
    200,
    { revision: 2, case_count: 3 },
  ]);
  expect(await idsOf(id)).toEqual(['one', 'zwei', 'three']);
  expect((await send('GET', id, '/zwei')).json()).toEqual({
    ...{ ...fields, id: 'zwei', weight: 2, tags: ['de'] },
  });
  const same = await send('PUT', id, '/zwei', { ...fields, weight: 2, tags: ['de'] });
  expect(same.json().revision).toBe(2);
  expect(codeOf(await send('GET', id, '/two'))).toBe('not_found');
});

test('cases are added at the end, those without an id by a number that none has, and at most 5,000', async () => {
  const id = await makeSuite(['case_7', 'b']);
  const added = await send('POST', id, '', { cases: [oneCase(null), oneCase('c'), oneCase(null)] });
  expect([added.statusCode, added.json().case_count], added.body).toEqual([201, 5]);
  expect(await idsOf(id)).toEqual(['case_7', 'b', 'case_8', 'c', 'case_10']);
  const twice = await send('POST', id, '', { cases: [oneCase('new'), oneCase('b')] });
  expect(twice.json().error).toMatchObject({ code: 'conflict', param: 'cases[1].id' });
  const faulty = await send('POST', id, '', {
    cases: [oneCase('d'), { ...oneCase('e'), grader: { kind: 'regex', pattern: '(' } }],
  });
  expect(faulty.json().error).toMatchObject({ code: 'invalid_request', param: 'cases[1].grader.pattern' });
  expect(await idsOf(id)).toHaveLength(5);
  const full = await makeSuite(Array.from({ length: 4_999 }, (_, n) => `n${n}`));
  expect(codeOf(await send('POST', full, '', { cases: [oneCase('x'), oneCase('y')] }))).toBe(
    'invalid_request',
  );
  expect((await send('POST', full, '', { cases: [oneCase('x')] })).json().case_count).toBe(5_000);
});

test('a removed case leaves no gap: a run of what is left has every case, and the last one cannot go', async () => {
  const id = await makeSuite(['a', 'b', 'c']);
  expect((await send('DELETE', id, '/a')).json()).toMatchObject({ revision: 2, case_count: 2 });
  expect(await idsOf(id)).toEqual(['b', 'c']);
  const { rows } = await harness.pool.query<{ case_no: number }>({
    name: '',
    text: 'select case_no from eval_case where suite_id = $1 order by revision, case_no',
    values: [id],
  });
  // The first revision, which no run keeps, is gone.
  expect(rows.map(({ case_no }) => case_no)).toEqual([0, 1]);
  await send('DELETE', id, '/c');
  const last = await send('DELETE', id, '/b');
  expect([last.statusCode, last.json().error]).toMatchObject([409, { code: 'state_conflict' }]);
  expect(await idsOf(id)).toEqual(['b']);
});

test('a fault of a case has the path of the field that was sent, over REST and GraphQL', async () => {
  const id = await makeSuite();
  const { id: _, ...fields } = oneCase('two');
  const faults: readonly (readonly [object, string])[] = [
    [{ ...fields, grader: { kind: 'regex', pattern: '(' } }, 'grader.pattern'],
    [{ ...fields, grader: { kind: 'exact' } }, 'grader.expected'],
    [{ ...fields, new_id: 'three' }, 'new_id'],
    [{ ...fields, input: { messages: [{ role: 'nobody', content: 'x' }] } }, 'input.messages[0].role'],
  ];
  for (const [body, param] of faults)
    expect((await send('PUT', id, '/two', body)).json().error.param).toBe(param);
  const person = await harness.signIn(await harness.makePerson(a, 'developer'));
  const update = `mutation($input: UpdateEvalCaseInput!) { updateEvalCase(input: $input) { __typename
    ... on UpdateEvalCasePayload { suite { revision } } ... on UserError { code path } } }`;
  const input = { id, caseId: 'two', input: fields.input, grader: { kind: 'REGEX', pattern: '(' } };
  const refused = await world.ask(tenant, person, update, { input });
  expect(refused.data.updateEvalCase).toEqual({
    ...{ __typename: 'ValidationError', code: 'invalid_request', path: ['input', 'grader', 'pattern'] },
  });
  const kept = { ...input, grader: { kind: 'EXACT', expected: 'no' }, expectedRevision: 1 };
  const done = await world.ask(tenant, person, update, { input: kept });
  expect(done.data.updateEvalCase).toMatchObject({ suite: { revision: 2 } });
  const late = await world.ask(tenant, person, update, { input: kept });
  expect(late.data.updateEvalCase).toMatchObject({
    ...{ __typename: 'ValidationError', code: 'precondition_failed', path: ['input', 'expectedRevision'] },
  });
  const viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  expect((await world.ask(tenant, viewer, update, { input: kept })).data.updateEvalCase.code).toBe(
    'permission_denied',
  );
});

test('of twenty who edit the same revision at once one does, the others are told, and nothing is lost', async () => {
  const id = await makeSuite(Array.from({ length: 20 }, (_, n) => `n${n}`));
  const { id: _, ...fields } = oneCase('x', 'Say no.');
  const edit = (n: number, expected_revision: number) =>
    send('PUT', id, `/n${n}`, { ...fields, expected_revision });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => edit(n, 1)));
  const codes = answers.map(({ statusCode }) => statusCode).sort();
  expect(codes).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
  expect(answers.find(({ statusCode }) => statusCode === 412)?.json().error).toMatchObject({
    ...{ code: 'precondition_failed', param: 'expected_revision', details: { revision: 2 } },
  });
  // Who does not say what was read changes one case, and never the other's.
  const blind = await Promise.all(Array.from({ length: 20 }, (_, n) => send('PUT', id, `/n${n}`, fields)));
  expect(blind.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 20 }, () => 200));
  const { data } = (await send('GET', id, '?limit=200')).json();
  expect(data.map((one: { input: object }) => one.input)).toEqual(data.map(() => fields.input));
  // The whole suite is refused too, and its deletion.
  const { revision } = (await harness.call('GET', `/v1/evals/suites/${id}`, { key })).json();
  expect(revision).toBe(21);
  for (const [method, body] of [
    ['PATCH', { name: 'Other', expected_revision: 1 }],
    ['DELETE', null],
  ] as const) {
    const path = `/v1/evals/suites/${id}${body === null ? '?expected_revision=1' : ''}`;
    const late = await harness.call(method, path, { key, ...(body === null ? {} : { body }) });
    expect([method, late.statusCode], late.body).toEqual([method, 412]);
  }
});

test('a run keeps the revision that it began with, whatever is edited afterwards', async () => {
  const id = await makeSuite();
  const body = { suite_id: id, targets: [{ model: 'openai/gpt-4o-mini' }], budget_micro: 1_000_000 };
  const run = await harness.call('POST', '/v1/evals/runs', { key: a.test_key, body });
  expect(run.statusCode, run.body).toBe(201);
  await send('DELETE', id, '/one');
  const { data } = (await send('GET', id, '?revision=1')).json();
  expect(data.map((one: { id: string }) => one.id)).toEqual(['one', 'two', 'three']);
  expect(await idsOf(id)).toEqual(['two', 'three']);
});

test('the suite of another organization is not there', async () => {
  const id = await makeSuite();
  const { id: _, ...fields } = oneCase('two');
  for (const [method, path, body] of [
    ['GET', '/two', undefined],
    ['PUT', '/two', fields],
    ['POST', '', { cases: [oneCase('x')] }],
    ['DELETE', '/two', undefined],
  ] as const) {
    const answer = await harness.call(method, `/v1/evals/suites/${id}/cases${path}`, {
      key: b.key,
      ...(body === undefined ? {} : { body }),
    });
    expect([method, codeOf(answer)]).toEqual([method, 'not_found']);
  }
  expect(await idsOf(id)).toHaveLength(3);
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
