// What Redis adds: processes that die, and a Redis that does.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { atFileEnd } from '../../test/support/ends.ts';
import { startRedis } from '../../test/support/redis.ts';
import { createLog } from '../kernel/index.ts';
import {
  isRefusal,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  openRedisLimits,
  type Rates,
} from './index.ts';
import { siblingOf, subjectWith } from './testing.ts';

const log = createLog('error', 'test');
/** Of the process that is killed: long enough that its places are seen taken after its death. */
const LEASE_MS = 3_000;
const opened: LimitStore[] = [];
afterAll(() => Promise.all(opened.map((store) => store.close())));

async function open(url: string): Promise<LimitStore> {
  const store = await openRedisLimits({ url, log });
  opened.push(store);
  return store;
}

const subjectOf = (key: Partial<Rates>) => subjectWith({ key });

async function enterAll(store: LimitStore, subject: LimitSubject, calls: number): Promise<LimitSlot[]> {
  const entered = await Promise.all(Array.from({ length: calls }, () => store.enter(subject)));
  return entered.filter((one) => !isRefusal(one)) as LimitSlot[];
}

// A Redis that a busy machine keeps waiting for a quarter of a second is left at the wrong moment for these tests, as
// it must be: noise only takes from them, so that one good run of three is proof.
const again = { retry: 2 };

test(
  'without Redis each of two processes gives out half, and says so; both are exact again when it is back',
  again,
  async () => {
    const redis = await startRedis();
    atFileEnd(() => redis.stop());
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await expect.poll(() => [a?.mode, b?.mode]).toEqual(['exact', 'exact']);
    await expect.poll(() => [a?.processes, b?.processes], { timeout: 10_000 }).toEqual([2, 2]);
    const probe = subjectOf({ concurrency: 40 });
    const held = [
      ...(await enterAll(a as LimitStore, probe, 10)),
      ...(await enterAll(b as LimitStore, probe, 10)),
    ];
    expect((await (a as LimitStore).look(probe)).concurrency_in_use).toBe(20);
    await redis.kill();
    await expect.poll(() => [a?.mode, b?.mode]).toEqual(['local_share', 'local_share']);
    // Ten run in each already; its share is twenty.
    expect(await enterAll(a as LimitStore, probe, 30)).toHaveLength(10);
    expect(await enterAll(b as LimitStore, probe, 30)).toHaveLength(10);
    const rates = subjectOf({ rpm: 100 });
    const served = [
      ...(await enterAll(a as LimitStore, rates, 200)),
      ...(await enterAll(b as LimitStore, rates, 200)),
    ].length;
    expect(served).toBeGreaterThanOrEqual(100);
    expect(served).toBeLessThanOrEqual(102);
    await redis.restart();
    await expect.poll(() => [a?.mode, b?.mode], { timeout: 10_000 }).toEqual(['exact', 'exact']);
    // A Redis that came back empty has been told who is running.
    await expect.poll(async () => (await (a as LimitStore).look(probe)).concurrency_in_use).toBe(40);
    expect(await enterAll(b as LimitStore, probe, 5)).toHaveLength(0);
    for (const slot of held) slot.leave();
    await expect.poll(async () => (await (b as LimitStore).look(probe)).concurrency_in_use).toBe(20);
  },
);

test(
  'a Redis that is silent is left within a second, and no call waits for it after that',
  again,
  async () => {
    const redis = await startRedis();
    atFileEnd(() => redis.stop());
    const store = await open(redis.url);
    await expect.poll(() => store.mode).toBe('exact');
    const subject = subjectOf({ rpm: 1_000 });
    redis.pause();
    const started = performance.now();
    expect(await enterAll(store, subject, 50)).toHaveLength(50);
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(store.mode).toBe('local_share');
    expect(store.enter(subject)).not.toBeInstanceOf(Promise);
    redis.resume();
    await expect.poll(() => store.mode, { timeout: 10_000 }).toBe('exact');
  },
);

test(
  'a Redis that answered in time is not lost because this process was too busy to hear it',
  again,
  async () => {
    const redis = await startRedis();
    atFileEnd(() => redis.stop());
    const store = await open(redis.url);
    await expect.poll(() => store.mode).toBe('exact');
    const entering = enterAll(store, subjectOf({ rpm: 100 }), 20);
    // Sent in this turn; then nothing is heard for longer than a call waits.
    await new Promise((done) => setImmediate(done));
    const busy_until = performance.now() + 500;
    let steps = 0;
    while (performance.now() < busy_until) steps++;
    expect(await entering).toHaveLength(20);
    expect([steps > 0, store.mode]).toEqual([true, 'exact']);
  },
);

test('the places of a killed process are free again after its lease', again, async () => {
  const redis = await startRedis();
  atFileEnd(() => redis.stop());
  const store = await open(redis.url);
  const subject = subjectOf({ concurrency: 3 });
  const child = fork(fileURLToPath(new URL('hold-places.fixture.ts', import.meta.url)), [
    redis.url,
    JSON.stringify(subject),
    '3',
    String(LEASE_MS),
  ]);
  await once(child, 'message');
  expect(await enterAll(store, subject, 1)).toHaveLength(0);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await enterAll(store, subject, 1)).toHaveLength(0);
  await expect
    .poll(() => enterAll(store, subject, 1), { timeout: LEASE_MS + 5_000, interval: 100 })
    .toHaveLength(1);
});

test('how long Redis took for each decision is counted, and how often it gave none', again, async () => {
  const redis = await startRedis();
  atFileEnd(() => redis.stop());
  const store = await open(redis.url);
  await expect.poll(() => store.mode).toBe('exact');
  const { durations, failures } = store.redis_figures as NonNullable<LimitStore['redis_figures']>;
  const entered = () => durations.get('enter')?.counts.reduce((sum, count) => sum + count, 0);
  await enterAll(store, subjectOf({ rpm: 100 }), 5);
  expect([entered(), failures.get('enter')]).toEqual([5, 0]);
  expect(durations.get('enter')?.sum).toBeGreaterThan(0);
  redis.pause();
  const waiting = enterAll(store, subjectOf({ rpm: 100 }), 1);
  await redis.kill();
  expect(await waiting).toHaveLength(1);
  await expect.poll(() => failures.get('enter')).toBe(1);
});

/** What Redis did for `act`: how often each command was called, those inside of scripts too. */
async function commandsOf(redis: Redis, act: () => Promise<unknown>): Promise<Record<string, number>> {
  await redis.config('RESETSTAT');
  await act();
  const stats = await redis.info('commandstats');
  const found = [...stats.matchAll(/^cmdstat_([a-z|]+):calls=(\d+)/gm)];
  return Object.fromEntries(found.map(([, name, calls]) => [name, Number(calls)]));
}

test('a call is one script per decision; limits of a project add their own buckets to it, and no call', async () => {
  const server = await startRedis();
  atFileEnd(() => server.stop());
  const store = await open(server.url);
  await expect.poll(() => store.mode).toBe('exact');
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  const all = { rpm: 1_000, tpm: 1_000_000, concurrency: 100 };
  const without = subjectWith({ key: all, plan: all });
  const withProject = subjectWith({ key: all, project: all, plan: all });
  const callOf = async (subject: LimitSubject) => {
    const [slot] = await enterAll(store, subject, 1);
    await slot?.spend(100);
    slot?.leave();
    await store.look(subject);
  };
  // The scripts are known to the server after the first of each kind.
  for (const subject of [without, withProject]) await callOf(subject);
  const counted = async (subject: LimitSubject) => {
    // A beat of the store in between adds a script of its own.
    const { evalsha, hset, hmget, zadd, zcard, zrem } = await commandsOf(redis, () => callOf(subject));
    return { evalsha, hset, hmget, zadd, zcard, zrem };
  };
  // Entering, spending and looking; one bucket written and one place taken for each bound.
  await expect
    .poll(() => counted(without))
    .toEqual({ evalsha: 3, hset: 4, hmget: 10, zadd: 2, zcard: 3, zrem: 2 });
  await expect
    .poll(() => counted(withProject))
    .toEqual({ evalsha: 3, hset: 6, hmget: 15, zadd: 3, zcard: 4, zrem: 3 });
});

test(
  'without Redis the limits of a project are kept by local share too, over all its keys',
  again,
  async () => {
    const redis = await startRedis();
    atFileEnd(() => redis.stop());
    const stores = [await open(redis.url), await open(redis.url)] as const;
    await expect
      .poll(() => stores.map(({ mode, processes }) => [mode, processes]), { timeout: 10_000 })
      .toEqual([
        ['exact', 2],
        ['exact', 2],
      ]);
    const first = subjectWith({ project: { concurrency: 20 } });
    const second = siblingOf(first);
    const [a, b] = stores;
    const held = [...(await enterAll(a, first, 4)), ...(await enterAll(b, second, 4))];
    await redis.kill();
    await expect.poll(() => [a.mode, b.mode]).toEqual(['local_share', 'local_share']);
    // Four run in each already; the share of each is ten, whichever key asks.
    expect(await enterAll(a, first, 3)).toHaveLength(3);
    expect(await enterAll(a, second, 30)).toHaveLength(3);
    expect(await enterAll(b, first, 30)).toHaveLength(6);
    await redis.restart();
    await expect.poll(() => [a.mode, b.mode], { timeout: 10_000 }).toEqual(['exact', 'exact']);
    const project = { ...first, bounds: first.bounds.slice(1) };
    await expect.poll(async () => (await a.look(project)).concurrency_in_use).toBe(20);
    expect(await enterAll(b, second, 1)).toHaveLength(0);
    for (const slot of held) slot.leave();
    await expect.poll(async () => (await b.look(project)).concurrency_in_use).toBe(12);
  },
);
