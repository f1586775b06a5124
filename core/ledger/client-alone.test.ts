// What the client of a ledger does by itself as time passes, and what it says of it. The clock of its intervals is the test's.
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { startClients } from '../../test/support/ledger/clients.ts';
import { type MicroUsd, newRequestId } from '../kernel/index.ts';
import { readMeter } from './index.ts';
import { startProxy } from './testing/proxy.ts';
import {
  AWAY,
  holdOf,
  makeBook,
  openTestLedger,
  settleOf,
  subjectOf,
  UNITS,
  until,
} from './testing/testing.ts';
import type { Hold } from './types.ts';

const LEASE_MS = 60_000;
const { url, db, owner, journal, log, lines, open, heldOf, leaseOf, said, reported } = await startClients();

test('the lease is renewed three times in its life', async () => {
  const { ledger, close } = await open({ lease_seconds: LEASE_MS / 1_000 });
  const first = await leaseOf(ledger.lease_id);
  vi.advanceTimersByTime(LEASE_MS / 3 - 1);
  await ledger.balance(1).catch(() => {});
  expect(await leaseOf(ledger.lease_id)).toEqual(first);
  vi.advanceTimersByTime(1);
  await until(async () => Number((await leaseOf(ledger.lease_id))?.renewed) > Number(first?.renewed));
  await close();
  expect(lines).toEqual([]);
});

test('a lease has a minute where nothing else is said', async () => {
  const { ledger, close } = await open();
  const { rows } = await db.query({
    name: 'test.seconds',
    text: 'select seconds::int as seconds from ledger.lease where lease_id = $1',
    values: [ledger.lease_id],
  });
  expect(rows).toEqual([{ seconds: 60 }]);
  await close();
});

test('a lease that cannot be renewed is told in the log', async () => {
  const { proxy, ledger } = await open();
  proxy.close();
  proxy.cut();
  vi.advanceTimersByTime(LEASE_MS / 3);
  await reported('ledger: the lease was not renewed');
  expect(said('ledger: the lease was not renewed')).toMatchObject([
    { level: 'warn', error: { message: 'Connection terminated unexpectedly' } },
  ]);
  await ledger.close();
});

test('each minute the client looks for holds that it does not know, and gives them back', async () => {
  const { ledger, book, subject, close } = await open();
  const [known, stray, last] = [40, 60, 5].map((amount) => holdOf(subject, amount)) as [Hold, Hold, Hold];
  for (const hold of [known, stray, last]) expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  // As after an outage: the caller has given up, the row stands.
  ledger.release({ ...subject, book_id: book + 1_000_000 }, stray.request_id);
  // In a batch of its own, which has been answered when the next one is carried out.
  await new Promise((done) => setImmediate(done));
  ledger.release(subject, last.request_id);
  await until(async () => (await heldOf(book)) === 100);
  for (let second = 0; second < 59; second++) {
    vi.advanceTimersByTime(1_000);
    expect(await heldOf(book)).toBe(100);
  }
  vi.advanceTimersByTime(1_000);
  await until(async () => (await heldOf(book)) === 40);
  expect(said('ledger: holds without a call are released')).toMatchObject([{ level: 'warn', strays: 1 }]);
  expect(await ledger.reconcile()).toBe(0);
  expect(said('ledger: holds without a call are released')).toHaveLength(1);
  ledger.release(subject, known.request_id);
  await close();
});

test('a hold that comes back after its caller gave up is given back, and what waits for an answer is looked at ten times a second', async () => {
  const { proxy, ledger, book, subject, close } = await open();
  proxy.freeze();
  const held = ledger.hold(holdOf(subject, 10));
  const extended = ledger.extend(subject, newRequestId(), 20 as MicroUsd);
  vi.advanceTimersByTime(300);
  expect(await Promise.race([held, Promise.resolve('waits')])).toBe('waits');
  vi.advanceTimersByTime(100);
  expect(await held).toEqual({ status: 'unavailable' });
  expect(await extended).toBe('unavailable');
  proxy.thaw();
  await until(async () => (await heldOf(book)) === 0);
  await close();
});

test('while PostgreSQL is away that is said once, and it is asked twice a second until it answers, which is said too', async () => {
  const { proxy, ledger, book, subject, close } = await open();
  const stray = holdOf(subject, 60);
  await ledger.hold(stray);
  ledger.release({ ...subject, book_id: book + 1_000_000 }, stray.request_id);
  await until(() => ledger.pending === 0);
  vi.advanceTimersByTime(500);
  const lease = await leaseOf(ledger.lease_id);
  proxy.moveTo(AWAY);
  proxy.cut();
  const settled = ledger.settle(settleOf(subject, newRequestId(), 5));
  await reported('ledger: PostgreSQL does not answer');
  expect(ledger).toMatchObject({ healthy: false, pending: 1, journaled: 0 });
  vi.advanceTimersByTime(200);
  expect(await settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  expect(ledger).toMatchObject({ pending: 1, journaled: 1 });
  expect(await leaseOf(ledger.lease_id)).toEqual(lease);
  proxy.moveTo(url);
  await reported('ledger: PostgreSQL answers again');
  expect(ledger.healthy).toBe(true);
  await until(() => ledger.pending === 0);
  // What was in the air when the connection broke may have been committed.
  await until(async () => (await heldOf(book)) === 0);
  expect(
    lines.map(({ level, msg, pending, lease_id, error }) => ({ level, msg, pending, lease_id, error })),
  ).toEqual([
    {
      ...{ level: 'warn', msg: 'ledger: PostgreSQL does not answer', pending: 1, lease_id: undefined },
      error: expect.objectContaining({ message: expect.any(String) }),
    },
    { level: 'info', msg: 'ledger: PostgreSQL answers again', lease_id: ledger.lease_id, pending: undefined },
    {
      level: 'warn',
      msg: 'ledger: holds without a call are released',
      lease_id: undefined,
      pending: undefined,
    },
  ]);
  await close();
});

test('without traffic the renewal of the lease finds PostgreSQL back, asked for twice a second', async () => {
  const proxy = await startProxy(url);
  proxy.moveTo(AWAY);
  const ledger = await openTestLedger(proxy.url, journal.dir, { log, may_be_away: true });
  expect(ledger).toMatchObject({ healthy: false, lease_id: 0 });
  expect(said('ledger: PostgreSQL does not answer')).toHaveLength(1);
  proxy.moveTo(url);
  vi.advanceTimersByTime(499);
  await db.query({ name: 'test.wait', text: 'select 1' });
  expect(ledger.lease_id).toBe(0);
  vi.advanceTimersByTime(1);
  await until(() => ledger.healthy);
  expect(ledger.lease_id).toBeGreaterThan(0);
  const lease = await leaseOf(ledger.lease_id);
  // Well again, it is not asked any more but for the lease.
  vi.advanceTimersByTime(5_000);
  await ledger.balance(1).catch(() => {});
  expect(await leaseOf(ledger.lease_id)).toEqual(lease);
  await ledger.close();
  proxy.close();
});

test('a ledger that must be there is not opened while it is away, and one that may be away is not where it cannot be used', async () => {
  await expect(openTestLedger(AWAY, journal.dir, { log })).rejects.toThrow('ECONNREFUSED');
  const placement = {
    ...{ shard: 'a', places: [{ name: 'a', url }], url, follow: async () => false },
    ready: () => Promise.reject(new Error('unlisted')),
  };
  const options = { log, placement, may_be_away: true };
  await expect(openTestLedger(url, journal.dir, options)).rejects.toThrow('unlisted');
  const elsewhere = Object.assign(new URL(url), { pathname: '/postgres' }).href;
  await expect(openTestLedger(elsewhere, journal.dir, { log, may_be_away: true })).rejects.toThrow('ledger');
});

test('with neither PostgreSQL nor a disk the caller of a settle waits for whichever comes back first', async () => {
  const dir = `${journal.dir}/broken`;
  mkdirSync(dir);
  const proxy = await startProxy(url);
  const ledger = await openTestLedger(proxy.url, dir, { patience: { hold_ms: 300, settle_ms: 100 }, log });
  const subject = subjectOf(await makeBook(db, { amount: 1_000 }));
  const hold = holdOf(subject, 10);
  await ledger.hold(hold);
  rmdirSync(dir);
  writeFileSync(dir, '');
  proxy.freeze();
  const settled = ledger.settle(settleOf(subject, hold.request_id, 5));
  vi.advanceTimersByTime(200);
  await reported('ledger: the journal cannot be written');
  expect(said('ledger: the journal cannot be written')).toMatchObject([
    { level: 'error', settles: 1, error: { code: expect.any(String) } },
  ]);
  expect(await Promise.race([settled, Promise.resolve('waits')])).toBe('waits');
  rmSync(dir);
  vi.advanceTimersByTime(200);
  expect(await settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  proxy.thaw();
  await until(() => ledger.journaled === 0);
  await ledger.close();
  proxy.close();
});

test('what is refused is told in the log by its numbers', async () => {
  const { ledger, book, subject, close } = await open();
  const unknown = holdOf({ ...subject, key_no: 7_777_777 }, 10);
  expect(await ledger.hold(unknown)).toEqual({ status: 'unknown' });
  const wrong = { ...settleOf(subject, newRequestId(), 5), units: { ...UNITS, input_tokens: -1 } };
  expect(await ledger.settle(wrong)).toEqual({ status: 'refused', charged_micro_usd: null });
  const foreign = settleOf({ ...subject, book_id: book + 1_000_000 }, newRequestId(), 5);
  expect(await ledger.settle(foreign)).toMatchObject({ status: 'refused' });
  expect(lines).toMatchObject([
    {
      ...{ level: 'warn', msg: 'ledger: a hold for what is not known here yet' },
      ...{ request_id: unknown.request_id, key_no: 7_777_777, book_id: book },
    },
    {
      ...{ level: 'error', msg: 'ledger: a settle was refused' },
      ...{ request_id: wrong.request_id, fault: 'a unit is not a count' },
    },
    {
      ...{ level: 'error', msg: 'ledger: a settle was refused' },
      ...{ request_id: foreign.request_id, book_id: book + 1_000_000 },
    },
  ]);
  expect(ledger.availableHint(book + 1_000_000)).toBeNull();
  expect(ledger.availableHint(book)).toBe(1_000);
  await close();
});

/** Makes the ledger fail at `what` it does to a table, for one book, until `mend`. */
async function breakAt(what: 'insert' | 'update' | 'delete', table: string, book: number) {
  const name = `broken_${what}_${table}`;
  const row = what === 'delete' ? 'old' : 'new';
  await owner.query(`create function public.${name}() returns trigger language plpgsql as $$ begin
    if ${row}.book_id = ${book} then raise exception 'broken here'; end if; return ${row}; end $$`);
  await owner.query(
    `create trigger ${name} before ${what} on ledger.${table} for each row execute function public.${name}()`,
  );
  return { mend: () => owner.query(`drop function public.${name} cascade`) };
}

test('a hold that the ledger cannot decide is refused', async () => {
  const { ledger, book, subject, close } = await open();
  const { mend } = await breakAt('insert', 'hold', book);
  const hold = holdOf(subject, 10);
  expect(await ledger.hold(hold)).toEqual({
    ...{ status: 'refused', reason: 'the ledger could not decide the hold' },
  });
  await mend();
  expect(lines).toMatchObject([
    {
      ...{ level: 'error', msg: 'ledger: a hold cannot be decided', request_id: hold.request_id },
      error: { message: 'broken here' },
    },
  ]);
  await close();
});

test('an extension that the ledger cannot decide is unavailable', async () => {
  const { ledger, book, subject, close } = await open();
  const hold = holdOf(subject, 10);
  await ledger.hold(hold);
  const { mend } = await breakAt('update', 'hold', book);
  expect(await ledger.extend(subject, hold.request_id, 20 as MicroUsd)).toBe('unavailable');
  await mend();
  expect(await ledger.extend(subject, hold.request_id, 20 as MicroUsd)).toBe('ok');
  ledger.release(subject, hold.request_id);
  await close();
});

test('a hold that cannot be given back and a settle that cannot be booked are tried again until they are', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'setTimeout', 'clearTimeout'] });
  const { ledger, book, subject, close } = await open();
  const [freed, charged] = [holdOf(subject, 10), holdOf(subject, 20)];
  for (const hold of [freed, charged]) await ledger.hold(hold);
  const { mend } = await breakAt('delete', 'hold', book);
  ledger.release(subject, freed.request_id);
  const settled = ledger.settle(settleOf(subject, charged.request_id, 7));
  const both = () =>
    ['ledger: a hold cannot be released', 'ledger: a settle fails, trying again'].map((msg) => said(msg));
  while (both().some((of) => of.length === 0)) await new Promise((done) => setImmediate(done));
  const error = { message: 'broken here' };
  expect(both()).toMatchObject([
    [{ level: 'error', request_id: freed.request_id, error }],
    [{ level: 'error', request_id: charged.request_id, error }],
  ]);
  vi.advanceTimersByTime(200);
  expect(await settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  await mend();
  vi.advanceTimersByTime(5_000);
  while (ledger.journaled > 0 || (await heldOf(book)) > 0) await new Promise((done) => setImmediate(done));
  expect(await readMeter(db, charged.request_id)).toMatchObject({ charged_micro_usd: 7 });
  await close();
});

test('a client that ends gives up its lease, but not while settles wait in its journal', async () => {
  const { ledger, close } = await open();
  await close();
  expect((await leaseOf(ledger.lease_id))?.ended ?? true).toBe(true);
  const other = await open();
  const hold = holdOf(other.subject, 10);
  await other.ledger.hold(hold);
  other.proxy.moveTo(AWAY);
  other.proxy.cut();
  const settled = other.ledger.settle(settleOf(other.subject, hold.request_id, 5));
  await reported('ledger: PostgreSQL does not answer');
  vi.advanceTimersByTime(200);
  await settled;
  await other.close();
  expect(await leaseOf(other.ledger.lease_id)).toMatchObject({ ended: false });
  expect(await heldOf(other.book)).toBe(10);
  // The next process books it.
  const next = await open();
  await until(() => next.ledger.pending === 0);
  expect(await readMeter(db, hold.request_id)).toMatchObject({ charged_micro_usd: 5 });
  expect(await heldOf(other.book)).toBe(0);
  await next.close();
});

test('batches, what is in them, and how long settles took are counted', async () => {
  const { ledger, subject, close } = await open();
  const holds = [10, 20].map((amount) => holdOf(subject, amount));
  await Promise.all(holds.map((hold) => ledger.hold(hold)));
  await Promise.all(holds.map(({ request_id }) => ledger.settle(settleOf(subject, request_id, 5))));
  const { batches, settle_delays, journaled } = ledger.figures;
  expect({ batches, journaled }).toEqual({
    ...{ journaled: 0, batches: { hold: { sent: 1, items: 2 }, settle: { sent: 1, items: 2 } } },
  });
  expect(settle_delays.counts.reduce((sum, n) => sum + n)).toBe(2);
  await close();
});
