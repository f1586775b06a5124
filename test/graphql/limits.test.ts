// Limits on documents are checked before anything is read, on both servers and with the same messages.
import { limits } from '@svc/graphql/limits.ts';
import { DateTimeScalar } from '@svc/graphql/scalars.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
let session = '';
beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(harness.a, 'owner'));
});

/** The same document on both. */
async function both(query: string, variables: object = {}, more: object = {}) {
  return [
    await world.ask(gateway, harness.a.key, query, variables, more),
    await world.ask(tenant, session, query, variables, more),
  ] as const;
}

const repeat = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join(' ');
/** Fragments of which each spreads the next twice: 2^n selections of few tokens. */
const bomb = (levels: number) =>
  `{ requests { nodes { ...f0 } } } ${repeat(levels, (at) => `fragment f${at} on Request { ...f${at + 1} id ...f${at + 1} }`)} fragment f${levels} on Request { model }`;
const deep = (levels: number) =>
  `{ requests { nodes { ${'... on Request { '.repeat(levels)} id ${'}'.repeat(levels)} } } }`;

const refused: readonly (readonly [string, string, string])[] = [
  ['aliases of one field', `{ ${repeat(16, (at) => `a${at}: viewer { kind }`)} }`, 'aliases of one field'],
  [
    'aliases',
    `{ ${repeat(11, (at) => `a${at}: viewer { kind }`)} ${repeat(10, (at) => `b${at}: org { id }`)} projects { ${repeat(10, (at) => `c${at}: id`)} } }`,
    'aliases',
  ],
  ['root fields', `{ ${repeat(21, () => 'viewer { kind }')} }`, 'root fields'],
  [
    'root fields in fragments',
    `{ ...r } fragment r on Query { ${repeat(21, () => 'viewer { kind }')} }`,
    'root fields',
  ],
  ['directives', `{ viewer { kind ${repeat(21, () => '@include(if: true)')} } }`, 'directives'],
  ['nesting', `{ node(id: ${'['.repeat(2_400)}${']'.repeat(2_400)}) { id } }`, 'levels of nesting'],
  ['fields', `{ viewer { ${repeat(1_001, () => 'kind')} } }`, 'fields'],
  [
    'cost',
    '{ requests(first: 100) { nodes { detail { attemptRows { ts provider endpointId poolId keyHint outcome } } } } }',
    'points of cost',
  ],
  ['cost of fragments that multiply', bomb(24), 'points of cost'],
  [
    'cost in a variable',
    'query($n: Int!) { requests(first: $n) { nodes { detail { attemptRows { ts provider endpointId poolId keyHint outcome } } } } }',
    'points of cost',
  ],
];

describe.each(refused)('%s', (_name, query, what) => {
  test('beyond the limit is refused with 400 by both, and no row is read', async () => {
    world.statements.length = 0;
    const answers = await both(query, { n: 100 });
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      expect(answer.data).toBeNull();
      expect(answer.errors[0]?.extensions).toMatchObject({ code: 'GRAPHQL_LIMIT_EXCEEDED', limit: what });
    }
    expect(answers[0].errors[0]?.message).toBe(answers[1].errors[0]?.message);
    expect(
      world.statements.filter((name) => /^(?:analytics|keys\.list|orgs\.list_projects)/.test(name)),
    ).toEqual([]);
  });
});

test('levels beyond twelve are refused, inline fragments count none', async () => {
  for (const answer of await both(deep(30))) expect(answer.errors).toEqual([]);
  const levels = `{ requests { edges { node { key { project { id } } project { id } detail { attemptRows { attempt } } } } } }`;
  for (const answer of await both(levels)) expect(answer.errors).toEqual([]);
  expect(limits.depth).toBe(12);
});

test('tokens beyond 5,000 are refused while the text is read', async () => {
  for (const answer of await both(`{ viewer { ${'kind '.repeat(5_000)} } }`)) {
    expect([answer.status, answer.errors[0]?.extensions['code']]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
    expect(answer.errors[0]?.message).toContain('tokens');
  }
});

test('a document that multiplies by fragments is priced in no time', async () => {
  const start = performance.now();
  await both(bomb(60));
  // Followed fragment by fragment it would not end.
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('a body beyond 256 KiB is 413', async () => {
  const query = `{ viewer { kind } } # ${'x'.repeat(262_144)}`;
  for (const answer of await both(query)) expect(answer.status).toBe(413);
});

test('the cost is shown: a field is 1, a page its fields times its rows', async () => {
  for (const answer of await both('{ requests(first: 10) { nodes { id model } } viewer { kind } }')) {
    // requests 1, nodes 1 + id + model per row, viewer 1 + kind.
    expect(answer.extensions).toEqual({ cost: { requested: 1 + 10 * 3 + 2, limit: 5_000 } });
  }
});

test('endpoints of a route are priced by how many are asked for, of which there is a most', async () => {
  const query = (first: string) =>
    `{ request(id: "x") { id route { endpoints${first} { endpoint tries { ms } } } } }`;
  for (const [first, rows] of [
    ['', 20],
    ['(first: 300)', 300],
  ] as const) {
    for (const answer of await both(query(first))) {
      // request 1, id 1, route 1, endpoints 1 + endpoint 1 + tries 1 + 2 × ms per row.
      expect(answer.extensions).toEqual({ cost: { requested: 4 + rows * 4, limit: 5_000 } });
    }
  }
});

test('the priced operation is the one that runs', async () => {
  const query = `query cheap { viewer { kind } } query expensive { requests(first: 100) { nodes { detail { attemptRows { ts provider endpointId poolId keyHint outcome } } } } }`;
  for (const answer of await both(query, {}, { operationName: 'expensive' })) {
    expect(answer.errors[0]?.extensions['limit']).toBe('points of cost');
  }
  for (const answer of await both(query, {}, { operationName: 'cheap' })) expect(answer.errors).toEqual([]);
  for (const answer of await both(query, {}, { operationName: 'none' })) expect(answer.status).toBe(400);
  for (const answer of await both(query)) expect(answer.status).toBe(400);
});

test('variables of the wrong type are reported before anything runs', async () => {
  const query = 'query($n: Int!) { keys(first: $n) { nodes { id } } }';
  for (const answer of await both(query, { n: 'many' })) {
    expect(answer.status).toBe(400);
    expect(answer.errors[0]?.message).toContain('$n');
    expect(answer.errors[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  }
});

test('a time is RFC 3339 as over REST, and not whatever an engine reads as one', () => {
  for (const text of ['2026', '22 Nov 2026', '2026-11-22 10:00', '2026-11-22T10:00:00', '2026-02-30']) {
    expect(() => DateTimeScalar.parseValue(text), text).toThrow('RFC 3339');
  }
  for (const text of ['2026-11-22', '2026-11-22T10:00:00+05:30']) {
    expect(DateTimeScalar.parseValue(text)).toBe(text);
  }
});

test('first is from 1 to 100', async () => {
  for (const first of [0, -1, 101]) {
    for (const answer of await both('query($n: Int) { keys(first: $n) { nodes { id } } }', { n: first })) {
      expect([first, answer.errors[0]?.extensions['param']]).toEqual([first, 'first']);
    }
  }
});

test('streams over /v1/graphql are refused, lists of operations and trees in place of text by both', async () => {
  const stream = await world.ask(gateway, harness.a.key, 'subscription { requestAdded { id } }');
  expect([stream.status, stream.errors[0]?.extensions['code']]).toEqual([403, 'session_required']);
  for (const [app, url, token] of [
    [gateway, '/v1/graphql', harness.a.key],
    [tenant, '/graphql', session],
  ] as const) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    for (const payload of [
      '[{"query":"{__typename}"}]',
      JSON.stringify({ query: '{"kind":"Document","definitions":[]}' }),
      '{"query":',
      '{}',
    ]) {
      const response = await app.inject({ method: 'POST', url, headers, payload });
      expect([url, payload, response.statusCode]).toEqual([url, payload, 400]);
    }
  }
});

test('a page of another origin and a write without its proof are refused before anything runs', async () => {
  const person = await harness.makePerson(harness.a, 'owner');
  const login = await tenant.inject({
    method: 'POST',
    url: '/v1/auth/login',
    headers: { 'content-type': 'application/json', origin: 'http://127.0.0.1:8081' },
    payload: JSON.stringify({ email: person.email, password: person.password }),
  });
  expect(login.statusCode).toBe(200);
  const cookie = String(login.headers['set-cookie']).split(';', 1)[0] as string;
  const { csrf_token } = (login.json() as { session: { csrf_token: string } }).session;
  const post = (headers: Record<string, string>) =>
    tenant.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'content-type': 'application/json', cookie, ...headers },
      payload: '{"query":"{ viewer { email } }"}',
    });
  for (const headers of [
    {},
    { origin: 'http://127.0.0.1:8081' },
    { origin: 'https://evil.example', 'x-svc-csrf': csrf_token },
  ] as Record<string, string>[]) {
    const response = await post(headers);
    expect([response.statusCode, response.json().errors[0].extensions.code]).toEqual([403, 'csrf_failed']);
  }
  const good = await post({ origin: 'http://127.0.0.1:8081', 'x-svc-csrf': csrf_token });
  expect([good.statusCode, good.json().data]).toEqual([200, { viewer: { email: person.email } }]);
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});

test('more ids than a list takes are refused, not left out of the answer', async () => {
  const query = 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }';
  const ids = Array.from({ length: 101 }, () => harness.a.key_id);
  for (const answer of await both(query, { ids })) {
    expect(answer.errors[0]?.extensions).toMatchObject({ code: 'invalid_request', param: 'ids' });
  }
  for (const answer of await both(query, { ids: ids.slice(1) })) expect(answer.data.nodes).toHaveLength(100);
});

test('brackets inside of strings and comments are no nesting', async () => {
  const many = '['.repeat(300);
  const query = `{ viewer { kind } node(id: "${many}\\"${many}") { id } a: node(id: """${many}" \\""" """) { id } # ${many}\n}`;
  for (const answer of await both(query)) expect([answer.status, answer.errors]).toEqual([200, []]);
});
