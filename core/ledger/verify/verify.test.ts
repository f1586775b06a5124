import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../../test/support/shards.ts';
import { createPool } from '../../db/index.ts';
import { type MicroUsd, microUsd, newRequestId } from '../../kernel/index.ts';
import { credit, debit, dumpLedger, expireLots, verifyLedger } from '../index.ts';
import { restore } from '../store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  UNITS,
} from '../testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url);
const owner = await openOwner(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
/** Kept where it is named: `LEDGER_DUMP=core/ledger/verify/fixtures` writes anew what book.test.ts reads. */
const kept = process.env['LEDGER_DUMP'];
const dir = kept ?? join(tmpdir(), `svc-dump-${process.pid}`);
afterAll(async () => {
  await ledger.close();
  await owner.end();
  await db.end();
  journal.remove();
  if (kept === undefined) rmSync(dir, { recursive: true, force: true });
});

const RUN = '0b4f8f5e-5f3c-4f0a-9d9f-2a1b7c8d9e0f';
const OTHER = { search_units: 2, audio_output_tokens: 7 };

/** Two books with grants, settles in several blocks, some with other units, a write-off, a call of cost 0, an expiry, open holds, a run with its budget, and a gift of granted and paid credit that was taken back. */
async function busyBooks(): Promise<number[]> {
  const books = [await makeBook(db, { amount: 5_000 }), await makeBook(db, { amount: 400 })];
  const [first, second] = books.map(subjectOf);
  const grant = (kind: 'grant' | 'checkin', amount: number, expires_at: Date, ref_id: string) =>
    credit(db, {
      book_id: books[0]!,
      kind,
      amount_micro_usd: microUsd(amount),
      granted: true,
      expires_at,
      ref_type: 'staff',
      ref_id,
    });
  await grant('grant', 300, new Date(Date.now() + 86_400_000), 'one');
  await grant('checkin', 50, new Date(Date.now() - 1_000), 'two');
  await expireLots(db);
  for (const cost of [120, 130, 140, 150]) {
    const holds = Array.from({ length: 3 }, () => holdOf(first!, 200));
    await Promise.all(holds.map((hold) => ledger.hold(hold)));
    await Promise.all(
      holds.map((hold, i) => {
        const settle = settleOf(first!, hold.request_id, i === 1 ? 0 : cost);
        return ledger.settle(i === 2 ? { ...settle, units: { ...UNITS, other: OTHER } } : settle);
      }),
    );
  }
  const last = holdOf(second!, 300);
  await ledger.hold(last);
  await ledger.settle(settleOf(second!, last.request_id, 450));
  await grant('grant', 30, new Date(Date.now() + 86_400_000), 'three');
  const gift = { book_id: books[0]!, ref_type: 'gift', ref_id: 'gift_1' } as const;
  expect(await debit(db, { ...gift, kind: 'gift', amount_micro_usd: microUsd(60) })).toMatchObject({
    status: 'taken',
  });
  expect(await restore(db, { ...gift, debit_kind: 'gift' })).toMatchObject({ amount_micro_usd: 60 });
  const budget = { run: RUN, max_micro_usd: microUsd(500) };
  const inRun = { ...holdOf(first!, 90), budget };
  await ledger.hold(inRun);
  await ledger.settle({ ...settleOf(first!, inRun.request_id, 65), run: RUN });
  await ledger.hold(holdOf(first!, 77));
  await ledger.hold({ ...holdOf(first!, 78), budget });
  return books;
}

const books = await busyBooks();

test('a ledger in use is found right, from the database and from a dump of it', async () => {
  const report = await verifyLedger({ url });
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ ok: true, books: 2, entries: 2 + 3 + 8 + 1 + 3 + 1, meters: 14, more: 0 });
  const counts = await dumpLedger(url, dir);
  expect(counts).toMatchObject({ book: 2, entry: 18, meter: 14, run: 1, hold: 2, writeoff: 1 });
  expect(await verifyLedger({ dump: dir })).toEqual(report);
  const { rows } = await owner.query<{ org_id: string }>(
    'select org_id from ledger.book where book_id = $1',
    [books[1]],
  );
  const { org_id } = rows[0]!;
  expect(await verifyLedger({ dump: dir }, { org_id })).toMatchObject({ ok: true, books: 1, entries: 2 });
  expect(await verifyLedger({ url }, { org_id })).toMatchObject({ ok: true, books: 1, entries: 2 });
});

// A pooler keeps its connections.
test.skipIf(process.env['TEST_POOLER'] === '1')('no connection of the verifier is left', async () => {
  await verifyLedger({ url });
  const open = async () =>
    (
      await owner.query(
        `select 1 from pg_stat_activity
          where application_name = 'svc-ledger-verify' and datname = current_database()`,
      )
    ).rows;
  await expect.poll(open).toEqual([]);
});

const A = `book_id = ${books[0]}`;
const B = `book_id = ${books[1]}`;
const setUnits = (to: string) => `update ledger.meter set other_units = ${to}`;
const TAMPERINGS: [what: string, statement: string, check: string][] = [
  [
    'an amount with its balances',
    `update ledger.entry set amount = amount + 1, balance_after = balance_after + 1 where ${A} and seq = 6`,
    'charge',
  ],
  [
    'a balance after',
    `update ledger.entry set balance_after = balance_after + 1 where ${A} and seq = 6`,
    'balance',
  ],
  ['a cost', `update ledger.meter set cost = cost + 1 where ${A} and seq = 6`, 'charge'],
  [
    'a token count',
    `update ledger.meter set output_tokens = output_tokens + 1 where ${A} and seq = 6`,
    'hash',
  ],
  [
    'a token count of a call of cost 0',
    `update ledger.meter set input_tokens = 9 where ${A} and seq is null`,
    'hash',
  ],
  ['a count of another unit', `${setUnits(`'{1,3,3,7}'`)} where ${A} and seq = 6`, 'hash'],
  ['another kind for a count', `${setUnits(`'{1,2,4,7}'`)} where ${A} and seq = 6`, 'hash'],
  ['units taken away', `${setUnits('null')} where ${A} and seq = 6`, 'hash'],
  ['units given to a call that had none', `${setUnits(`'{1,2}'`)} where ${A} and seq = 5`, 'hash'],
  ['units given to a call of cost 0', `${setUnits(`'{7,1}'`)} where ${A} and seq is null`, 'hash'],
  [
    'units moved to the neighbour in the block',
    `${setUnits(`case seq when 5 then '{1,2,3,7}'::int[] end`)} where ${A} and seq in (5, 6)`,
    'hash',
  ],
  ['the price of a call', `update ledger.meter set price_no = 99 where ${A} and seq = 6`, 'hash'],
  ['the key of a call', `update ledger.meter set key_no = 99 where ${A} and seq = 6`, 'window'],
  ['a deleted entry', `delete from ledger.entry where ${A} and seq = 7`, 'seq'],
  ['the deleted last entry', `delete from ledger.entry where ${B} and seq = 2`, 'seq'],
  ['a deleted metering record', `delete from ledger.meter where ${A} and seq = 7`, 'meter'],
  ['a deleted metering record of cost 0', `delete from ledger.meter where ${A} and seq is null`, 'meter'],
  [
    'an entry without a block',
    `insert into ledger.entry values (${books[1]}, 3, 5, 5, now(), null, 5, 'staff', 'x')`,
    'entry',
  ],
  ['a write-off', `update ledger.writeoff set amount = amount + 1 where ${B}`, 'charge'],
  ['a deleted write-off', `delete from ledger.writeoff where ${B}`, 'charge'],
  [
    'a burn range',
    `update ledger.burn set to_micro = to_micro - 1 where ${A} and from_micro = 0 and to_micro > 1`,
    'burn',
  ],
  ['a deleted burn range', `delete from ledger.burn where ${B}`, 'burn'],
  ['the amount of a lot', `update ledger.lot set amount = amount + 1 where ${A} and not is_grant`, 'lot'],
  ['the burned part of a lot', `update ledger.lot set burned = burned + 1 where ${A} and is_open`, 'lot'],
  [
    'the expiry of a used lot',
    `update ledger.lot set expires_at = 'infinity' where ${A} and amount = 300`,
    'hash',
  ],
  [
    'the place of credit that was put back',
    `update ledger.lot set origin_seq = seq where ${A} and origin_seq < seq and is_grant`,
    'restore',
  ],
  [
    'the amount of credit that was put back',
    `update ledger.lot set amount = amount + 1 where ${A} and origin_seq < seq and not is_grant`,
    'restore',
  ],
  [
    'the expiry of credit that was put back',
    `update ledger.lot set expires_at = 'infinity' where ${A} and origin_seq < seq and is_grant`,
    'restore',
  ],
  ['the debit of a burn range', `update ledger.burn set seq = null where ${A} and seq is not null`, 'burn'],
  [
    'a debit for the burn range of a call',
    `update ledger.burn set seq = 9 where ${A} and seq is null`,
    'burn',
  ],
  ['a window', `update ledger.win set spent = spent - 1 where ${A} and kind = 1`, 'window'],
  ['the held part of a window', `update ledger.win set held = held + 1 where ${A} and kind = 2`, 'window'],
  ['a deleted window', `delete from ledger.win where ${A} and kind = 2`, 'window'],
  ['the spend of a run', `update ledger.run set spent = spent - 1 where ${A}`, 'run'],
  ['the held part of a run', `update ledger.run set held = held + 1 where ${A}`, 'run'],
  ['a deleted run', `delete from ledger.run where ${A}`, 'run'],
  ['a hold', `update ledger.hold set amount = amount + 1 where ${A}`, 'hold'],
  ['available', `update ledger.book set available = available + 1 where ${A}`, 'balance'],
  [
    'held and available',
    `update ledger.book set available = available + 1, held = held - 1 where ${A}`,
    'hold',
  ],
  ['granted', `update ledger.book set granted = granted + 1 where ${A}`, 'granted'],
  ['the seq of a book', `update ledger.book set seq = seq + 1 where ${A}`, 'seq'],
  ['the head of a book', `update ledger.book set head = sha256('x') where ${A}`, 'hash'],
  ['the hash of a block', `update ledger.block set hash = sha256('x') where ${A} and block_no = 4`, 'hash'],
  ['a deleted block', `delete from ledger.block where ${A} and block_no = 4`, 'block'],
  [
    'the time of an entry',
    `update ledger.entry set created_at = created_at - interval '1 hour' where ${A} and seq = 6`,
    'time',
  ],
  ['the reference of a credit', `update ledger.entry set ref_id = 'other' where ${A} and seq = 1`, 'hash'],
  [
    'a book that is gone',
    `delete from ledger.budget where ${B}; delete from ledger.lot where ${B}; delete from ledger.book where ${B}`,
    'owner',
  ],
];

test.each(TAMPERINGS)('%s is found', async (_, statement, check) => {
  await owner.query('begin');
  try {
    await owner.query(`set local session_replication_role = replica; ${statement}`);
    // The verifier has a connection of its own, so the change is committed and put back afterwards.
    await owner.query('commit');
    const report = await verifyLedger({ url });
    expect(report.ok).toBe(false);
    expect(report.findings.map((finding) => finding.check)).toContain(check);
  } finally {
    await owner.query('rollback');
    await undo();
  }
});

const TABLES = ['book', 'lot', 'burn', 'budget', 'win', 'run', 'hold', 'entry', 'meter', 'block', 'writeoff'];
for (const table of TABLES) {
  await owner.query(`create table backup_${table} as select * from ledger.${table}`);
}

async function undo(): Promise<void> {
  await owner.query('begin');
  await owner.query('set local session_replication_role = replica');
  for (const table of TABLES) {
    await owner.query(`delete from ledger.${table}`);
    await owner.query(`insert into ledger.${table} overriding system value select * from backup_${table}`);
  }
  await owner.query('commit');
}

test('nothing of it stays: the ledger is found right again', async () => {
  expect((await verifyLedger({ url })).findings).toEqual([]);
  const id = newRequestId();
  expect(await ledger.hold(holdOf(subjectOf(books[0]!), 5, id))).toEqual({ status: 'ok' });
  expect(await ledger.settle(settleOf(subjectOf(books[0]!), id, 5 as MicroUsd))).toMatchObject({
    status: 'settled',
  });
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
