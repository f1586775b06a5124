// PostgreSQL that is gone at settle loses nothing: what was not booked is in the journal, and is booked from there once.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { startTestPostgres } from '../../../test/support/postgres.ts';
import { endWithUs } from '../../../test/support/watch.ts';
import { createPool, migrate, type Pool } from '../../db/index.ts';
import { newRequestId } from '../../kernel/index.ts';
import { readBalance, readMeter, sweepOnce, verifyLedger } from '../index.ts';
import {
  journalDirectory,
  makeBook,
  openTestLedger,
  settleOf,
  subjectOf,
  UNITS,
  until,
} from '../testing/testing.ts';

/** The process of testing/process.ts with its answers in order. */
function startProcess(url: string, journal_dir: string) {
  const script = new URL('../testing/process.ts', import.meta.url).pathname;
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

/** A server of a test's own with a ledger, and a directory of journals. */
async function startLedger() {
  const dir = mkdtempSync(join(tmpdir(), 'svc-ledger-'));
  const journal = journalDirectory();
  let server = await startTestPostgres({ dir });
  const { port } = server;
  const url = server.urlOf('postgres');
  await migrate(url);
  const db = createPool(url);
  const book = await makeBook(db, { amount: 1_000 });
  await db.end();
  return {
    ...{ url, book, journal_dir: journal.dir },
    stop: () => server.stop(),
    kill: () => server.kill(),
    async startAgain() {
      server = await startTestPostgres({ dir, port });
      return createPool(url);
    },
    /** Nothing is left to book, and what was booked is right. */
    async expectRightAndEnd(db: Pool) {
      expect(readdirSync(journal.dir)).toEqual([]);
      expect((await verifyLedger({ url })).findings).toEqual([]);
      await db.end();
      await server.stop();
      journal.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

test('PostgreSQL gone at settle, then the process killed: the next process books the charge, once', async () => {
  const { url, book, journal_dir, stop, startAgain, expectRightAndEnd } = await startLedger();
  const victim = startProcess(url, journal_dir);
  expect(await victim.answer()).toEqual({ status: 'open' });
  const request_id = newRequestId();
  victim.tell({ do: 'hold', book, request_id, micro_usd: 100 });
  expect(await victim.answer()).toEqual({ status: 'ok' });
  await stop();
  victim.tell({ do: 'settle', book, request_id, micro_usd: 70 });
  expect(await victim.answer()).toEqual({ status: 'journaled', charged_micro_usd: null });
  expect(readdirSync(journal_dir)).toHaveLength(1);
  await victim.kill();

  const db = await startAgain();
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 900, held_micro_usd: 100 });
  expect(await sweepOnce(db)).toEqual([]);
  const next = await openTestLedger(url, journal_dir);
  await until(() => next.pending === 0);
  expect(await readMeter(db, request_id)).toMatchObject({ charged_micro_usd: 70 });
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 930, held_micro_usd: 0 });
  expect(await next.settle(settleOf(subjectOf(book), request_id, 70))).toMatchObject({ status: 'duplicate' });
  await next.close();
  await expectRightAndEnd(db);
}, 60_000);

test('PostgreSQL gone at settle and back: the same process books what it journaled and removes the file', async () => {
  const { url, book, journal_dir, kill, startAgain, expectRightAndEnd } = await startLedger();
  const ledger = await openTestLedger(url, journal_dir);
  const ids = Array.from({ length: 20 }, () => newRequestId());
  for (const id of ids)
    await ledger.hold({ ...subjectOf(book), request_id: id, amount_micro_usd: 10 as never });
  await kill();
  const units = { ...UNITS, other: { search_units: 2, requests: 0 } };
  const results = await Promise.all(
    ids.map((id) => ledger.settle({ ...settleOf(subjectOf(book), id, 7), units })),
  );
  expect(results.every(({ status }) => status === 'journaled')).toBe(true);
  expect(ledger).toMatchObject({ healthy: false, pending: 20, journaled: 20 });
  const db = await startAgain();
  await until(() => ledger.pending === 0);
  expect(ledger.healthy).toBe(true);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 860, held_micro_usd: 0 });
  expect((await readMeter(db, ids[0]!))?.units).toEqual(units);
  await ledger.close();
  await expectRightAndEnd(db);
}, 60_000);
