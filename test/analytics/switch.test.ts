// From PostgreSQL to ClickHouse while rows are written, and erasures where both have rows.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAnalytics } from '@svc/core/analytics/engine/open.ts';
import { readerOf } from '@svc/core/analytics/engine/postgres.ts';
import type { RowKeeper } from '@svc/core/analytics/engine/types.ts';
import { backfill } from '@svc/core/analytics/index.ts';
import type { RequestLog } from '@svc/core/analytics/types.ts';
import { ANY_CALLER } from '@svc/core/analytics/usage-store.ts';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import {
  type Context,
  hashOfEndUser,
  type Id,
  newRequestId,
  type RequestId,
  type Services,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { eraseOrgBatch, steps, sweepErasedOrgs } from '@svc/core/org-erasure/index.ts';
import { findPepper } from '@svc/core/orgs/index.ts';
import { eraseBatch, requestErasure, sweepErased } from '@svc/core/privacy/index.ts';
import { ulid } from 'ulid';
import { beforeAll, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { canaryRow, rowOf } from '../registry/rows.ts';
import { sharedClickHouse } from '../sim/clickhouse/start.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { provision } from '../support/provision.ts';
import { bucketsOf } from './buckets.ts';

const root_key = Buffer.alloc(32, 7);
let database_url: string;
let pool: Pool;
beforeAll(async () => {
  database_url = await createTestDatabase();
  pool = createPool(database_url, { max: 4 });
  atFileEnd(() => pool.end());
}, 120_000);

type Dual = Parameters<typeof openAnalytics>[0]['analytics_dual'];

/** One program of the installation: its log, and a context whose operations read rows as its settings say. */
async function program(analytics_url: string | null, analytics_dual: Dual = 'off') {
  const analytics = openAnalytics({ analytics_url, analytics_dual });
  atFileEnd(() => analytics.close());
  const spool_dir = mkdtempSync(join(tmpdir(), 'svc-switch-'));
  const log = await analytics.openLog({ db: pool, log: silentLog, spool_dir });
  if (analytics.look !== undefined) expect(await analytics.look()).toBeNull();
  return { log, services: analytics.services, context: contextOf(analytics.services) };
}

function contextOf(services: Partial<Services>): Context {
  return createContext({
    ...{ request_id: newRequestId(), pool, log: silentLog, services: { ...services, root_key } as Services },
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
  });
}

const tenantOf = (org_id: Id<'org'>) =>
  ({ org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' }) as unknown as Tenant;

async function usage(context: Context, org_id: Id<'org'>) {
  const all = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };
  const now = Date.now();
  const range = { from: new Date(now - 3_600_000), to: new Date(now + 60_000) };
  const sums = await readerOf(context).sumUsage(
    { org_id, environment: 'live', ...range, ...all },
    { ...bucketsOf(range, 'all'), group: null, tag: null },
  );
  return [sums[0]?.requests ?? 0, sums[0]?.cost_micro ?? 0];
}

test('the store is changed while rows are written, and at no step is one missing or there twice', async () => {
  const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>;
  const url = await sharedClickHouse();
  let rows = 0;
  let cost_micro = 0;
  const write = (log: RequestLog, count: number) => {
    for (let i = 0; i < count; i++) {
      log.write(rowOf(tenantOf(org_id), { cost_micro: ++rows }));
      cost_micro += rows;
    }
  };
  const before = await program(null);
  write(before.log, 900);
  await before.log.close();
  expect(await usage(before.context, org_id)).toEqual([rows, cost_micro]);

  const both = await program(url, 'read-postgres');
  const copying = (async () => {
    let copied = 0;
    for await (const day of backfill(pool, { url, from: null, to: null })) copied += day.copied;
    return copied;
  })();
  for (let i = 0; i < 20; i++) {
    write(both.log, 25);
    await both.log.flush();
    expect(await usage(both.context, org_id)).toEqual([rows, cost_micro]);
  }
  expect(await copying).toBeGreaterThanOrEqual(900);
  await both.log.close();
  expect(await usage(both.context, org_id)).toEqual([rows, cost_micro]);

  const looking = await program(url, 'read-clickhouse');
  expect(await usage(looking.context, org_id)).toEqual([rows, cost_micro]);
  write(looking.log, 30);
  await looking.log.close();
  // The way back is open until here.
  expect(await usage(looking.context, org_id)).toEqual([rows, cost_micro]);
  expect(await usage(before.context, org_id)).toEqual([rows, cost_micro]);

  const after = await program(url);
  write(after.log, 10);
  await after.log.close();
  expect(await usage(after.context, org_id)).toEqual([rows, cost_micro]);
  expect(await usage(before.context, org_id)).toEqual([rows - 10, expect.any(Number)]);
});

test('samples of a canary are counted once however often its rows come, in PostgreSQL, wherever rows are read', async () => {
  const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9K' as Id<'org'>;
  const { log, context } = await program(await sharedClickHouse());
  const call = { policy: 'p', version: 2, endpoint_id: 'ep_c', arm: 'canary', outcome: 'ok' } as const;
  const sampled = canaryRow(tenantOf(org_id), call);
  for (let i = 0; i < 3; i++) {
    log.write(sampled);
    log.write(rowOf(tenantOf(org_id)));
    await log.flush();
  }
  await log.close();
  expect(await usage(context, org_id)).toEqual([4, expect.any(Number)]);
  const { rows } = await pool.query<{ calls: number }>({
    name: 'test.samples',
    text: 'select coalesce(sum(canary_calls + control_calls), 0)::int as calls from canary_sample where org_id = $1',
    values: [org_id],
  });
  expect(rows[0]?.calls).toBe(1);
});

test('an end user is erased in both stores, counts each call once, and stays erased though ClickHouse failed between', async () => {
  const { org_id } = await provision({ database_url, live_micro_usd: 0 });
  const { log, services } = await program(await sharedClickHouse(), 'read-clickhouse');
  const pepper = (await findPepper({ db: pool, root_key }, org_id)) as Buffer;
  const user_hash = hashOfEndUser(pepper, 'somebody');
  const mine = Array.from({ length: 3 }, () =>
    rowOf(tenantOf(org_id), { user_hash, tags: { who: 'somebody' } }),
  );
  for (const row of [...mine, rowOf(tenantOf(org_id), { user_hash: 'other' })]) log.write(row);
  await log.flush();
  const keeper = services.row_keeper as RowKeeper;
  let failures = 1;
  const failing: RowKeeper = {
    ...keeper,
    unlink: (args) => (failures-- > 0 ? Promise.reject(new Error('away')) : keeper.unlink(args)),
  };
  const context = contextOf({ ...services, row_keeper: failing });
  const { id: dsr_id } = await requestErasure(context, { org_id, user_id: 'somebody' });
  await expect(eraseBatch(context, { dsr_id })).rejects.toThrow('away');
  let progress = await eraseBatch(context, { dsr_id });
  while (progress.status !== 'completed') progress = await eraseBatch(context, { dsr_id });
  expect(progress.records).toBe(3);
  const left = () =>
    Promise.all(
      [context, contextOf({})].map((one) =>
        readerOf(one).pageSubjectCalls({ org_id, subject_hash: user_hash, after: null, limit: 10 }),
      ),
    );
  expect(await left()).toEqual([[], []]);
  // Rows that lay in a spool: of a call that the erasure is about, and of one that began after it was asked for.
  log.write(rowOf(tenantOf(org_id), { request_id: ulid(Date.now() - 60_000) as RequestId, user_hash }));
  log.write(rowOf(tenantOf(org_id), { request_id: newRequestId(), user_hash }));
  await log.close();
  expect(await sweepErased(pool, new Date(), keeper)).toBe(1);
  const found = await left();
  expect(found.map((calls) => calls.length)).toEqual([1, 1]);
});

test('the rows of an erased organization go in ClickHouse, its sums stay without what leads back to it', async () => {
  const { org_id } = await provision({ database_url, slug: 'to-be-erased', live_micro_usd: 0 });
  const { log, services } = await program(await sharedClickHouse());
  const keeper = services.row_keeper as RowKeeper;
  for (let i = 0; i < 4; i++) log.write(rowOf(tenantOf(org_id), { cost_micro: 25, app_id: 'named-app' }));
  await log.flush();
  await pool.query({
    name: 'test.running',
    text: `
      insert into org_erasure (org_id, status, refund_requested, requested_at, due_at, began_at, step)
      values ($1, 'running', false, now(), now(), now(), $2)`,
    values: [org_id, steps.indexOf('request_row')],
  });
  const context = contextOf(services);
  const until = steps.indexOf('app');
  for (let step = 0; step < until; ) step = (await eraseOrgBatch(context, { org_id })).step;
  expect(await keeper.countOrg(org_id)).toBe(0);
  const { rows } = await pool.query<{ org_id: string; cost: number; app_id: string; key_id: string }>({
    name: 'test.loose',
    text: 'select org_id, cost_micro::int as cost, app_id, key_id from usage_hour where cost_micro = 100',
  });
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ cost: 100, app_id: '', key_id: '' });
  expect(rows[0]?.org_id).not.toBe(org_id);
  // Out of a spool, when all was done.
  log.write(rowOf(tenantOf(org_id)));
  await log.close();
  await pool.query({
    name: 'test.completed',
    text: `update org_erasure set status = 'completed', completed_at = now(), digest = repeat('0', 64), kept = '{}' where org_id = $1`,
    values: [org_id],
  });
  expect(await keeper.countOrg(org_id)).toBe(1);
  await sweepErasedOrgs(pool, new Date(), keeper);
  expect(await keeper.countOrg(org_id)).toBe(0);
});
