// What every engine of rows promises. The same is asked of each, and the two are compared answer by answer.
import type { RowFilter } from '@svc/core/analytics/store.ts';
import type { RequestRow } from '@svc/core/analytics/types.ts';
import { ANY_CALLER } from '@svc/core/analytics/usage-store.ts';
import type { Id, RequestId } from '@svc/core/kernel/index.ts';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { bucketsOf } from './buckets.ts';
import { type Engine, type Engines, openEngines } from './engines.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Late enough that no engine drops it, and over so that hours may be sealed. */
const start = Math.floor((Date.now() - 5 * DAY_MS) / DAY_MS) * DAY_MS;

let engines: Engines;
beforeAll(async () => {
  engines = await openEngines();
}, 120_000);

let orgs = 0;
/** An organization that no other test writes for. */
function newOrg(): Id<'org'> {
  return `org_01KACZ3V8S6T5R4Q3P2N1${String(++orgs).padStart(5, '0')}` as Id<'org'>;
}
const tenantOf = (org_id: Id<'org'>) =>
  ({ org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' }) as unknown as Tenant;

function call(org_id: Id<'org'>, at_ms: number, other: Partial<RequestRow> = {}): RequestRow {
  return rowOf(tenantOf(org_id), { request_id: ulid(start + at_ms) as RequestId, ...other });
}

/** The row of the sweeper for a call whose process it took for dead. */
function lost(row: RequestRow): RequestRow {
  const attempt = row.attempt_rows[0] as RequestRow['attempt_rows'][number];
  return {
    ...row,
    ...{
      model: '',
      provider: '',
      status: 'error',
      error_code: 'internal',
      cost_micro: 0,
      tags: {},
      user_hash: '',
    },
    attempt_rows: [
      { ...attempt, provider: '', endpoint_id: '', outcome: 'error', error_class: 'gateway_lost' },
    ],
  };
}

const ALL = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };
const EVERYTHING: RowFilter = {
  ...{ since: null, until: null, ...ALL, status: null, errors_only: false, fallbacks_only: false },
  ...{ min_cost_micro: null, max_cost_micro: null, q: null },
};
const of = (org_id: Id<'org'>) => ({ org_id, environment: 'live' as const });
const span = { from: new Date(start), to: new Date(start + 3 * DAY_MS) };

async function byModel(engine: Engine, org_id: Id<'org'>, unit: 'hour' | 'day' | 'all' = 'all') {
  const sums = await engine.reader.sumUsage(
    { ...of(org_id), ...span, ...ALL },
    { ...bucketsOf(span, unit), group: 'model', tag: null },
  );
  return sums.map((sum) => [sum.bucket.getTime(), sum.key, sum.requests, sum.cost_micro]).sort();
}

/** A spell of deliveries: each batch one to five times, cut somewhere or not, all in any order. */
const deliveries = (rows: number) =>
  fc.record({
    cuts: fc.array(fc.integer({ min: 1, max: Math.max(1, rows - 1) }), { maxLength: 4 }),
    times: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 5, maxLength: 5 }),
    order: fc.infiniteStream(fc.nat(1_000_000)),
    recut: fc.array(fc.integer({ min: 1, max: Math.max(1, rows - 1) }), { maxLength: 3 }),
  });

function cut<T>(rows: readonly T[], at: readonly number[]): T[][] {
  const places = [...new Set([0, ...at, rows.length])].filter((n) => n <= rows.length).sort((a, b) => a - b);
  return places.slice(1).map((end, i) => rows.slice(places[i], end));
}

describe.each(['postgres', 'clickhouse'])('%s', (name) => {
  let engine: Engine;
  beforeAll(() => {
    engine = engines.both.find((one) => one.name === name) as Engine;
  });

  test('cost and calls are those that were metered, however often and in whatever pieces batches come', async () => {
    const metered = fc.array(
      fc.record({ at_ms: fc.nat(2 * DAY_MS), model: fc.nat(2), cost: fc.nat(9_999_999), dead: fc.nat(4) }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(
        metered.chain((calls) => fc.tuple(fc.constant(calls), deliveries(calls.length))),
        async ([calls, { cuts, times, order, recut }]) => {
          const org_id = newOrg();
          const rows = calls.map(({ at_ms, model, cost }) =>
            call(org_id, at_ms, { model: `acme/m-${model}`, cost_micro: cost }),
          );
          const pieces = [...cut(rows, cuts), ...cut(rows, recut)];
          const sent = pieces.flatMap((piece, i) => Array<RequestRow[]>(times[i % 5] as number).fill(piece));
          // Some were taken for lost before or after they ended.
          const taken = rows.filter((_, i) => calls[i]?.dead === 0).map((row) => [lost(row)]);
          const all = [...sent, ...taken].map((batch) => ({ batch, place: order.next().value as number }));
          for (const { batch } of all.sort((a, b) => a.place - b.place)) await engine.sink.insert(batch);
          const expected = new Map<string, [number, number]>();
          for (const { model, cost } of calls) {
            const [n, sum] = expected.get(`acme/m-${model}`) ?? [0, 0];
            expected.set(`acme/m-${model}`, [n + 1, sum + cost]);
          }
          const found = await byModel(engine, org_id);
          expect(found).toEqual([...expected].map(([key, sums]) => [start, key, ...sums]).sort());
          const listed = await engine.reader.listRows({
            ...{ ...of(org_id), filter: EVERYTHING, after: null, limit: 100 },
          });
          expect(listed.map(({ request_id }) => request_id).sort()).toEqual(
            rows.map(({ request_id }) => request_id).sort(),
          );
        },
      ),
      { numRuns: 12 },
    );
  });

  test('a call that was taken for lost and ended after all has the row of its end, whichever came first', async () => {
    const org_id = newOrg();
    const rows = [call(org_id, 1), call(org_id, 2), call(org_id, 3)] as const;
    await engine.sink.insert([lost(rows[0])]);
    await engine.sink.insert([rows[0], rows[1]]);
    await engine.sink.insert([lost(rows[1]), lost(rows[2]), rows[2]]);
    await engine.sink.insert([lost(rows[0])]);
    for (const { request_id } of rows) {
      const found = await engine.reader.findRow({ org_id, environment: null, request_id });
      expect(found).toMatchObject({ status: 'ok', model: 'acme/fast-1', cost_micro: 1_253 });
      const attempts = await engine.reader.listAttempts(request_id);
      expect(attempts.map(({ outcome, error_class }) => [outcome, error_class])).toEqual([['ok', '']]);
    }
  });

  test('a tail has each row once, in the order in which rows came, and a batch that comes again is not in it', async () => {
    const org_id = newOrg();
    const from = await engine.reader.readClock();
    const rows = Array.from({ length: 7 }, (_, i) => call(org_id, 4 * DAY_MS + i));
    for (const batch of [rows.slice(4), rows.slice(0, 2), rows.slice(2, 4)]) await engine.sink.insert(batch);
    const between = await engine.reader.readClock();
    for (const batch of [rows, rows.slice(1, 5)]) await engine.sink.insert(batch);
    const read = async (since: Date, sent: readonly string[], limit = 100) => {
      const until = new Date((await engine.reader.readClock()).getTime() + 1);
      const args = { ...of(org_id), filter: EVERYTHING, from: since, until, sent, limit };
      return (await engine.reader.listStored(args)).map(({ request_id }) => request_id);
    };
    const earlier = new Date(from.getTime() - 1);
    const ids = await read(earlier, []);
    expect(ids.map((id) => rows.findIndex((row) => row.request_id === id))).toEqual([4, 5, 6, 0, 1, 2, 3]);
    expect(await read(new Date(between.getTime() + 1), [])).toEqual([]);
    // By pages, each with what was sent.
    const paged: string[] = [];
    for (let i = 0; i < 4; i++) paged.push(...(await read(earlier, paged, 2)));
    expect(paged).toEqual(ids);
    const [first] = ids as [RequestId];
    expect(await engine.reader.findArrival({ ...of(org_id), request_id: first })).toBeInstanceOf(Date);
    expect(await engine.reader.findArrival({ ...of(newOrg()), request_id: first })).toBeNull();
  });

  test('an erased end user is in no row any more, cost stays, and what comes again does not bring the user back', async () => {
    const org_id = newOrg();
    const mine = Array.from({ length: 5 }, (_, i) => call(org_id, i, { user_hash: 'u1', tags: { a: 'b' } }));
    const other = call(org_id, 9, { user_hash: 'u2', tags: { a: 'b' } });
    await engine.sink.insert([...mine, other]);
    const subject = { org_id, subject_hash: 'u1' };
    const page = (subject_hash: string) =>
      engine.reader.pageSubjectCalls({ org_id, subject_hash, after: null, limit: 10 });
    expect(await page('u1')).toHaveLength(5);
    expect((await engine.erase({ ...subject, org_id: newOrg() })).length).toBe(0);
    expect((await engine.erase(subject)).sort()).toEqual(mine.map(({ request_id }) => request_id).sort());
    expect(await engine.erase(subject)).toEqual([]);
    await engine.sink.insert(mine.slice(1, 3));
    await engine.sink.insert([lost(mine[0] as RequestRow)]);
    expect(await page('u1')).toEqual([]);
    expect(await page('')).toEqual([]);
    expect(await page('u2')).toHaveLength(1);
    const rows = await engine.reader.listRows({
      ...{ ...of(org_id), filter: EVERYTHING, after: null, limit: 10 },
    });
    expect(rows.map(({ user_hash, tags }) => [user_hash, tags['a'] ?? '']).sort()).toEqual([
      ...Array(5).fill(['', '']),
      ['u2', 'b'],
    ]);
    expect(await byModel(engine, org_id)).toEqual([[start, 'acme/fast-1', 6, 6 * 1_253]]);
  });

  test('replays are added to the row that is there, and those without a row are named by their absence', async () => {
    const org_id = newOrg();
    const [row, none] = [call(org_id, 1), call(org_id, 2)];
    await engine.sink.insert([row]);
    const counts = [row, none].map(({ request_id }) => ({ request_id, times: 2 }));
    expect(await engine.sink.addReplays(counts)).toEqual([row.request_id]);
    expect(await engine.sink.addReplays([{ request_id: row.request_id, times: 1 }])).toEqual([
      row.request_id,
    ]);
    const found = await engine.reader.findRow({ org_id, environment: 'live', request_id: row.request_id });
    expect(found?.replays).toBe(3);
  });

  test('any text comes back as PostgreSQL keeps it, in every kind of column', async () => {
    const org_id = newOrg();
    const anyText = fc.string({
      unit: fc.constantFrom(
        'a',
        '"',
        '\\',
        ',',
        '(',
        '{',
        ' ',
        "'",
        '\n',
        '\t',
        'é',
        '\u{1F600}',
        '\0',
        '\ud83d',
      ),
    });
    const kept = (text: string) => text.replaceAll('\0', '').toWellFormed();
    await fc.assert(
      fc.asyncProperty(anyText, anyText, anyText, async (user_agent, tag, note) => {
        const row = call(org_id, 5, { user_agent, tags: { [tag]: note }, warnings: [note] });
        await engine.sink.insert([row]);
        const found = await engine.reader.findRow({ org_id, environment: null, request_id: row.request_id });
        expect(found).toMatchObject({
          ...{ user_agent: kept(user_agent), tags: { [kept(tag)]: kept(note) }, warnings: [kept(note)] },
        });
      }),
      { numRuns: 25 },
    );
  });

  test('rows go after 400 days and attempts after 90, by whole days', async () => {
    const org_id = newOrg();
    // By the clock of the server all of these are young.
    const now = Date.now() + 600 * DAY_MS;
    const rows = [0, 89, 92, 399, 402].map((days) =>
      call(org_id, 0, { request_id: ulid(now - days * DAY_MS) as RequestId }),
    );
    await engine.sink.insert(rows);
    await engine.dropDays(new Date(now));
    const left = await Promise.all(
      rows.map(async ({ request_id }) => [
        (await engine.reader.findRow({ org_id, environment: 'live', request_id })) === null ? 0 : 1,
        (await engine.reader.listAttempts(request_id)).length,
      ]),
    );
    expect(left).toEqual([
      [1, 1],
      [1, 1],
      [1, 0],
      [1, 0],
      [0, 0],
    ]);
  });
});
