// Of lots with the same terms the oldest burns first, whatever their numbers: where a ledger has been moved, or its
// tables are spread over servers, numbers of an identity are in no order of time.
import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool } from '../db/index.ts';
import { verifyLedger } from './index.ts';
import { readLots } from './read-store.ts';
import { debit, expireLots } from './store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  topUp,
} from './testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url);
const owner = await openOwner(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  await ledger.close();
  await owner.end();
  await db.end();
  journal.remove();
});

async function remaining(book_id: number): Promise<number[]> {
  return (await readLots(db, { book_id })).map((lot) => lot.remaining_micro_usd as number).reverse();
}

test('a lot that came later burns later, though its number is lower', async () => {
  await owner.query(`select setval('ledger.lot_lot_no_seq', 281474976710656)`);
  const book = await makeBook(db, { amount: 100 });
  await owner.query(`select setval('ledger.lot_lot_no_seq', 1000)`);
  await topUp(db, book, 100);
  const call = async (cost: number) => {
    const hold = holdOf(subjectOf(book), cost);
    await ledger.hold(hold);
    expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, cost))).toMatchObject({
      status: 'settled',
    });
  };
  await call(60);
  expect(await remaining(book)).toEqual([40, 100]);
  await call(60);
  expect(await remaining(book)).toEqual([0, 80]);
  await topUp(db, book, 50);
  await debit(db, {
    book_id: book,
    kind: 'refund',
    amount_micro_usd: 90 as never,
    ref_type: 'staff',
    ref_id: 'burn order',
  });
  expect(await remaining(book)).toEqual([0, 0, 40]);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('numbers beyond what a lot could be counted to expire like others', async () => {
  await owner.query(`select setval('ledger.lot_lot_no_seq', 9007199254740993)::text`);
  const book = await makeBook(db, { amount: 30 });
  const { rows } = await owner.query<{ lot_id: string }>(
    `update ledger.lot set expires_at = now() - interval '1 second' where book_id = $1 returning lot_id`,
    [book],
  );
  expect(rows).toHaveLength(1);
  expect(await expireLots(db)).toBe(1);
  expect(await remaining(book)).toEqual([0]);
});
