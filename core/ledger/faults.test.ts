import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool } from '../db/index.ts';
import { newRequestId } from '../kernel/index.ts';
import { readBalance, readEntries, readMeter, sweepOnce, verifyLedger } from './index.ts';
import { startProxy } from './testing/proxy.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  until,
} from './testing/testing.ts';

const url = await createTestLedger();
const db = createPool(url);
const journal = journalDirectory();
afterAll(async () => {
  await db.end();
  journal.remove();
});

async function isLeased(lease_id: number): Promise<boolean> {
  const { rows } = await db.query<{ lasts: boolean }>({
    name: 'test.is_leased',
    text: 'select expires_at > clock_timestamp() as lasts from ledger.lease where lease_id = $1',
    values: [lease_id],
  });
  return rows[0]?.lasts === true;
}

const heldOf = async (book: number) => (await readBalance(db, book)).held_micro_usd as number;

test('two processes on the same hot books lose nothing, double nothing and deadlock never', async () => {
  const books = await Promise.all([1, 2, 3].map(() => makeBook(db, { amount: 100_000 })));
  const clients = await Promise.all([1, 2].map(() => openTestLedger(url, journal.dir, PATIENT)));
  let charged = 0;
  await Promise.all(
    Array.from({ length: 600 }, async (_, i) => {
      const ledger = clients[i % 2]!;
      const subject = subjectOf(books[i % 3]!);
      const hold = holdOf(subject, 50);
      expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
      if (i % 10 === 9) return ledger.release(subject, hold.request_id);
      // Some settles are sent by both processes at once.
      const senders = i % 7 === 0 ? clients : [ledger];
      const results = await Promise.all(
        senders.map((sender) => sender.settle(settleOf(subject, hold.request_id, i % 60))),
      );
      expect(results.filter(({ status }) => status === 'settled')).toHaveLength(1);
      charged += i % 60;
    }),
  );
  await Promise.all(clients.map((client) => client.close()));
  let left = 0;
  for (const book of books) {
    expect(await heldOf(book)).toBe(0);
    left += (await readBalance(db, book)).available_micro_usd;
  }
  expect(left).toBe(300_000 - charged);
  const { rows } = await db.query<{ deadlocks: number }>({
    name: 'test.deadlocks',
    text: 'select deadlocks::int from pg_stat_database where datname = current_database()',
  });
  expect(rows[0]!.deadlocks).toBe(0);
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('an answer lost after COMMIT is resolved by asking: held once, charged once', async () => {
  const proxy = await startProxy(url);
  const ledger = await openTestLedger(proxy.url, journal.dir);
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const hold = holdOf(subject, 100);
  proxy.cutAnswerTo('hold');
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  expect(await heldOf(book)).toBe(100);
  proxy.cutAnswerTo('settle');
  expect(await ledger.settle(settleOf(subject, hold.request_id, 60))).toEqual({
    status: 'duplicate',
    charged_micro_usd: null,
  });
  expect(proxy.cuts).toBe(2);
  expect(await readMeter(db, hold.request_id)).toMatchObject({ charged_micro_usd: 60 });
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 940, held_micro_usd: 0 });
  await ledger.close();
  proxy.close();
});

test('a claim whose hold is answered again after a lost COMMIT belongs to its own call', async () => {
  const proxy = await startProxy(url);
  const ledger = await openTestLedger(proxy.url, journal.dir);
  const book = await makeBook(db, { amount: 1_000 });
  const idempotency = { scope: 'p', key_hash: Buffer.alloc(32, 7), fingerprint: Buffer.alloc(32, 8) };
  proxy.cutAnswerTo('hold');
  expect(await ledger.hold({ ...holdOf(subjectOf(book), 10), idempotency })).toEqual({ status: 'ok' });
  expect(proxy.cuts).toBe(1);
  expect(await ledger.hold({ ...holdOf(subjectOf(book), 10), idempotency })).toEqual({ status: 'claimed' });
  expect(await heldOf(book)).toBe(10);
  await ledger.close();
  proxy.close();
});

test('while PostgreSQL does not answer, holds are unavailable, settles are journaled, and all is made good after', async () => {
  const proxy = await startProxy(url);
  const ledger = await openTestLedger(proxy.url, journal.dir);
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const running = holdOf(subject, 100);
  await ledger.hold(running);
  proxy.freeze();
  const start = performance.now();
  const [held, settled] = await Promise.all([
    ledger.hold(holdOf(subject, 10)),
    ledger.settle(settleOf(subject, running.request_id, 70)),
  ]);
  expect(held).toEqual({ status: 'unavailable' });
  expect(settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  expect(performance.now() - start).toBeLessThan(6_000);
  expect(ledger).toMatchObject({ pending: 1, journaled: 1 });
  proxy.thaw();
  await until(() => ledger.pending === 0 && ledger.journaled === 0);
  // The hold was in the air and is committed by now; nobody waits for it, so it is given back.
  await until(async () => (await heldOf(book)) === 0);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 930 });
  await ledger.close();
  proxy.close();
});

/** A client with a lease of `lease_seconds` behind a proxy, whose settles go to the journal soon. */
async function openBehindProxy(lease_seconds: number) {
  const proxy = await startProxy(url);
  const patience = { hold_ms: 20_000, settle_ms: 100 };
  const ledger = await openTestLedger(proxy.url, journal.dir, { lease_seconds, patience });
  const close = async () => {
    await ledger.close();
    proxy.close();
  };
  return { proxy, ledger, close };
}

/** What `promise` has come to by now; null: nothing yet. */
const soFar = <T>(promise: Promise<T>) => Promise.race([promise, Promise.resolve(null)]);

const keyed = (key: number) => ({
  idempotency: { scope: 'still', key_hash: Buffer.alloc(32, key), fingerprint: Buffer.alloc(32, 1) },
});

test('in a journal a settle with a key resolves while the lease lasts, as one without does', async () => {
  const { proxy, ledger, close } = await openBehindProxy(60);
  const book = await makeBook(db, { amount: 1_000 });
  const hold = { ...holdOf(subjectOf(book), 100), ...keyed(20) };
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  proxy.freeze();
  const settle = { ...settleOf(subjectOf(book), hold.request_id, 70), claimed: true };
  expect(await ledger.settle(settle)).toMatchObject({ status: 'journaled' });
  proxy.thaw();
  await until(() => ledger.journaled === 0);
  await close();
});

test('a settle whose key may be lost waits for PostgreSQL to say whose it is, and then for good', async () => {
  const { proxy, ledger, close } = await openBehindProxy(1);
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const [taken, free, plain] = [keyed(21), keyed(22), {}].map((key) => ({ ...holdOf(subject, 100), ...key }));
  for (const hold of [taken!, free!, plain!]) expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  proxy.freeze();
  await until(async () => !(await isLeased(ledger.lease_id)));
  const first = ledger.settle({ ...settleOf(subject, taken!.request_id, 70), claimed: true });
  // Without a key nobody can have taken its place.
  expect(await ledger.settle(settleOf(subject, plain!.request_id, 5))).toMatchObject({ status: 'journaled' });
  await until(() => ledger.journaled === 2);
  expect(await soFar(first)).toBeNull();

  await until(async () => (await sweepOnce(db)).length === 0 && (await heldOf(book)) === 0);
  const other = await openTestLedger(url, journal.dir, PATIENT);
  const second = { ...taken!, request_id: newRequestId() };
  expect(await other.hold(second)).toEqual({ status: 'ok' });
  proxy.thaw();
  expect(await first).toEqual({ status: 'replaced', charged_micro_usd: 0 });
  await until(() => ledger.journaled === 0);

  // The lease lasts again; that does not bring back what was swept before.
  await until(() => isLeased(ledger.lease_id));
  proxy.freeze();
  const late = ledger.settle({ ...settleOf(subject, free!.request_id, 60), claimed: true });
  await until(() => ledger.journaled === 1);
  expect(await soFar(late)).toBeNull();
  proxy.thaw();
  expect(await late).toEqual({ status: 'late', charged_micro_usd: 60 });
  await close();
  await other.close();
});

test('a hold that its own process no longer knows is released when that process checks its holds', async () => {
  const ledger = await openTestLedger(url, journal.dir);
  const book = await makeBook(db, { amount: 1_000 });
  const known = holdOf(subjectOf(book), 40);
  await ledger.hold(known);
  const stray = newRequestId();
  await ledger.hold(holdOf(subjectOf(book), 60, stray));
  // As after an outage: the caller has given up, the row stands.
  ledger.release({ ...subjectOf(book), book_id: book + 1_000_000 }, stray);
  await until(() => ledger.pending === 0);
  expect(await ledger.reconcile()).toBe(1);
  await until(async () => (await heldOf(book)) === 40);
  ledger.release(subjectOf(book), known.request_id);
  await ledger.close();
});

test('holds of a process whose lease has lapsed are swept, reported with their book, and charged late when settled', async () => {
  const ledger = await openTestLedger(url, journal.dir, { lease_seconds: 1 });
  const book = await makeBook(db, { amount: 1_000 });
  const hold = holdOf(subjectOf(book), 100);
  await ledger.hold(hold);
  // Other books may have a stray of an earlier test: a hold that was in the air when its process gave it up.
  const sweep = async () => (await sweepOnce(db)).filter(({ book_id }) => book_id === book);
  expect(await sweep()).toEqual([]);
  await db.query({
    name: 'test.lapse',
    text: `update ledger.lease set expires_at = statement_timestamp() - interval '1 second' where lease_id = $1`,
    values: [ledger.lease_id],
  });
  expect(await sweep()).toEqual([{ ...subjectOf(book), request_id: hold.request_id, amount_micro_usd: 100 }]);
  expect(await readBalance(db, book)).toMatchObject({ available_micro_usd: 1_000, held_micro_usd: 0 });
  // Fenced off until the lease is renewed, which the client does by itself.
  expect(await ledger.hold(holdOf(subjectOf(book), 950))).toEqual({ status: 'ok' });
  expect(await ledger.settle(settleOf(subjectOf(book), hold.request_id, 80))).toEqual({
    status: 'late',
    charged_micro_usd: 50,
  });
  expect((await readEntries(db, { book_id: book }))[0]).toMatchObject({
    kind: 'settle',
    amount_micro_usd: -50,
  });
  await ledger.close();
});

test('after a start of PostgreSQL the sweeper waits one lease time', async () => {
  const ledger = await openTestLedger(url, journal.dir, { lease_seconds: 3_600 });
  const book = await makeBook(db, { amount: 1_000 });
  const hold = holdOf(subjectOf(book), 100);
  await ledger.hold(hold);
  // The server of this test run started less than an hour ago, so a lapsed lease of an hour still has time.
  await db.query({
    name: 'test.lapse_all',
    text: `update ledger.lease set expires_at = statement_timestamp() - interval '1 second' where lease_id = $1`,
    values: [ledger.lease_id],
  });
  expect((await sweepOnce(db)).filter(({ book_id }) => book_id === book)).toEqual([]);
  expect(await heldOf(book)).toBe(100);
  ledger.release(subjectOf(book), hold.request_id);
  await until(async () => (await heldOf(book)) === 0);
  await ledger.close();
});

test.each([
  ['another server took over', `timeline = 'FFFFFFFF'`],
  [
    'nobody swept for half a minute, as when the server was frozen',
    `ran_at = statement_timestamp() - interval '31 seconds'`,
  ],
  ['the clock of the server went back', `ran_at = statement_timestamp() + interval '1 minute'`],
])('when %s, the sweeper waits one lease time, in which gateways renew', async (what, seen) => {
  const ledger = await openTestLedger(url, journal.dir, { lease_seconds: 2 });
  const book = await makeBook(db, { amount: 1_000 });
  const held = holdOf(subjectOf(book), 100);
  await ledger.hold(held);
  const sweep = async () => (await sweepOnce(db)).filter(({ book_id }) => book_id === book);
  const lapse = () =>
    db.query({
      name: 'test.lapse_now',
      text: `update ledger.lease set expires_at = statement_timestamp() - interval '1 second' where lease_id = $1`,
      values: [ledger.lease_id],
    });
  expect(await sweep()).toEqual([]);
  await db.query({
    name: `test.seen ${what.slice(0, 40)}`,
    text: `update ledger.sweeping set ${seen}`,
    values: [],
  });
  await lapse();
  expect(await sweep()).toEqual([]);
  await until(async () => {
    expect(await sweep()).toEqual([]);
    return isLeased(ledger.lease_id);
  });
  expect(await heldOf(book)).toBe(100);
  // A process that ended keeps nothing beyond that time.
  await ledger.close();
  await until(async () => (await sweep()).length === 1, 10_000);
  expect(await heldOf(book)).toBe(0);
});

test('settles that wait for a locked book do not delay the holds of another book', async () => {
  const ledger = await openTestLedger(url, journal.dir);
  const locked = subjectOf(await makeBook(db, { amount: 10_000 }));
  const free = subjectOf(await makeBook(db, { amount: 10_000 }));
  const holds = Array.from({ length: 8 }, () => holdOf(locked, 10));
  const hold = (some: typeof holds) => Promise.all(some.map((one) => ledger.hold(one)));
  const more = () => Array.from({ length: 8 }, () => holdOf(free, 10));
  expect(new Set((await hold(holds)).map(({ status }) => status))).toEqual(new Set(['ok']));
  let settled: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await tx.query({
      name: 'test.lock_book',
      text: 'select from ledger.book where book_id = $1 for update',
      values: [locked.book_id],
    });
    settled = Promise.all(holds.map(({ request_id }) => ledger.settle(settleOf(locked, request_id, 5))));
    for (let round = 0; round < 3; round++) {
      expect(new Set((await hold(more())).map(({ status }) => status))).toEqual(new Set(['ok']));
    }
    expect(await heldOf(free.book_id)).toBe(240);
  });
  await settled;
  await until(async () => (await heldOf(locked.book_id)) === 0);
  await ledger.close();
});

test('a network that forgets connections in silence does not keep a process from its lease', async () => {
  const proxy = await startProxy(url);
  const book = await makeBook(db, { amount: 1_000 });
  const ledger = await openTestLedger(proxy.url, journal.dir, { ...PATIENT, lease_seconds: 1 });
  proxy.forget();
  await until(async () => {
    const { rows } = await db.query<{ lapsed: boolean }>({
      name: 'test.has_lapsed',
      text: 'select expires_at < clock_timestamp() as lapsed from ledger.lease where lease_id = $1',
      values: [ledger.lease_id],
    });
    return rows[0]!.lapsed;
  });
  expect(await ledger.hold(holdOf(subjectOf(book), 100))).toEqual({ status: 'ok' });
  await ledger.close();
  proxy.close();
}, 60_000);
