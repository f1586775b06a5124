// Sealed hours against the rows they stand for, however late a row comes and however often the job runs.
import fc from 'fast-check';
import { ulid } from 'ulid';
import { afterAll, expect, test } from 'vitest';
import type { Tenant } from '../../test/registry/harness.ts';
import { rowOf } from '../../test/registry/rows.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool } from '../db/index.ts';
import type { Id, RequestId } from '../kernel/index.ts';
import type { RequestRow } from './index.ts';
import { insertLateRows, isLate, rollUpUsage } from './roll-up.ts';
import { insertRows } from './store.ts';
import { unlinkCalls } from './subjects/store.ts';
import { ANY_CALLER } from './usage-store.ts';
import { sumPlainApart, sumPlainUsage } from './values/read-store.ts';
import { sumMissing } from './values/sum.ts';

const pool = createPool(await createTestDatabase(), { max: 4 });
afterAll(() => pool.end());

const HOUR_MS = 3_600_000;
const start = Date.parse('2026-11-18T00:00:00.000Z');
const orgs = ['org_01KACZ3V8S6T5R4Q3P2N1M0K9J', 'org_01KACZ3V8S6T5R4Q3P2N1M0K9K'] as Id<'org'>[];
const tenantOf = (org_id: Id<'org'>) =>
  ({ org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' }) as unknown as Tenant;

interface Call {
  readonly at_ms: number;
  readonly org: number;
  readonly model: number;
  readonly cost: number;
  readonly ok: boolean;
}
const calls = (span_ms: number) =>
  fc.array(
    fc.record({
      at_ms: fc.integer({ min: 0, max: span_ms - 1 }),
      org: fc.nat(1),
      model: fc.nat(2),
      cost: fc.nat(9_999),
      ok: fc.boolean(),
    }),
    { minLength: 1, maxLength: 25 },
  );

function toRow({ at_ms, org, model, cost, ok }: Call): RequestRow {
  return rowOf(tenantOf(orgs[org] as Id<'org'>), {
    request_id: ulid(start + at_ms) as RequestId,
    model: `acme/m-${model}`,
    cost_micro: cost,
    status: ok ? 'ok' : 'error',
    tags: (model === 0 ? {} : { team: `t${model}`, run: `r${cost % 2}` }) as RequestRow['tags'],
    user_hash: cost % 3 === 0 ? '' : `u${cost % 3}`,
    session_id: cost % 2 === 0 ? '' : `s${cost % 5}`,
  });
}

/** The writer's own choice between the two ways in. */
async function write(rows: readonly RequestRow[], now_ms: number): Promise<void> {
  if (rows.some((row) => isLate(row.request_id, now_ms))) await insertLateRows(pool, rows);
  else await insertRows(pool, rows);
}

const KEYS = {
  model: 'model',
  key: 'key_id',
  tag: `coalesce(tags ->> 'team', '')`,
  user: 'user_hash',
  session: 'session_id',
} as const;

const order = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);

/** Cost and calls by a group as rows say it, and as usage says it, for a range that begins and ends anywhere. */
async function bothWays(org_id: Id<'org'>, from: Date, to: Date, group: keyof typeof KEYS = 'model') {
  const { rows } = await pool.query<{ key: string; requests: number; ok: number; cost_micro: number }>({
    name: `test.usage_of_rows_by_${group}`,
    text: `select ${KEYS[group]} as key, count(*) as requests, count(*) filter (where status = 'ok') as ok,
                  sum(cost_micro)::bigint as cost_micro
             from request_row where org_id = $1 and environment = 'live' and ts >= $2 and ts < $3 group by 1`,
    values: [org_id, from, to],
  });
  const filter = {
    org_id,
    environment: 'live',
    from,
    to,
    project_id: null,
    key_id: null,
    model: null,
    provider: null,
    ...ANY_CALLER,
  } as const;
  const sums = await sumPlainUsage(pool, filter, {
    ...{ starts: [from.getTime()], group, tag: 'team', kept_from: 0, most: null },
  });
  // Summed apart, the same.
  const apart = await sumPlainApart(pool, filter, {
    ...{ starts: [from.getTime()], group, tag: 'team', kept_from: 0, most: null },
  });
  const plain = sums.map(({ bucket: _, ...sum }) => sum);
  expect(apart.groups.toSorted(order)).toEqual(plain.toSorted(order));
  const total = (of: readonly { cost_micro: number; requests: number }[]) => [
    of.reduce((sum, { cost_micro }) => sum + cost_micro, 0),
    of.reduce((sum, { requests }) => sum + requests, 0),
  ];
  expect(total(apart.series)).toEqual(total(plain));
  const shown = sums.map(({ key, requests, ok, cost_micro }) => ({ key, requests, ok, cost_micro }));
  return { rows: rows.sort(order), usage: shown.sort(order) };
}

async function clear(): Promise<void> {
  for (const table of ['request_row', 'usage_hour', 'usage_value', 'usage_unsummed'])
    await pool.query({ name: `test.clear_${table}`, text: `delete from ${table}` });
  await pool.query({ name: 'test.clear_seal', text: 'update usage_seal set until = null' });
}

/** Takes an end user out of rows, as an erasure does. */
async function erase(user_hash: string): Promise<void> {
  await pool.transaction(async (db) => {
    const { rows } = await db.query<{ request_id: string }>({
      name: 'test.calls_of_user',
      text: 'select request_id from request_row where user_hash = $1',
      values: [user_hash],
    });
    await unlinkCalls(
      db,
      rows.map(({ request_id }) => request_id),
    );
  });
}

/** No sum names the end user, also where it is not read because its hour is summed again. */
async function expectNoWordOf(user_hash: string | null): Promise<void> {
  const { rows } = await pool.query({
    name: 'test.sums_of_user',
    text: `select * from usage_value where kind = 'user' and value = $1`,
    values: [user_hash],
  });
  expect(rows).toEqual([]);
}

test('usage is the same from sealed hours as from rows, with late rows, erasures and clocks set back', async () => {
  const step = fc.record({
    advance_ms: fc.integer({ min: -3 * HOUR_MS, max: 9 * HOUR_MS }),
    arriving: calls(48 * HOUR_MS),
    from: fc.nat(48 * HOUR_MS),
    span: fc.integer({ min: 1, max: 48 * HOUR_MS }),
    summing: fc.boolean(),
    erased: fc.constantFrom(null, null, 'u1', 'u2'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      await clear();
      let now_ms = start + 12 * HOUR_MS;
      for (const { advance_ms, arriving, from, span, summing, erased } of steps) {
        now_ms += advance_ms;
        // As if all came out of a spool: every hour of theirs may be sealed.
        await write(arriving.map(toRow), start + 72 * HOUR_MS);
        await rollUpUsage(pool, new Date(now_ms));
        if (summing) await sumMissing(pool);
        if (erased !== null) await erase(erased);
        for (const org_id of orgs)
          for (const group of Object.keys(KEYS) as (keyof typeof KEYS)[]) {
            const range = [new Date(start + from), new Date(start + from + span)] as const;
            const { rows, usage } = await bothWays(org_id, ...range, group);
            expect(usage, group).toEqual(rows);
          }
        await expectNoWordOf(erased);
      }
    }),
    { numRuns: 25 },
  );
});

test('an hour is open for three quarters of an hour after its end, and is then read from its sums', async () => {
  await clear();
  await insertRows(pool, [toRow({ at_ms: 10, org: 0, model: 0, cost: 5, ok: true })]);
  expect(await rollUpUsage(pool, new Date(start + HOUR_MS + 44 * 60_000))).toBe(0);
  expect(await rollUpUsage(pool, new Date(start + HOUR_MS + 45 * 60_000))).toBe(1);
  expect(await rollUpUsage(pool, new Date(start + HOUR_MS + 46 * 60_000))).toBe(0);
  // Proof that the sums are read: the row is gone and its usage is not.
  await pool.query({ name: 'test.clear_rows', text: 'delete from request_row' });
  const { rows, usage } = await bothWays(
    orgs[0] as Id<'org'>,
    new Date(start),
    new Date(start + 2 * HOUR_MS),
  );
  expect(rows).toEqual([]);
  expect(usage).toEqual([{ key: 'acme/m-0', requests: 1, ok: 1, cost_micro: 5 }]);
});

test('a late row written while its hour is being sealed is counted once', async () => {
  await clear();
  const now = new Date(start + 30 * HOUR_MS);
  const late = Array.from({ length: 20 }, (_, n) =>
    toRow({ at_ms: n * HOUR_MS, org: 0, model: 0, cost: 1, ok: true }),
  );
  await Promise.all([
    rollUpUsage(pool, now),
    ...late.map((row) => insertLateRows(pool, [row])),
    rollUpUsage(pool, now),
  ]);
  const { rows, usage } = await bothWays(orgs[0] as Id<'org'>, new Date(start), now);
  expect(usage).toEqual(rows);
  expect(usage).toEqual([{ key: 'acme/m-0', requests: 20, ok: 20, cost_micro: 20 }]);
});

test('an hour with more values than are kept is read from rows, and so is one whose sums are not made yet', async () => {
  await clear();
  const many = Array.from({ length: 230 }, (_, n) => {
    const row = toRow({ at_ms: n, org: 0, model: 1, cost: n, ok: true });
    return { ...row, user_hash: `u${n}`, tags: { team: `t${n % 3}`, run: `r${n}`, [`n${n}`]: 'x' } };
  });
  const named = many.map(({ tags, ...row }) => ({ ...row, tags: { team: tags.team as string } }));
  for (const rows of [many, named]) {
    await clear();
    await insertRows(pool, rows);
    await rollUpUsage(pool, new Date(start + 3 * HOUR_MS));
    for (const sums of [0, 1]) {
      expect(await sumMissing(pool)).toBe(1 - sums);
      for (const group of ['user', 'tag', 'key'] as const) {
        const { rows: of_rows, usage } = await bothWays(
          orgs[0] as Id<'org'>,
          new Date(start),
          new Date(start + 2 * HOUR_MS),
          group,
        );
        expect(usage, group).toEqual(of_rows);
      }
    }
  }
  const { rows } = await pool.query({
    name: 'test.kinds',
    text: `select kind, name, count(*) as values from usage_value where kind not in ('project', 'key', 'model', 'provider', 'byok', 'app')
            group by 1, 2 order by 1, 2`,
  });
  expect(rows).toEqual([
    { kind: 'session', name: '', values: 5 },
    { kind: 'tag', name: 'team', values: 3 },
    { kind: 'user_many', name: '', values: 1 },
  ]);
});
