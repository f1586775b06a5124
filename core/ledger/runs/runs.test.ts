import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { createPool } from '../../db/index.ts';
import { microUsd, newRequestId, shiftClock } from '../../kernel/index.ts';
import { purgeRuns, readBalance, readRun, runOf, sweepOnce } from '../index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  until,
} from '../testing/testing.ts';
import type { Hold, Subject } from '../types.ts';
import { verifyLedger } from '../verify/verify.ts';

const url = await createTestLedger();
const db = createPool(url);
const owner = await openOwner(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
const other = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  shiftClock(0);
  await ledger.close();
  await other.close();
  await owner.end();
  await db.end();
  journal.remove();
});

function newRun(): string {
  return runOf(Buffer.from('pepper'), { project_no: 1, id: newRequestId() });
}

/** A hold of `amount` for a call of `run`, all of whose calls may cost `max` together. */
function holdIn(subject: Subject, run: string, amount: number, max: number): Hold {
  return { ...holdOf(subject, amount), budget: { run, max_micro_usd: microUsd(max) } };
}

test('in a batch that is gone through item by item, calls without a run are held beside calls of runs', async () => {
  const subject = subjectOf(await makeBook(db, { amount: 1_000 }));
  const run = newRun();
  const unknown = { ...subject, key_no: 8_888_888 };
  const stands = holdIn(subject, run, 100, 1_000);
  expect(await ledger.hold(stands)).toEqual({ status: 'ok' });
  // After a lost answer to its COMMIT; and beside an item that cannot be.
  for (const meets of [stands, holdOf(unknown, 10)]) {
    const batch = [meets, holdOf(subject, 50), holdIn(subject, run, 20, 1_000), holdOf(subject, 30)];
    const answers = await Promise.all(batch.map((hold) => ledger.hold(hold)));
    expect(answers.slice(1)).toEqual([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }]);
  }
  expect(await readRun(db, { book_id: subject.book_id, run })).toMatchObject({ held_micro_usd: 140 });
  expect(await ledger.balance(subject.book_id)).toMatchObject({ held_micro_usd: 300 });
});

test('calls of one run over two processes never hold or cost more together than its budget', async () => {
  const book = await makeBook(db, { amount: 1_000_000, keys: [1, 2, 3] });
  const run = newRun();
  const subjects = [1, 2, 3].map((key_no) => ({ ...subjectOf(book), key_no }));
  const holds = Array.from({ length: 64 }, (_, i) => holdIn(subjects[i % 3]!, run, 70, 1_000));
  const answers = await Promise.all(holds.map((hold, i) => (i % 2 === 0 ? ledger : other).hold(hold)));
  const held = holds.filter((_, i) => answers[i]!.status === 'ok');
  expect(held).toHaveLength(14);
  expect(answers.filter(({ status }) => status !== 'ok')[0]).toEqual({
    status: 'budget_exhausted',
    scope: 'run',
  });
  expect(await readRun(db, { book_id: book, run })).toEqual({
    max_micro_usd: 1_000,
    spent_micro_usd: 0,
    held_micro_usd: 980,
  });
  await Promise.all(held.map((hold) => ledger.settle({ ...settleOf(hold, hold.request_id, 50), run })));
  expect(await readRun(db, { book_id: book, run })).toMatchObject({
    spent_micro_usd: 700,
    held_micro_usd: 0,
  });
  // A refusal keeps nothing: what is left can be used to the last micro-dollar.
  expect(await ledger.hold(holdIn(subjects[0]!, run, 301, 1_000))).toMatchObject({ scope: 'run' });
  expect(await ledger.hold(holdIn(subjects[1]!, run, 300, 1_000))).toEqual({ status: 'ok' });
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('a run has nothing to do with another, nor with calls that name none', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const [one, two] = [newRun(), newRun()];
  const answers = await Promise.all([
    ledger.hold(holdIn(subject, one, 100, 100)),
    ledger.hold(holdOf(subject, 200)),
    ledger.hold(holdIn(subject, two, 100, 100)),
    ledger.hold(holdIn(subject, one, 1, 100)),
    ledger.hold(holdIn(subject, two, 0, 100)),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'budget_exhausted', 'ok']);
});

test('the newest call that was held says what its run may cost; one that was refused says nothing', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const run = newRun();
  const first = holdIn(subject, run, 60, 100);
  await ledger.hold(first);
  expect(await ledger.hold(holdIn(subject, run, 10, 65))).toMatchObject({ scope: 'run' });
  expect(await ledger.extend(subject, first.request_id, microUsd(100))).toBe('ok');
  expect(await ledger.extend(subject, first.request_id, microUsd(101))).toBe('budget_exhausted');
  expect(await ledger.hold(holdIn(subject, run, 1, 300))).toEqual({ status: 'ok' });
  expect(await ledger.extend(subject, first.request_id, microUsd(299))).toBe('ok');
});

test('a call whose hold was swept counts in its run when it is settled after all', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const run = newRun();
  const hold = holdIn(subject, run, 80, 100);
  await ledger.hold(hold);
  const lapsed = `update ledger.lease set expires_at = statement_timestamp() - interval '1 second', seconds = 1`;
  await db.transaction(async (tx) => {
    await tx.query({ name: 'test.lapse', text: lapsed });
    await sweepOnce(tx, 10_000);
  });
  expect(await readRun(db, { book_id: book, run })).toMatchObject({ spent_micro_usd: 0, held_micro_usd: 0 });
  expect(await other.settle({ ...settleOf(hold, hold.request_id, 70), run })).toMatchObject({
    status: 'late',
  });
  expect(await readRun(db, { book_id: book, run })).toMatchObject({ spent_micro_usd: 70, held_micro_usd: 0 });
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('a call that is given back leaves its run as it was', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const run = newRun();
  const hold = holdIn(subjectOf(book), run, 100, 100);
  await other.hold(hold);
  other.release(hold, hold.request_id);
  await until(async () => (await readBalance(db, book)).held_micro_usd === 0);
  expect(await readRun(db, { book_id: book, run })).toMatchObject({ spent_micro_usd: 0, held_micro_usd: 0 });
});

test('a budget that is none is refused before the queue, and holds nothing', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const bad = [
    holdIn(subject, 'run-1', 1, 100),
    { ...holdOf(subject, 1), budget: { run: newRun(), max_micro_usd: -1 as never } },
    { ...holdOf(subject, 1), budget: { run: newRun(), max_micro_usd: 1.5 as never } },
  ];
  for (const hold of bad) expect(await ledger.hold(hold)).toMatchObject({ status: 'refused' });
  const settle = { ...settleOf(subject, newRequestId(), 1), run: "'; drop table ledger.run; --" };
  expect(await ledger.settle(settle)).toMatchObject({ status: 'refused' });
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 1_000, held_micro_usd: 0 });
});

test('a run is forgotten a month after its last call, but not while something is held for it', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const [idle, busy] = [newRun(), newRun()];
  const hold = holdIn(subject, idle, 10, 100);
  await ledger.hold(hold);
  await ledger.settle({ ...settleOf(hold, hold.request_id, 10), run: idle });
  await ledger.hold(holdIn(subject, busy, 10, 100));
  shiftClock(29 * 86_400_000);
  await purgeRuns(db);
  expect(await readRun(db, { book_id: book, run: idle })).not.toBeNull();
  shiftClock(30 * 86_400_000 + 3_600_000);
  await purgeRuns(db, 1);
  expect(await readRun(db, { book_id: book, run: idle })).toBeNull();
  expect(await readRun(db, { book_id: book, run: busy })).toMatchObject({ held_micro_usd: 10 });
  // Its name begins anew, and the verifier counts from there.
  const again = holdIn(subject, idle, 100, 100);
  expect(await ledger.hold(again)).toEqual({ status: 'ok' });
  await ledger.settle({ ...settleOf(again, again.request_id, 99), run: idle });
  expect(await readRun(db, { book_id: book, run: idle })).toMatchObject({ spent_micro_usd: 99 });
  shiftClock(0);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('a gateway of the release before, which knows no runs, holds and settles as it did', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const { key_no, project_no } = subjectOf(book);
  const { rows: leases } = await owner.query<{ id: number }>(
    `insert into ledger.lease (process, seconds, expires_at)
     values ('older', 60, clock_timestamp() + interval '1 minute') returning lease_id as id`,
  );
  const windows = `array[${book}]::bigint[], array[1, 2]::smallint[], array[${key_no}, ${project_no}]::int[],
    array[current_date, date_trunc('month', now())::date]::date[], array[1, 1]::int[],
    array['01a21de7-22d3-4ad1-8913-dd2a7fb50ae0']::uuid[], array[1]::int[], array[1]::int[], array[2]::int[]`;
  const nothing = `'{}'::int[], '{}'::text[], '{}'::bytea[], '{}'::bytea[]`;
  const held = await owner.query(
    `select o_status from ledger.hold(${windows}, array[10]::bigint[], ${nothing}, ${leases[0]!.id}::bigint, now())`,
  );
  expect(held.rows).toEqual([{ o_status: 'o' }]);
  const numbers = `array[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0]::int[]`;
  const settled = await owner.query(
    `select o_status from ledger.settle(${windows}, array[7]::bigint[], ${numbers}, '{}'::uuid[], now())`,
  );
  expect(settled.rows).toEqual([{ o_status: 's' }]);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 993, held_micro_usd: 0 });
});

test.each([
  ['what a run has spent', 'update ledger.run set spent = spent - 1'],
  ['what is held for a run', 'update ledger.run set held = held + 1'],
  ['the run of a call', `update ledger.meter set run = '00000000-0000-4000-8000-000000000000'`],
])('the verifier finds a change of %s', async (_, change) => {
  const book = await makeBook(db, { amount: 1_000 });
  const run = newRun();
  const hold = holdIn(subjectOf(book), run, 10, 100);
  await ledger.hold(hold);
  await ledger.settle({ ...settleOf(hold, hold.request_id, 10), run });
  await owner.query(`${change} where book_id = ${book}`);
  const { findings } = await verifyLedger({ url });
  expect(findings.filter(({ book_id }) => book_id === book).map(({ check }) => check)).toEqual(['run']);
});
