// Sums of several hours by what callers said, against the rows they stand for.
import fc from 'fast-check';
import { ulid } from 'ulid';
import { afterAll, expect, test } from 'vitest';
import type { Tenant } from '../../../test/registry/harness.ts';
import { rowOf } from '../../../test/registry/rows.ts';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPool } from '../../db/index.ts';
import type { Id, RequestId } from '../../kernel/index.ts';
import type { RequestRow } from '../index.ts';
import { insertLateRows, rollUpUsage } from '../roll-up.ts';
import { dropOldDays, insertRows } from '../store.ts';
import { unlinkCalls } from '../subjects/store.ts';
import { sumPlainApart } from './read-store.ts';
import { sumMissing, sumSpans } from './sum.ts';

const pool = createPool(await createTestDatabase(), { max: 4 });
afterAll(() => pool.end());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// A multiple of 384 hours since 1970, so that every level fits into the sixteen days that follow.
const start = Math.floor(Date.parse('2026-11-10T00:00:00.000Z') / (16 * DAY_MS)) * 16 * DAY_MS;
const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>;
const tenant = { org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' } as unknown as Tenant;

/** `count` calls spread over an hour, each of another end user and team, with sessions of up to eight hours; some say nothing. */
function callsOf(hour: number, count: number, salt = 0): RequestRow[] {
  return Array.from({ length: count }, (_, n) =>
    rowOf(tenant, {
      request_id: ulid(start + hour * HOUR_MS + n * 9_000) as RequestId,
      cost_micro: ((n + salt) * 7_919) % 5_003,
      user_hash: n % 11 === 0 ? '' : `u${(n + salt) % 260}`,
      session_id: n % 7 === 0 ? '' : `s${hour >> 3}-${n}`,
      tags: (n % 9 === 0 ? {} : { team: `t${(n * 3) % 250}`, run: `r${n % 3}` }) as RequestRow['tags'],
    }),
  );
}

const KEYS = { user: 'user_hash', session: 'session_id', tag: `coalesce(tags ->> 'team', '')` } as const;
const order = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);

async function ask(
  group: keyof typeof KEYS,
  from: Date,
  to: Date,
  most: number | null = null,
  kept_from = 0,
) {
  const of = { org_id, environment: 'live', from, to } as const;
  const by = { starts: [from.getTime()], group, tag: group === 'tag' ? 'team' : null, kept_from, most };
  const { series, groups } = await sumPlainApart(pool, of, by);
  const shown = groups.map(({ key, requests, cost_micro }) => ({ key, requests, cost_micro }));
  return { series, groups: shown.toSorted(order) };
}

/** Asks by everything that callers say, and compares with rows. */
async function compare(from: Date, to: Date): Promise<void> {
  for (const group of Object.keys(KEYS) as (keyof typeof KEYS)[]) {
    const { rows } = await pool.query<{ key: string; requests: number; cost_micro: number }>({
      name: `test.rows_by_${group}`,
      text: `select ${KEYS[group]} as key, count(*) as requests, sum(cost_micro)::bigint as cost_micro
               from request_row where org_id = $1 and environment = 'live' and ts >= $2 and ts < $3 group by 1`,
      values: [org_id, from, to],
    });
    const { series, groups } = await ask(group, from, to);
    expect(groups, group).toEqual(rows.toSorted(order));
    expect(series.reduce((sum, { cost_micro }) => sum + cost_micro, 0)).toBe(
      rows.reduce((sum, { cost_micro }) => sum + cost_micro, 0),
    );
    const sorted = rows.toSorted((a, b) => b.cost_micro - a.cost_micro || (a.key < b.key ? -1 : 1));
    const few = await ask(group, from, to, 5);
    expect(few.groups.filter(({ key }) => key !== '__other')).toEqual(sorted.slice(0, 5).toSorted(order));
    const other = few.groups.find(({ key }) => key === '__other')?.cost_micro ?? 0;
    expect(other).toBe(sorted.slice(5).reduce((sum, { cost_micro }) => sum + cost_micro, 0));
  }
}

async function clear(): Promise<void> {
  for (const table of ['request_row', 'usage_hour', 'usage_value', 'usage_unsummed'])
    await pool.query({ name: `test.clear_${table}`, text: `delete from ${table}` });
  for (const table of ['usage_span', 'usage_spanned', 'usage_unspanned'])
    await pool.query({ name: `test.clear_${table}`, text: `delete from ${table}` });
  await pool.query({ name: 'test.clear_seal', text: 'update usage_seal set until = null' });
}

async function sumAll(at_hour: number): Promise<void> {
  await rollUpUsage(pool, new Date(start + at_hour * HOUR_MS));
  await sumMissing(pool);
  await sumSpans(pool);
}

const kept = async () =>
  (
    await pool.query<{ level: number; kind: string; n: number }>({
      name: 'test.kept',
      text: 'select level, kind, count(*)::int as n from usage_spanned group by 1, 2 order by 1, 2',
    })
  ).rows.map(({ level, kind, n }) => `${level} ${kind} ${n}`);

async function erase(user_hash: string): Promise<void> {
  await pool.transaction(async (db) => {
    const { rows } = await db.query<{ request_id: string }>({
      name: 'test.calls_of_user',
      text: 'select request_id from request_row where user_hash = $1',
      values: [user_hash],
    });
    const ids = rows.map(({ request_id }) => request_id);
    await unlinkCalls(db, ids);
  });
}

/** What of a user is in any sum. */
const sumsOf = async (user_hash: string) =>
  (
    await pool.query({
      name: 'test.sums_of_user',
      text: `select 1 from usage_span where kind = 'user' and value = $1
             union all select 1 from usage_value where kind = 'user' and value = $1`,
      values: [user_hash],
    })
  ).rows.length;

test('spans of four lengths answer as rows do, and are what is read', async () => {
  await clear();
  for (let hour = 0; hour < 16 * 24; hour += 4) await insertRows(pool, callsOf(hour, 240, hour));
  await sumAll(16 * 24 + 2);
  // Six hours with calls of one hour are read from its rows, and sessions do not go on from day to day.
  expect(await kept()).toEqual([
    ...[
      '1 session 16',
      '1 tag 32',
      '1 user 32',
      '2 session 16',
      '2 tag 16',
      '2 user 16',
      '3 tag 4',
      '3 user 4',
    ],
    ...['4 tag 1', '4 user 1'],
  ]);
  const at = (hours: number) => new Date(start + hours * HOUR_MS);
  await compare(at(0), at(16 * 24));
  await compare(at(7.3), at(200.2));
  await compare(at(30), at(31));
  // Proof that they are read: rows of a day are gone, and only what no longer is whole lacks them.
  await pool.query({
    name: 'test.lose',
    text: 'delete from request_row where ts >= $1 and ts < $2',
    values: [at(96), at(120)],
  });
  const { groups } = await ask('user', at(0), at(384));
  expect(groups.reduce((sum, { requests }) => sum + requests, 0)).toBe(96 * 240);
  expect(groups.length).toBe(261);
}, 120_000);

test('late rows, erasures and spans that are made meanwhile change no answer, and an erased end user is in no sum', async () => {
  const step = fc.record({
    hours: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 4 }),
    count: fc.constantFrom(3, 230, 300),
    advance: fc.integer({ min: -8, max: 40 }),
    sums: fc.constantFrom('none', 'hours', 'spans', 'spans'),
    erased: fc.constantFrom(null, null, 'u1', 'u2', 'u77'),
    from: fc.integer({ min: 0, max: 60 * 60 }),
    span: fc.integer({ min: 1, max: 72 * 60 }),
  });
  let spans = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
      await clear();
      let now = 12;
      for (const [i, { hours, count, advance, sums, erased, from, span }] of steps.entries()) {
        now += advance;
        for (const hour of new Set(hours)) await insertLateRows(pool, callsOf(hour, count, i));
        await rollUpUsage(pool, new Date(start + now * HOUR_MS));
        if (sums !== 'none') await sumMissing(pool);
        if (sums === 'spans') await sumSpans(pool);
        if (erased !== null) await erase(erased);
        if (erased !== null) expect(await sumsOf(erased)).toBe(0);
        const first = start + from * 60_000;
        await compare(new Date(first), new Date(first + span * 60_000));
        await compare(new Date(start), new Date(start + 96 * HOUR_MS));
        spans += (await kept()).length;
      }
    }),
    { numRuns: 12 },
  );
  expect(spans).toBeGreaterThan(0);
}, 300_000);

test('rows, erasures and jobs at once leave sums that are right', async () => {
  await clear();
  for (const hour of [0, 2, 4, 6, 9, 13, 20]) await insertRows(pool, callsOf(hour, 260, hour));
  await rollUpUsage(pool, new Date(start + 40 * HOUR_MS));
  const late = [1, 3, 4, 9].map((hour, i) => insertLateRows(pool, callsOf(hour, 210, i)));
  const jobs = [0, 1, 2].map(async () => {
    await sumMissing(pool);
    await sumSpans(pool);
  });
  await Promise.all([...late, ...jobs, erase('u5'), erase('u9'), erase('u12')]);
  for (const user of ['u5', 'u9', 'u12']) await erase(user);
  expect(await Promise.all(['u5', 'u9', 'u12'].map(sumsOf))).toEqual([0, 0, 0]);
  const whole = [new Date(start), new Date(start + 40 * HOUR_MS)] as const;
  await compare(...whole);
  await sumAll(40);
  await compare(...whole);
  expect(await kept()).toContain('2 user 1');
});

test('spans go with the rows they were made of, and what only rows knew is then under the empty key', async () => {
  await clear();
  for (const hour of [0, 1, 30, 100]) await insertRows(pool, callsOf(hour, 240, hour));
  await sumAll(200);
  const kept_from = start + DAY_MS;
  await dropOldDays(pool, new Date(kept_from + 400 * DAY_MS));
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.old_spans',
    text: `select ((select count(*) from usage_span where start < $1) + (select count(*) from usage_spanned where start < $1)
                   + (select count(*) from usage_unspanned where start < $1))::int as n`,
    values: [new Date(kept_from)],
  });
  expect(rows[0]?.n).toBe(0);
  const { groups } = await ask('user', new Date(start), new Date(start + 200 * HOUR_MS), null, kept_from);
  expect(groups.reduce((sum, { requests }) => sum + requests, 0)).toBe(4 * 240);
  expect(groups.find(({ key }) => key === '')?.requests).toBeGreaterThanOrEqual(480);
});
