// Limits of a project as callers meet them: over all its keys and two gateways with one Redis, changed under load, and given
// back by whoever leaves.
import { connect } from 'node:net';
import { beforeAll, expect, test, vi } from 'vitest';
import { untilBook } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import type { ProjectLimits } from '../support/provision.ts';
import { startRedis } from '../support/redis.ts';
import { allAtOnce, countSeen, EXACT_MICRO, type Money, shareGateways } from './money.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A gateway stops waiting for a Redis that a busy machine delays, and applies its share of each limit for a moment. That is
 * rare, so three attempts are enough. */
const again = { retry: 2 };

let open: Awaited<ReturnType<typeof shareGateways>>;
beforeAll(async () => {
  const redis = await startRedis();
  atFileEnd(() => redis.stop());
  open = await shareGateways(2, { SVC_REDIS_URL: redis.url });
});

/** An organization whose project has `project_limits` and three keys. */
const openProject = (project_limits: ProjectLimits): Promise<Money> =>
  open({
    ...{ balance: 1_000_000, processes: 2, project_limits },
    keys: ['one', 'two', 'three'].map((name) => ({ name })),
  });

const small = { model: 'crash/exact', max_tokens: 50, messages: [{ role: 'user', content: 'Hello there.' }] };
const originOf = (money: Money, at: number) => money.gateways[at]?.base_url as string;
const keyOf = (money: Money, at: number) => money.keys[at]?.secret as string;

function ask(
  money: Money,
  path: string,
  of: { key?: number; gateway?: number; method?: string; body?: object } = {},
): Promise<Response> {
  return fetch(new URL(path, originOf(money, of.gateway ?? 0)), {
    method: of.method ?? (of.body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${keyOf(money, of.key ?? 0)}`, 'content-type': 'application/json' },
    ...(of.body === undefined ? {} : { body: JSON.stringify(of.body) }),
  });
}

/** One call by the key `key` at the gateway `gateway`, read to its end. */
async function callBy(money: Money, key: number, gateway = 0) {
  const reply = await ask(money, '/v1/chat/completions', { key, gateway, body: small });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

const patch = async (money: Money, limits: object | null) => {
  const path = `/v1/projects/${money.project_id}`;
  expect((await ask(money, path, { method: 'PATCH', body: { limits } })).status).toBe(200);
};

async function limitsOf(money: Money, gateway = 0) {
  const view = (await (await ask(money, '/v1/limits', { gateway })).json()) as {
    projects: { project_id: string; configured: object; live: Record<string, number | null> }[];
    plan: { live: Record<string, number | null> };
  };
  return {
    plan: view.plan.live,
    project: view.projects.find(({ project_id }) => project_id === money.project_id),
  };
}

test(
  '300 calls at once by three keys over two gateways: rpm 100 of their project serves a hundred and charges no more',
  again,
  async () => {
    const money = await openProject({ rpm: 100 });
    const started = performance.now();
    const all = await Promise.all([0, 1, 2].map((at) => allAtOnce(money, 100, { key: keyOf(money, at) })));
    const seen = countSeen(all.flat());
    const refilled = Math.floor(((performance.now() - started) * 100) / 60_000);
    const served = seen.final ?? 0;
    expect(served).toBeGreaterThanOrEqual(100);
    expect(served).toBeLessThanOrEqual(100 + refilled);
    expect(seen['429 rate_limit_exceeded']).toBe(300 - served);
    const book = await untilBook(money.database_url, money.live_book_id, ({ held }) => held === 0);
    expect(book.available).toBe(1_000_000 - served * EXACT_MICRO);
    expect(money.provider.calls).toHaveLength(served);
  },
);

test('a refusal names the project and the limit, and says when; headers show it while it is the tightest', async () => {
  const money = await openProject({ rpm: 2, tpm: 100_000 });
  const first = await callBy(money, 0, 0);
  expect(first.status).toBe(200);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '1',
    'x-ratelimit-limit-tokens': '100000',
  });
  expect((await callBy(money, 1, 1)).status).toBe(200);
  const refused = await callBy(money, 2, 0);
  expect(refused.status).toBe(429);
  const wait = Number(refused.headers.get('retry-after-ms'));
  expect(wait).toBeGreaterThan(15_000);
  expect(wait).toBeLessThanOrEqual(30_000);
  expect(Number(refused.headers.get('retry-after'))).toBe(Math.ceil(wait / 1_000));
  expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  expect(refused.body).toMatchObject({
    error: {
      ...{ code: 'rate_limit_exceeded', type: 'rate_limit_error' },
      message: expect.stringContaining(
        `The project ${money.project_id} of this key allows 2 requests per minute (rpm).`,
      ),
      details: { limit: 'rpm', scope: 'project', subject: money.project_id, limit_value: 2 },
    },
  });
  const { project, plan } = await limitsOf(money, 1);
  expect(project).toMatchObject({
    configured: { rpm: 2, tpm: 100_000, concurrency: null },
    live: { rpm_remaining: 0, concurrency_in_use: 0 },
  });
  expect(plan).toEqual({ rpm_remaining: null, tpm_remaining: null, concurrency_in_use: 0 });
});

test('who leaves while sending its prompt gives the place in the project back, which any of its keys can take', async () => {
  const money = await openProject({ concurrency: 1 });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keyOf(money, 0)}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model"`;
  const { port } = new URL(originOf(money, 0));
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(head));
  const inUse = async () => (await limitsOf(money, 1)).project?.live['concurrency_in_use'];
  await expect.poll(inUse).toBe(1);
  expect((await limitsOf(money)).plan['concurrency_in_use']).toBe(1);
  const refused = await callBy(money, 1, 1);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(refused.body).toMatchObject({
    error: { details: { limit: 'concurrency', scope: 'project', limit_value: 1 } },
  });
  socket.destroy();
  await expect.poll(async () => (await callBy(money, 1, 1)).status).toBe(200);
  await expect.poll(inUse).toBe(0);
});

test('a rotated key goes on in the buckets of its project', async () => {
  const money = await openProject({ rpm: 3 });
  for (const at of [0, 1]) expect((await callBy(money, at)).status).toBe(200);
  const path = `/v1/keys/${money.keys[0]?.key_id}/rotate`;
  const next = (await (await ask(money, path, { body: { grace_seconds: 60 } })).json()) as { secret: string };
  const byNext = () =>
    fetch(new URL('/v1/chat/completions', originOf(money, 1)), {
      method: 'POST',
      headers: { authorization: `Bearer ${next.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(small),
    });
  expect((await byNext()).status).toBe(200);
  const refused = await byNext();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { details: { scope: 'project', limit_value: 3 } } });
});

test('limits that are set, lowered and removed while calls run hold at every gateway within a second', async () => {
  const money = await openProject({});
  const shown = () =>
    Promise.all(
      [0, 1].map(async (gateway) => {
        const reply = await callBy(money, gateway, gateway);
        return [reply.status, reply.headers.get('x-ratelimit-limit-requests')];
      }),
    );
  expect(await shown()).toEqual([
    [200, null],
    [200, null],
  ]);
  // Calls that go on meanwhile, at both gateways.
  const load = allAtOnce(money, 10, { key: keyOf(money, 2), stream: true, chunk_ms: 100, chunks: 20 });
  await patch(money, { rpm: 6_000 });
  const both = (limit: string | null) => [
    [200, limit],
    [200, limit],
  ];
  await expect.poll(shown, { timeout: 1_000 }).toEqual(both('6000'));
  await patch(money, { rpm: 4_000 });
  await expect.poll(shown, { timeout: 1_000 }).toEqual(both('4000'));
  await patch(money, { rpm: 1 });
  await expect
    .poll(async () => (await shown()).map(([status]) => status), { timeout: 3_000 })
    .toEqual([429, 429]);
  await patch(money, null);
  await expect.poll(shown, { timeout: 1_000 }).toEqual(both(null));
  // None of them was cut off, and none has kept a place.
  expect(countSeen(await load)).toEqual({ final: 10 });
  await expect.poll(async () => (await limitsOf(money)).plan['concurrency_in_use']).toBe(0);
  await patch(money, { concurrency: 3 });
  await expect
    .poll(async () => (await limitsOf(money, 1)).project)
    .toMatchObject({
      ...{ configured: { rpm: null, tpm: null, concurrency: 3 }, live: { concurrency_in_use: 0 } },
    });
});

test('test calls of a live project are counted apart from its live calls', async () => {
  const money = await openProject({ rpm: 1 });
  const bySandbox = () =>
    fetch(new URL('/v1/chat/completions', originOf(money, 0)), {
      method: 'POST',
      headers: { authorization: `Bearer ${money.sandbox_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...small, model: 'sandbox/echo' }),
    });
  expect((await callBy(money, 0)).status).toBe(200);
  expect((await callBy(money, 1)).status).toBe(429);
  expect((await bySandbox()).status).toBe(200);
  expect((await bySandbox()).status).toBe(429);
});
