// What the client of a ledger does with what is answered late, what it keeps of what is over, and how it ends.
import { expect, test, vi } from 'vitest';
import { startClients } from '../../test/support/ledger/clients.ts';
import { microUsd, newRequestId, type RequestId, sha256 } from '../kernel/index.ts';
import { ulidToUuid } from './batch/encode.ts';
import { runOf } from './index.ts';
import { AWAY, holdOf, makeBook, settleOf, subjectOf, until } from './testing/testing.ts';

const { url, db, owner, open, heldOf, leaseOf, reported, said } = await startClients();
const BY_NOW = { patience: { hold_ms: 60_000, settle_ms: 60_000 } };

/** Whether `promise` still waits when PostgreSQL has answered others fifty times. */
async function waits(promise: Promise<unknown>): Promise<boolean> {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  for (let n = 0; n < 50 && !over; n++) await db.query({ name: 'test.one', text: 'select 1' });
  return !over;
}

/** Lets every batch about `book` wait in PostgreSQL until it is let go. */
async function lock(book: number) {
  await owner.query('begin');
  await owner.query('select 1 from ledger.book where book_id = $1 for update', [book]);
  return async () => void (await owner.query('commit'));
}

/** A batch waits for the lock. It is waited for without a clock. */
async function inTheAir(): Promise<void> {
  const text = 'select 1 from pg_locks where not granted limit 1';
  while ((await db.query({ name: 'test.waiting', text })).rows.length === 0);
}

/** A client with a settle of 5 micro-dollars that waits in PostgreSQL until it is let go. */
async function openSettling(options: Parameters<typeof open>[0] = {}) {
  const opened = await open(options);
  const { ledger, book, subject } = opened;
  const hold = holdOf(subject, 10);
  await ledger.hold(hold);
  const letGo = await lock(book);
  const settled = ledger.settle(settleOf(subject, hold.request_id, 5));
  await inTheAir();
  return { ...opened, settled, letGo };
}

/** A hold like that of `like` stands in the ledger, of which no caller knows. */
const stands = (request_id: RequestId, like: RequestId) =>
  owner.query(
    `insert into ledger.hold select (jsonb_populate_record(h, jsonb_build_object('hold_id', $1::uuid))).*
       from ledger.hold h where hold_id = $2`,
    [ulidToUuid(request_id), ulidToUuid(like)],
  );

const connectionsOf = async (name: string) =>
  (await owner.query('select 1 from pg_stat_activity where application_name = $1', [name])).rows.length;

test('a hold that was in the air when its caller gave up, and is granted, is given back', async () => {
  const { ledger, book, subject, close } = await open();
  const [before, late, after] = [holdOf(subject, 1), holdOf(subject, 10), holdOf(subject, 100)];
  await ledger.hold(before);
  const letGo = await lock(book);
  const held = ledger.hold(late);
  await inTheAir();
  vi.advanceTimersByTime(400);
  expect(await held).toEqual({ status: 'unavailable' });
  await letGo();
  expect(await ledger.hold(after)).toEqual({ status: 'ok' });
  await until(async () => (await heldOf(book)) === 101);
  for (const { request_id } of [before, after]) ledger.release(subject, request_id);
  await close();
});

test('a call that is over is no call any more: what stands under its id is given back', async () => {
  const { proxy, ledger, book, subject, close } = await open();
  const [like, refused] = [holdOf(subject, 10), holdOf(subject, 5_000)];
  const [settled, late] = [holdOf(subject, 20), holdOf(subject, 30)];
  await ledger.hold(like);
  expect(await ledger.hold(refused)).toEqual({ status: 'insufficient_credits' });
  await ledger.hold(settled);
  expect(await ledger.settle(settleOf(subject, settled.request_id, 7))).toMatchObject({ status: 'settled' });
  proxy.cut();
  proxy.moveTo(AWAY);
  const gone = ledger.hold(late);
  await reported('ledger: PostgreSQL does not answer');
  vi.advanceTimersByTime(400);
  expect(await gone).toEqual({ status: 'unavailable' });
  proxy.moveTo(url);
  await until(() => {
    vi.advanceTimersByTime(500);
    return ledger.healthy;
  });
  const more = 'update ledger.book set held = held + 30, available = available - 30 where book_id = $1';
  await owner.query(more, [book]);
  await owner.query('update ledger.win set held = held + 30 where subject = $1', [subject.key_no]);
  for (const { request_id } of [refused, settled, late]) await stands(request_id, like.request_id);
  expect(await ledger.reconcile()).toBe(3);
  await until(async () => (await heldOf(book)) === 10);
  ledger.release(subject, like.request_id);
  await close();
});

test('where nothing else is said a hold waits for three seconds, and a settle for one', async () => {
  const { proxy, ledger, subject, close } = await open({ patience: undefined } as never);
  proxy.freeze();
  const held = ledger.hold(holdOf(subject, 10));
  const settled = ledger.settle(settleOf(subject, newRequestId(), 5));
  vi.advanceTimersByTime(1_000);
  expect(await waits(settled)).toBe(true);
  vi.advanceTimersByTime(100);
  expect(await settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  vi.advanceTimersByTime(1_900);
  expect(await waits(held)).toBe(true);
  vi.advanceTimersByTime(100);
  expect(await held).toEqual({ status: 'unavailable' });
  proxy.thaw();
  await until(() => ledger.journaled === 0);
  await close();
});

test('a settle took as long as PostgreSQL let it wait, in seconds', async () => {
  const { ledger, settled, letGo, close } = await openSettling(BY_NOW);
  vi.advanceTimersByTime(2_000);
  await letGo();
  await settled;
  expect(ledger.figures.settle_delays.sum).toBe(2);
  await close();
});

test('what is available of a book stays known as time passes, and what a run has spent is read', async () => {
  const { ledger, book, subject, close } = await open();
  const run = runOf(Buffer.from('pepper'), { project_no: 1, id: newRequestId() });
  const hold = { ...holdOf(subject, 10), budget: { run, max_micro_usd: microUsd(50) } };
  expect(await ledger.hold(hold)).toEqual({ status: 'ok' });
  vi.advanceTimersByTime(1_000);
  expect(ledger.availableHint(book)).toBe(990);
  expect(await ledger.run(book, run)).toMatchObject({ held_micro_usd: 10 });
  ledger.release(subject, hold.request_id);
  await close();
});

test('a hold may be lost in a crash of PostgreSQL, unless it has an idempotency key or its installation says no', async () => {
  await owner.query('create table public.seen (hold_id uuid, sync text)');
  await owner.query(`create function public.see() returns trigger language plpgsql security definer as $$ begin
    insert into public.seen values (new.hold_id, current_setting('synchronous_commit')); return new; end $$`);
  await owner.query(
    'create trigger see before insert on ledger.hold for each row execute function public.see()',
  );
  const seen = async (request_id: RequestId) => {
    const text = 'select sync from public.seen where hold_id = $1';
    return (await owner.query<{ sync: string }>(text, [ulidToUuid(request_id)])).rows[0]?.sync;
  };
  const { ledger, subject, close } = await open(BY_NOW);
  const idempotency = {
    ...{ scope: 'prj_1/live/v1/chat/completions', key_hash: sha256('key'), fingerprint: sha256('body') },
  };
  const [alone, beside, keyed] = [
    holdOf(subject, 1),
    holdOf(subject, 1),
    { ...holdOf(subject, 1), idempotency },
  ];
  await ledger.hold(alone);
  await Promise.all([ledger.hold(beside), ledger.hold(keyed)]);
  const safe = await open({ ...BY_NOW, sync_holds: true });
  const kept = holdOf(subject, 1);
  await safe.ledger.hold(kept);
  const syncs = await Promise.all([alone, beside, keyed, kept].map(({ request_id }) => seen(request_id)));
  expect(syncs).toEqual(['off', 'on', 'on', 'on']);
  await owner.query('drop function public.see cascade');
  for (const { request_id } of [alone, beside, keyed]) ledger.release(subject, request_id);
  safe.ledger.release(subject, kept.request_id);
  await Promise.all([close(), safe.close()]);
});

test('its connections and its lease say whose they are and what it knows, and go with it', async () => {
  const { ledger, subject, close } = await open({ process_name: 'gate-7' });
  expect(await connectionsOf('svc-ledger gate-7')).toBe(1);
  const hold = holdOf(subject, 10);
  await ledger.hold(hold);
  expect(await connectionsOf('svc-ledger gate-7')).toBe(2);
  await ledger.settle(settleOf(subject, hold.request_id, 5));
  expect(await connectionsOf('svc-ledger gate-7')).toBe(3);
  const lease = 'select process, places from ledger.lease where lease_id = $1';
  expect((await owner.query(lease, [ledger.lease_id])).rows).toEqual([
    { process: 'gate-7', places: ['main'] },
  ]);
  await close();
  await until(async () => (await connectionsOf('svc-ledger gate-7')) === 0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a settle whose key may be another call’s by now is not called safe before PostgreSQL says so', async () => {
  const { proxy, ledger, subject, close } = await open({ lease_seconds: 60 });
  const call = () => holdOf(subject, 10);
  const [early, late, unkeyed] = [call(), call(), call()];
  for (const hold of [early, late, unkeyed]) await ledger.hold(hold);
  const settle = ({ request_id }: { request_id: RequestId }, claimed: boolean) =>
    ledger.settle({ ...settleOf(subject, request_id, 5), claimed });
  proxy.freeze();
  const first = settle(early, true);
  vi.advanceTimersByTime(200);
  expect(await first).toEqual({ status: 'journaled', charged_micro_usd: null });
  // Its lease has run out: a sweep may have freed the key.
  vi.advanceTimersByTime(60_000);
  const [second, third] = [settle(late, true), settle(unkeyed, false)];
  vi.advanceTimersByTime(200);
  expect(await third).toEqual({ status: 'journaled', charged_micro_usd: null });
  expect(ledger.journaled).toBe(3);
  expect(await waits(second)).toBe(true);
  proxy.thaw();
  expect(await second).toMatchObject({ status: 'settled', charged_micro_usd: 5 });
  await until(() => ledger.journaled === 0);
  await close();
});

test.each(['hold', 'settle'] as const)(
  'under load a small batch that is no %s waits for the one in the air, not longer than ten milliseconds',
  async (first) => {
    vi.useFakeTimers({
      toFake: ['setInterval', 'clearInterval', 'performance', 'setTimeout', 'clearTimeout'],
    });
    const { ledger, book, subject, close } = await open(BY_NOW);
    const other = subjectOf(await makeBook(db, { amount: 1_000 }));
    const many = Array.from({ length: 8 }, () => holdOf(other, 1));
    await Promise.all(many.map((hold) => ledger.hold(hold)));
    await Promise.all(
      many.slice(0, 6).map(({ request_id }) => ledger.settle(settleOf(other, request_id, 1))),
    );
    const letGo = await lock(book);
    const stuck = holdOf(subject, 1);
    const begun =
      first === 'hold' ? ledger.hold(stuck) : ledger.settle(settleOf(subject, stuck.request_id, 1));
    await inTheAir();
    const sent = () => ledger.figures.batches[first === 'hold' ? 'settle' : 'hold'].sent;
    const before = sent();
    const small =
      first === 'hold'
        ? ledger.settle(settleOf(other, many[7]?.request_id as RequestId, 1))
        : ledger.hold(holdOf(other, 1));
    expect(await waits(small)).toBe(true);
    expect(sent()).toBe(before);
    vi.advanceTimersByTime(10);
    await small;
    expect(sent()).toBe(before + 1);
    await letGo();
    await begun;
    vi.useRealTimers();
    await ledger.reconcile();
    await close();
  },
);

test('a client that ends waits for what is in the air', async () => {
  const { ledger, settled, letGo, close } = await openSettling(BY_NOW);
  const closed = close();
  expect(await waits(closed)).toBe(true);
  await letGo();
  expect(await settled).toMatchObject({ status: 'settled', charged_micro_usd: 5 });
  await closed;
  expect((await leaseOf(ledger.lease_id))?.ended ?? true).toBe(true);
});

test('a client that ends waits for ten seconds, and its lease stands with what is in its journal', async () => {
  const { ledger, settled, letGo, close } = await openSettling();
  vi.advanceTimersByTime(200);
  expect(await settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  const closed = close();
  vi.advanceTimersByTime(9_999);
  expect(await waits(closed)).toBe(true);
  vi.advanceTimersByTime(1);
  await closed;
  expect(await leaseOf(ledger.lease_id)).toMatchObject({ ended: false });
  await letGo();
});

test('a client that ends while PostgreSQL is away waits until its settles are on the disk', async () => {
  const { proxy, ledger, subject } = await open();
  proxy.moveTo(AWAY);
  proxy.cut();
  const settled = ledger.settle(settleOf(subject, newRequestId(), 5));
  await reported('ledger: PostgreSQL does not answer');
  const closed = ledger.close();
  expect(await waits(closed)).toBe(true);
  vi.advanceTimersByTime(200);
  expect(await settled).toEqual({ status: 'journaled', charged_micro_usd: null });
  await closed;
  expect(said('ledger: the journal cannot be written')).toEqual([]);
  proxy.close();
});
