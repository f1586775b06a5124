// A ledger from before there were other units: its history verifies afterwards, and calls go on while it is migrated.
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { createPool, listMigrations, migrate } from '../db/index.ts';
import { dumpLedger, readMeter, verifyLedger } from './index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  UNITS,
} from './testing.ts';

const LAST_BEFORE = 14;
const name = `t_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
const url = Object.assign(new URL(inject('postgres')), { pathname: `/${name}` }).href;
const admin = new pg.Client({
  connectionString: Object.assign(new URL(inject('postgres')), { pathname: '/postgres' }).href,
});
await admin.connect();
await admin.query(`create database ${name}`);
const owner = new pg.Client({ connectionString: url });
await owner.connect();
await owner.query(`create table svc_migration (version int primary key, name text not null, checksum text not null,
                     applied_at timestamptz not null default now())`);
for (const { version, name: file, sql, checksum } of (await listMigrations()).slice(0, LAST_BEFORE)) {
  await owner.query('begin');
  await owner.query(sql);
  await owner.query('insert into svc_migration (version, name, checksum) values ($1, $2, $3)', [
    version,
    file,
    checksum,
  ]);
  await owner.query('commit');
}
const journal = journalDirectory();
const db = createPool(url);
/** Of the version before: what it sends and what this one sends for calls without other units is the same. */
const old = await openTestLedger(url, journal.dir, { patience: { hold_ms: 10_000, settle_ms: 10_000 } });
const dir = join(tmpdir(), `svc-old-dump-${process.pid}`);
afterAll(async () => {
  await old.close();
  await db.end();
  await owner.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
  journal.remove();
  rmSync(dir, { recursive: true, force: true });
});

/** Calls of `costs` on `book` in one batch; the status of each. */
async function calls(book: number, costs: readonly number[]): Promise<string[]> {
  const holds = costs.map(() => holdOf(subjectOf(book), 200));
  await Promise.all(holds.map((hold) => old.hold(hold)));
  const settled = await Promise.all(
    holds.map((hold, i) => old.settle(settleOf(subjectOf(book), hold.request_id, costs[i]!))),
  );
  return settled.map(({ status }) => status);
}

test('history verifies after the migration as before it, and calls in between are booked', async () => {
  const book = await makeBook(db, { amount: 100_000 });
  const small = await makeBook(db, { amount: 250 });
  await calls(book, [120, 0, 130]);
  await calls(book, [7]);
  await calls(small, [300]);
  const heads = await owner.query(`select book_id, block_no, hash from ledger.block order by 1, 2`);
  expect((await verifyLedger({ url })).findings).toEqual([]);

  // A reader that goes on for a while, as a verification does: the migration must not make calls queue behind it.
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  await reader.query('begin isolation level repeatable read read only; select from ledger.meter');
  let over = false;
  const migrating = migrate(url).finally(() => {
    over = true;
  });
  let during = 0;
  const statuses = new Set<string>();
  while (!over) {
    for (const status of await calls(book, [11, 0, 12])) statuses.add(status);
    if (++during === 30) await reader.query('rollback');
  }
  await migrating;
  await reader.end();
  // A settle behind a lock that waits as long as the reader reads would be journaled.
  expect([...statuses]).toEqual(['settled']);
  expect(during).toBeGreaterThanOrEqual(30);

  expect(await calls(book, [13, 0])).toEqual(['settled', 'settled']);
  expect((await verifyLedger({ url })).findings).toEqual([]);
  const now = await owner.query(
    `select book_id, block_no, hash from ledger.block where (book_id, block_no) in
       (select * from unnest($1::bigint[], $2::bigint[])) order by 1, 2`,
    [heads.rows.map((row) => row.book_id), heads.rows.map((row) => row.block_no)],
  );
  expect(now.rows).toEqual(heads.rows);
  const { rows } = await owner.query('select count(other_units)::int as n from ledger.meter');
  expect(rows).toEqual([{ n: 0 }]);
});

test('a dump from before is verified, and a changed one is found out', async () => {
  await dumpLedger(url, dir);
  const file = join(dir, 'meter.ndjson');
  const text = (await readFile(file, 'utf8')).replaceAll(/,null\]$/gm, ']');
  expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toHaveLength(19);
  await writeFile(file, text);
  await writeFile(join(dir, 'ledger.json'), JSON.stringify({ version: 1, rows: {} }));
  expect((await verifyLedger({ dump: dir })).findings).toEqual([]);
  await writeFile(file, text.replace('"7","0","0"]', '"8","0","0"]'));
  expect((await verifyLedger({ dump: dir })).findings.map(({ check }) => check)).toContain('hash');
  await writeFile(join(dir, 'ledger.json'), JSON.stringify({ version: 3, rows: {} }));
  await expect(verifyLedger({ dump: dir })).rejects.toThrow('version 3');
});

test('calls of the version after go on beside those of the version before, in partitions old and new', async () => {
  const { rows: made } = await owner.query<{ n: number }>(
    'select ledger.make_meter_partitions(current_date, 6) as n',
  );
  expect(made[0]!.n).toBeGreaterThan(0);
  const { rows } = await owner.query<{ n: number }>(
    `select count(*) filter (where a.attname is null)::int as n
       from pg_inherits i left join pg_attribute a on a.attrelid = i.inhrelid and a.attname = 'other_units'
      where i.inhparent = 'ledger.meter'::regclass`,
  );
  expect(rows).toEqual([{ n: 0 }]);
  const book = await makeBook(db, { amount: 1_000 });
  const young = await openTestLedger(url, journal.dir, PATIENT);
  try {
    const holds = Array.from({ length: 4 }, () => holdOf(subjectOf(book), 20));
    await Promise.all(holds.map((hold) => young.hold(hold)));
    const other = { search_units: 2 };
    await Promise.all(
      holds.map((hold, i) =>
        i % 2 === 0
          ? old.settle(settleOf(subjectOf(book), hold.request_id, 5))
          : young.settle({
              ...settleOf(subjectOf(book), hold.request_id, 5),
              units: { ...UNITS, other },
            }),
      ),
    );
    const units = await Promise.all(holds.map(async (hold) => (await readMeter(db, hold.request_id))?.units));
    expect(units).toEqual([UNITS, { ...UNITS, other }, UNITS, { ...UNITS, other }]);
  } finally {
    await young.close();
  }
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
