// From rows of calls to what everybody may see: which calls count, on which day, and from how many on.
import { ulid } from 'ulid';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Tenant } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { staffContext } from '../../test/support/provision.ts';
import { type RequestRow, sumDays } from '../analytics/index.ts';
import { insertRows } from '../analytics/store.ts';
import { createPool } from '../db/index.ts';
import type { Id, RequestId } from '../kernel/index.ts';
import { createOrg } from '../orgs/index.ts';
import { publishFigures } from './index.ts';
import { listOwnApps, readFigures } from './store.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 4 });
afterAll(() => pool.end());
const staff = staffContext(pool);
const EP = 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R';
const orgs = await Promise.all(
  ['one', 'two', 'three'].map((slug) => createOrg(staff, { slug, name: slug, billing_country: 'US' })),
);
const [one, two, three] = orgs.map(({ id }) => id) as [Id<'org'>, Id<'org'>, Id<'org'>];
const tenantOf = (org_id: Id<'org'>) =>
  ({ org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' }) as unknown as Tenant;
const NOW = new Date('2026-11-20T12:00:00Z');

const exec = (text: string, values: readonly unknown[] = []) =>
  pool.query<Record<string, unknown>>({ name: '', text, values });
beforeEach(async () => {
  for (const table of ['request_row', 'request_attempt', 'endpoint_day', 'app_day', 'summed_day', 'app'])
    await exec(`delete from ${table}`);
  await exec('update figures set content = null, refreshed_at = null');
});

type Attempt = RequestRow['attempt_rows'][number];
interface Call extends Partial<Omit<RequestRow, 'attempt_rows'>> {
  readonly at: string;
  readonly org?: Id<'org'>;
  readonly attempt?: Partial<Attempt>;
}

function toRow({ at, org = one, attempt = {}, ...rest }: Call): RequestRow {
  const request_id = ulid(Date.parse(at)) as RequestId;
  const row = rowOf(tenantOf(org), { ...rest, request_id });
  return { ...row, attempt_rows: row.attempt_rows.map((first) => ({ ...first, ...attempt })) };
}
const write = (calls: readonly Call[]) => insertRows(pool, calls.map(toRow));
const times = (n: number, call: Call) => Array.from({ length: n }, () => call);
const publish = (now = NOW, min_orgs = 1) => publishFigures(pool, { now, min_orgs });
const contentOf = async () => (await readFigures(pool))?.content;
const days = async () =>
  (await exec('select day::text, attempts, ok, excused from endpoint_day order by day')).rows;

test('uptime leaves out what callers spoilt or left, and own keys that are rejected', async () => {
  const at = '2026-11-20T08:00:00Z';
  const failed = (error_class: string, other: Partial<Attempt> = {}) => ({
    at,
    attempt: { outcome: 'error', error_class, ...other } as Partial<Attempt>,
  });
  await write([
    ...times(18, { at }),
    failed('server'),
    failed('timeout', { outcome: 'timeout' }),
    failed('context_length'),
    failed('client'),
    failed('content_filter'),
    failed('auth', { pool_id: 'byok' }),
    failed('client_gone', { outcome: 'cancelled' }),
    failed('auth'),
  ]);
  await publish();
  expect(await days()).toEqual([{ day: '2026-11-20', attempts: 26, ok: 18, excused: 5 }]);
  const found = (await contentOf())?.endpoints[EP];
  expect(found).toMatchObject({ attempts_30d: 26, uptime_30d: 0.8571, degraded: true });
});

test('nineteen attempts publish nothing, and the twentieth does', async () => {
  const at = '2026-11-20T08:00:00Z';
  await write(times(19, { at, attempt: { ttft_ms: 200 } }));
  await publish();
  expect((await contentOf())?.endpoints[EP]).toEqual({
    ...{ attempts_30d: 19, uptime_30d: null, ttft_p50_ms: null, ttft_p95_ms: null, degraded: false },
  });
  await write([{ at, attempt: { ttft_ms: 200 } }]);
  await publish();
  const found = (await contentOf())?.endpoints[EP];
  expect(found).toMatchObject({ attempts_30d: 20, uptime_30d: 1 });
  expect(Math.abs((found?.ttft_p50_ms ?? 0) - 200) / 200).toBeLessThan(0.025);
});

test('sandbox calls count nowhere', async () => {
  const at = '2026-11-20T08:00:00Z';
  await write(times(30, { at, environment: 'test', app_id: 'toy' }));
  // Nor does what the sandbox answers for a live key: it is free, so that anybody could lead any ranking.
  await write(times(30, { at, provider: 'sandbox', app_id: 'toy', attempt: { provider: 'sandbox' } }));
  await publish();
  expect(await contentOf()).toEqual({ min_orgs: 1, endpoints: {}, models: {} });
  expect((await exec('select * from app')).rows).toEqual([]);
  expect((await exec('select * from app_day')).rows).toEqual([]);
});

test('a call belongs to the UTC day on which it began, whatever the time zone of the database', async () => {
  await write([
    { at: '2026-11-18T23:59:59.999Z' },
    { at: '2026-11-19T00:00:00.000Z' },
    { at: '2026-11-19T23:59:59.999Z', attempt: { ts_ms: Date.parse('2026-11-20T00:00:05Z') } },
    { at: '2026-11-20T00:00:00.000Z' },
  ]);
  const abroad = createPool(url, { max: 1 });
  await abroad.query({ name: '', text: `set timezone = 'Asia/Kolkata'` });
  await publishFigures(abroad, { now: NOW, min_orgs: 1 });
  await abroad.end();
  expect(await days()).toEqual([
    { day: '2026-11-18', attempts: 1, ok: 1, excused: 0 },
    { day: '2026-11-19', attempts: 2, ok: 2, excused: 0 },
    { day: '2026-11-20', attempts: 1, ok: 1, excused: 0 },
  ]);
});

test("a model's calls are published once enough organizations made them", async () => {
  const at = '2026-11-20T08:00:00Z';
  const requests = async () => (await contentOf())?.models['acme/fast-1']?.requests_7d ?? null;
  await write([...times(4, { at }), ...times(3, { at, org: two })]);
  await publish(NOW, 3);
  expect(await requests()).toBeNull();
  await write([
    { at, org: three },
    { at: '2026-11-13T23:00:00Z', org: three },
    { at, org: three, status: 'error' },
  ]);
  await publish(NOW, 3);
  expect(await requests()).toBe(8);
});

test('an app belongs to the organization that called with it first, and never changes hands', async () => {
  await write([
    { at: '2026-11-20T08:00:00Z', org: two, app_id: 'notes' },
    { at: '2026-11-20T07:59:59Z', org: one, app_id: 'notes' },
    { at: '2026-11-20T07:00:00Z', org: three, app_id: 'svc-evals' },
    { at: '2026-11-20T07:00:00Z', org: three, app_id: '<b>' },
    { at: '2026-11-20T07:00:00Z', org: three, app_id: '' },
  ]);
  await publish();
  expect((await listOwnApps(pool, one)).map(({ slug, name }) => [slug, name])).toEqual([['notes', 'notes']]);
  expect(await listOwnApps(pool, two)).toEqual([]);
  expect(await listOwnApps(pool, three)).toEqual([]);
  // A row that comes late from a spool says that another was first: names stay where they are.
  await write([{ at: '2026-11-20T06:00:00Z', org: two, app_id: 'notes' }]);
  await publish();
  expect((await listOwnApps(pool, one)).map(({ slug }) => slug)).toEqual(['notes']);
});

test('a day is summed again while it runs, an hour after, a day after and a week after, and then rests', async () => {
  const at = (text: string) => new Date(text);
  await write([{ at: '2026-11-20T01:00:00Z' }]);
  const attempts = async () => (await days()).find(({ day }) => day === '2026-11-20')?.['attempts'] as number;
  const late = async (now: string) => {
    await write([{ at: '2026-11-20T02:00:00Z' }]);
    await sumDays(pool, at(now));
    return attempts();
  };
  expect(await late('2026-11-20T12:00:00Z')).toBe(2);
  expect(await late('2026-11-20T12:10:00Z')).toBe(3);
  expect(await late('2026-11-21T00:05:00Z')).toBe(4);
  expect(await late('2026-11-21T00:59:00Z')).toBe(4);
  expect(await late('2026-11-21T01:00:00Z')).toBe(6);
  expect(await late('2026-11-21T23:59:00Z')).toBe(6);
  expect(await late('2026-11-22T00:00:00Z')).toBe(8);
  expect(await late('2026-11-27T12:00:00Z')).toBe(8);
  expect(await late('2026-11-28T00:00:00Z')).toBe(10);
  expect(await late('2026-12-20T00:00:00Z')).toBe(10);
});

test('ten that publish at once agree on every number', async () => {
  await write([...times(25, { at: '2026-11-19T08:00:00Z' }), ...times(5, { at: '2026-11-20T08:00:00Z' })]);
  await Promise.all(Array.from({ length: 10 }, () => publish()));
  expect(await days()).toEqual([
    { day: '2026-11-19', attempts: 25, ok: 25, excused: 0 },
    { day: '2026-11-20', attempts: 5, ok: 5, excused: 0 },
  ]);
  expect((await contentOf())?.endpoints[EP]?.attempts_30d).toBe(30);
});

test('sums do not reach back behind 30 days, and a clock that was set back sums again', async () => {
  await write(times(20, { at: '2026-10-21T23:00:00Z' }));
  await publish();
  expect((await contentOf())?.endpoints[EP]).toBeUndefined();
  await write(times(2, { at: '2026-10-22T00:00:00Z' }));
  await publish(new Date('2026-10-22T12:00:00Z'));
  expect((await contentOf())?.endpoints[EP]?.attempts_30d).toBe(22);
});
