// Sums by value of days in ClickHouse answer as rows do, whoever is erased, whatever comes late, and wherever a program is killed.
import { sumUsageApart } from '@svc/core/analytics/clickhouse/apart-store.ts';
import type { ClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import { findSummed, holdDay, releaseDay, sumHours } from '@svc/core/analytics/clickhouse/hours-store.ts';
import { listSubjectCalls } from '@svc/core/analytics/clickhouse/read-store.ts';
import { dropDays } from '@svc/core/analytics/clickhouse/tables-store.ts';
import { countOrg } from '@svc/core/analytics/clickhouse/usage-store.ts';
import { eraseOrgRows, unlinkRows, writeRows } from '@svc/core/analytics/clickhouse/write-store.ts';
import type { RequestRow } from '@svc/core/analytics/types.ts';
import { OTHER } from '@svc/core/analytics/usage/sums-store.ts';
import { ANY_CALLER, type UsageBy, type UsageFilter } from '@svc/core/analytics/usage-store.ts';
import type { Id, RequestId } from '@svc/core/kernel/index.ts';
import fc from 'fast-check';
import { decodeTime, ulid } from 'ulid';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { type Engines, openEngines } from './engines.ts';
import { age, clear, storeSettled } from './summed.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const start = Math.floor((Date.now() - 6 * DAY_MS) / DAY_MS) * DAY_MS;
const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>;
const ALL = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };
const GROUPS = [null, 'model', 'user', 'session', 'tag'] as const;

let engines: Engines;
let db: ClickHouse;
beforeAll(async () => {
  engines = await openEngines();
  db = engines.clickhouse;
  await engines.both[1].sink.insert([]);
}, 120_000);
beforeEach(() => clear(db));

function call(at_ms: number, other: Partial<RequestRow> = {}): RequestRow {
  const tenant = { org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' } as unknown as Tenant;
  return rowOf(tenant, { request_id: ulid(start + at_ms) as RequestId, ...other });
}
const sumAt = (ms: number, through = db) => sumHours(through, new Date(start + ms));

const KEY_OF: Readonly<Record<string, (row: RequestRow) => string>> = {
  model: (row) => row.model,
  user: (row) => row.user_hash,
  session: (row) => row.session_id,
  tag: (row) => row.tags['team'] ?? '',
  none: () => '',
};

type Sums = [key: string | number, requests: number, cost_micro: number][];
function sumsBy(rows: readonly RequestRow[], keyOf: (row: RequestRow) => string | number): Sums {
  return [...Map.groupBy(rows, keyOf)].map(([key, of]) => [
    ...([key, of.length, of.reduce((sum, row) => sum + row.cost_micro, 0)] as const),
  ]);
}

interface Asked {
  readonly group: (typeof GROUPS)[number];
  readonly from: number;
  readonly to: number;
  readonly starts: readonly number[];
  readonly most: number | null;
}
const WHOLE = { from: 0, to: 4 * DAY_MS, starts: [0], most: null };

async function ask({ group, from, to, starts, most }: Asked, more: Partial<UsageBy & UsageFilter> = {}) {
  const filter = { org_id, environment: 'live' as const, ...ALL };
  const span = { from: new Date(start + from), to: new Date(start + to) };
  const by = { starts: starts.map((at) => start + at), group, tag: group === 'tag' ? 'team' : null };
  const { series, groups } = await sumUsageApart(
    db,
    { ...filter, ...span },
    { ...by, kept_from: 0, most, ...more },
  );
  return {
    series: series.map((sum) => [sum.bucket.getTime() - start, sum.requests, sum.cost_micro]).sort(),
    groups: groups.map((sum) => [sum.key, sum.requests, sum.cost_micro]).sort(),
  };
}

/** What rows say to the same question. */
function said(rows: readonly RequestRow[], { group, from, to, starts, most }: Asked) {
  const at = (row: RequestRow) => decodeTime(row.request_id) - start;
  const inside = rows.filter((row) => at(row) >= from && at(row) < to);
  const groups = sumsBy(inside, KEY_OF[group ?? 'none'] as (row: RequestRow) => string);
  groups.sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1));
  const rest = most === null ? [] : groups.splice(most);
  const other = rest.reduce<readonly [number, number]>(
    ([n, cost], one) => [n + one[1], cost + one[2]] as const,
    [0, 0],
  );
  return {
    series: sumsBy(inside, (row) => starts.findLast((one) => one <= at(row)) as number).sort(),
    groups: [...groups, ...(rest.length === 0 ? [] : [[OTHER, ...other]])].sort(),
  };
}

async function count(table: string, condition = 'true'): Promise<number> {
  const [found] = await db.query<{ n: number }>({
    name: 'test.count',
    text: `select count() as n from ${table} where ${condition}`,
  });
  return found?.n ?? 0;
}

class Killed extends Error {}
/** The server as a program sees it that is killed at its statement \`after\`, before or after the server carried that out. */
function killedAt(after: number, done: boolean): ClickHouse {
  let left = after;
  return {
    ...db,
    async run(statement) {
      if (left-- > 0) return db.run(statement);
      if (done) await db.run(statement);
      throw new Killed();
    },
  };
}
async function untilKilled(work: Promise<unknown>): Promise<void> {
  await work.catch((error) => {
    if (!(error instanceof Killed)) throw error;
  });
}

async function erase(subject_hash: string, through: ClickHouse): Promise<void> {
  const calls = await listSubjectCalls(db, { org_id, subject_hash, until: new Date(), limit: 1_000 });
  await unlinkRows(through, { org_id, request_ids: calls.map(({ request_id }) => request_id) });
}
const unlinked = (row: RequestRow): RequestRow => ({ ...row, user_hash: '', session_id: '', tags: {} });

const someCall = fc.record({
  at_ms: fc.nat(3 * DAY_MS - 1),
  model: fc.nat(1),
  user: fc.nat(2),
  session: fc.nat(2),
  tag: fc.nat(2),
  cost: fc.nat(9_999_999),
});
const made = ({
  at_ms,
  model,
  user,
  session,
  tag,
  cost,
}: typeof someCall extends fc.Arbitrary<infer T> ? T : never) =>
  call(at_ms, {
    ...{ model: `acme/m-${model}`, cost_micro: cost, user_hash: user === 0 ? '' : `u${user}` },
    ...{
      session_id: session === 0 ? '' : `s${session}`,
      tags: tag === 0 ? { else: 'x' } : { team: `t${tag}` },
    },
  });
const killing = fc.option(fc.record({ after: fc.nat(9), done: fc.boolean() }), { freq: 2 });
const step = fc.oneof(
  fc.record({
    kind: fc.constant('late' as const),
    calls: fc.array(someCall, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant('again' as const), nth: fc.nat(9) }),
  fc.record({
    kind: fc.constant('copy' as const),
    calls: fc.array(someCall, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('job' as const),
    advance_ms: fc.integer({ min: -5 * HOUR_MS, max: 30 * HOUR_MS }),
    killing,
  }),
  fc.record({ kind: fc.constant('job' as const), advance_ms: fc.constant(0), killing }),
  fc.record({ kind: fc.constant('erase' as const), user: fc.integer({ min: 1, max: 2 }), killing }),
  fc.record({ kind: fc.constant('time' as const), rows: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What is there, as steps are taken. */
class Story {
  rows: RequestRow[] = [];
  now_ms = DAY_MS;

  async take(one: Step): Promise<void> {
    if (one.kind === 'late')
      await this.#store(one.calls.map(made), (rows) => engines.both[1].sink.insert(rows));
    else if (one.kind === 'again') await engines.both[1].sink.insert(this.rows.slice(one.nth, one.nth + 2));
    else if (one.kind === 'copy') await this.#store(one.calls.map(made), (rows) => this.#copy(rows));
    else if (one.kind === 'time') await age(db, one);
    else if (one.kind === 'erase') await this.#erase(`u${one.user}`, one.killing);
    else {
      this.now_ms += one.advance_ms;
      await untilKilled(
        sumAt(this.now_ms, one.killing === null ? db : killedAt(one.killing.after, one.killing.done)),
      );
    }
  }

  async #store(rows: RequestRow[], store: (rows: RequestRow[]) => Promise<void>): Promise<void> {
    await store(rows);
    this.rows.push(...rows);
  }

  async #copy(rows: readonly RequestRow[]): Promise<void> {
    const days = [0, 1, 2].map((day) => new Date(start + day * DAY_MS).toISOString().slice(0, 10));
    for (const day of days) await holdDay(db, day);
    await storeSettled(db, rows);
    for (const day of days) await releaseDay(db, day);
  }

  async #erase(user: string, how: { after: number; done: boolean } | null): Promise<void> {
    // Days are opened, then rows are written anew: the second statement is the last.
    const after = (how?.after ?? 9) % 3;
    await untilKilled(erase(user, how === null ? db : killedAt(after, how.done)));
    if (how === null || after > 1 || (after === 1 && how.done))
      this.rows = this.rows.map((row) => (row.user_hash === user ? unlinked(row) : row));
  }
}

const asked = fc.record({
  from: fc.constantFrom(-DAY_MS, 0, 5 * HOUR_MS + 1, DAY_MS),
  to: fc.constantFrom(3 * DAY_MS, 3 * DAY_MS - 7, 4 * DAY_MS),
  half: fc.boolean(),
  most: fc.constantFrom(null, 1, 2),
});

const firstCalls = fc.array(someCall, { minLength: 1, maxLength: 8 });
const MIDDLE = {
  org_ids: [org_id],
  environment: 'live' as const,
  from: new Date(start),
  to: new Date(start + 3 * DAY_MS),
};
/** How many days are read from their sums by value. */
const readOfDays = async () => (await findSummed(db, { ...MIDDLE, by_value: true }))?.days.length ?? 0;

test('groups and series come to what rows say, through late rows, copies, erasures and jobs that are killed anywhere', async () => {
  let of_days = 0;
  await fc.assert(
    fc
      .asyncProperty(
        firstCalls,
        fc.array(step, { minLength: 2, maxLength: 7 }),
        asked,
        async (first, steps, question) => {
          const { half, ...span } = question;
          const story = new Story();
          await story.take({ kind: 'copy', calls: first });
          await story.take({ kind: 'job', advance_ms: 3 * DAY_MS, killing: null });
          for (const one of steps) {
            await story.take(one);
            const starts = [span.from, ...(half ? [DAY_MS + HOUR_MS / 2] : []), 2 * DAY_MS];
            for (const group of GROUPS) {
              const question = { ...span, starts, group };
              expect(await ask(question), `${group}`).toEqual(said(story.rows, question));
            }
            of_days += await readOfDays();
          }
        },
      )
      .beforeEach(() => clear(db)),
    { numRuns: 6 },
  );
  expect(of_days).toBeGreaterThan(5);
}, 300_000);

const mine = { user_hash: 'u1', session_id: 's1', tags: { team: 't1' } };
const theirs = { user_hash: 'u2', session_id: 's1', tags: { team: 't1' } };
const isHis = `value in ('u1', 's1', 't1')`;

/** Three days with calls of two end users, summed. */
async function summedDays(): Promise<RequestRow[]> {
  const rows = [1, DAY_MS + 1, 2 * DAY_MS + 1].flatMap((at) => [call(at, mine), call(at + 5, theirs)]);
  await storeSettled(db, rows);
  expect(await sumAt(3 * DAY_MS + HOUR_MS)).toBe(72);
  return rows;
}
async function expectSaid(rows: readonly RequestRow[]): Promise<void> {
  for (const group of GROUPS) {
    const question = { ...WHOLE, group };
    expect(await ask(question), `${group}`).toEqual(said(rows, question));
  }
}

test('whole days are read from sums by value, which answer without their rows', async () => {
  const rows = await summedDays();
  await db.run({ name: 'test.lose', text: 'truncate table request_row' });
  await expectSaid(rows);
});

test('an erased end user is in no answer from then on, and in no table of sums once days were summed again', async () => {
  const rows = await summedDays();
  const left = rows.map((row) => (row.user_hash === 'u1' ? unlinked(row) : row));
  await erase('u1', db);
  await expectSaid(left);
  // Within two minutes of an erasure days are summed for it in vain.
  await sumAt(3 * DAY_MS + HOUR_MS);
  await expectSaid(left);
  expect(await count('usage_value', `value = 'u1'`)).toBe(3);
  await age(db);
  await sumAt(3 * DAY_MS + HOUR_MS);
  await expectSaid(left);
  await age(db);
  await sumAt(3 * DAY_MS + HOUR_MS);
  expect(await count('usage_value', `value = 'u1'`)).toBe(0);
  expect(await count('usage_value_seal', `state = 'open'`)).toBe(0);
  expect(await count('usage_value', `value = 'u2'`)).toBe(3);
  await expectSaid(left);
  await db.run({ name: 'test.lose', text: 'truncate table request_row' });
  await expectSaid(left);
});

test('a job that summed a day while its calls were unlinked does not bring the end user back', async () => {
  const rows = await summedDays();
  const left = rows.map((row) => (row.user_hash === 'u1' ? unlinked(row) : row));
  // The erasure has opened the days, a row comes late, and the job sums the day before the erasure goes on.
  await untilKilled(erase('u1', killedAt(1, false)));
  const late = call(2, theirs);
  await engines.both[1].sink.insert([late]);
  await sumAt(3 * DAY_MS + HOUR_MS);
  await expectSaid([...rows, late]);
  const calls = rows.filter(({ user_hash }) => user_hash === 'u1').map(({ request_id }) => request_id);
  const none = {
    ...db,
    run: (one: Parameters<ClickHouse['run']>[0]) =>
      one.name === 'analytics.unlink' ? db.run(one) : Promise.resolve(),
  };
  await unlinkRows(none, { org_id, request_ids: calls });
  await age(db, { rows: true });
  await expectSaid([...left, late]);
});

test('what a killed job left of a day is dropped', async () => {
  const rows = [1, DAY_MS + 1].map((at) => call(at, mine));
  await storeSettled(db, rows);
  for (let after = 0; after < 12; after++) {
    await untilKilled(sumAt(2 * DAY_MS + HOUR_MS, killedAt(after, true)));
    await expectSaid(rows);
  }
  expect(await count('usage_value', isHis)).toBeGreaterThanOrEqual(6);
  for (let run = 0; run < 3; run++) {
    await age(db);
    await sumAt(2 * DAY_MS + HOUR_MS);
  }
  expect(await count('usage_value', isHis)).toBe(6);
  await expectSaid(rows);
});

test('values go when their rows go, and with their organization, also those that a job summed meanwhile', async () => {
  await summedDays();
  await dropDays(db, new Date(start + 401 * DAY_MS));
  expect(await count('usage_value', `value = 'u2'`)).toBe(2);
  const { groups } = await ask({ ...WHOLE, group: 'user' }, { kept_from: start + DAY_MS });
  expect(groups).toEqual([
    ['', 2, 2_506],
    ['u1', 2, 2_506],
    ['u2', 2, 2_506],
  ]);
  const job = {
    kept: await db.query<{ value: string }>({ name: 'test.keep', text: 'select value from usage_value' }),
  };
  expect(job.kept.length).toBeGreaterThan(0);
  await db.run({
    name: 'test.copy',
    text: 'create table kept_value engine = Memory as select * from usage_value',
  });
  await eraseOrgRows(db, org_id);
  expect(await count('usage_value')).toBe(0);
  expect(await countOrg(db, org_id)).toBe(0);
  await db.run({ name: 'test.late', text: 'insert into usage_value select * from kept_value' });
  expect(await countOrg(db, org_id)).toBeGreaterThan(0);
  await eraseOrgRows(db, org_id);
  expect(await countOrg(db, org_id)).toBe(0);
});

test('a day that is copied is read from rows until a look knows that it was summed again', async () => {
  await storeSettled(db, [call(1)]);
  await sumAt(3 * DAY_MS + HOUR_MS);
  const day = new Date(start).toISOString().slice(0, 10);
  await holdDay(db, day);
  await writeRows(db, [{ ...call(2, { cost_micro: 5 }), stored_at: new Date(Date.now() - HOUR_MS) }]);
  await releaseDay(db, day);
  // Killed when it has summed the hours, and before it has written down that it looked.
  await untilKilled(sumAt(3 * DAY_MS + HOUR_MS, killedAt(2, false)));
  expect((await ask({ ...WHOLE, group: null })).groups).toEqual([['', 2, 1_258]]);
});
