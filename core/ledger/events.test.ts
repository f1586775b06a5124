import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool } from '../db/index.ts';
import { microUsd, newRequestId, nowMs, shiftClock } from '../kernel/index.ts';
import {
  countLowBooks,
  credit,
  expireLots,
  readBalance,
  readWindows,
  resumeBudget,
  setBudget,
  setLowMark,
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
} from './testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  shiftClock(0);
  await ledger.close();
  await db.end();
  journal.remove();
});

interface Event {
  topic: string;
  payload: Record<string, unknown>;
}

/** What the outbox holds for a book's organization, in order. */
async function eventsOf(book: number): Promise<Event[]> {
  const { rows } = await db.query<Event>({
    name: 'test.events',
    text: `select o.topic, o.payload from ledger.outbox o join ledger.book b using (org_id) where b.book_id = $1 order by outbox_id`,
    values: [book],
  });
  return rows;
}

async function spend(book: number, cost: number): Promise<void> {
  const id = newRequestId();
  await ledger.hold(holdOf(subjectOf(book), 0, id));
  await ledger.settle(settleOf(subjectOf(book), id, cost));
}

const percents = (events: Event[]) =>
  events
    .filter(({ topic }) => topic === 'budget.threshold')
    .map(({ payload }) => payload['threshold_percent']);

test('thresholds fire once each, by the settle that reaches them', async () => {
  const book = await makeBook(db, { amount: 100_000_000 });
  const { project_no } = subjectOf(book);
  const budget = { book_id: book, subject: { project_no }, cap_micro_usd: microUsd(10_000_000), hard: false };
  await setBudget(db, budget);
  const seen: unknown[] = [];
  for (const cost of [4_999_999, 1, 3_000_000, 2_500_000, 100]) {
    await spend(book, cost);
    seen.push(percents(await eventsOf(book)));
  }
  expect(seen).toEqual([[], [50], [50, 80], [50, 80, 100], [50, 80, 100]]);
  const events = await eventsOf(book);
  expect(events.every(({ topic }) => topic === 'budget.threshold')).toBe(true);
  expect(events[0]!.payload).toMatchObject({
    scope: 'project',
    project_no,
    budget_micro: 10_000_000,
    spend_micro: 5_000_000,
    hard: false,
    window_start: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
    window_end: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/),
  });
  // 10.5 of 20 million: 80 and 100 are armed again, 50 is not.
  await setBudget(db, { ...budget, cap_micro_usd: microUsd(20_000_000) });
  await spend(book, 5_500_000);
  await spend(book, 4_000_000);
  expect(percents(await eventsOf(book))).toEqual([50, 80, 100, 80, 100]);
});

test('one settle that passes several thresholds emits an event for each of them', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const { key_no } = subjectOf(book);
  await setBudget(db, {
    book_id: book,
    subject: { key_no },
    cap_micro_usd: microUsd(99),
    hard: false,
    alerts: [10, 50],
  });
  await spend(book, 98);
  expect(percents(await eventsOf(book))).toEqual([10, 50]);
});

test('budget.exhausted comes once per window, with the first refusal or the spend, whichever is first', async () => {
  const refused = await makeBook(db, { amount: 1_000 });
  const spent = await makeBook(db, { amount: 1_000 });
  const isExhausted = ({ topic }: Event) => topic === 'budget.exhausted';
  for (const book of [refused, spent]) {
    await setBudget(db, {
      book_id: book,
      subject: { key_no: subjectOf(book).key_no },
      cap_micro_usd: microUsd(50),
    });
  }
  const over = () => ledger.hold(holdOf(subjectOf(refused), 51));
  expect(await Promise.all([over(), over()])).toEqual([
    { status: 'budget_exhausted', scope: 'key' },
    { status: 'budget_exhausted', scope: 'key' },
  ]);
  await spend(refused, 50);
  expect((await eventsOf(refused)).filter(isExhausted)).toHaveLength(1);
  await spend(spent, 50);
  expect(await ledger.hold(holdOf(subjectOf(spent), 1))).toEqual({
    status: 'budget_exhausted',
    scope: 'key',
  });
  const events = (await eventsOf(spent)).filter(isExhausted);
  expect(events).toHaveLength(1);
  expect(events[0]!.payload).toMatchObject({ scope: 'key', budget_micro: 50, spend_micro: 50, hard: true });
  expect(events[0]!.payload['resumes_at']).toBe(events[0]!.payload['window_end']);
  const [window] = await readWindows(db, { key_nos: [subjectOf(spent).key_no] });
  expect(window!.exhausted_at).toBeInstanceOf(Date);
});

test('a budget of 0 lets nothing through, and no budget lets everything through', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  await setBudget(db, { book_id: book, subject: { key_no: subject.key_no }, cap_micro_usd: microUsd(0) });
  expect(await ledger.hold(holdOf(subject, 1))).toEqual({ status: 'budget_exhausted', scope: 'key' });
  await setBudget(db, { book_id: book, subject: { key_no: subject.key_no }, cap_micro_usd: null });
  expect(await ledger.hold(holdOf(subject, 1_000))).toEqual({ status: 'ok' });
});

test('credits.low fires when the balance falls below the mark, and again after it was above', async () => {
  const book = await makeBook(db, { amount: 100 });
  await setLowMark(db, { book_id: book, low_mark_micro_usd: microUsd(50) });
  const low = async () => (await eventsOf(book)).filter(({ topic }) => topic === 'credits.low');
  await spend(book, 50);
  expect(await low()).toHaveLength(0);
  await spend(book, 1);
  await spend(book, 1);
  expect((await low()).map(({ payload }) => payload)).toEqual([
    { available_micro_usd: 49, threshold_micro: 50 },
  ]);
  await topUp(db, book, 10);
  await spend(book, 10);
  expect(await low()).toHaveLength(2);
});

test('what running calls hold counts as there: it is no low balance before they are charged', async () => {
  const book = await makeBook(db, { amount: 100 });
  await setLowMark(db, { book_id: book, low_mark_micro_usd: microUsd(50) });
  const low = async () => (await eventsOf(book)).filter(({ topic }) => topic === 'credits.low');
  await spend(book, 1);
  const subject = subjectOf(book);
  const running = holdOf(subject, 80);
  expect(await ledger.hold(running)).toEqual({ status: 'ok' });
  await spend(book, 9);
  expect(await low()).toHaveLength(0);
  await ledger.settle(settleOf(subject, running.request_id, 80));
  expect((await low()).map(({ payload }) => payload)).toEqual([
    { available_micro_usd: 10, threshold_micro: 50 },
  ]);
});

test('a credit under the same reference happens once, also when twenty come at once', async () => {
  const book = await makeBook(db);
  const once = () =>
    credit(db, {
      book_id: book,
      kind: 'topup',
      amount_micro_usd: microUsd(70),
      granted: false,
      expires_at: null,
      ref_type: 'topup',
      ref_id: 'tup_same',
    });
  const results = await Promise.all(Array.from({ length: 20 }, once));
  expect(results.filter(({ replay }) => !replay)).toHaveLength(1);
  expect(new Set(results.map(({ lot_id }) => lot_id)).size).toBe(1);
  expect(await ledger.balance(book)).toMatchObject({ available_micro_usd: 70 });
});

// The clock only goes forward from here: request ids of one process never fall.
test('an exhausted window goes on when its budget is raised, when it is resumed, and on the next day', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const budget = { book_id: book, subject: { key_no: subject.key_no }, cap_micro_usd: microUsd(10) };
  const hold = () => ledger.hold(holdOf(subject, 10));
  await setBudget(db, budget);
  expect(await hold()).toEqual({ status: 'ok' });
  expect(await hold()).toEqual({ status: 'budget_exhausted', scope: 'key' });
  await setBudget(db, { ...budget, cap_micro_usd: microUsd(20) });
  expect(await hold()).toEqual({ status: 'ok' });
  expect(await hold()).toEqual({ status: 'budget_exhausted', scope: 'key' });
  const today = { subject: { key_no: subject.key_no }, start: new Date(nowMs()).toISOString().slice(0, 10) };
  expect(await resumeBudget(db, today)).toBe(true);
  expect(await resumeBudget(db, today)).toBe(false);
  expect(await hold()).toEqual({ status: 'ok' });
  shiftClock(86_400_000);
  expect(await hold()).toEqual({ status: 'ok' });
  expect(await hold()).toEqual({ status: 'ok' });
  expect(await hold()).toEqual({ status: 'budget_exhausted', scope: 'key' });
});

test('credits.exhausted fires with the first refusal of a UTC day', async () => {
  const book = await makeBook(db, { amount: 5 });
  const refuse = async () =>
    expect(await ledger.hold(holdOf(subjectOf(book), 6))).toEqual({ status: 'insufficient_credits' });
  const count = async () =>
    (await eventsOf(book)).filter(({ topic }) => topic === 'credits.exhausted').length;
  await refuse();
  await refuse();
  expect(await count()).toBe(1);
  shiftClock(3 * 86_400_000);
  await refuse();
  expect(await count()).toBe(2);
});

test('one run of the expiry takes all lots that have ended, however many there are', async () => {
  const ended = {
    kind: 'grant',
    granted: true,
    expires_at: new Date(nowMs() - 1_000),
    ref_type: 'staff',
  } as const;
  const books: number[] = [];
  for (let i = 0; i < 7; i++) {
    const book_id = await makeBook(db, {});
    await credit(db, { ...ended, book_id, amount_micro_usd: microUsd(10), ref_id: `${book_id} a` });
    await credit(db, { ...ended, book_id, amount_micro_usd: microUsd(20), ref_id: `${book_id} b` });
    books.push(book_id);
  }
  expect(await expireLots(db, 3)).toBeGreaterThanOrEqual(14);
  for (const book of books) expect((await readBalance(db, book)).available_micro_usd).toBe(0);
});

test('live books below their mark are counted, those without a mark and those above it are not', async () => {
  const before = await countLowBooks(db);
  const [low, high, unmarked] = [
    await makeBook(db, { amount: 100 }),
    await makeBook(db, { amount: 100 }),
    await makeBook(db, { amount: 0 }),
  ];
  for (const book_id of [low, high, unmarked])
    await setLowMark(db, { book_id, low_mark_micro_usd: book_id === unmarked ? null : microUsd(100) });
  expect(await countLowBooks(db)).toBe(before);
  await ledger.hold(holdOf(subjectOf(low), 60));
  // What is held is still there.
  expect(await countLowBooks(db)).toBe(before);
  await setLowMark(db, { book_id: low, low_mark_micro_usd: microUsd(101) });
  expect(await countLowBooks(db)).toBe(before + 1);
});
