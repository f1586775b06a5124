import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { decodeTime, ulid } from 'ulid';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool, type Pool } from '../db/index.ts';
import { type Id, newRequestId, nowMs, silentLog } from '../kernel/index.ts';
import type { Route } from '../routing/index.ts';
import { openRequestLog, type RequestLog, type RequestRow } from './index.ts';
import { dropOldDays, findRow, insertRows, listAttempts, prepareDays } from './store.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 3 });
const DAY_MS = 86_400_000;
const open: RequestLog[] = [];
afterAll(async () => {
  for (const log of open) await log.close();
  await pool.end();
});

const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>;
const empty = {
  provider: '',
  endpoint_id: '',
  region: '',
  error_code: '',
  stop_reason: '',
  usage_source: '',
};
const zero = {
  input_tokens: 1,
  output_tokens: 2,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
};

function chosen(over: Partial<Route> = {}): Route {
  return {
    ...{ policy: 'default', version: null, rule: '-', sort: 'balanced', affinity: '-', catalog: 'c1' },
    ...{ candidates: 1, plan: [{ endpoint_id: 'ep_x', score: 1 }], excluded: [], excluded_hidden: 0 },
    ...{ attempts: [], winner: 'ep_x', reserve_micro: 9 },
    ...over,
  };
}

function row(other: Partial<RequestRow> = {}): RequestRow {
  return {
    request_id: newRequestId(),
    org_id,
    environment: 'live',
    project_id: 'prj_x',
    key_id: 'key_x',
    model: 'acme/fast-1',
    ...empty,
    status: 'ok',
    http_status: 200,
    attempts: 1,
    ...zero,
    cost_micro: 5,
    ttft_ms: 1.5,
    duration_ms: null,
    upstream_ttft_ms: null,
    gw_overhead_ms: 0.25,
    stream: false,
    byok: false,
    zdr: false,
    logged: false,
    app_id: '',
    user_hash: '',
    session_id: '',
    cell: 'local',
    dialect_in: 'chat',
    upstream_model: '',
    price_version_id: '',
    bytes_in: 1,
    bytes_out: 2,
    tool_calls: 0,
    has_images: false,
    has_tools: false,
    has_schema: false,
    tags: { a: 'b' },
    user_agent: 'test',
    client_ip_prefix: '',
    route_trace: chosen(),
    warnings: [],
    attempt_rows: [
      {
        attempt: 1,
        ts_ms: nowMs(),
        provider: 'acme',
        endpoint_id: 'ep_x',
        pool_id: 'main',
        key_hint: '',
        outcome: 'ok',
        http_status: 200,
        error_class: '',
        ttft_ms: 1,
        duration_ms: 2,
        output_tokens: 2,
      },
    ],
    ...other,
  };
}

function directory(): string {
  return mkdtempSync(join(tmpdir(), 'svc-spool-'));
}

async function logOn(db: Pool, spool_dir = directory()): Promise<RequestLog> {
  const log = await openRequestLog({ db, log: silentLog, spool_dir });
  open.push(log);
  return log;
}

async function countOf(rows: readonly RequestRow[]): Promise<number> {
  const text = 'select count(*)::int as n from request_row where request_id = any ($1)';
  const values = [rows.map((item) => item.request_id)];
  return (await pool.query<{ n: number }>({ name: 'test.count', text, values })).rows[0]?.n ?? 0;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`did not come true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** `pool` that is away while `gone` says so. */
function fickle(gone: () => boolean): Pool {
  return {
    ...pool,
    query<Row>(statement: Parameters<Pool['query']>[0]) {
      if (gone()) return Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
      return pool.query<Row>(statement);
    },
  };
}

test('a row is readable within a second by itself, on the partition of its day', async () => {
  const log = await logOn(pool);
  const rows = Array.from({ length: 1_200 }, () => row());
  const start = performance.now();
  for (const item of rows) log.write(item);
  expect(performance.now() - start).toBeLessThan(1_000);
  await until(async () => (await countOf(rows)) === rows.length);
  expect(log.lag_s()).toBe(0);
  const text =
    'select distinct tableoid::regclass::text as part from request_row where request_id = any ($1)';
  const values = [rows.map((item) => item.request_id)];
  const { rows: parts } = await pool.query<{ part: string }>({ name: 'test.parts', text, values });
  const day = new Date(decodeTime(rows[0]!.request_id)).toISOString().slice(0, 10).replaceAll('-', '');
  expect(parts.map((found) => found.part)).toContain(`request_row_${day}`);
});

test('a batch sent twice is stored once', async () => {
  const rows = [row(), row()];
  await insertRows(pool, rows);
  await insertRows(pool, rows);
  expect(await countOf(rows)).toBe(2);
  expect(await listAttempts(pool, (rows[0] as RequestRow).request_id)).toHaveLength(1);
});

/** The row of the sweeper for the call of `row`, whose process it took for dead. */
function lostRowOf({ request_id, attempt_rows: [attempt] }: RequestRow): RequestRow {
  const lost = { outcome: 'error', error_class: 'gateway_lost', provider: '', endpoint_id: '' } as const;
  return row({
    ...{ request_id, model: '', status: 'error', http_status: 0, error_code: 'internal', cost_micro: 0 },
    attempt_rows: [{ ...(attempt as RequestRow['attempt_rows'][number]), ...lost }],
  });
}

test('a call that was taken for lost and was settled after all has its own row, whichever came first', async () => {
  const [attempt] = row().attempt_rows;
  const attempt_rows = [attempt!, { ...attempt!, attempt: 2 }];
  const calls = [row({ attempt_rows }), row({ attempt_rows }), row({ attempt_rows })] as const;
  const [one, two, three] = calls;
  await insertRows(pool, [lostRowOf(one)]);
  await insertRows(pool, [one]);
  await insertRows(pool, [two]);
  await insertRows(pool, [lostRowOf(two)]);
  await insertRows(pool, [row(), lostRowOf(three), three]);
  for (const { request_id } of calls) {
    expect(await findRow(pool, { org_id, environment: 'live', request_id })).toMatchObject({
      ...{
        model: 'acme/fast-1',
        status: 'ok',
        http_status: 200,
        error_code: '',
        cost_micro: 5,
        tags: { a: 'b' },
      },
    });
    const attempts = await listAttempts(pool, request_id);
    expect(attempts.map(({ outcome, error_class }) => `${outcome} ${error_class}`)).toEqual(['ok ', 'ok ']);
  }
});

test('rows wait on disk while the database is down, report the lag, and are stored when it is back', async () => {
  let gone = true;
  const dir = directory();
  const log = await logOn(
    fickle(() => gone),
    dir,
  );
  const rows = [row(), row(), row()];
  for (const item of rows) log.write(item);
  await log.flush();
  expect(readdirSync(dir)).toHaveLength(1);
  expect(await countOf(rows)).toBe(0);
  await until(() => log.lag_s() >= 1);
  gone = false;
  await until(async () => (await countOf(rows)) === rows.length);
  await until(() => readdirSync(dir).length === 0);
  expect([log.lag_s(), log.lost]).toEqual([0, 0]);
});

test('what a killed process left in the spool goes in with the next one', async () => {
  const dir = directory();
  const dead = await logOn(
    fickle(() => true),
    dir,
  );
  const rows = [row(), row()];
  for (const item of rows) dead.write(item);
  await dead.close();
  expect(await countOf(rows)).toBe(0);
  await logOn(pool, dir);
  await until(async () => (await countOf(rows)) === rows.length);
});

test('memory is bounded: beyond ten thousand rows the oldest go to disk, and none is lost', async () => {
  let release = () => {};
  const stuck = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: Pool = {
    ...pool,
    async query<Row>(statement: Parameters<Pool['query']>[0]) {
      if (statement.name === 'analytics.insert_rows') await stuck;
      return pool.query<Row>(statement);
    },
  };
  const dir = directory();
  const log = await logOn(slow, dir);
  const rows = Array.from({ length: 11_500 }, () => row({ attempt_rows: [], route_trace: null }));
  for (const item of rows) log.write(item);
  await until(() => readdirSync(dir).filter((name) => name.endsWith('.json')).length >= 2);
  release();
  await until(async () => readdirSync(dir).length === 0 && (await countOf(rows)) === rows.length);
  expect(log.lost).toBe(0);
});

test('a row that the database refuses is lost alone, without its neighbours', async () => {
  const log = await logOn(pool);
  const rows = [
    row(),
    row({ http_status: 2 ** 40 }),
    row({ tags: { half: '\ud83d' } }),
    row({ user_agent: 'nul \u0000 \\u0000 and \\\\u0000 kept' }),
  ];
  for (const item of rows) log.write(item);
  await log.flush();
  expect(await countOf(rows)).toBe(3);
  expect(log.lost).toBe(1);
  const text = 'select user_agent from request_row where request_id = $1';
  const found = await pool.query<{ user_agent: string }>({
    name: 'test.agent',
    text,
    values: [(rows[3] as RequestRow).request_id],
  });
  expect(found.rows[0]?.user_agent).toBe('nul  \\u0000 and \\\\u0000 kept');
});

test('days are prepared once, and a day whose rows came first stays where it is', async () => {
  const days = { first: '2031-05-01', last: '2031-05-03' };
  const early = row({ request_id: '024GM74R00AAAAAAAAAAAAAAAA' as RequestRow['request_id'] });
  await insertRows(pool, [early]);
  const { rows } = await pool.query<{ ts: Date }>({
    name: 'test.early',
    text: 'select ts from request_row where request_id = $1',
    values: [early.request_id],
  });
  const [first] = rows as [{ ts: Date }];
  const day = first.ts.toISOString().slice(0, 10);
  expect(await prepareDays(pool, { first: day, last: day })).toBe(0);
  expect(await prepareDays(pool, days)).toBe(3);
  expect(await prepareDays(pool, days)).toBe(0);
  expect(await countOf([early])).toBe(1);
});

test('rows go after 400 days and attempts after 90, by whole days and out of the default partition', async () => {
  const now = Date.UTC(2040, 5, 15, 12);
  const idOf = (days_ago: number) => ulid(now - days_ago * DAY_MS) as RequestRow['request_id'];
  const dayOf = (days_ago: number) => new Date(now - days_ago * DAY_MS).toISOString().slice(0, 10);
  const prepared = [0, 90, 91, 400, 401].map((days) => row({ request_id: idOf(days) }));
  for (const days of [0, 90, 91, 400, 401])
    await prepareDays(pool, { first: dayOf(days), last: dayOf(days) });
  // Nobody made a place for these.
  const strays = [89, 95, 399, 500].map((days) => row({ request_id: idOf(days) }));
  await insertRows(pool, [...prepared, ...strays]);
  const state = async () => {
    const of = [...prepared, ...strays];
    const rows = await Promise.all(of.map((item) => countOf([item])));
    const attempts = await Promise.all(of.map((item) => listAttempts(pool, item.request_id)));
    return { rows, attempts: attempts.map((found) => found.length) };
  };
  expect(await state()).toEqual({ rows: Array(9).fill(1), attempts: Array(9).fill(1) });

  // What something reads is left for the next run, and calls do not wait for it; after a day that is a fault.
  const reader = new pg.Client(url);
  await reader.connect();
  await reader.query('begin; select from request_row limit 1');
  const job = dropOldDays(pool, new Date(now));
  await expect(job).rejects.toThrow(/^request_row_\d{8} is past its time and cannot be dropped/);
  expect((await state()).rows).toEqual(Array(9).fill(1));
  await reader.query('rollback');
  await reader.end();

  expect(await dropOldDays(pool, new Date(now))).toBeGreaterThanOrEqual(4);
  expect(await state()).toEqual({
    rows: [1, 1, 1, 1, 0, 1, 1, 1, 0],
    attempts: [1, 1, 0, 0, 0, 1, 0, 0, 0],
  });
  expect(await dropOldDays(pool, new Date(now))).toBe(0);
});

test('any text comes back as it was written, in every kind of column', async () => {
  const anyText = fc.string({
    unit: fc.constantFrom('a', '"', '\\', ',', '(', ')', '{', '}', ' ', "'", '\n', 'é', '\u{1F600}', 'NULL'),
  });
  await fc.assert(
    fc.asyncProperty(anyText, anyText, anyText, async (user_agent, tag, note) => {
      const written = row({
        user_agent,
        tags: { [tag]: note },
        route_trace: chosen({ policy: note, excluded: [{ endpoint_id: tag, reason: note }] }),
        warnings: [user_agent],
      });
      await insertRows(pool, [written, row({ user_agent: note })]);
      const read = await findRow(pool, { org_id, environment: null, request_id: written.request_id });
      const { attempt_rows: _, ...columns } = written;
      expect(read).toMatchObject(columns);
    }),
    { numRuns: 60 },
  );
});

async function replaysOf(item: RequestRow): Promise<number | undefined> {
  const args = { org_id, environment: null, request_id: item.request_id };
  return (await findRow(pool, args))?.replays;
}

test('replays are counted on the row, whether it came before or comes later from another process', async () => {
  const log = await logOn(pool);
  const other = await logOn(pool);
  const early = row();
  const late = row();
  log.write(early);
  log.replayed(early.request_id);
  log.replayed(early.request_id);
  log.replayed(late.request_id);
  await log.flush();
  expect(await replaysOf(early)).toBe(2);
  expect(await replaysOf(late)).toBeUndefined();
  other.write(late);
  await other.flush();
  expect(await replaysOf(late)).toBe(0);
  log.replayed(late.request_id);
  await log.flush();
  expect(await replaysOf(late)).toBe(2);
  await log.flush();
  expect(await replaysOf(early)).toBe(2);
});
