// A database of the release that release.sql was written by: brought to this one its money is what it was, its history
// verifies, and calls go on.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createPool, listMigrations, migrate } from '@svc/core/db/index.ts';
import { microUsd } from '@svc/core/kernel/index.ts';
import { credit, sweepOnce, verifyLedger } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  openTestLedger,
  PATIENT,
  settleOf,
} from '@svc/core/ledger/testing/testing.ts';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { restoreRows } from './dump.ts';

const name = `t_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${name}` }).href;
const admin = new pg.Client(Object.assign(new URL(inject('postgres')), { pathname: '/postgres' }).href);
await admin.connect();
await admin.query(`create database ${name}`);
await restoreRows(url, readFileSync(new URL('release.sql', import.meta.url), 'utf8'));
const pool = createPool(url);
const journal = journalDirectory();
afterAll(async () => {
  await pool.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
  journal.remove();
});

async function select<T>(text: string): Promise<T[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

const HISTORY = [
  'select book_id, available, held, granted, seq, block_no, head from ledger.book order by 1',
  'select * from ledger.entry order by book_id, seq',
  'select book_id, block_no, hash from ledger.block order by 1, 2',
  'select request_id, book_id, block_no, seq, cost from ledger.meter order by 1',
  'select * from ledger.writeoff order by book_id, seq',
];

test('a database of the release before is brought here with every balance, entry and hash as it was', async () => {
  const before = await Promise.all(HISTORY.map(select));
  expect(before.map((rows) => rows.length > 0)).toEqual(HISTORY.map(() => true));
  await migrate(url);
  expect(await Promise.all(HISTORY.map(select))).toEqual(before);
  const report = await verifyLedger({ url });
  expect(report.findings).toEqual([]);
  expect(report).toMatchObject({ books: 2, meters: 7, ok: true });
  const { installation, ledger } = await listMigrations();
  const applied = await select<{ name: string }>(
    'select name from svc_migration union all select name from ledger.svc_migration order by 1',
  );
  expect(applied.map((row) => row.name)).toEqual([...installation, ...ledger].map(({ name }) => name));
});

test('holds of the release before are swept, and calls and credits of this one follow on its chains', async () => {
  // The hold that existed when the dump was taken belongs to a process that has ended.
  expect(await sweepOnce(pool)).toHaveLength(1);
  const [subject] = await select<{ book_id: string; key_no: number; project_no: number }>(
    `select b.book_id, max(u.subject) filter (where u.kind = 1) as key_no,
            max(u.subject) filter (where u.kind = 2) as project_no
       from ledger.book b join ledger.budget u using (book_id) where b.environment = 1 group by 1`,
  );
  const of = { ...subject!, book_id: Number(subject!.book_id) };
  const again = {
    book_id: of.book_id,
    kind: 'topup',
    amount_micro_usd: microUsd(5_000),
    granted: false,
    expires_at: null,
    ref_type: 'staff',
    ref_id: 'paid',
  } as const;
  expect(await credit(pool, again)).toMatchObject({ replay: true });
  const ledger = await openTestLedger(url, journal.dir, PATIENT);
  try {
    const hold = holdOf(of, 20);
    expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
    expect(await ledger.settle(settleOf(of, hold.request_id, 15))).toMatchObject({ status: 'settled' });
  } finally {
    await ledger.close();
  }
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
