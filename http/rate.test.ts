// The rate limit of management as installed: settings reach the program, and programs that share a Redis count as one.
import { expect, test } from 'vitest';
import { createTestDatabase } from '../test/support/database.ts';
import { atFileEnd } from '../test/support/ends.ts';
import { freshDataDir, type GatewayProcess } from '../test/support/gateway.ts';
import { provision } from '../test/support/provision.ts';
import { startRedis } from '../test/support/redis.ts';
import { startSharedGateway } from '../test/support/shared-gateway.ts';

const redis = await startRedis();
atFileEnd(() => redis.stop());
const database_url = await createTestDatabase();
const { keys } = await provision({
  database_url,
  live_micro_usd: 0,
  keys: Array.from({ length: 6 }, (_, i) => ({ name: `key-${i}` })),
});
const data_dir = freshDataDir();
const env = { SVC_REDIS_URL: redis.url, SVC_MANAGEMENT_RPM: '4', SVC_SCIM_RPM: '6', SVC_PUBLIC_RPM: '0' };
const start = (name: string) => startSharedGateway({ database_url, data_dir, name, env });
const gateways: GatewayProcess[] = await Promise.all(['one', 'two'].map(start));
for (const gateway of gateways) atFileEnd(() => gateway.kill());

const ask = (gateway: GatewayProcess, path: string, key?: string) =>
  fetch(`${gateway.base_url}${path}`, {
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
  });

let taken = 0;
const freshKey = () => keys[taken++]?.secret as string;

// A Redis that a busy machine keeps waiting is left, as it must be, and limits are shares for a moment: seldom, not thrice.
test('of many requests of one key at once, over two programs, the limit is admitted and no more', {
  retry: 2,
}, async () => {
  const [one, two] = [freshKey(), freshKey()];
  const wanted = Array.from({ length: 12 }, (_, i) => gateways[i % 2] as GatewayProcess);
  const answers = await Promise.all(wanted.map((gateway) => ask(gateway, '/v1/keys', one)));
  const admitted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect([admitted.length, refused.length]).toEqual([4, 8]);
  for (const { headers } of answers) expect(headers.get('x-ratelimit-limit-requests')).toBe('4');
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask(gateways[0] as GatewayProcess, '/v1/keys', two)).status).toBe(200);
});

test('a directory has a limit of its own, and a refusal speaks SCIM and says when to go on', async () => {
  const [gateway] = gateways as [GatewayProcess];
  const made = await fetch(`${gateway.base_url}/v1/org/scim/token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freshKey()}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const { token } = (await made.json()) as { token: string };
  const answers: Response[] = [];
  for (let i = 0; i < 7; i++) answers.push(await ask(gateway, '/scim/v2/Users', token));
  expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(200), 429]);
  const refused = answers[6] as Response;
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: '429',
  });
});

test('inference is no part of it, and 0 switches a limit off', async () => {
  const key = keys[0]?.secret as string;
  const [gateway] = gateways as [GatewayProcess];
  const call = await fetch(`${gateway.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  // Its key has no request of management left; the body is what is refused.
  expect(call.status).toBe(400);
  for (let i = 0; i < 8; i++) {
    const answer = await fetch(`${gateway.base_url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect([answer.status, answer.headers.get('x-ratelimit-limit-requests')]).toEqual([400, null]);
  }
});

test('a proxy that asks for itself whether to get a certificate is not counted, and what it asks for others is', async () => {
  const own = { SVC_REDIS_URL: redis.url, SVC_PUBLIC_RPM: '3', SVC_STOREFRONT_BASE: 'shops.example' };
  const gateway = await startSharedGateway({
    ...{ database_url, data_dir, name: 'behind-a-proxy' },
    env: { ...own, SVC_TRUSTED_PROXIES: '127.0.0.1' },
  });
  atFileEnd(() => gateway.kill());
  const times = async (path: string, headers: Record<string, string>) => {
    const seen: number[] = [];
    for (let n = 0; n < 6; n++) seen.push((await fetch(`${gateway.base_url}${path}`, { headers })).status);
    return seen;
  };
  const question = '/v1/storefront?domain=nobody.example';
  expect(await times(question, {})).toEqual(Array(6).fill(404));
  expect(await times(question, { 'x-forwarded-for': '198.51.100.7' })).toEqual([
    404, 404, 404, 429, 429, 429,
  ]);
  expect(await times(question, { forwarded: 'for=198.51.100.8' })).toEqual([404, 404, 404, 429, 429, 429]);
});
