// Redis as installations have it: a cluster, Sentinels, TLS, passwords.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { authority } from '../../test/sim/certificates.ts';
import { startCluster, startSentinel, startTls } from '../../test/sim/redis.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { startRedis } from '../../test/support/redis.ts';
import { type Log, silentLog } from '../kernel/index.ts';
import {
  isRefusal,
  type LimitSlot,
  type LimitStore,
  type LimitSubject,
  openRedisLimits,
  type Rates,
} from './index.ts';
import { subjectWith } from './testing.ts';

const opened: LimitStore[] = [];
afterAll(() => Promise.all(opened.map((store) => store.close())));

interface Watched {
  readonly store: LimitStore;
  /** Why Redis was lost, as the log says it. */
  readonly reasons: string[];
}

async function open(url: string): Promise<Watched> {
  const reasons: string[] = [];
  const warn = (fields: Record<string, unknown>) => void reasons.push(String(fields['reason']));
  const log: Log = { ...silentLog, warn };
  const store = await openRedisLimits({ url, log });
  opened.push(store);
  return { store, reasons };
}

async function exact(url: string): Promise<Watched> {
  const watched = await open(url);
  await expect.poll(() => watched.store.mode, { timeout: 10_000 }).toBe('exact');
  return watched;
}

/** Refusals of all organizations are counted together. */
const subjectOf = (key: Partial<Rates>): LimitSubject => ({ ...subjectWith({ key }), plan: 'p' });

async function enterAll(stores: readonly LimitStore[], subject: LimitSubject, calls: number) {
  const entered = await Promise.all(
    Array.from({ length: calls }, (_, i) => (stores[i % stores.length] as LimitStore).enter(subject)),
  );
  return entered.filter((one) => !isRefusal(one)) as LimitSlot[];
}

// As in `redis.test.ts`: a busy machine takes from these tests and never gives.
const again = { retry: 2, timeout: 60_000 };

/** Of as many organizations that every node of a cluster has some, over three stores: exactly what is allowed enters. */
async function expectExact(stores: readonly LimitStore[]): Promise<void> {
  // Of two bounds and of three, which are scripts of different numbers of keys.
  const limits = { concurrency: 10, tpm: 1_000 };
  const orgs = Array.from({ length: 24 }, (_, i) =>
    i % 2 === 0 ? subjectOf(limits) : { ...subjectWith({ project: limits }), plan: 'p' },
  );
  for (const subject of orgs) {
    const slots = await enterAll(stores, subject, 15);
    expect(slots).toHaveLength(10);
    expect(await slots[0]!.spend(900)).toBeNull();
    expect(await slots[1]!.spend(900)).toMatchObject({ limit: 'tpm' });
    for (const slot of slots) slot.leave();
    await expect.poll(async () => (await (stores[0] as LimitStore).look(subject)).concurrency_in_use).toBe(0);
  }
  expect(stores.map(({ mode }) => mode)).toEqual(stores.map(() => 'exact'));
}

test(
  'three processes on a cluster of three nodes let exactly the limit through, whichever node an organization is on',
  again,
  async () => {
    const cluster = await startCluster({ password: 'secret' });
    atFileEnd(() => cluster.stop());
    const all = await Promise.all([1, 2, 3].map(() => exact(cluster.url)));
    const stores = all.map(({ store }) => store);
    await expect.poll(() => stores.map(({ processes }) => processes), { timeout: 10_000 }).toEqual([3, 3, 3]);
    await expectExact(stores);
    expect(all.flatMap(({ reasons }) => reasons)).toEqual([]);
    const [{ store }] = all as [Watched];
    await expect
      .poll(async () => (await store.rejections({ plan: 'p' })).concurrency, { timeout: 10_000 })
      .toBe(24 * 5);
  },
);

test(
  'a node that dies leaves calls with the local share, and its return makes limits exact',
  again,
  async () => {
    const cluster = await startCluster();
    atFileEnd(() => cluster.stop());
    const { store } = await exact(cluster.url);
    await cluster.nodes[1]!.kill();
    const orgs = Array.from({ length: 12 }, () => subjectOf({ concurrency: 4 }));
    const started = performance.now();
    const entered = await Promise.all(orgs.map((subject) => enterAll([store], subject, 4)));
    for (const slots of entered) expect(slots).toHaveLength(4);
    expect(performance.now() - started).toBeLessThan(2_000);
    await expect.poll(() => store.mode).toBe('local_share');
    await cluster.nodes[1]!.restart();
    await expect.poll(() => store.mode, { timeout: 20_000 }).toBe('exact');
    for (const slots of entered) for (const slot of slots) slot.leave();
    await expectExact([store]);
  },
);

test('an address of another form than what it leads to stops the start with a sentence', again, async () => {
  const cluster = await startCluster();
  const redis = await startRedis();
  const sentinel = await startSentinel();
  atFileEnd(() => Promise.all([cluster.stop(), redis.stop(), sentinel.stop()]));
  const refused = (url: string) =>
    openRedisLimits({ url, log: silentLog }).catch((error: Error) => error.message);
  expect(await refused(`redis://127.0.0.1:${cluster.nodes[0]!.port}`)).toMatch(
    'leads to a node of a Redis Cluster',
  );
  expect(await refused(`redis-cluster://127.0.0.1:${redis.port}`)).toMatch(
    'leads to a server that is no Redis Cluster',
  );
  const at = new URL(sentinel.url.replace('redis-sentinel', 'http')).host;
  expect(await refused(`redis://:of-sentinels@${at}`)).toMatch('leads to a Sentinel');
});

test('a server that its Sentinels replace is followed to the new one', again, async () => {
  const sentinel = await startSentinel();
  atFileEnd(() => sentinel.stop());
  const { store } = await exact(sentinel.url);
  await expectExact([store]);
  await sentinel.failOver();
  await expect.poll(() => store.mode, { timeout: 20_000 }).toBe('exact');
  const [old] = sentinel.servers;
  await old.kill();
  await expect.poll(() => store.mode, { timeout: 20_000 }).toBe('exact');
  await expectExact([store]);
});

test.each([
  ['one server', 'redis://:wrong@', 'redis://:secret@'],
  ['a cluster', 'redis-cluster://:wrong@', 'redis-cluster://:secret@'],
])(
  'a wrong password is called that, and calls are let in by local share: %s',
  again,
  async (form, wrong, right) => {
    const cluster = form === 'a cluster' ? await startCluster({ password: 'secret' }) : null;
    const server = cluster === null ? await startRedis({ args: ['--requirepass', 'secret'] }) : null;
    atFileEnd(() => Promise.all([cluster?.stop(), server?.stop()]));
    const { port } = server ?? (cluster!.nodes[0] as { port: number });
    const { store, reasons } = await open(`${wrong}127.0.0.1:${port}`);
    expect(reasons[0]).toMatch(/^WRONGPASS/);
    expect(await enterAll([store], subjectOf({ rpm: 10 }), 5)).toHaveLength(5);
    const none = await open(`${wrong.replace(':wrong@', '')}127.0.0.1:${port}`);
    expect(none.reasons[0]).toMatch(/^NOAUTH/);
    await exact(`${right}127.0.0.1:${port}`);
  },
);

/** Places that another process, which trusts our authority, holds through `url`. */
async function holdElsewhere(url: string, subject: LimitSubject, places: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-ca-'));
  const file = join(dir, 'ca.pem');
  writeFileSync(file, authority);
  const fixture = fileURLToPath(new URL('hold-places.fixture.ts', import.meta.url));
  const child = fork(fixture, [url, JSON.stringify(subject), String(places), '60000'], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: file },
  });
  atFileEnd(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    rmSync(dir, { recursive: true });
  });
  await once(child, 'message');
}

test(
  'with TLS the certificate must be trusted: a server and a cluster of which nodes have names',
  again,
  async () => {
    const server = await startRedis({ args: ['--requirepass', 'secret'] });
    const front = await startTls(server.port);
    const cluster = await startCluster({ tls: true });
    atFileEnd(() => Promise.all([front.stop(), server.stop(), cluster.stop()]));
    const url = `rediss://:secret@localhost:${front.port}`;
    const { store, reasons } = await open(url);
    expect([store.mode, reasons[0]]).toEqual([
      'local_share',
      expect.stringMatching(/unable to verify the first certificate/),
    ]);
    const subject = subjectOf({ concurrency: 5 });
    await holdElsewhere(url, subject, 3);
    const inside = await exact(`redis://:secret@127.0.0.1:${server.port}`);
    expect((await inside.store.look(subject)).concurrency_in_use).toBe(3);
    const orgs = Array.from({ length: 6 }, () => subjectOf({ concurrency: 5 }));
    for (const one of orgs) await holdElsewhere(cluster.url, one, 2);
  },
);
