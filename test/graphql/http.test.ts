// GraphQL over HTTP, judged by graphql-http's audit. Both pass but for what is listed:
// a parse or validation fault is 400 for every media type, where the audit would like 200 for
// application/json.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { auditServer } from 'graphql-http';
import { beforeAll, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
let session = '';
beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(harness.a, 'owner'));
});

/** A document that is wrong is 400 for every media type. */
const BOTH = [
  'warn SHOULD use 200 status code on document parsing failure when accepting application/json',
  'warn SHOULD use 200 status code on document validation failure when accepting application/json',
  'warn SHOULD use a status code of 200 on variable coercion failure when accepting application/json',
];
/** At the console, where a cookie suffices, GET is for documents that are known by their hash. */
const CONSOLE = [
  'notice MAY accept application/x-www-form-urlencoded formatted GET requests',
  'notice MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
  'notice MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
];

/** What is not ok, as `status id`. */
async function faultsOf(app: FastifyInstance, path: string, token: string): Promise<string[]> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const results = await auditServer({
    url: `http://127.0.0.1:${port}${path}`,
    fetchFn: (input: string, init: RequestInit = {}) =>
      fetch(input, { ...init, headers: { ...(init.headers as object), authorization: `Bearer ${token}` } }),
  });
  for (const result of results)
    if ('response' in result) await result.response.body?.cancel().catch(() => {});
  return results
    .flatMap((result) => (result.status === 'ok' ? [] : [`${result.status} ${result.name}`]))
    .sort();
}

test('yoga on the console address passes the audit', async () => {
  const faults = await faultsOf(tenant, '/graphql', session);
  expect(faults.filter((fault) => fault.startsWith('error'))).toEqual([]);
  expect(faults).toEqual([...CONSOLE, ...BOTH]);
});

test('mercurius on the gateway passes the audit but for what is listed', async () => {
  const faults = await faultsOf(gateway, '/v1/graphql', harness.a.key);
  expect(faults).toEqual(BOTH);
});

test('an answer has the media type that is accepted, and 406 where none is', async () => {
  const ask = (accept: string) =>
    gateway.inject({
      method: 'POST',
      url: '/v1/graphql',
      headers: { authorization: `Bearer ${harness.a.key}`, 'content-type': 'application/json', accept },
      payload: '{"query":"{ viewer { kind } }"}',
    });
  expect((await ask('application/graphql-response+json')).headers['content-type']).toContain(
    'graphql-response',
  );
  expect((await ask('*/*')).headers['content-type']).toBe('application/json; charset=utf-8');
  expect((await ask('text/html')).statusCode).toBe(406);
});

test('a document that is wrong is 400 on both, whatever media type is asked for', async () => {
  const types = ['application/json', 'application/graphql-response+json', '*/*'];
  for (const query of ['{ nope }', '{', 'query($id: ID!) { key(id: $id) { id } }'])
    for (const accept of types) {
      const both = [
        await gateway.inject(asked('/v1/graphql', harness.a.key, { accept, query })),
        await tenant.inject(asked('/graphql', session, { accept, query })),
      ];
      expect([query, accept, ...both.map(({ statusCode }) => statusCode)]).toEqual([query, accept, 400, 400]);
      for (const answer of both) {
        expect(answer.json().errors[0].extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' });
      }
    }
});

function asked(url: string, token: string, { accept, query }: { accept: string; query: string }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
  return { method: 'POST' as const, url, headers, payload: JSON.stringify({ query }) };
}

/** As urql asks unless it is told otherwise. */
function askedByUrl(query: string, more: Record<string, string> = {}) {
  const accept =
    'application/graphql-response+json, application/graphql+json, application/json, text/event-stream';
  const url = `/v1/graphql?${new URLSearchParams({ query, ...more })}`;
  return gateway.inject({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${harness.a.key}`, accept },
  });
}

test('a key asks queries by GET, as urql does unless told otherwise, and changes nothing so', async () => {
  const query = 'query Page($first: Int) { keys(first: $first) { nodes { id } } }';
  const answer = await askedByUrl(query, { operationName: 'Page', variables: '{"first":1}' });
  expect([answer.statusCode, answer.json().data.keys.nodes.length]).toEqual([200, 1]);
  const create = `mutation { createKey(input: { projectId: "${harness.a.live.id}", name: "x", scopes: [INFERENCE] }) { __typename } }`;
  const before = await harness.call('GET', '/v1/keys', { key: harness.a.key });
  const refused = await askedByUrl(create);
  expect([refused.statusCode, refused.headers['allow']]).toEqual([405, 'POST']);
  expect(refused.json().errors[0].extensions.code).toBe('method_not_allowed');
  const after = await harness.call('GET', '/v1/keys', { key: harness.a.key });
  expect(after.json().data.length).toBe(before.json().data.length);
  for (const variables of ['{', '[]', '"x"']) {
    expect((await askedByUrl(query, { variables })).statusCode).toBe(400);
  }
  const without = await gateway.inject({ method: 'GET', url: '/v1/graphql?query={viewer{kind}}' });
  expect(without.statusCode).toBe(401);
});

test('the schema that a key sees has no streams, which are not served to keys', async () => {
  const query = '{ __schema { queryType { name } subscriptionType { name } types { name } } }';
  const { __schema } = (await askedByUrl(query)).json().data;
  expect(__schema).toMatchObject({ queryType: { name: 'Query' }, subscriptionType: null });
  expect(__schema.types.map(({ name }: { name: string }) => name)).not.toContain('Subscription');
  expect((await askedByUrl('{ __type(name: "Date") { kind } }')).json().data.__type).toEqual({
    kind: 'SCALAR',
  });
});
