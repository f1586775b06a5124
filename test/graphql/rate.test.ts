// The rate limit of management: one bucket per key or session over REST and GraphQL, one per address on public routes.
import { openMemoryLimits } from '@svc/core/limits/index.ts';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

let clock_ms = 1_000_000;
const limits = openMemoryLimits(() => clock_ms);
const world = await startWorld({ rate: { limits, management_rpm: 3, scim_rpm: 0, public_rpm: 2 } });
const { gateway, tenant, staff, harness } = world;
const { a } = harness;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const read = (at: FastifyInstance, url: string, token: string) => at.inject({ url, headers: bearer(token) });
const graphql = (at: FastifyInstance, token: string, query = '{ __typename }') =>
  at.inject({
    method: 'POST',
    url: at === gateway ? '/v1/graphql' : '/graphql',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    payload: JSON.stringify({ query }),
  });
const freshKey = async () => (await harness.makeKey(a)).secret;

/** Status and the three headers of a caller's bucket. */
function rateOf({ statusCode, headers }: LightMyRequestResponse): unknown[] {
  const of = (name: string) => headers[`x-ratelimit-${name}-requests`];
  return [statusCode, of('limit'), of('remaining'), of('reset')];
}

test('a key is refused once its requests of the minute are spent, and admitted when one is back', async () => {
  const key = await freshKey();
  expect(rateOf(await read(gateway, '/v1/keys', key))).toEqual([200, '3', '2', '20s']);
  expect(rateOf(await read(gateway, '/v1/credits', key))).toEqual([200, '3', '1', '40s']);
  // Requests for what does not exist, or is not allowed, count too.
  expect(rateOf(await read(gateway, '/v1/keys/key_x', key))).toEqual([404, '3', '0', '1m0s']);
  const refused = await read(gateway, '/v1/keys', key);
  expect(rateOf(refused)).toEqual([429, '3', '0', '1m0s']);
  expect(refused.headers).toMatchObject({
    'retry-after': '20',
    'retry-after-ms': '20000',
    'x-should-retry': 'true',
  });
  expect(refused.json().error).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { limit: 'rpm', scope: 'key', limit_value: 3, reset_ms: 20_000 },
  });
  expect((await read(gateway, '/v1/keys', await freshKey())).statusCode).toBe(200);
  clock_ms += 19_999;
  expect((await read(gateway, '/v1/keys', key)).statusCode).toBe(429);
  clock_ms += 1;
  expect((await read(gateway, '/v1/keys', key)).statusCode).toBe(200);
});

test('REST and GraphQL draw on the same bucket, and GraphQL refuses with status, headers and code', async () => {
  const key = await freshKey();
  expect((await read(gateway, '/v1/keys', key)).statusCode).toBe(200);
  expect(rateOf(await graphql(gateway, key))).toEqual([200, '3', '1', '40s']);
  expect((await graphql(gateway, key)).statusCode).toBe(200);
  const refused = await graphql(gateway, key);
  expect(rateOf(refused)).toEqual([429, '3', '0', '1m0s']);
  expect(refused.headers['retry-after']).toBe('20');
  expect(refused.json()).toMatchObject({ errors: [{ extensions: { code: 'rate_limit_exceeded' } }] });
  expect((await read(gateway, '/v1/keys', key)).statusCode).toBe(429);
});

test('a session has one bucket over REST and the console, and another session its own', async () => {
  const person = await harness.makePerson(a, 'owner');
  const [one, two] = [await harness.signIn(person), await harness.signIn(person)];
  expect((await read(gateway, '/v1/keys', one)).statusCode).toBe(200);
  expect((await read(tenant, '/v1/auth/session', one)).statusCode).toBe(200);
  expect(rateOf(await graphql(tenant, one))).toEqual([200, '3', '0', '1m0s']);
  const refused = await graphql(tenant, one);
  expect(rateOf(refused)).toEqual([429, '3', '0', '1m0s']);
  expect(refused.headers['retry-after']).toBe('20');
  expect(refused.json().errors[0].extensions).toMatchObject({
    code: 'rate_limit_exceeded',
    details: { scope: 'session' },
  });
  expect((await graphql(tenant, two)).statusCode).toBe(200);
});

test('staff are counted by session too', async () => {
  const token = await world.signInStaff(['finance']);
  for (let i = 0; i < 3; i++) expect((await graphql(staff, token)).statusCode).toBe(200);
  expect((await graphql(staff, token)).statusCode).toBe(429);
  expect((await read(staff, '/auth/session', token)).statusCode).toBe(429);
});

test('public routes are counted by address: one v4 address, one v6 network', async () => {
  const login = (remoteAddress: string) =>
    gateway.inject({
      ...{ method: 'POST', url: '/v1/auth/login', remoteAddress },
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ email: 'nobody@acme.example', password: 'wrong' }),
    });
  for (const [first, second] of [
    ['198.51.100.7', '198.51.100.7'],
    ['2001:db8::1', '2001:db8::2'],
  ] as const) {
    expect((await login(first)).statusCode).toBe(401);
    expect((await login(second)).statusCode).toBe(401);
    const refused = await login(first);
    expect(rateOf(refused)).toEqual([429, '2', '0', '1m0s']);
    expect(refused.json().error).toMatchObject({
      code: 'rate_limit_exceeded',
      details: { scope: 'address', limit_value: 2 },
    });
  }
  expect((await login('198.51.100.8')).statusCode).toBe(401);
  expect((await login('2001:db8:0:1::1')).statusCode).toBe(401);
});

test('health, documentation and unknown paths are never rate limited', async () => {
  for (const url of ['/healthz', '/readyz', '/docs', '/openapi.json', '/nowhere']) {
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await gateway.inject({ url, remoteAddress: '198.51.100.9' }));
    expect([url, answers.filter(({ statusCode }) => statusCode === 429)]).toEqual([url, []]);
    expect(answers[0]?.headers['x-ratelimit-limit-requests']).toBeUndefined();
  }
});

test('no caller met a defect', () => {
  expect([...world.defects, ...harness.defects]).toEqual([]);
});
