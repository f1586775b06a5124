// The snapshots of a process: what is remembered, what is dropped, and what happens when PostgreSQL is away.
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { provision } from '../../test/support/provision.ts';
import { watchedPool } from '../../test/support/watched-pool.ts';
import { createPool, type Pool } from '../db/index.ts';
import { type Db, type Id, silentLog } from '../kernel/index.ts';
import { type Changes, openChanges } from '../runtime/index.ts';
import { openPolicyCache, type PolicyCache } from './index.ts';
import { endActivation, insertActivation, insertVersion, nextVersion } from './store.ts';

const url = await createTestDatabase();
const nowhere = 'postgres://svc@127.0.0.1:1/none';
const pool = createPool(url, { max: 6 });
const { org_id, project_id } = await provision({ database_url: url, live_micro_usd: 0 });
const other = await provision({ database_url: url, slug: 'other', live_micro_usd: 0 });
const open: (PolicyCache | Changes)[] = [];
/** For bounds of a second: a busy machine only makes what is measured longer, so one good run of three is proof. */
const again = { retry: 2 };

afterAll(async () => {
  for (const each of open.toReversed()) await each.close();
  await pool.end();
});

async function cacheOf(options: { db?: Pool; url?: string; max_orgs?: number } = {}): Promise<PolicyCache> {
  const { max_orgs = 20_000, ...connections } = options;
  const changes = await openChanges({ db: pool, url, log: silentLog, ...connections });
  const cache = openPolicyCache({ changes, log: silentLog, process_name: 'test', max_orgs });
  open.push(changes, cache);
  return cache;
}

async function newVersion(yaml = 'sort: price', org = org_id): Promise<number> {
  const at = new Date();
  const version = await nextVersion(pool, { org_id: org, name: 'main', managed_by: null, at });
  await insertVersion(pool, org, {
    ...{ name: 'main', version, yaml, content_hash: '0'.repeat(64), notices: [] },
    ...{ managed_by: null, created_by: 'test', created_at: at },
  });
  return version;
}

async function activate(version: number, db: Db = pool, org = org_id): Promise<void> {
  const at = new Date();
  await endActivation(db, { org_id: org, project_id: null, at });
  const row = { project_id: null, name: 'main', version, previous_no: null };
  await insertActivation(db, org, { ...row, activated_at: at, activated_by: 'test' });
}

async function ruled(cache: PolicyCache, org: Id<'org'> = org_id): Promise<number | string | null> {
  try {
    return (await cache.policiesOf(org)).of(project_id)?.version ?? null;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** Milliseconds until a call would be ruled by `wanted`; looks every 5 ms. */
async function msUntil(cache: PolicyCache, wanted: number | string | null): Promise<number> {
  const start = performance.now();
  for (;;) {
    const found = await ruled(cache);
    const ms = performance.now() - start;
    if (found === wanted) return ms;
    if (ms > 5_000) throw new Error(`still ${found} after ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** `pool` with its look-ups counted, and answers held back where `gate` says so. */
const watched = (gate?: (name: string) => Promise<void> | undefined) =>
  watchedPool(pool, 'policies.read_active_texts', gate);

test('the policies of an organization are read once and then kept in memory, also where there are none', async () => {
  const { db, looked } = watched();
  const cache = await cacheOf({ db });
  const [first, second] = await Promise.all([cache.policiesOf(other.org_id), cache.policiesOf(other.org_id)]);
  expect(first).toBe(second);
  expect(cache.policiesOf(other.org_id)).toBe(first);
  expect(first.of(other.project_id)).toBeNull();
  expect(looked()).toBe(1);
});

test(
  'a change is followed within a second, and of other organizations nothing is dropped',
  again,
  async () => {
    const { db, looked } = watched();
    const cache = await cacheOf({ db });
    await ruled(cache, other.org_id);
    await ruled(cache);
    for (let round = 0; round < 3; round++) {
      const version = await newVersion();
      await activate(version);
      expect(await msUntil(cache, version)).toBeLessThan(1_000);
    }
    const before = looked();
    await ruled(cache, other.org_id);
    expect(looked()).toBe(before);
  },
);

test('it is followed within a second where notifications never arrive', again, async () => {
  const deaf = await cacheOf({ url: nowhere });
  await ruled(deaf);
  const version = await newVersion();
  await activate(version);
  expect(await msUntil(deaf, version)).toBeLessThan(1_000);
});

test('a change that commits after a later one was read is not skipped', again, async () => {
  const deaf = await cacheOf({ url: nowhere });
  const slow = await newVersion();
  const quick = await newVersion('sort: latency', other.org_id);
  await ruled(deaf);
  await ruled(deaf, other.org_id);
  const before = await ruled(deaf);
  await pool.transaction(async (db) => {
    await activate(slow, db);
    await activate(quick, pool, other.org_id);
    while ((await ruled(deaf, other.org_id)) !== quick) await new Promise((done) => setTimeout(done, 5));
    expect(await ruled(deaf)).toBe(before);
  });
  expect(await msUntil(deaf, slow)).toBeLessThan(1_000);
});

test('a read that began before a change was heard is not remembered', async () => {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isHeld = false;
  const { db } = watched((name) => {
    if (!isHeld || name !== 'policies.read_active_texts') return undefined;
    reached.resolve();
    return released.promise;
  });
  const cache = await cacheOf({ db });
  const before = await ruled(await cacheOf());
  isHeld = true;
  const early = cache.policiesOf(org_id);
  // From here on the read has its rows of before, and hears of the change while it is held back.
  await reached.promise;
  const version = await newVersion();
  await activate(version);
  cache.forget(org_id);
  isHeld = false;
  released.resolve();
  expect((await early).of(project_id)?.version ?? null).toBe(before);
  expect(await ruled(cache)).toBe(version);
});

test('no call is made without its policy: it is refused while the database is down or the text cannot be read', async () => {
  const away = createPool(nowhere, { max: 1 });
  const cache = await cacheOf({ db: away, url: nowhere });
  expect(await ruled(cache)).toBe('service_unavailable');
  await away.end();
  const version = await newVersion('sort: by-the-next-release');
  await activate(version);
  expect(await ruled(await cacheOf())).toBe('service_unavailable');
  await activate(await newVersion());
});

test('no more organizations are kept in memory than allowed', async () => {
  const { db, looked } = watched();
  const cache = await cacheOf({ db, max_orgs: 1 });
  for (const org of [org_id, other.org_id, org_id]) await ruled(cache, org);
  expect(looked()).toBe(3);
});
