import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startTestPostgres } from '../../test/support/postgres.ts';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool, migrate } from '../db/index.ts';
import { microUsd, newRequestId, sha256, shiftClock, silentLog } from '../kernel/index.ts';
import {
  findClaim,
  finishClaim,
  freeClaim,
  purgeClaims,
  readMeter,
  setBudget,
  storeAnswer,
  sweepOnce,
  verifyLedger,
} from './index.ts';
import { Journal } from './journal/journal.ts';
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
const ledger = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  shiftClock(0);
  await ledger.close();
  await db.end();
  journal.remove();
});

const claimOf = (key: string) => ({
  scope: 'prj_1/live/v1/chat/completions',
  key_hash: sha256(key),
  fingerprint: sha256(`body of ${key}`),
});

test('of ten calls with one idempotency key one is held, and the others learn that the key is claimed', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const idempotency = claimOf('one of ten');
  const holds = Array.from({ length: 10 }, () => ({ ...holdOf(subjectOf(book), 10), idempotency }));
  const results = await Promise.all(holds.map((hold) => ledger.hold(hold)));
  expect(results.map(({ status }) => status).sort()).toEqual([...Array(9).fill('claimed'), 'ok']);
  expect(await ledger.balance(book)).toMatchObject({ held_micro_usd: 10 });
  const winner = holds[results.findIndex(({ status }) => status === 'ok')]!;
  expect(await findClaim(db, idempotency)).toMatchObject({
    request_id: winner.request_id,
    state: 'running',
    fingerprint: idempotency.fingerprint,
    sealed_answer: null,
  });
});

test('a settle ends its claim in the same transaction; the answer stored beside it is found for 24 hours', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const idempotency = claimOf('settled');
  const hold = { ...holdOf(subjectOf(book), 10), idempotency };
  await ledger.hold(hold);
  const { request_id } = hold;
  expect(await storeAnswer(db, { request_id, http_status: 200, sealed_answer: Buffer.from('sealed') })).toBe(
    true,
  );
  await ledger.settle({ ...settleOf(subjectOf(book), request_id, 7), claimed: true });
  const claim = await findClaim(db, idempotency);
  expect(claim).toMatchObject({ state: 'done', cost_micro_usd: 7, http_status: 200 });
  expect(claim!.sealed_answer!.toString()).toBe('sealed');
  expect(await freeClaim(db, request_id)).toBe(false);
  const again = { ...holdOf(subjectOf(book), 10), idempotency };
  expect(await ledger.hold(again)).toEqual({ status: 'claimed' });
  shiftClock(24 * 3_600_000 + 1_000);
  expect(await findClaim(db, idempotency)).toBeNull();
  expect(await ledger.hold(again)).toEqual({ status: 'ok' });
  shiftClock(0);
});

test('a claim is free again after the release of its call, and when its hold is refused', async () => {
  const book = await makeBook(db, { amount: 20 });
  const idempotency = claimOf('freed');
  const released = { ...holdOf(subjectOf(book), 10), idempotency };
  await ledger.hold(released);
  ledger.release(subjectOf(book), released.request_id);
  await until(async () => (await findClaim(db, idempotency)) === null);
  expect(await ledger.hold({ ...holdOf(subjectOf(book), 30), idempotency })).toEqual({
    status: 'insufficient_credits',
  });
  expect(await findClaim(db, idempotency)).toBeNull();
  await setBudget(db, {
    book_id: book,
    subject: { key_no: subjectOf(book).key_no },
    cap_micro_usd: microUsd(5),
  });
  expect(await ledger.hold({ ...holdOf(subjectOf(book), 6), idempotency })).toMatchObject({
    status: 'budget_exhausted',
  });
  expect(await findClaim(db, idempotency)).toBeNull();
  expect(await ledger.hold({ ...holdOf(subjectOf(book), 5), idempotency })).toEqual({ status: 'ok' });
});

test('a hold that stands is ok when it is sent again however little is left, keeps its claim and tells nobody', async () => {
  const book = await makeBook(db, { amount: 100 });
  const subject = subjectOf(book);
  const first = { ...holdOf(subject, 60), idempotency: claimOf('sent again') };
  // After a lost answer to its COMMIT; and twice in one batch, beside one that does not fit.
  expect(await ledger.hold(first)).toEqual({ status: 'ok' });
  const results = await Promise.all([first, first, holdOf(subject, 50)].map((hold) => ledger.hold(hold)));
  expect(results.map(({ status }) => status)).toEqual(['ok', 'ok', 'insufficient_credits']);
  expect(await findClaim(db, first.idempotency)).toMatchObject({ request_id: first.request_id });
  const full = { ...holdOf(subject, 40), idempotency: claimOf('full') };
  expect(await Promise.all([full, full].map((hold) => ledger.hold(hold)))).toEqual([
    { status: 'ok' },
    { status: 'ok' },
  ]);
  expect(await findClaim(db, full.idempotency)).toMatchObject({ request_id: full.request_id });
  expect(await ledger.balance(book)).toMatchObject({ available_micro_usd: 0, held_micro_usd: 100 });
});

test('a batch with claims, refusals and a poisoned item decides each claim on its own', async () => {
  const book = await makeBook(db, { amount: 100 });
  const subject = subjectOf(book);
  const [a, b, c] = ['batch a', 'batch b', 'batch c'].map(claimOf);
  const results = await Promise.all([
    ledger.hold({ ...holdOf(subject, 10), idempotency: a! }),
    ledger.hold({ ...holdOf({ ...subject, key_no: 8_888_888 }, 10), idempotency: b! }),
    ledger.hold({ ...holdOf(subject, 10), idempotency: a! }),
    ledger.hold(holdOf(subject, 10)),
    ledger.hold({ ...holdOf(subject, 90), idempotency: c! }),
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    'ok',
    'unknown',
    'claimed',
    'ok',
    'insufficient_credits',
  ]);
  expect(await findClaim(db, b!)).toBeNull();
  expect(await findClaim(db, c!)).toBeNull();
});

test('the claim of a swept call is free; that of a call which was settled before its process died is done', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const lost = { ...holdOf(subject, 10), idempotency: claimOf('lost') };
  const charged = { ...holdOf(subject, 10), idempotency: claimOf('charged') };
  await ledger.hold(lost);
  await ledger.hold(charged);
  await ledger.settle(settleOf(subject, charged.request_id, 4));
  await db.query({
    name: 'test.lapse_all',
    text: `update ledger.lease set expires_at = statement_timestamp() - interval '1 minute', seconds = 1`,
  });
  await until(async () => (await sweepOnce(db)).length === 0);
  expect(await findClaim(db, lost.idempotency)).toBeNull();
  expect(await findClaim(db, charged.idempotency)).toMatchObject({
    state: 'done',
    cost_micro_usd: 4,
    http_status: null,
  });
});

/** Sweeps what this client holds, as if its process had been slow for longer than its lease; then it goes on. */
async function takeForDead(): Promise<void> {
  await setLeases('-1 minute', 1);
  await until(async () => (await sweepOnce(db)).length === 0);
  await setLeases('1 hour', 60);
}

async function setLeases(left: string, seconds: number): Promise<void> {
  await db.query({
    name: 'test.set_leases',
    text: 'update ledger.lease set expires_at = statement_timestamp() + $1::interval, seconds = $2',
    values: [left, seconds],
  });
}

/** A call under `key` that was held and then swept while it went on. */
async function slowCall(book: number, key: string) {
  const call = { ...holdOf(subjectOf(book), 10), idempotency: claimOf(key) };
  expect(await ledger.hold(call)).toEqual({ status: 'ok' });
  await takeForDead();
  expect(await findClaim(db, call.idempotency)).toBeNull();
  return { call, settle: { ...settleOf(subjectOf(book), call.request_id, 7), claimed: true } };
}

test('of two calls under one key, because the first was slow, one is charged whichever ends first', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  for (const order of ['first', 'second'] as const) {
    const { call, settle } = await slowCall(book, `slow ${order}`);
    const second = { ...call, request_id: newRequestId() };
    expect(await ledger.hold(second)).toEqual({ status: 'ok' });
    const settleSecond = { ...settleOf(subjectOf(book), second.request_id, 9), claimed: true };
    const settles = order === 'first' ? [settle, settleSecond] : [settleSecond, settle];
    const results = [];
    for (const one of settles) results.push(await ledger.settle(one));
    if (order === 'second') results.reverse();
    expect(results).toEqual([
      { status: 'replaced', charged_micro_usd: 0 },
      { status: 'settled', charged_micro_usd: 9 },
    ]);
    expect(await findClaim(db, call.idempotency)).toMatchObject({
      request_id: second.request_id,
      state: 'done',
      cost_micro_usd: 9,
    });
    // What it was is recorded, as one that cost nothing.
    await until(async () => (await readMeter(db, call.request_id)) !== null);
    expect(await readMeter(db, call.request_id)).toMatchObject({
      cost_micro_usd: 0,
      units: { output_tokens: settle.units.output_tokens, other: { insured: 1 } },
    });
    expect(await ledger.settle(settle)).toMatchObject({ status: 'duplicate' });
  }
  expect(await ledger.balance(book)).toMatchObject({ available_micro_usd: 982, held_micro_usd: 0 });
  expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('a slow call that ends before another one takes its key is charged, and holds its key', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const { call, settle } = await slowCall(book, 'slow alone');
  const { request_id, idempotency } = call;
  expect(await storeAnswer(db, { request_id, http_status: 200, sealed_answer: Buffer.from('kept') })).toBe(
    true,
  );
  expect(await ledger.settle(settle)).toEqual({ status: 'late', charged_micro_usd: 7 });
  expect(await ledger.hold({ ...call, request_id: newRequestId() })).toEqual({ status: 'claimed' });
  const claim = await findClaim(db, idempotency);
  expect(claim).toMatchObject({ request_id, state: 'done', cost_micro_usd: 7, http_status: 200 });
  expect(claim!.sealed_answer!.toString()).toBe('kept');
});

test('slow calls in one batch, with others beside them, are decided each by its own key', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  const [taken, free] = [await slowCall(book, 'batch taken'), await slowCall(book, 'batch free')];
  expect(await ledger.hold({ ...taken.call, request_id: newRequestId() })).toEqual({ status: 'ok' });
  const plain = holdOf(subject, 10);
  const keyed = { ...holdOf(subject, 10), idempotency: claimOf('batch keyed') };
  expect(await Promise.all([plain, keyed].map((hold) => ledger.hold(hold)))).toEqual([
    { status: 'ok' },
    { status: 'ok' },
  ]);
  const settles = [
    taken.settle,
    free.settle,
    settleOf(subject, plain.request_id, 5),
    { ...settleOf(subject, keyed.request_id, 5), claimed: true },
    // Never held, and without a key: late, as ever.
    settleOf(subject, newRequestId(), 5),
    // Cannot be booked, so that all are decided one by one.
    { ...settleOf({ ...subject, key_no: 8_888_889 }, newRequestId(), 5), claimed: true },
  ];
  const results = await Promise.all(settles.map((settle) => ledger.settle(settle)));
  expect(results.map(({ status }) => status)).toEqual([
    'replaced',
    'late',
    'settled',
    'settled',
    'late',
    'replaced',
  ]);
});

test('a settle from a journal that comes after its key was taken over is recorded without a charge', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const { call, settle } = await slowCall(book, 'journaled');
  const left = new Journal(journal.dir, silentLog);
  await left.append([settle]);
  await left.close();
  const second = { ...call, request_id: newRequestId() };
  expect(await ledger.hold(second)).toEqual({ status: 'ok' });
  const next = await openTestLedger(url, journal.dir, PATIENT);
  await until(async () => (await readMeter(db, call.request_id)) !== null);
  await until(() => next.journaled === 0);
  await next.close();
  expect(await readMeter(db, call.request_id)).toMatchObject({ cost_micro_usd: 0 });
  expect(await ledger.settle({ ...settleOf(subjectOf(book), second.request_id, 9), claimed: true })).toEqual({
    status: 'settled',
    charged_micro_usd: 9,
  });
});

test('a lost claim waits thirty days for its call', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const { settle } = await slowCall(book, 'away for long');
  const gone = await slowCall(book, 'away for longer');
  shiftClock(29 * 24 * 3_600_000);
  await purgeClaims(db);
  expect(await ledger.settle(settle)).toEqual({ status: 'late', charged_micro_usd: 7 });
  shiftClock(31 * 24 * 3_600_000);
  await purgeClaims(db);
  expect(await ledger.settle(gone.settle)).toEqual({ status: 'replaced', charged_micro_usd: 0 });
  shiftClock(0);
});

test('claims are purged a day after they ended, and a finished one is finished once', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const hold = { ...holdOf(subjectOf(book), 10), idempotency: claimOf('finished') };
  await ledger.hold(hold);
  const end = {
    request_id: hold.request_id,
    http_status: 200,
    sealed_answer: null,
    cost_micro_usd: microUsd(0),
  };
  expect(await finishClaim(db, end)).toBe(true);
  expect(await finishClaim(db, end)).toBe(false);
  expect(await finishClaim(db, { ...end, request_id: newRequestId() })).toBe(false);
  shiftClock(23 * 3_600_000);
  expect(await purgeClaims(db)).toBe(0);
  shiftClock(25 * 3_600_000);
  expect(await purgeClaims(db)).toBeGreaterThan(0);
  expect(await findClaim(db, hold.idempotency)).toBeNull();
  shiftClock(0);
});

test('one turn of the purge takes all claims of that day, however many there are', async () => {
  const book = await makeBook(db, { amount: 1_000 });
  const subject = subjectOf(book);
  for (let i = 0; i < 7; i++) {
    const idempotency = { scope: `purge ${book}`, key_hash: sha256(`${i}`), fingerprint: sha256('same') };
    const hold = { ...holdOf(subject, 10), idempotency };
    expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
    await ledger.settle({ ...settleOf(subject, hold.request_id, 5), claimed: true });
  }
  shiftClock(24 * 3_600_000 + 1_000);
  expect(await purgeClaims(db, 2)).toBeGreaterThanOrEqual(7);
  shiftClock(0);
  const { rows } = await db.query<{ n: number }>({
    name: 'test.claims_left',
    text: 'select count(*)::int as n from ledger.idempotency where book_id = $1',
    values: [book],
  });
  expect(rows).toEqual([{ n: 0 }]);
});

test('a claim outlives PostgreSQL killed at once, which would lose what is not on disk yet', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-claims-'));
  const own_journal = journalDirectory();
  // Nothing but a commit that waits for the disk writes within these seconds.
  const settings = { wal_writer_delay: '10s' };
  let server = await startTestPostgres({ dir, settings });
  const { port } = server;
  const url = server.urlOf('postgres');
  await migrate(url);
  const before = createPool(url);
  const book = await makeBook(before, { amount: 1_000 });
  const client = await openTestLedger(url, own_journal.dir);
  const idempotency = claimOf('survives');
  const hold = { ...holdOf(subjectOf(book), 10), idempotency };
  // On the same connection, and allowed to be lost.
  expect(await client.hold(holdOf(subjectOf(book), 20))).toEqual({ status: 'ok' });
  expect(await client.hold(hold)).toMatchObject({ status: 'ok' });
  await server.kill();
  server = await startTestPostgres({ dir, port, settings });
  const after = createPool(url);
  expect(await findClaim(after, idempotency)).toMatchObject({ request_id: hold.request_id });
  await client.close();
  await before.end();
  await after.end();
  await server.stop();
  own_journal.remove();
  rmSync(dir, { recursive: true, force: true });
});
