// PostgreSQL that is gone at settle loses nothing: what was not booked is in the journal, and is booked from there once.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startTestPostgres } from '../../test/support/postgres.ts';
import { endWithUs } from '../../test/support/watch.ts';
import { createPool, migrate } from '../db/index.ts';
import { newRequestId } from '../kernel/index.ts';
import { readBalance, readMeter, sweepOnce, verifyLedger } from './index.ts';
import {
  journalDirectory,
  makeBook,
  openTestLedger,
  settleOf,
  subjectOf,
  UNITS,
  until,
} from './testing/testing.ts';

/** The process of testing/process.ts with its answers in order. */
function startProcess(url: string, journal_dir: string) {
  const script = new URL('./testing/process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, url, journal_dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  endWithUs(child.pid as number, ended);
  return {
    answer: async () => JSON.parse((await lines.next()).value as string) as { status: string },
    tell: (order: object) => child.stdin.write(`${JSON.stringify(order)}\n`),
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

test('PostgreSQL gone at settle, then the process killed: the next process books the charge, once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-ledger-'));
  const journal = journalDirectory();
  let server = await startTestPostgres({ dir });
  const { port } = server;
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query('create database ledger');
  await admin.end();
  const url = server.urlOf('ledger');
  await migrate(url);
  let db = createPool(url);
  const book = await makeBook(db, { amount: 1_000 });
  await db.end();

  const victim = startProcess(url, journal.dir);
  expect(await victim.answer()).toEqual({ status: 'open' });
  const request_id = newRequestId();
  victim.tell({ do: 'hold', book, request_id, micro_usd: 100 });
  expect(await victim.answer()).toEqual({ status: 'ok' });
  await server.stop();
  victim.tell({ do: 'settle', book, request_id, micro_usd: 70 });
  expect(await victim.answer()).toEqual({ status: 'journaled', charged_micro_usd: null });
  expect(readdirSync(journal.dir)).toHaveLength(1);
  await victim.kill();

  server = await startTestPostgres({ dir, port });
  db = createPool(url);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 900, held_micro_usd: 100 });
  expect(await sweepOnce(db)).toEqual([]);
  const next = await openTestLedger(url, journal.dir);
  await until(() => next.pending === 0);
  expect(await readMeter(db, request_id)).toMatchObject({ charged_micro_usd: 70 });
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 930, held_micro_usd: 0 });
  expect(await next.settle(settleOf(subjectOf(book), request_id, 70))).toMatchObject({ status: 'duplicate' });
  await next.close();
  expect(readdirSync(journal.dir)).toEqual([]);
  expect((await verifyLedger({ url })).findings).toEqual([]);
  await db.end();
  await server.stop();
  journal.remove();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);

test('PostgreSQL gone at settle and back: the same process books what it journaled and removes the file', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-ledger-'));
  const journal = journalDirectory();
  let server = await startTestPostgres({ dir });
  const { port } = server;
  const url = server.urlOf('postgres');
  await migrate(url);
  let db = createPool(url);
  const book = await makeBook(db, { amount: 1_000 });
  const ledger = await openTestLedger(url, journal.dir);
  const ids = Array.from({ length: 20 }, () => newRequestId());
  for (const id of ids)
    await ledger.hold({ ...subjectOf(book), request_id: id, amount_micro_usd: 10 as never });
  await db.end();
  await server.kill();
  const units = { ...UNITS, other: { search_units: 2, requests: 0 } };
  const results = await Promise.all(
    ids.map((id) => ledger.settle({ ...settleOf(subjectOf(book), id, 7), units })),
  );
  expect(results.every(({ status }) => status === 'journaled')).toBe(true);
  expect(ledger).toMatchObject({ healthy: false, pending: 20, journaled: 20 });
  server = await startTestPostgres({ dir, port });
  await until(() => ledger.pending === 0);
  expect(ledger.healthy).toBe(true);
  db = createPool(url);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 860, held_micro_usd: 0 });
  expect((await readMeter(db, ids[0]!))?.units).toEqual(units);
  await ledger.close();
  expect(readdirSync(journal.dir)).toEqual([]);
  expect((await verifyLedger({ url })).findings).toEqual([]);
  await db.end();
  await server.stop();
  journal.remove();
  rmSync(dir, { recursive: true, force: true });
}, 60_000);
