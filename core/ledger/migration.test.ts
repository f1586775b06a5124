// Calls go on while a migration waits for a table that something reads for minutes.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool, listMigrations, migrate } from '../db/index.ts';
import { verifyLedger } from './index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openOwner,
  openTestLedger,
  settleOf,
  subjectOf,
} from './testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url);
const reader = await openOwner(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, { patience: { hold_ms: 10_000, settle_ms: 10_000 } });
const dir = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
afterAll(async () => {
  await ledger.close();
  await db.end();
  await reader.end();
  journal.remove();
  rmSync(dir, { recursive: true });
});

/** The migrations of this release and one more, which changes the table that every settle writes. */
async function nextRelease(): Promise<URL> {
  const version = String((await listMigrations()).ledger.length + 1).padStart(4, '0');
  cpSync(new URL('../db/migrations/', import.meta.url), dir, { recursive: true });
  writeFileSync(
    join(dir, 'ledger', `${version}_next.sql`),
    `-- compatible_from: 0001\nalter table ledger.meter add column of_the_next_release int;\n`,
  );
  return pathToFileURL(`${dir}/`);
}

/** Calls of `costs` on `book` in one batch; the status of each. */
async function calls(book: number, costs: readonly number[]): Promise<string[]> {
  const holds = costs.map(() => holdOf(subjectOf(book), 200));
  await Promise.all(holds.map((hold) => ledger.hold(hold)));
  const settled = await Promise.all(
    holds.map((hold, i) => ledger.settle(settleOf(subjectOf(book), hold.request_id, costs[i]!))),
  );
  return settled.map(({ status }) => status);
}

test('a settle never queues behind a migration that waits for a long reader', async () => {
  const book = await makeBook(db, { amount: 1_000_000 });
  const folder = await nextRelease();
  await reader.query('begin isolation level repeatable read read only; select from ledger.meter');
  const short = { wait_ms: 100, pause_ms: 1, tries: 2 };
  await expect(migrate(url, { folder, lock: short })).rejects.toThrow('something long reads its tables');

  let over = false;
  const migrating = migrate(url, { folder }).finally(() => {
    over = true;
  });
  let during = 0;
  const statuses = new Set<string>();
  while (!over) {
    for (const status of await calls(book, [11, 0, 12])) statuses.add(status);
    if (++during === 30) await reader.query('rollback');
  }
  expect((await migrating).applied).toHaveLength(1);
  // A settle behind a lock that waits as long as the reader reads would be journaled.
  expect([...statuses]).toEqual(['settled']);
  expect(during).toBeGreaterThanOrEqual(30);

  expect(await calls(book, [13, 0])).toEqual(['settled', 'settled']);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});
