import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool } from '../db/index.ts';
import type { MicroUsd } from '../kernel/index.ts';
import { microUsd, newRequestId, type RequestId } from '../kernel/index.ts';
import {
  readBalance,
  readEntries,
  readKeySpend,
  readMeter,
  readWindows,
  readWriteoff,
  setBudget,
  sweepOnce,
} from './index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  topUp,
  UNITS,
  until,
} from './testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  await ledger.close();
  await db.end();
  journal.remove();
});

test('a call is held, settled once and leaves one entry and its metering record', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const hold = holdOf(subject, 300);
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  expect(await ledger.balance(book)).toEqual({
    available_micro_usd: 700,
    held_micro_usd: 300,
    granted_micro_usd: 0,
  });
  expect(ledger.availableHint(book)).toBe(700);
  const settle = settleOf(subject, hold.request_id, 120);
  expect(await ledger.settle(settle)).toEqual({ status: 'settled', charged_micro_usd: 120 });
  expect(await ledger.settle(settle)).toEqual({ status: 'duplicate', charged_micro_usd: null });
  expect(await ledger.balance(book)).toMatchObject({ available_micro_usd: 880, held_micro_usd: 0 });
  expect(ledger.availableHint(book)).toBe(880);
  const entries = await readEntries(db, { book_id: book });
  expect(entries.map(({ seq, kind, amount_micro_usd }) => [seq, kind, amount_micro_usd])).toEqual([
    [2, 'settle', -120],
    [1, 'topup', 1_000],
  ]);
  expect(entries[0]!.request_id).toBe(hold.request_id);
  expect(await readMeter(db, hold.request_id)).toMatchObject({
    ...subject,
    request_id: hold.request_id,
    seq: 2,
    cost_micro_usd: 120,
    charged_micro_usd: 120,
    units: UNITS,
    outcome: 'ok',
    estimated: false,
  });
});

test('a call of cost 0 leaves a metering record, no entry and no hold', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const hold = holdOf(subjectOf(book), 300);
  await ledger.hold(hold);
  expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, 0))).toEqual({
    status: 'settled',
    charged_micro_usd: 0,
  });
  expect(await readEntries(db, { book_id: book })).toHaveLength(1);
  expect(await readMeter(db, hold.request_id)).toMatchObject({ seq: null, cost_micro_usd: 0 });
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 1_000, held_micro_usd: 0 });
});

test('of 1,000 concurrent holds on a balance for 300 exactly 300 are granted', async () => {
  const book = await makeBook(db, { amount: 3_000 });
  const results = await Promise.all(
    Array.from({ length: 1_000 }, () => ledger.hold(holdOf(subjectOf(book), 10))),
  );
  expect(results.filter(({ status }) => status === 'ok')).toHaveLength(300);
  expect(results.filter(({ status }) => status === 'insufficient_credits')).toHaveLength(700);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 0, held_micro_usd: 3_000 });
});

test('a hard budget is used to the last micro-dollar and not beyond, exceeding a soft one is only reported', async () => {
  // Numbers that no book of another test has (`subjectOf`).
  const book = await makeBook(db, { amount: 10_000, keys: [903, 904], projects: [903] });
  await setBudget(db, { book_id: book, subject: { key_no: 903 }, cap_micro_usd: microUsd(55), hard: true });
  await setBudget(db, { book_id: book, subject: { key_no: 904 }, cap_micro_usd: microUsd(55), hard: false });
  const hard = { book_id: book, key_no: 903, project_no: 903 };
  const results = await Promise.all(Array.from({ length: 20 }, () => ledger.hold(holdOf(hard, 5))));
  expect(results.filter(({ status }) => status === 'ok')).toHaveLength(11);
  expect(results.filter((r) => r.status === 'budget_exhausted' && r.scope === 'key')).toHaveLength(9);
  const soft = { ...hard, key_no: 904 };
  const others = await Promise.all(Array.from({ length: 20 }, () => ledger.hold(holdOf(soft, 5))));
  expect(others.every(({ status }) => status === 'ok')).toBe(true);
  await setBudget(db, {
    book_id: book,
    subject: { project_no: 903 },
    cap_micro_usd: microUsd(160),
    hard: true,
  });
  const blocked = await Promise.all(Array.from({ length: 3 }, () => ledger.hold(holdOf(soft, 5))));
  expect(blocked).toEqual([
    { status: 'ok' },
    { status: 'budget_exhausted', scope: 'project' },
    { status: 'budget_exhausted', scope: 'project' },
  ]);
  const windows = await readWindows(db, { key_nos: [903, 904] });
  expect(windows.map(({ held_micro_usd }) => held_micro_usd)).toEqual([55, 105]);
});

test('what a key spent this month is the sum of its days, of this month alone', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const no = subject.key_no;
  const hold = holdOf(subject, 60);
  await ledger.hold(hold);
  await ledger.settle(settleOf(subject, hold.request_id, 50));
  const today = new Date().toISOString().slice(0, 10);
  const first = `${today.slice(0, 7)}-01`;
  const before = new Date(Date.parse(first) - 86_400_000).toISOString().slice(0, 10);
  for (const start of [before, first]) {
    await db.query({
      name: 'test.earlier_window',
      text: `insert into ledger.win as w (kind, subject, start, book_id, hard, spent) values (1, $3, $1, $2, false, 7)
             on conflict (kind, subject, start) do update set spent = w.spent + 7`,
      values: [start, book, no],
    });
  }
  const today_micro_usd = today === first ? 57 : 50;
  expect(await readKeySpend(db, [no, no + 1])).toEqual([{ no, today_micro_usd, month_micro_usd: 57 }]);
});

test('what was charged above the hold and is not there becomes a write-off, and the balance stays at zero', async () => {
  const book = await makeBook(db, { amount: 100 });
  const hold = holdOf(subjectOf(book), 60);
  await ledger.hold(hold);
  expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, 175))).toEqual({
    status: 'settled',
    charged_micro_usd: 100,
  });
  expect(await readWriteoff(db, hold.request_id)).toBe(75);
  expect(await readMeter(db, hold.request_id)).toMatchObject({ cost_micro_usd: 175, charged_micro_usd: 100 });
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 0, held_micro_usd: 0 });
});

test('an extension raises a hold to a total, within balance and budget', async () => {
  const book = await makeBook(db, { amount: 100 });
  const subject = subjectOf(book);
  const hold = holdOf(subject, 10);
  await ledger.hold(hold);
  const extend = (to: number) => ledger.extend(subject, hold.request_id, to as MicroUsd);
  expect(await extend(60)).toBe('ok');
  expect(await extend(60)).toBe('ok');
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 40, held_micro_usd: 60 });
  expect(await extend(101)).toBe('insufficient_credits');
  await setBudget(db, { book_id: book, subject: { key_no: subject.key_no }, cap_micro_usd: microUsd(70) });
  expect(await extend(71)).toBe('budget_exhausted');
  expect(await extend(70)).toBe('ok');
  ledger.release(subject, hold.request_id);
  await until(async () => (await readBalance(db, book)).held_micro_usd === 0);
  expect(await extend(80)).toBe('missing');
});

test('a poisoned item fails alone: its neighbours of the same batch are held and settled', async () => {
  const book = await makeBook(db, { amount: 1_000_000 });
  const subject = subjectOf(book);
  const ids = Array.from({ length: 8 }, () => newRequestId());
  const results = await Promise.all([
    ...ids.map((id) => ledger.hold(holdOf(subject, 100, id))),
    ledger.hold(holdOf({ ...subject, key_no: 7_777_777 }, 100)),
    ledger.hold(holdOf({ ...subject, book_id: 999_999_999 }, 100)),
    ledger.hold(holdOf(subject, 1.5)),
    ledger.hold(holdOf(subject, -1)),
    ledger.hold(holdOf(subject, 1, 'not a ulid' as RequestId)),
    ledger.hold(holdOf(subject, Number.MAX_SAFE_INTEGER)),
  ]);
  expect(results.slice(0, 8).every(({ status }) => status === 'ok')).toBe(true);
  expect(results.slice(8).map(({ status }) => status)).toEqual([
    'unknown',
    'unknown',
    'refused',
    'refused',
    'refused',
    'insufficient_credits',
  ]);
  const twice = newRequestId();
  await ledger.hold(holdOf(subject, 100, twice));
  const settled = await Promise.all([
    ...ids.map((id) => ledger.settle(settleOf(subject, id, 7))),
    ledger.settle(settleOf(subject, twice, 9)),
    ledger.settle(settleOf(subject, twice, 9)),
    ledger.settle(settleOf({ ...subject, key_no: 7_777_777 }, newRequestId(), 1)),
    ledger.settle(settleOf(subject, newRequestId(), 0.5)),
  ]);
  expect(settled.slice(0, 8).every(({ status }) => status === 'settled')).toBe(true);
  expect(settled.slice(8).map(({ status }) => status)).toEqual([
    'settled',
    'duplicate',
    'refused',
    'refused',
  ]);
  expect(await readBalance(db, book)).toMatchObject({
    available_micro_usd: 1_000_000 - 56 - 9,
    held_micro_usd: 0,
  });
});

test('a settle that is refused gives its hold back, and with it the idempotency key', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const idempotency = { scope: `refused ${book}`, key_hash: Buffer.alloc(32), fingerprint: Buffer.alloc(32) };
  const hold = { ...holdOf(subject, 300), idempotency };
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  const settle = settleOf(subject, hold.request_id, 120);
  expect(
    await ledger.settle({ ...settle, claimed: true, units: { ...UNITS, input_tokens: 2 ** 31 } }),
  ).toEqual({ status: 'refused', charged_micro_usd: null });
  await until(async () => (await readBalance(db, book)).held_micro_usd === 0);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 1_000 });
  expect(await ledger.hold({ ...holdOf(subject, 300), idempotency })).toEqual({ status: 'ok' });
});

test('a hold sent again stands once, and a swept hold is charged late', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const hold = holdOf(subjectOf(book), 100);
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  expect(await readBalance(db, book)).toMatchObject({ held_micro_usd: 100 });
  ledger.release(subjectOf(book), hold.request_id);
  await until(async () => (await readBalance(db, book)).held_micro_usd === 0);
  expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, 40))).toEqual({
    status: 'late',
    charged_micro_usd: 40,
  });
  expect(await sweepOnce(db)).toEqual([]);
});

test('a late and a duplicate settle in one batch with others are told apart', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  await topUp(db, book, 500);
  const subject = subjectOf(book);
  const [a, b, c] = [newRequestId(), newRequestId(), newRequestId()];
  await ledger.hold(holdOf(subject, 100, a));
  await ledger.hold(holdOf(subject, 100, c));
  await ledger.settle(settleOf(subject, a, 10));
  const results = await Promise.all([a, b, c].map((id) => ledger.settle(settleOf(subject, id, 20))));
  expect(results).toEqual([
    { status: 'duplicate', charged_micro_usd: null },
    { status: 'late', charged_micro_usd: 20 },
    { status: 'settled', charged_micro_usd: 20 },
  ]);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 1_450, held_micro_usd: 0 });
});
