// GraphQL over HTTP, judged by graphql-http's audit. Yoga passes; mercurius, behind our own route, but for what is
// listed. A parse or validation fault is 400 for every media type, where the audit would like 200 for
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

/** Documents come by POST, and by GET only where they are known by their hash. */
const BOTH = [
  'notice MAY accept application/x-www-form-urlencoded formatted GET requests',
  'notice MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
  'notice MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
  'warn SHOULD use 200 status code on document parsing failure when accepting application/json',
  'warn SHOULD use 200 status code on document validation failure when accepting application/json',
  'warn SHOULD use a status code of 200 on variable coercion failure when accepting application/json',
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
  expect(faults).toEqual(BOTH);
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
