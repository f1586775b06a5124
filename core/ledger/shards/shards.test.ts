// A ledger is an address and the name of a schema: three of them in two databases, none of which holds anything else,
// side by side in one process. Each does all that the one ledger of an installation does, and none touches another.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createPool, migrateLedger, type Pool, withLedgerSchema } from '../../db/index.ts';
import { microUsd } from '../../kernel/index.ts';
import { dumpLedger, type LedgerHandle, verifyLedger } from '../index.ts';
import { sweepOnce } from '../lease/store.ts';
import { compareWithModel, interleave } from '../model/run.ts';
import { readBalance, readEntries, readMeter } from '../read-store.ts';
import { credit, debit, expireLots, makeMeterPartitions } from '../store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  UNITS,
} from '../testing/testing.ts';

const at = (database: string) =>
  Object.assign(new URL(inject('postgres')), { pathname: `/${database}` }).href;
const databases = [0, 1].map(() => `t_${randomUUID().replaceAll('-', '').slice(0, 20)}`);
const [first, second] = databases.map(at) as [string, string];
const SHARDS: [string, string][] = [
  ['ledger_a', withLedgerSchema(first, 'ledger_a')],
  ['ledger_b', withLedgerSchema(first, 'ledger_b')],
  ['ledger', second],
];

interface Open {
  readonly url: string;
  readonly pool: Pool;
  readonly ledger: LedgerHandle;
  readonly journal: ReturnType<typeof journalDirectory>;
  readonly book: number;
}
const open: Open[] = [];
const admin = new pg.Client(at('postgres'));

beforeAll(async () => {
  await admin.connect();
  for (const name of databases) await admin.query(`create database ${name}`);
  for (const [, url] of SHARDS) {
    await migrateLedger(url);
    const pool = createPool(url);
    const journal = journalDirectory();
    const book = await makeBook(pool, { amount: 10_000, book_id: 1 });
    open.push({ url, pool, journal, book, ledger: await openTestLedger(url, journal.dir, PATIENT) });
  }
});

afterAll(async () => {
  for (const { ledger, pool, journal } of open) {
    await ledger.close();
    await pool.end();
    journal.remove();
  }
  for (const name of databases) await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

test('books of the same number in three ledgers are three books, and calls on all at once stay in their own', async () => {
  expect(open.map(({ book }) => book)).toEqual([1, 1, 1]);
  const calls = open.flatMap((shard, i) =>
    Array.from({ length: 20 }, async () => {
      const hold = holdOf(subjectOf(shard.book), 100);
      expect(await shard.ledger.hold(hold)).toEqual({ status: 'ok' });
      const settle = { ...settleOf(subjectOf(shard.book), hold.request_id, 10 + i), units: UNITS };
      expect(await shard.ledger.settle(settle)).toMatchObject({ status: 'settled' });
      return hold.request_id;
    }),
  );
  const ids = await Promise.all(calls);
  for (const [i, { pool, book, url }] of open.entries()) {
    const available_micro_usd = 10_000 - 20 * (10 + i);
    expect(await readBalance(pool, book)).toMatchObject({ available_micro_usd, held_micro_usd: 0 });
    const met = await Promise.all(ids.map((id) => readMeter(pool, id)));
    expect(met.map((meter) => meter !== null)).toEqual(ids.map((_, n) => Math.floor(n / 20) === i));
    expect(await verifyLedger({ url })).toMatchObject({ ok: true, books: 1, meters: 20 });
  }
});

test('holds whose process is gone, lots that end, credits sent again and refusals stay in their ledger', async () => {
  for (const [i, { pool, ledger, book, url }] of open.entries()) {
    const before = await readBalance(pool, book);
    const stray = holdOf(subjectOf(book), 70);
    await ledger.hold(stray);
    await pool.query({
      name: 'test.lapse',
      text: `update ledger.hold set lease_id = 0 where hold_id = (select hold_id from ledger.hold)`,
    });
    for (const other of open) expect(await sweepOnce(other.pool)).toHaveLength(other.url === url ? 1 : 0);
    const terms = { book_id: book, granted: true, ref_type: 'staff', kind: 'grant' } as const;
    const ended = { ...terms, amount_micro_usd: microUsd(50), expires_at: new Date(0), ref_id: 'ended' };
    expect(await credit(pool, ended)).toMatchObject({ replay: false });
    expect(await credit(pool, ended)).toMatchObject({ replay: true });
    expect(await expireLots(pool)).toBe(1);
    await debit(pool, {
      book_id: book,
      kind: 'refund',
      amount_micro_usd: microUsd(100 + i),
      ref_type: 'staff',
      ref_id: 'same',
    });
    expect(await readBalance(pool, book)).toMatchObject({
      available_micro_usd: before.available_micro_usd - 100 - i,
      held_micro_usd: 0,
    });
    expect(await ledger.hold(holdOf(subjectOf(book), 1_000_000))).toEqual({ status: 'insufficient_credits' });
    expect(await makeMeterPartitions(pool)).toBe(0);
    expect((await readEntries(pool, { book_id: book, limit: 3 })).map((entry) => entry.kind)).toEqual([
      'refund',
      'expire',
      'grant',
    ]);
    const dir = join(tmpdir(), `svc-shard-${process.pid}-${i}`);
    await dumpLedger(url, dir);
    expect(await verifyLedger({ dump: dir })).toEqual(await verifyLedger({ url }));
    expect((await verifyLedger({ url })).findings).toEqual([]);
    const { rows } = await pool.query<{ n: number }>({
      name: 'test.told',
      text: `select count(*)::int as n from ledger.outbox where topic = 'credits.exhausted'`,
    });
    expect(rows).toEqual([{ n: 1 }]);
  }
});

describe.each(SHARDS)('%s of its database', (_, url) => {
  test('does in any sequence what the model does, and two processes leave what they did not spend', async () => {
    await compareWithModel(url, { runs: 8, seed: 20_261_123 });
    await interleave(url);
    expect((await verifyLedger({ url })).findings).toEqual([]);
  });
});
