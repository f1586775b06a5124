// Rows that are missing, and rows that are copied: calls of a real gateway, whose metering says what they cost.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import { clickHouseReader } from '@svc/core/analytics/clickhouse/reader.ts';
import { clickHouseSink } from '@svc/core/analytics/clickhouse/write-store.ts';
import { openAnalytics } from '@svc/core/analytics/engine/open.ts';
import { postgresReader, postgresSink } from '@svc/core/analytics/engine/postgres.ts';
import type { RowReader, RowSink } from '@svc/core/analytics/engine/types.ts';
import { backfill, type CopiedDay, openRequestLog, rebuildRows } from '@svc/core/analytics/index.ts';
import type { RequestRow } from '@svc/core/analytics/types.ts';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { type Id, type RequestId, silentLog } from '@svc/core/kernel/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { svcOf } from '../calls/caller.ts';
import { bodyOf, eventually, idOf, openWorld, type World } from '../calls/world.ts';
import { sharedClickHouse } from '../sim/clickhouse/start.ts';
import { atFileEnd } from '../support/ends.ts';
import { runSvcctl } from '../support/programs/svcctl.ts';

const HOUR_MS = 3_600_000;
let world: World;
let pool: Pool;
let org: Awaited<ReturnType<World['org']>>;
/** What each call cost, as its caller saw it. */
const costs = new Map<RequestId, number>();

beforeAll(async () => {
  world = await openWorld({ models: { chat: 1 }, gateway: 'alone' });
  atFileEnd(() => world.close());
  pool = createPool(world.database_url, { max: 3 });
  atFileEnd(() => pool.end());
  org = await world.org();
  const model = world.model('chat').id;
  for (let i = 0; i < 6; i++) {
    const reply = await world.chat(org.live_key, bodyOf(model, `Hello ${i}`)).reply;
    costs.set(idOf(reply) as RequestId, svcOf(reply)?.['cost'].total_micro_usd as number);
  }
  await eventually('all rows are stored', async () => {
    const { rows } = await world.db.query('select 1 from request_row where org_id = $1', [org.org_id]);
    return rows.length === 6;
  });
}, 180_000);

const later = () => new Date(Date.now() + 4 * HOUR_MS);
const folder = () => mkdtempSync(join(tmpdir(), 'svc-rebuild-'));
const sumOf = (ids: readonly RequestId[]) => ids.reduce((sum, id) => sum + (costs.get(id) ?? 0), 0);
const forgetPlace = () => world.db.query(`delete from settings where name = 'rows_rebuilt'`);

async function costOf(reader: RowReader): Promise<number> {
  const found = await reader.readCosts({ org_id: org.org_id, request_ids: [...costs.keys()] });
  return [...found.values()].reduce((sum, cost) => sum + cost, 0);
}

/** The row of a call as its gateway wrote it. */
async function own(request_id: RequestId): Promise<RequestRow> {
  const reader = postgresReader(pool);
  const row = await reader.findRow({ org_id: org.org_id, environment: null, request_id });
  const attempts = await reader.listAttempts(request_id);
  const attempt_rows = attempts.map(({ ts, ...attempt }) => ({ ...attempt, ts_ms: ts.getTime() }));
  return { ...(row as NonNullable<typeof row>), attempt_rows };
}

/** Rebuilds what `reader` misses, and looks that each rebuilt row says what the ledger knows and gives way to the call's own. */
async function rebuildsInto(
  engine: { reader: RowReader; sink: RowSink },
  lost: readonly RequestId[],
  rows: RequestRow[],
) {
  const { reader, sink } = engine;
  const before = await costOf(reader);
  expect(before).toBe(sumOf([...costs.keys()]) - sumOf(lost));
  return async () => {
    expect(await costOf(reader)).toBe(sumOf([...costs.keys()]));
    const [request_id] = lost as [RequestId];
    const args = { org_id: org.org_id, environment: 'live' as const, request_id };
    const [real] = rows as [RequestRow];
    const { project_id, key_id, model, provider, input_tokens, output_tokens, cost_micro, status } = real;
    expect(await reader.findRow(args)).toMatchObject({
      ...{ project_id, key_id, model, provider, input_tokens, output_tokens, cost_micro, status },
      ...{ ttft_ms: null, duration_ms: null, user_agent: '' },
    });
    // Out of a spool, late; and once more, as a batch may come.
    for (const batch of [rows, rows]) await sink.insert(batch);
    expect(await reader.findRow(args)).toMatchObject({
      duration_ms: real.duration_ms,
      user_agent: real.user_agent,
    });
    const attempts = await reader.listAttempts(request_id);
    expect(attempts.map(({ error_class }) => error_class)).toEqual(['']);
    expect(await costOf(reader)).toBe(sumOf([...costs.keys()]));
  };
}

test('rows that are missing in PostgreSQL are rebuilt from metering, and give way to those that come after all', async () => {
  const lost = [...costs.keys()].slice(1, 4);
  const rows = await Promise.all(lost.map(own));
  await world.db.query('delete from request_row where request_id = any ($1)', [lost]);
  await world.db.query('delete from request_attempt where request_id = any ($1)', [lost]);
  const engine = { reader: postgresReader(pool), sink: postgresSink(pool) };
  const check = await rebuildsInto(engine, lost, rows);
  const log = await openRequestLog({ db: pool, log: silentLog, spool_dir: folder() });
  await forgetPlace();
  const parts = { pool, request_log: log, cell: 'local', now: later() };
  expect(await rebuildRows(parts)).toBe(3);
  expect(await rebuildRows(parts)).toBe(0);
  await log.close();
  await check();
});

test('rows that are missing in ClickHouse are rebuilt there likewise, all of them where it is empty', async () => {
  const url = await sharedClickHouse();
  const analytics = openAnalytics({ analytics_url: url, analytics_dual: 'off' });
  const log = await analytics.openLog({ db: pool, log: silentLog, spool_dir: folder() });
  const db = openClickHouse(url);
  const lost = [...costs.keys()];
  await eventually('the tables are there', () => analytics.look?.().then((fault) => fault === null));
  const engine = { reader: clickHouseReader(db), sink: clickHouseSink(db) };
  const check = await rebuildsInto(engine, lost, await Promise.all(lost.map(own)));
  await forgetPlace();
  const parts = { pool, request_log: log, cell: 'local', now: later(), reader: engine.reader };
  expect(await rebuildRows(parts)).toBe(6);
  await forgetPlace();
  expect(await rebuildRows(parts)).toBe(0);
  await log.close();
  await check();
  await Promise.all([db.close(), analytics.close()]);
});

async function copyTo(url: string): Promise<CopiedDay[]> {
  const days: CopiedDay[] = [];
  for await (const day of backfill(pool, { url, from: null, to: null })) days.push(day);
  return days;
}

test('a copy that is broken off goes on, leaves nothing twice, and its cost is what was metered', async () => {
  const url = await sharedClickHouse();
  const total = sumOf([...costs.keys()]);
  const stopping = backfill(pool, { url, from: null, to: null });
  await stopping.next();
  await stopping.return(undefined);
  const db = openClickHouse(url);
  // As if it had been killed in the middle of a day.
  await db.run({
    name: 'test.cut',
    text: 'alter table request_row delete where cityHash64(request_id) % 2 = 0 settings mutations_sync = 2',
  });
  const again = await copyTo(url);
  expect(again.map(({ is_equal }) => is_equal)).not.toContain(false);
  expect(again.reduce((sum, day) => sum + day.cost_micro, 0)).toBe(total);
  expect((await copyTo(url)).map(({ copied }) => copied)).toEqual(again.map(() => 0));
  const [postgres, clickhouse] = [postgresReader(pool), clickHouseReader(db)];
  for (const request_id of costs.keys()) {
    const args = { org_id: org.org_id as Id<'org'>, environment: null, request_id };
    expect(await clickhouse.findRow(args)).toEqual(await postgres.findRow(args));
    expect(await clickhouse.listAttempts(request_id)).toEqual(await postgres.listAttempts(request_id));
    const place = { org_id: org.org_id, environment: 'live' as const, request_id };
    expect(await clickhouse.findArrival(place)).toEqual(await postgres.findArrival(place));
  }
  await db.close();
});

test('svcctl copies, prints one object of JSON, tells its progress beside it, and says by its exit code what differs', async () => {
  const env = { SVC_DATABASE_URL: world.database_url, SVC_DATA_DIR: '/nonexistent' };
  const url = await sharedClickHouse();
  const run = (...flags: string[]) =>
    runSvcctl(['analytics', 'backfill', ...flags], { ...env, SVC_ANALYTICS_URL: url });
  expect(await runSvcctl(['analytics', 'backfill'], env)).toMatchObject({ code: 2, out: '' });
  const copied = await run('--json');
  expect(copied).toMatchObject({ code: 0, err: expect.stringContaining('6 copied, 6 rows') });
  expect(JSON.parse(copied.out)).toMatchObject({ days: [{ copied: 6, is_equal: true }], differ: [] });
  // A row that the ledger knows nothing of, in both.
  await world.db.query('update request_row set cost_micro = cost_micro + 1 where request_id = $1', [
    [...costs.keys()][0],
  ]);
  const differs = await run();
  expect(differs).toMatchObject({ code: 1, out: expect.stringContaining('DIFFERS on') });
  expect(`${copied.err}${differs.err}${differs.out}`).not.toContain('secret-of-clickhouse');
});
