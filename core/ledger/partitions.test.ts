// Metering records find a place in any month, made ahead or not, and making one never keeps a settle waiting.
import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool } from '../db/index.ts';
import { shiftClock } from '../kernel/index.ts';
import { verifyLedger } from './index.ts';
import { makeMeterPartitions } from './store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from './testing/testing.ts';

const DAY_MS = 86_400_000;
const url = await createTestLedger();
const db = createPool(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
const reader = await openOwner(url);
afterAll(async () => {
  shiftClock(0);
  await ledger.close();
  await reader.end();
  await db.end();
  journal.remove();
});

/** Makes a call on `book` now; the partition that its record went to. */
async function callOn(book: number): Promise<string> {
  const hold = holdOf(subjectOf(book), 20);
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  const settle = settleOf(subjectOf(book), hold.request_id, 10);
  expect(await ledger.settle(settle)).toMatchObject({ status: 'settled' });
  expect(await ledger.settle(settle)).toMatchObject({ status: 'duplicate' });
  const { rows } = await db.query<{ part: string }>({
    name: 'test.part',
    text: `select tableoid::regclass::text as part from ledger.meter
            where request_id = (select max(request_id::text)::uuid from ledger.meter)`,
  });
  // Without its schema, and without the number that a part has at a server of a cluster.
  return rows[0]!.part.replace(/^\w+\./, '').replace(/^(meter_(?:\d{6}|default))_\d+$/, '$1');
}

test('in a month that nobody made calls are settled once too, and the months after are made by the job', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  expect(await callOn(book)).toMatch(/^meter_\d{6}$/);
  shiftClock(200 * DAY_MS);
  expect(await callOn(book)).toBe('meter_default');
  // Its own month stays in the default partition; the two after it are made.
  expect(await makeMeterPartitions(db)).toBe(2);
  expect(await callOn(book)).toBe('meter_default');
  shiftClock(235 * DAY_MS);
  expect(await callOn(book)).toMatch(/^meter_\d{6}$/);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('behind a long reader a month is left to the next run, and settles go on', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  shiftClock(500 * DAY_MS);
  await reader.query('begin; select from ledger.meter limit 1');
  const making = makeMeterPartitions(db);
  expect(await callOn(book)).toBe('meter_default');
  expect(await making).toBe(0);
  await reader.query('rollback');
  expect(await makeMeterPartitions(db)).toBe(2);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
