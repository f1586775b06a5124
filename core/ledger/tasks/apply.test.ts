// Orders that cannot be carried out now: a ledger that is away, and an order that it refuses. They are tried again, ever later,
// and keep back what was ordered of the same book behind them, and nothing else.
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { staffContext } from '../../../test/support/provision.ts';
import { createPool } from '../../db/index.ts';
import { microUsd, newId, nowMs, ServiceError, shiftClock } from '../../kernel/index.ts';
import {
  applyDueTasks,
  bookedCredit,
  catchUp,
  credit,
  creditOutcome,
  orderBook,
  orderCredit,
  orderDebit,
  readBalance,
} from '../index.ts';
import { openBook } from '../store.ts';
import { AWAY, keptLog } from '../testing/testing.ts';
import { applyAfterCommit } from './apply.ts';

const HOUR_MS = 3_600_000;
const url = await createTestDatabase();
const pool = createPool(url, { shards: [{ name: 'away', url: AWAY }] });
const main = pool.shards.at('main');
const { log, lines } = keptLog();
const context = staffContext(pool, log);

beforeEach(() => {
  lines.length = 0;
});
afterEach(() => shiftClock(0));
afterAll(() => pool.end());

let serial = 800;

/** The number of a book of the ledger `shard`; opened there, if it can be. */
async function book(shard: 'main' | 'away'): Promise<number> {
  const book_id = serial++;
  const opened = { book_id, org_id: newId('org'), environment: 'live', low_mark_micro_usd: null } as const;
  if (shard === 'main') await orderBook(context, shard, opened);
  return book_id;
}

const order = (shard: 'main' | 'away', book_id: number, ref_id = 'one', amount = 30) =>
  orderCredit(context, shard, {
    ...{ book_id, kind: 'topup', granted: false, expires_at: null, ref_type: 'topup', ref_id },
    amount_micro_usd: microUsd(amount),
  });

interface Row {
  readonly tries: number;
  readonly fault: string | null;
  readonly pause_ms: number;
  readonly waits: boolean;
}

async function orders(book_id: number): Promise<Row[]> {
  const { rows } = await pool.query<Row & { next_at: Date }>({
    name: 'test.orders',
    text: `select tries, fault, next_at, applied_at is null as waits from ledger_task where book_id = $1 order by task_no`,
    values: [book_id],
  });
  return rows.map(({ next_at, ...row }) => ({ ...row, pause_ms: next_at.getTime() - nowMs() }));
}

const available = async (book_id: number) => (await readBalance(main, book_id)).available_micro_usd;

/** As if `tries` had been made: the next one is due. */
const setTries = (book_id: number, tries: number) =>
  pool.query({
    name: 'test.set_tries',
    text: 'update ledger_task set tries = $2, next_at = created_at where book_id = $1',
    values: [book_id, tries],
  });

/** The ledger has no such book: what is ordered of it cannot be carried out. */
const UNKNOWN = 799;

test('while its ledger is away an order stands and waits, and its caller is told so', async () => {
  const book_id = await book('away');
  const { reference } = await order('away', book_id);
  const [one] = await orders(book_id);
  expect(one).toMatchObject({ tries: 1, waits: true });
  expect(one?.fault).toMatch(/ECONNREFUSED/);
  expect(one?.pause_ms).toBeGreaterThan(0);
  expect(one?.pause_ms).toBeLessThanOrEqual(1_000);
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ level: 'warn', msg: 'ledger: a shard does not answer, its order waits', shard: 'away', book_id },
      ...{ task_no: expect.any(Number), error: expect.objectContaining({ code: 'ECONNREFUSED' }) },
    }),
  ]);
  expect(await creditOutcome(context, { book_id, reference })).toBeNull();
  const refusal = await bookedCredit(context, { book_id, reference }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ServiceError);
  expect(refusal).toMatchObject({
    code: 'service_unavailable',
    message: 'The ledger does not answer. The credit is recorded and will be booked as soon as it does.',
    retry_after_ms: 1_000,
  });
});

test.each([
  [1, 2_000],
  [2, 4_000],
  [5, 32_000],
  [6, 60_000],
  [30, 60_000],
  [2_000, 60_000],
])('after %d tries an order that cannot be carried out waits %d ms', async (tries, pause_ms) => {
  const book_id = await book('away');
  await order('away', book_id);
  await setTries(book_id, tries);
  expect(await applyDueTasks(pool, log)).toBe(0);
  const [one] = await orders(book_id);
  expect(one?.tries).toBe(tries + 1);
  expect(one?.pause_ms).toBeGreaterThan(pause_ms - 10_000);
  expect(one?.pause_ms).toBeGreaterThan(0.5 * pause_ms);
  expect(one?.pause_ms).toBeLessThanOrEqual(pause_ms);
});

test('an order that the ledger refuses is an error in the log, and keeps back those behind it of its book alone', async () => {
  const sound = await book('main');
  await order('main', UNKNOWN);
  await order('main', UNKNOWN, 'two');
  await order('main', sound);
  const [one, two] = await orders(UNKNOWN);
  expect(one).toMatchObject({ tries: 2, waits: true });
  expect(one?.fault).toBe('query returned no rows');
  expect(two).toMatchObject({ tries: 0, fault: null, waits: true });
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({
    ...{ level: 'error', msg: 'ledger: an order cannot be carried out, it is tried again' },
    ...{ book_id: UNKNOWN, shard: 'main', error: { message: one?.fault } },
  });
  expect(await available(sound)).toBe(30);
  // Once what it needs is there, all of them are carried out in turn.
  await openBook(main, {
    ...{ book_id: UNKNOWN, org_id: newId('org'), environment: 'live', low_mark_micro_usd: null },
  });
  shiftClock(HOUR_MS);
  expect(await applyDueTasks(pool, log)).toBeGreaterThanOrEqual(1);
  expect(await available(UNKNOWN)).toBe(60);
  expect((await orders(UNKNOWN)).map(({ waits, fault }) => [waits, fault])).toEqual([
    [false, null],
    [false, null],
  ]);
});

test('of a ledger that is away one book is asked in each turn, and the books of others are brought up to date', async () => {
  const [first, second] = [await book('away'), await book('away')];
  await order('away', first);
  await order('away', second);
  const [one, two] = [await book('main'), await book('main')];
  await pool.query({
    name: 'test.waiting',
    text: `insert into ledger_task (shard, book_id, kind, reference, content, next_at, created_at)
           select 'main', b, 'credit', 'grant staff w', jsonb_build_object('book_id', b, 'kind', 'grant', 'granted', true,
             'expires_at', null, 'ref_type', 'staff', 'ref_id', 'w', 'amount_micro_usd', 5, 'lot_id', $2::text), now() - interval '1 second', now()
             from unnest($1::bigint[]) b`,
    values: [[one], newId('lot')],
  });
  await order('main', two);
  for (const id of [first, second]) await setTries(id, 1);
  lines.length = 0;
  expect(await applyDueTasks(pool, log)).toBe(1);
  expect((await orders(first)).map(({ tries }) => tries)).toEqual([2]);
  expect((await orders(second)).map(({ tries }) => tries)).toEqual([1]);
  expect(lines).toHaveLength(1);
  expect(await available(one)).toBe(5);
  expect(await applyDueTasks(pool, log)).toBe(0);
});

test('a turn looks at each book that is due, past one whose order is refused', async () => {
  const [one, two] = [serial++, await book('main')];
  await order('main', one);
  await pool.query({
    name: 'test.later',
    text: `insert into ledger_task (shard, book_id, kind, content, next_at, created_at)
           values ('main', $1, 'set_low_mark', jsonb_build_object('book_id', $1::bigint, 'low_mark_micro_usd', 3), now() - interval '1 second', now())`,
    values: [two],
  });
  await setTries(one, 0);
  expect(await applyDueTasks(pool, log)).toBe(1);
  expect(await orders(two)).toEqual([]);
});

test('a reference that the ledger credited before it was ordered is an error in the log, and credits nothing', async () => {
  const book_id = await book('main');
  const before = await credit(main, {
    ...{ book_id, kind: 'topup', granted: false, expires_at: null, ref_type: 'topup', ref_id: 'one' },
    amount_micro_usd: microUsd(30),
  });
  const { reference } = await order('main', book_id);
  expect(lines).toMatchObject([
    {
      ...{ level: 'error', msg: 'ledger: the reference of an order was credited before' },
      ...{ book_id, seq: 1, lot_id: before.lot_id },
    },
  ]);
  expect(await bookedCredit(context, { book_id, reference })).toEqual({ seq: 1, lot_id: before.lot_id });
  expect(await available(book_id)).toBe(30);
  await order('main', book_id, 'two');
  expect(lines).toHaveLength(1);
});

test('an order that leaves another answer than a credit says nothing in the log', async () => {
  const book_id = await book('main');
  await order('main', book_id);
  const gift = {
    book_id,
    kind: 'gift',
    ref_type: 'gift',
    ref_id: 'g',
    amount_micro_usd: microUsd(5),
  } as const;
  await orderDebit(context, 'main', gift);
  expect(await available(book_id)).toBe(25);
  expect(lines).toEqual([]);
});

test('of what went wrong five hundred characters are kept', async () => {
  const book_id = await book('main');
  await pool.query({
    name: 'test.long',
    text: `insert into ledger_task (shard, book_id, kind, reference, content, next_at, created_at)
           values ('main', $1, 'credit', 'long', jsonb_build_object('expires_at', null, 'amount_micro_usd', repeat('x', 600)),
             now() - interval '1 second', now())`,
    values: [book_id],
  });
  await applyDueTasks(pool, log);
  const [one] = await orders(book_id);
  expect(one?.fault).toMatch(/^a credit is at least 1 micro-USD: x+$/);
  expect(one?.fault).toHaveLength(500);
});

test('who needs the balance as it will be has earlier orders carried out first, and is refused where they cannot be', async () => {
  const book_id = await book('main');
  await order('main', book_id);
  await context.transaction((context) => catchUp(context, book_id));
  const away = await book('away');
  await order('away', away);
  const refusal = await context
    .transaction((context) => catchUp(context, away))
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    code: 'service_unavailable',
    message: 'The ledger does not answer.',
    retry_after_ms: 1_000,
  });
});

test('where the installation cannot be asked after a commit, the orders are left to the job', async () => {
  const nowhere = createPool(AWAY);
  await applyAfterCommit(staffContext(nowhere, log), 7);
  expect(lines).toMatchObject([
    {
      ...{ level: 'warn', msg: 'ledger: orders of a book wait for the job', book_id: 7 },
      error: { code: 'ECONNREFUSED' },
    },
  ]);
  await nowhere.end();
});
