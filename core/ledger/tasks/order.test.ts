// What is ordered of the ledger, kind by kind: it is carried out as it was ordered, once, and the ledger's answer is kept.
import { afterAll, afterEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { staffContext } from '../../../test/support/provision.ts';
import { createPool } from '../../db/index.ts';
import { type Id, microUsd, newId, shiftClock } from '../../kernel/index.ts';
import {
  bookedCredit,
  chargeBackOutcome,
  creditOutcome,
  debitOutcome,
  orderBook,
  orderBudget,
  orderChargeBack,
  orderCredit,
  orderDebit,
  orderLowMark,
  orderPlanCharge,
  orderRestore,
  orderResumption,
  planChargeOutcome,
  readBalance,
  readEntries,
  readLots,
  readWindows,
  restoreOutcome,
  verifyLedger,
} from '../index.ts';
import type { Credit, Debit } from '../store.ts';
import { holdOf, journalDirectory, openTestLedger, settleOf } from '../testing/testing.ts';

const DAY_MS = 86_400_000;
const url = await createTestDatabase();
const pool = createPool(url);
const main = pool.shards.at('main');
const context = staffContext(pool);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir);

afterEach(async () => {
  shiftClock(0);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
afterAll(async () => {
  await ledger.close();
  await pool.end();
  journal.remove();
});

let serial = 700;

/** A book with one key and one project of its number, and `amount` of paid credit. */
async function book(amount = 100): Promise<{ book_id: number; lot_id: Id<'lot'> }> {
  const book_id = serial++;
  const lot = await context.transaction(async (context) => {
    const low_mark_micro_usd = microUsd(20);
    const opened = { book_id, org_id: newId('org'), environment: 'live', low_mark_micro_usd } as const;
    await orderBook(context, 'main', opened);
    for (const subject of [{ key_no: book_id }, { project_no: book_id }])
      await orderBudget(context, 'main', { book_id, subject, cap_micro_usd: microUsd(50), hard: true });
    return orderCredit(context, 'main', creditOf(book_id, 'topup', amount));
  });
  return { book_id, lot_id: lot.lot_id };
}

function creditOf(book_id: number, ref_id: string, amount: number): Omit<Credit, 'lot_id'> {
  const amount_micro_usd = microUsd(amount);
  return {
    book_id,
    kind: 'topup',
    granted: false,
    expires_at: null,
    ref_type: 'topup',
    ref_id,
    amount_micro_usd,
  };
}

function giftOf(book_id: number, ref_id: string, amount: number): Debit {
  return { book_id, kind: 'gift', ref_type: 'gift', ref_id, amount_micro_usd: microUsd(amount) };
}

const movements = async (book_id: number) =>
  (await readEntries(main, { book_id }))
    .map(({ seq, kind, amount_micro_usd }) => [seq, kind, amount_micro_usd])
    .reverse();

const orders = async (book_id: number) => {
  const { rows } = await pool.query<{ kind: string; reference: string | null; done: boolean }>({
    name: 'test.orders',
    text: `select kind, reference, applied_at is not null as done from ledger_task where book_id = $1 order by task_no`,
    values: [book_id],
  });
  return rows;
};

test('a book and what is ordered of it in one transaction are carried out in turn, and only what has an answer is kept', async () => {
  const { book_id } = await book();
  expect(await movements(book_id)).toEqual([[1, 'topup', 100]]);
  expect(await orders(book_id)).toEqual([{ kind: 'credit', reference: 'topup topup topup', done: true }]);
  const { rows } = await pool.query<{ low_mark: number | null }>({
    name: 'test.low_mark',
    text: 'select low_mark from ledger.book where book_id = $1',
    values: [book_id],
  });
  expect(rows).toEqual([{ low_mark: 20 }]);
});

test('orders for two books in one transaction are both carried out after it', async () => {
  const [one, two] = [await book(), await book()];
  await context.transaction(async (context) => {
    await orderCredit(context, 'main', creditOf(one.book_id, 'more', 7));
    await orderCredit(context, 'main', creditOf(two.book_id, 'more', 8));
    expect(await movements(one.book_id)).toHaveLength(1);
  });
  expect(await movements(one.book_id)).toEqual([
    [1, 'topup', 100],
    [2, 'topup', 7],
  ]);
  expect(await movements(two.book_id)).toEqual([
    [1, 'topup', 100],
    [2, 'topup', 8],
  ]);
});

test('a credit names its lot when it is ordered, and its entry when it is booked', async () => {
  const { book_id } = await book();
  const expires_at = new Date(Date.now() + DAY_MS);
  const ordered = await orderCredit(context, 'main', {
    ...creditOf(book_id, 'one', 30),
    ...{ kind: 'grant', granted: true, ref_type: 'staff', expires_at },
  });
  const { reference, lot_id } = ordered;
  expect(ordered).toEqual({ reference: 'grant staff one', lot_id, replay: false, amount_micro_usd: 30 });
  expect(lot_id).toMatch(/^lot_/);
  expect(await bookedCredit(context, { book_id, reference })).toEqual({ seq: 2, lot_id });
  expect(await creditOutcome(context, { book_id, reference })).toEqual({ seq: 2, lot_id });
  const [lot] = await readLots(main, { book_id });
  expect(lot).toMatchObject({ id: lot_id, kind: 'granted', amount_micro_usd: 30, expires_at });
});

test('what was never ordered has no outcome', async () => {
  const { book_id } = await book();
  const never = { book_id, reference: 'never' };
  for (const outcome of [creditOutcome, debitOutcome, restoreOutcome, chargeBackOutcome])
    expect(await outcome(context, never)).toBeNull();
});

test('a credit that is ordered again names the lot and the amount of the first, and moves nothing', async () => {
  const { book_id } = await book();
  const first = await orderCredit(context, 'main', creditOf(book_id, 'one', 30));
  expect(await orderCredit(context, 'main', creditOf(book_id, 'one', 31))).toEqual({
    ...first,
    replay: true,
  });
  expect(await readBalance(main, book_id)).toMatchObject({ available_micro_usd: 130 });
});

test.each([0, -1, 0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])(
  'an amount of %d is not ordered',
  async (amount) => {
    const { book_id, lot_id } = await book();
    const wrong = { amount_micro_usd: amount as never, fee_micro_usd: amount as never };
    const words = `what is moved is at least 1 micro-USD: ${amount}`;
    const plan = { book_id, ref_id: 'p', included_micro_usd: microUsd(1), ends_at: new Date(), attempt: 1 };
    const lost = { book_id, ref_type: 'dispute', ref_id: 'd', lot_id } as const;
    await expect(orderCredit(context, 'main', { ...creditOf(book_id, 'w', 1), ...wrong })).rejects.toThrow(
      words,
    );
    await expect(orderDebit(context, 'main', { ...giftOf(book_id, 'w', 1), ...wrong })).rejects.toThrow(
      words,
    );
    await expect(orderChargeBack(context, 'main', { ...lost, ...wrong })).rejects.toThrow(words);
    await expect(orderPlanCharge(context, 'main', { ...plan, ...wrong })).rejects.toThrow(words);
    expect(await orders(book_id)).toHaveLength(1);
  },
);

test('one micro-dollar is moved', async () => {
  const { book_id } = await book();
  await orderCredit(context, 'main', creditOf(book_id, 'one', 1));
  await orderDebit(context, 'main', giftOf(book_id, 'one', 1));
  expect(await movements(book_id)).toEqual([
    [1, 'topup', 100],
    [2, 'topup', 1],
    [3, 'gift', -1],
  ]);
});

test('a debit says what it took, and that it was ordered before', async () => {
  const { book_id } = await book();
  const ordered = await orderDebit(context, 'main', giftOf(book_id, 'one', 30));
  expect(ordered).toEqual({ reference: 'gift gift one', replay: false });
  const outcome = { status: 'taken', seq: 2, taken_micro_usd: 30 };
  expect(await debitOutcome(context, { book_id, reference: 'gift gift one' })).toEqual(outcome);
  expect(await orderDebit(context, 'main', giftOf(book_id, 'one', 31))).toEqual({ ...ordered, replay: true });
  expect(await readBalance(main, book_id)).toMatchObject({ available_micro_usd: 70 });
  expect(await debitOutcome(context, { book_id, reference: 'gift gift never' })).toBeNull();
});

test('a debit of credit from before a moment finds what is older, and nothing else', async () => {
  const { book_id } = await book();
  const before = (ms: number) => ({ created_before: new Date(Date.now() + ms) });
  await orderDebit(context, 'main', { ...giftOf(book_id, 'young', 30), ...before(-DAY_MS) });
  expect(await debitOutcome(context, { book_id, reference: 'gift gift young' })).toEqual({
    status: 'refused',
  });
  await orderDebit(context, 'main', { ...giftOf(book_id, 'old', 30), ...before(DAY_MS) });
  expect(await debitOutcome(context, { book_id, reference: 'gift gift old' })).toMatchObject({
    status: 'taken',
  });
});

test('what a debit took goes back once, and nothing where it took nothing', async () => {
  const { book_id } = await book();
  await orderDebit(context, 'main', giftOf(book_id, 'one', 30));
  const restoration = { book_id, debit_kind: 'gift', ref_type: 'gift', ref_id: 'one' } as const;
  const ordered = await orderRestore(context, 'main', restoration);
  expect(ordered).toEqual({ reference: 'restore gift gift one', replay: false });
  const { reference } = ordered;
  const outcome = { status: 'restored', seq: 3, amount_micro_usd: 30 };
  expect(await restoreOutcome(context, { book_id, reference })).toEqual(outcome);
  expect(await orderRestore(context, 'main', restoration)).toEqual({ reference, replay: true });
  const other = await orderRestore(context, 'main', { ...restoration, ref_id: 'other' });
  expect(await restoreOutcome(context, { book_id, reference: other.reference })).toEqual({
    status: 'nothing',
  });
  expect(await readBalance(main, book_id)).toMatchObject({ available_micro_usd: 100 });
});

test('a lost dispute takes its amount in the place of what was held for it', async () => {
  const { book_id, lot_id } = await book();
  const dispute = {
    book_id,
    ref_type: 'dispute',
    ref_id: 'd',
    amount_micro_usd: microUsd(60),
    lot_id,
  } as const;
  await orderDebit(context, 'main', { ...dispute, kind: 'dispute_hold', short: 'take_less' });
  const ordered = await orderChargeBack(context, 'main', dispute);
  expect(ordered).toEqual({ reference: 'charge_back dispute d', replay: false });
  const { reference } = ordered;
  const [entry] = await readEntries(main, { book_id });
  expect(entry).toMatchObject({ kind: 'chargeback', amount_micro_usd: -60 });
  const outcome = { seq: entry?.seq, taken_micro_usd: 60 };
  expect(await chargeBackOutcome(context, { book_id, reference })).toEqual(outcome);
  expect(await orderChargeBack(context, 'main', dispute)).toEqual({ reference, replay: true });
  expect(await readBalance(main, book_id)).toMatchObject({ available_micro_usd: 40 });
});

test('the fee of a plan is ordered by attempt: one takes it, and those before and after say their own', async () => {
  const { book_id } = await book(40);
  const ends_at = new Date(Date.now() + DAY_MS);
  const fee = { book_id, ref_id: 'p', fee_micro_usd: microUsd(49), included_micro_usd: microUsd(5), ends_at };
  const outcome = (attempt: number) => planChargeOutcome(context, { book_id, ref_id: 'p', attempt });
  expect(await outcome(1)).toBeNull();
  await orderPlanCharge(context, 'main', { ...fee, attempt: 1 });
  expect(await outcome(1)).toEqual({ status: 'refused' });
  await orderCredit(context, 'main', creditOf(book_id, 'more', 60));
  await orderPlanCharge(context, 'main', { ...fee, attempt: 1 });
  expect(await outcome(1)).toEqual({ status: 'refused' });
  await orderPlanCharge(context, 'main', { ...fee, attempt: 2 });
  expect(await outcome(2)).toEqual({ status: 'taken', fee_seq: 3, credit_seq: 4 });
  expect((await readLots(main, { book_id }))[0]).toMatchObject({
    id: expect.stringMatching(/^lot_/),
    kind: 'granted',
    amount_micro_usd: 5,
    expires_at: ends_at,
  });
  shiftClock(2 * DAY_MS);
  await orderPlanCharge(context, 'main', { ...fee, ref_id: 'q', attempt: 1 });
  expect(await planChargeOutcome(context, { book_id, ref_id: 'q', attempt: 1 })).toEqual({ status: 'over' });
});

/** Spends `cost` of a book's key and project. */
async function spend(book_id: number, cost: number): Promise<string> {
  const subject = { book_id, key_no: book_id, project_no: book_id };
  const hold = holdOf(subject, cost);
  const { status } = await ledger.hold(hold);
  if (status === 'ok') await ledger.settle(settleOf(subject, hold.request_id, cost));
  return status;
}

test.each(['key_no', 'project_no'] as const)(
  'a hard budget of a %s holds nothing back any more in the window that runs',
  async (of) => {
    const { book_id } = await book();
    const place = { shard: 'main', book_id };
    const subject = { [of]: book_id } as { key_no: number };
    const other = of === 'key_no' ? { project_no: book_id } : { key_no: book_id };
    expect(await orderResumption(context, place, subject)).toBe(false);
    await orderBudget(context, 'main', { book_id, subject: other, cap_micro_usd: null });
    expect(await spend(book_id, 40)).toBe('ok');
    expect(await spend(book_id, 40)).toBe('budget_exhausted');
    expect(await orderResumption(context, place, subject)).toBe(true);
    expect(await spend(book_id, 40)).toBe('ok');
    expect(await orderResumption(context, place, subject)).toBe(false);
    const [window] = await readWindows(main, { [`${of}s`]: [book_id] } as { key_nos: number[] });
    expect(window).toMatchObject({ hard: false, spent_micro_usd: 80 });
  },
);

test('of two orders of one budget that arrive the other way round the later one stands', async () => {
  const { book_id } = await book();
  const subject = { key_no: book_id };
  await orderBudget(context, 'main', { book_id, subject, cap_micro_usd: microUsd(60), hard: true });
  await pool.query({
    name: 'test.older_order',
    text: `insert into ledger_task (task_no, shard, book_id, kind, content, next_at, created_at) overriding system value
           values (-$1::bigint, 'main', $1, 'set_budget', $2, now(), now())`,
    values: [book_id, JSON.stringify({ book_id, subject, cap_micro_usd: 1, hard: true })],
  });
  await orderLowMark(context, 'main', { book_id, low_mark_micro_usd: null });
  expect(await orders(book_id)).toHaveLength(1);
  expect(await spend(book_id, 50)).toBe('ok');
});

test('a mark below which a book tells of its balance is set and taken away', async () => {
  const { book_id } = await book();
  const mark = async () => {
    const { rows } = await pool.query<{ low_mark: number | null }>({
      name: 'test.low_mark',
      text: 'select low_mark from ledger.book where book_id = $1',
      values: [book_id],
    });
    return rows[0]?.low_mark;
  };
  await orderLowMark(context, 'main', { book_id, low_mark_micro_usd: microUsd(33) });
  expect(await mark()).toBe(33);
  await orderLowMark(context, 'main', { book_id, low_mark_micro_usd: null });
  expect(await mark()).toBeNull();
});
