// The fee of a plan and its included credit in the ledger: both or neither, once, out of credit that has not ended.
import { afterAll, afterEach, expect, test } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { createPool } from '../../db/index.ts';
import { microUsd, shiftClock } from '../../kernel/index.ts';
import { credit, readBalance, readEntries, readLots, verifyLedger } from '../index.ts';
import { chargePlan } from '../store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  settleOf,
  subjectOf,
} from '../testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url, { role: 'svc_runtime' });
const owner = createPool(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir);
afterEach(async () => {
  shiftClock(0);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
afterAll(async () => {
  await ledger.close();
  await Promise.all([db.end(), owner.end()]);
  journal.remove();
});

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);

function charge(
  book_id: number,
  fee: number,
  more: { ref_id?: string; included?: number; ends_at?: Date } = {},
) {
  const { ref_id = 'period', included = 40, ends_at = inHours(24) } = more;
  const included_micro_usd = microUsd(included);
  return chargePlan(db, { book_id, ref_id, fee_micro_usd: microUsd(fee), included_micro_usd, ends_at });
}

const movements = async (book_id: number) =>
  (await readEntries(db, { book_id }))
    .map(({ kind, amount_micro_usd }) => [kind, amount_micro_usd])
    .reverse();

function give(book_id: number, amount: number, granted: boolean, expires_at: Date | null) {
  const what = { book_id, granted, expires_at, amount_micro_usd: microUsd(amount) } as const;
  return credit(owner, {
    ...what,
    kind: granted ? 'grant' : 'topup',
    ref_type: 'staff',
    ref_id: `${amount}`,
  });
}

test('the fee leaves, the included credit comes, granted and until the end of the period', async () => {
  const book_id = await makeBook(owner, { amount: 100 });
  const ends_at = inHours(24);
  expect(await charge(book_id, 49, { ends_at })).toEqual({
    status: 'taken',
    fee_seq: 2,
    credit_seq: 3,
    replay: false,
  });
  expect(await movements(book_id)).toEqual([
    ['topup', 100],
    ['plan_fee', -49],
    ['plan_credit', 40],
  ]);
  expect((await readLots(db, { book_id }))[0]).toMatchObject({
    kind: 'granted',
    source_type: 'plan',
    source_id: 'period',
    amount_micro_usd: 40,
    expires_at: ends_at,
  });
});

test('of two hundred charges of one period at once one moves credit, and all say what it did', async () => {
  const book_id = await makeBook(owner, { amount: 1_000 });
  const all = await Promise.all(Array.from({ length: 200 }, () => charge(book_id, 49)));
  expect(all.filter((one) => one.status === 'taken' && !one.replay)).toHaveLength(1);
  expect(all.every((one) => one.status === 'taken' && one.fee_seq === 2 && one.credit_seq === 3)).toBe(true);
  expect(await readBalance(db, book_id)).toMatchObject({ available_micro_usd: 991 });
});

test('what calls hold pays no fee, and one micro-dollar too few moves nothing', async () => {
  const book_id = await makeBook(owner, { amount: 100 });
  const hold = holdOf(subjectOf(book_id), 52);
  await ledger.hold(hold);
  expect(await charge(book_id, 49)).toEqual({ status: 'refused' });
  expect(await movements(book_id)).toEqual([['topup', 100]]);
  await ledger.settle(settleOf(subjectOf(book_id), hold.request_id, 51));
  expect(await charge(book_id, 49)).toMatchObject({ status: 'taken' });
});

test('a fee burns what ends first, granted before paid', async () => {
  const book_id = await makeBook(owner, { amount: 100 });
  await give(book_id, 30, true, inHours(48));
  await give(book_id, 10, false, inHours(48));
  await charge(book_id, 45, { included: 0 });
  const left = (await readLots(db, { book_id })).map((lot) => [lot.kind, lot.remaining_micro_usd]);
  expect(left).toEqual([
    ['paid', 0],
    ['granted', 0],
    ['paid', 95],
  ]);
});

test('credit of the month before pays no fee of the next, though the job that expires it has not come by', async () => {
  const book_id = await makeBook(owner, { amount: 60 });
  await charge(book_id, 49, { ref_id: 'one', ends_at: inHours(1) });
  shiftClock(2 * HOUR_MS);
  expect(await charge(book_id, 49, { ref_id: 'two' })).toEqual({ status: 'refused' });
  expect(await movements(book_id)).toEqual([
    ['topup', 60],
    ['plan_fee', -49],
    ['plan_credit', 40],
    ['expire', -40],
  ]);
});

test('a period that has ended is not charged any more, except that what was charged is said again', async () => {
  const book_id = await makeBook(owner, { amount: 100 });
  const ends_at = inHours(1);
  await charge(book_id, 49, { ref_id: 'charged', ends_at });
  shiftClock(HOUR_MS);
  expect(await charge(book_id, 49, { ref_id: 'late', ends_at })).toEqual({ status: 'over' });
  expect(await charge(book_id, 49, { ref_id: 'charged', ends_at })).toMatchObject({
    status: 'taken',
    replay: true,
  });
});

test('a plan without included credit has a fee alone', async () => {
  const book_id = await makeBook(owner, { amount: 100 });
  expect(await charge(book_id, 49, { included: 0 })).toEqual({
    status: 'taken',
    fee_seq: 2,
    credit_seq: null,
    replay: false,
  });
});
