// Rate limits as callers meet them: exact over two gateways with one Redis, free of charge, and given back by whoever
// leaves or dies.
import { connect } from 'node:net';
import { createPool } from '@svc/core/db/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { overrideLimits } from '@svc/core/support/index.ts';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readBook, untilBook, withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import type { GatewayProcess } from '../support/gateway.ts';
import { staffContext } from '../support/provision.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { aCall, allAtOnce, countSeen, EXACT_MICRO, type Money, openMoney, shareGateways } from './money.ts';

// Tests that kill a gateway or Redis start their own.
vi.setConfig({ testTimeout: 120_000 });
/** The lease of the gateway that is killed. */
const LEASE_SECONDS = 4;

/** A gateway stops waiting for a Redis that a busy machine delays, and applies its share of each limit for a moment. That is
 * rare, so three attempts are enough. */
const again = { retry: 2 };

interface KeyLimits {
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

interface Limited {
  readonly money: Money;
  readonly origins: readonly string[];
}

const wanted = (key: KeyLimits, processes: number) => ({
  balance: 1_000_000,
  processes,
  keys: [{ name: 'limited', ...key }],
});
const limited = (money: Money): Limited => ({
  money,
  origins: money.gateways.map((gateway) => gateway.base_url),
});

let open: Awaited<ReturnType<typeof shareGateways>>;
beforeAll(async () => {
  const redis = await startRedis();
  atFileEnd(() => redis.stop());
  open = await shareGateways(2, { SVC_REDIS_URL: redis.url });
});

/** An organization whose key has the limits `key`, on gateways that all tests share. */
async function openShared(key: KeyLimits, processes = 2): Promise<Limited> {
  return limited(await open(wanted(key, processes)));
}

/** The same on two gateways and a Redis of the test's own, which it may kill. */
async function openOwn(key: KeyLimits): Promise<Limited & { redis: TestRedis }> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const env = { SVC_REDIS_URL: redis.url, SVC_LIMITS_LEASE_SECONDS: String(LEASE_SECONDS) };
  return { ...limited(await openMoney({ ...wanted(key, 2), env })), redis };
}

/** One chat call whose headers the test wants to see. */
function post(origin: string, key: string, body: object, path = '/v1/chat/completions'): Promise<Response> {
  return fetch(new URL(path, origin), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const small = { model: 'crash/exact', max_tokens: 50, messages: [{ role: 'user', content: 'Hello there.' }] };

test(
  '400 calls at once over two gateways: rpm 100 serves a hundred and charges for no more',
  again,
  async () => {
    const { money } = await openShared({ rpm: 100 });
    const started = performance.now();
    const seen = countSeen(await allAtOnce(money, 400));
    const refilled = Math.floor(((performance.now() - started) * 100) / 60_000);
    const served = seen.final ?? 0;
    expect(served).toBeGreaterThanOrEqual(100);
    expect(served).toBeLessThanOrEqual(100 + refilled);
    expect(seen['429 rate_limit_exceeded']).toBe(400 - served);
    const book = await untilBook(money.database_url, money.live_book_id, (b) => b.held === 0);
    expect(book.available).toBe(1_000_000 - served * EXACT_MICRO);
    expect(money.provider.calls).toHaveLength(served);
  },
);

test(
  'concurrency 5 is never passed at the provider, and all come through who wait their turn',
  again,
  async () => {
    const { money, origins } = await openShared({ concurrency: 5 });
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, money.provider.stats().open_calls);
    }, 1);
    onTestFinished(() => clearInterval(watch));
    let left = 40;
    const worker = async (n: number) => {
      while (left > 0) {
        left--;
        for (;;) {
          const call = aCall(money.live_key, { stream: true, chunk_ms: 2 });
          const { seen } = await money.callers.send(origins[n % 2] as string, call);
          if (seen.kind === 'final') break;
          expect(seen).toMatchObject({ kind: 'refused', status: 429, code: 'rate_limit_exceeded' });
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => worker(n)));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(5);
    expect(countSeen(await allAtOnce(money, 2))).toEqual({ final: 2 });
  },
);

test('a refusal says which limit, whose, and when; it is counted and has no row; the client headers count down', async () => {
  const { money, origins } = await openShared({ rpm: 2, tpm: 100_000 }, 1);
  const [origin] = origins as [string];
  const first = await post(origin, money.live_key, small);
  expect(first.status).toBe(200);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '1',
    'x-ratelimit-limit-tokens': '100000',
  });
  expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^(?:30|29\.\d+)s$/);
  await first.text();
  const second = await post(origin, money.live_key, { ...small, model: 'crash/messages' }, '/v1/messages');
  const limits = Object.fromEntries(second.headers);
  expect(limits['anthropic-ratelimit-requests-limit']).toBe('2');
  expect(limits['anthropic-ratelimit-requests-remaining']).toBe('0');
  expect(Date.parse(limits['anthropic-ratelimit-tokens-reset'] as string)).toBeGreaterThan(0);
  await second.text();
  const third = await post(origin, money.live_key, small);
  expect(third.status).toBe(429);
  const wait = Number(third.headers.get('retry-after-ms'));
  expect(wait).toBeGreaterThan(20_000);
  expect(wait).toBeLessThanOrEqual(30_000);
  expect(Number(third.headers.get('retry-after'))).toBe(Math.ceil(wait / 1_000));
  expect(third.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  expect(await third.json()).toMatchObject({
    error: {
      code: 'rate_limit_exceeded',
      type: 'rate_limit_error',
      details: { limit: 'rpm', scope: 'key', limit_value: 2 },
    },
  });
  const counted = await fetch(new URL('/v1/limits', origin), {
    headers: { authorization: `Bearer ${money.live_key}` },
  });
  expect(await counted.json()).toMatchObject({ rejected_24h: { rpm: 1, tpm: 0, concurrency: 0 } });
  // Rows are written in order: once the row of a later call exists, the refused call will get none.
  const later = await post(origin, money.sandbox_key, { ...small, model: 'sandbox/echo' });
  const ids = [third, later].map(({ headers }) => headers.get('x-svc-request-id'));
  await expect
    .poll(() =>
      withClient(money.database_url, async (client) => {
        const { rows } = await client.query(
          'select request_id from request_row where request_id = any ($1)',
          [ids],
        );
        return rows;
      }),
    )
    .toEqual([{ request_id: ids[1] }]);
});

test('what staff grant beyond the plan every gateway obeys within a second, the one that knows the key too', async () => {
  const { money, origins } = await openShared({}, 2);
  const pool = createPool(money.database_url, { max: 2, application: 'svc-test' });
  onTestFinished(() => pool.end());
  const context = staffContext(pool);
  await putOnPlan(context, money.org_id, {
    plan_id: 'payg',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  const seenBy = (origin: string) =>
    post(origin, money.live_key, small).then(async (reply) => {
      await reply.text();
      return reply.headers.get('x-ratelimit-limit-requests');
    });
  const seen = () => Promise.all(origins.map(seenBy));
  await expect.poll(seen).toEqual(['300', '300']);
  await overrideLimits(context, { org_id: money.org_id, limits: { rpm: 900 }, reason: 'a sale' });
  await expect.poll(seen, { timeout: 1_000 }).toEqual(['900', '900']);
});

test('a key and the one that it was rotated into share what is left of their rates and places', async () => {
  const { money, origins } = await openShared({ rpm: 3, concurrency: 2 }, 1);
  const [origin] = origins as [string];
  const rotated = await post(
    origin,
    money.live_key,
    { grace_seconds: 600 },
    `/v1/keys/${money.keys[0]?.key_id}/rotate`,
  );
  expect(rotated.status).toBe(201);
  const { secret } = (await rotated.json()) as { secret: string };
  const left = async (key: string) => {
    const reply = await post(origin, key, small);
    await reply.text();
    return [reply.status, reply.headers.get('x-ratelimit-remaining-requests')];
  };
  expect(await left(money.live_key)).toEqual([200, '2']);
  expect(await left(secret)).toEqual([200, '1']);
  expect(await left(money.live_key)).toEqual([200, '0']);
  expect((await left(secret))[0]).toBe(429);
});

test('tokens are debited by what was really used: the next call waits, the running one is not cut', async () => {
  const { money, origins } = await openShared({ tpm: 400 }, 2);
  const [a, b] = origins as [string, string];
  const call = aCall(money.live_key, { model: 'crash/chat', max_tokens: 2_000, tokens: 1_000 });
  expect((await money.callers.send(a, call)).seen.kind).toBe('final');
  await expect
    .poll(async () => {
      const reply = await post(b, money.live_key, small);
      return reply.status === 429
        ? ((await reply.json()) as { error: { details: object } }).error.details
        : null;
    })
    .toMatchObject({ limit: 'tpm', scope: 'key', limit_value: 400 });
  const { charges } = await readBook(money.database_url, money.live_book_id);
  expect(charges.length).toBeLessThanOrEqual(2);
});

test('who leaves while sending its prompt gives its place back', async () => {
  const { money, origins } = await openShared({ concurrency: 1 }, 1);
  const { port } = new URL(origins[0] as string);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${money.live_key}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"model"`;
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(head));
  // No other call may come first, or this one would be refused and take no place.
  const headers = { authorization: `Bearer ${money.live_key}` };
  await expect
    .poll(async () => (await fetch(new URL('/v1/limits', origins[0]), { headers })).json())
    .toMatchObject({ keys: [{ live: { concurrency_in_use: 1 } }] });
  expect((await post(origins[0] as string, money.live_key, small)).status).toBe(429);
  socket.destroy();
  await expect.poll(async () => (await post(origins[0] as string, money.live_key, small)).status).toBe(200);
});

test('places of a gateway killed in mid-call are free again within its lease', async () => {
  const { money, origins } = await openOwn({ concurrency: 2 });
  const slow = { stream: true, chunk_ms: 500, chunks: 100 };
  for (let i = 0; i < 2; i++) {
    void money.callers.send(origins[0] as string, aCall(money.live_key, slow)).catch(() => {});
  }
  await expect.poll(() => money.provider.stats().open_streams).toBe(2);
  expect((await post(origins[1] as string, money.live_key, small)).status).toBe(429);
  await (money.gateways[0] as GatewayProcess).kill();
  await expect
    .poll(async () => (await post(origins[1] as string, money.live_key, small)).status, {
      timeout: LEASE_SECONDS * 1_000 + 25_000,
      interval: 100,
    })
    .toBe(200);
});

// docs/outcomes.md#redis-away
test('with Redis killed under load calls go on by local share, and it is exact again when Redis is back', async () => {
  const { money, redis, origins } = await openOwn({ rpm: 60_000 });
  const ready = async (origin: string) => {
    const reply = await fetch(new URL('/readyz', origin));
    const { parts } = (await reply.json()) as { parts: { limits: { ok: boolean } } };
    return { status: reply.status, limits: parts.limits.ok };
  };
  const before = allAtOnce(money, 60);
  await redis.kill();
  expect(countSeen(await before)).toEqual({ final: 60 });
  for (const origin of origins) {
    await expect.poll(() => ready(origin)).toEqual({ status: 200, limits: false });
  }
  expect(countSeen(await allAtOnce(money, 40))).toEqual({ final: 40 });
  await redis.restart();
  for (const origin of origins) {
    await expect.poll(() => ready(origin), { timeout: 10_000 }).toEqual({ status: 200, limits: true });
  }
  expect(countSeen(await allAtOnce(money, 20))).toEqual({ final: 20 });
});
