// Every sequence of callbacks that rail-b can send, on PostgreSQL, as the role that programs run as.
import { createPool } from '@svc/core/db/index.ts';
import { type Id, microUsd, newId } from '@svc/core/kernel/index.ts';
import { readBalance } from '@svc/core/ledger/index.ts';
import { takeRailCallback } from '@svc/core/refunds/index.ts';
import { cancelTopup, listStaffItems, purgeRailEvents, runRailTasks } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { events, startWorld } from './world.ts';

const world = await startWorld();
const { deliver, read, rows } = world;
let serial = 0;
const fresh = async () => world.topup(await world.org(`org-${++serial}`));
const outbox = (id: string) =>
  rows<{ topic: string; payload: Record<string, unknown> }>(
    `select topic, payload from outbox where payload ->> 'topup_id' = $1 order by outbox_id`,
    [id],
  );

afterEach(() => world.expectRight());

test('a captured payment becomes credit, lot, document and events in one transaction; its repeat is a replay', async () => {
  const topup = await fresh();
  const event = events.completed(topup);
  const first = await deliver(event);
  expect(first).toEqual({
    invoice: expect.stringMatching(/^INV\/\d\d-\d\d\/\d{5}$/),
    replay: false,
    topup: topup.id,
  });
  expect(await deliver(event)).toEqual({ ...first, replay: true });
  const paid = await read(topup.id);
  expect(paid).toMatchObject({
    status: 'paid',
    payment_ref: `pi_${topup.id}`,
    method: 'card',
    invoice_number: first.invoice,
  });
  expect(await readBalance(world.pool, topup.book_id)).toMatchObject({
    available_micro_usd: 25_000_000,
    granted_micro_usd: 0,
  });
  const reported = await outbox(topup.id);
  expect(reported.map(({ topic }) => topic)).toEqual(['invoice.issued', 'topup.completed']);
  expect(reported[1]?.payload).toEqual({
    topup_id: topup.id,
    credits_micro: 25_000_000,
    currency: 'USD',
    amount_minor: 2_500,
    tax_minor: 0,
    total_minor: 2_500,
    method: 'card',
    source: 'checkout',
    invoice_id: paid.invoice_id,
    invoice_number: first.invoice,
  });
  expect(
    await rows('select name from workflow_signal where workflow_id = $1', [`topup-${topup.id}`]),
  ).toEqual([{ name: 'booked' }]);
});

test('the same payment under another event id and type is a replay with the same document, in either order', async () => {
  for (const order of [0, 1]) {
    const topup = await fresh();
    const both = [events.completed(topup), events.succeeded(topup)];
    const first = await deliver(both[order] as object);
    const second = await deliver(both[1 - order] as object);
    expect([first.replay, second]).toEqual([false, { ...first, replay: true }]);
  }
});

test('of fifty deliveries at once of the same event exactly one is no replay, and all name the same document', async () => {
  const topup = await fresh();
  const event = events.completed(topup);
  const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(event)));
  expect(answers.filter(({ replay }) => !replay)).toHaveLength(1);
  expect(new Set(answers.map(({ invoice }) => invoice)).size).toBe(1);
  expect(answers[0]?.invoice).not.toBeNull();
});

test('of many different events at once about one payment exactly one books', async () => {
  const topup = await fresh();
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      deliver(i % 2 === 0 ? events.completed(topup) : events.succeeded(topup)),
    ),
  );
  expect(answers.filter(({ replay }) => !replay)).toHaveLength(1);
  expect(new Set(answers.map(({ invoice }) => invoice)).size).toBe(1);
});

test('a failed attempt leaves the top-up pending with its reason, and the next one pays', async () => {
  const topup = await fresh();
  expect(await deliver(events.attemptFailed(topup))).toEqual({
    invoice: null,
    replay: false,
    topup: topup.id,
  });
  expect(await read(topup.id)).toMatchObject({ status: 'pending', failure_code: 'insufficient_funds' });
  await deliver(events.completed(topup));
  expect(await read(topup.id)).toMatchObject({ status: 'paid', failure_code: null, failure_message: null });
  expect((await outbox(topup.id)).map(({ topic }) => topic)).not.toContain('topup.failed');
});

test('an asynchronous payment that fails fails the top-up and says so once; money that comes all the same is booked', async () => {
  const topup = await fresh();
  const failed = events.completed(topup, { type: 'checkout.session.async_payment_failed', status: 'unpaid' });
  expect((await deliver(events.completed(topup, { status: 'unpaid' }))).ignored).toBe(true);
  await deliver(failed);
  await deliver({ ...failed, id: 'evt_other_failed' });
  expect(await read(topup.id)).toMatchObject({ status: 'failed', failure_code: 'payment_failed' });
  expect((await outbox(topup.id)).filter(({ topic }) => topic === 'topup.failed')).toHaveLength(1);
  await deliver(events.completed(topup, { type: 'checkout.session.async_payment_succeeded' }));
  expect((await read(topup.id)).status).toBe('paid');
});

test('expired at the rail or cancelled here, then captured: paid', async () => {
  const expired = await fresh();
  await deliver(events.completed(expired, { type: 'checkout.session.expired', status: 'unpaid' }));
  expect((await read(expired.id)).status).toBe('expired');
  expect((await deliver(events.completed(expired))).replay).toBe(false);
  const cancelled = await fresh();
  await cancelTopup(world.context, { org_id: cancelled.org_id, id: cancelled.id });
  expect((await read(cancelled.id)).status).toBe('expired');
  await deliver(events.completed(cancelled));
  for (const { id } of [expired, cancelled]) expect((await read(id)).status).toBe('paid');
  await expect(
    cancelTopup(world.context, { org_id: cancelled.org_id, id: cancelled.id }),
  ).rejects.toMatchObject({ code: 'state_conflict', details: { state: 'paid' } });
});

test('another amount or currency than was asked is never credited: it waits for a person', async () => {
  const payments = [{ amount: 2_499 }, { amount: 2_501 }, { currency: 'eur' }];
  for (const payment of payments) {
    const topup = await fresh();
    const event = events.completed(topup, payment);
    expect(await deliver(event)).toEqual({ invoice: null, replay: false, topup: topup.id });
    expect(await deliver(event)).toEqual({ invoice: null, replay: true, topup: topup.id });
    expect(await read(topup.id)).toMatchObject({ status: 'review', invoice_id: null });
    expect(await readBalance(world.pool, topup.book_id)).toMatchObject({ available_micro_usd: 0 });
    const items = (await listStaffItems(world.pool)).filter(({ subject }) => subject === topup.id);
    expect(items).toMatchObject([{ kind: 'amount_mismatch', details: { expected_minor: 2_500 } }]);
  }
});

test('a second payment is not credited: it goes back at the rail, whole and once', async () => {
  const { sim } = world;
  const topup = await fresh();
  const session_id = topup.gateway_ref as string;
  sim.act(session_id, 'pay');
  sim.act(session_id, 'again');
  const reported = sim.webhooks.events.filter(({ type, data }) => {
    return type === 'checkout.session.completed' && (data.object as { id: string }).id === session_id;
  });
  const answers = [];
  for (const event of reported) answers.push(await deliver(event));
  expect(answers.map(({ replay, invoice }) => [replay, invoice !== null])).toEqual([
    [false, true],
    [false, false],
  ]);
  const second = (reported[1]!.data.object as { payment_intent: string }).payment_intent;
  // Told again under another name: still one task.
  await deliver({ ...events.succeeded(topup, { payment: second }) });
  await runRailTasks(world.context);
  await runRailTasks(world.context);
  const refunds = [...sim.store.refunds.values()].filter((refund) => refund.payment_intent === second);
  expect(refunds.map(({ amount }) => amount)).toEqual([2_500]);
  expect(
    await rows('select done_at is not null as done, attempts from rail_task where ref = $1', [second]),
  ).toEqual([{ done: true, attempts: 1 }]);
  expect(await readBalance(world.pool, topup.book_id)).toMatchObject({ available_micro_usd: 25_000_000 });
});

test('a task that the rail cannot do now is tried again later, never at once and never by two', async () => {
  const { sim } = world;
  const topup = await fresh();
  await cancelTopup(world.context, { org_id: topup.org_id, id: topup.id });
  sim.turn({
    api: [{ match: `POST /v1/checkout/sessions/${topup.gateway_ref}/expire`, mode: 'error', times: 9 }],
  });
  expect(await Promise.all([runRailTasks(world.context), runRailTasks(world.context)])).toEqual([0, 0]);
  sim.turn({ api: [] });
  expect(await runRailTasks(world.context)).toBe(0);
  const [task] = await rows<{ attempts: number; last_error: string; waits: boolean }>(
    'select attempts, last_error, next_at > created_at as waits from rail_task where ref = $1',
    [topup.gateway_ref],
  );
  expect(task).toMatchObject({ attempts: 1, waits: true, last_error: expect.stringContaining('rail') });
  await rows('update rail_task set next_at = created_at where ref = $1', [topup.gateway_ref]);
  expect(await runRailTasks(world.context)).toBe(1);
  expect(sim.store.sessions.get(topup.gateway_ref as string)?.status).toBe('expired');
});

test('an event that names an unknown top-up is stored, put before the staff, and answered with nulls', async () => {
  const topup = await fresh();
  const strangers = [
    events.completed({ ...topup, id: newId('topup'), gateway_ref: 'cs_elsewhere' }),
    events.completed({ ...topup, id: 'order-77' as Id<'topup'>, gateway_ref: 'cs_shop' }),
  ];
  for (const event of strangers) {
    expect(await deliver(event)).toEqual({ invoice: null, replay: false, topup: null });
    expect(await deliver(event)).toEqual({ invoice: null, replay: true, topup: null });
    const items = (await listStaffItems(world.pool)).filter(
      ({ subject }) => subject === `rail-b ${event.id}`,
    );
    expect(items).toMatchObject([{ kind: 'unknown_topup' }]);
  }
});

test('names that disagree book nothing: another session, another top-up, a payment that was booked elsewhere', async () => {
  const [a, b] = [await fresh(), await fresh()];
  await deliver(events.completed(a));
  const liars = [
    events.completed({ ...b, gateway_ref: a.gateway_ref }),
    events.completed({ ...b, gateway_ref: 'cs_never_made' }),
    events.completed(b, { payment: `pi_${a.id}` }),
    events.completed({ ...b, id: 'tup_x' as Id<'topup'> }),
  ];
  for (const event of liars) {
    expect(await deliver(event)).toEqual({ invoice: null, replay: false, topup: null });
    const items = (await listStaffItems(world.pool)).filter(
      ({ subject }) => subject === `rail-b ${event.id}`,
    );
    expect(items).toMatchObject([{ kind: 'names_disagree' }]);
  }
  expect((await read(b.id)).status).toBe('pending');
});

test('an event of rail-b cannot touch a top-up of rail-a', async () => {
  const topup = await fresh();
  await rows(`update topup set gateway = 'rail-a', gateway_ref = null where id = $1`, [topup.id]);
  const event = events.completed({ ...topup, gateway_ref: 'cs_other' });
  expect(await deliver(event)).toEqual({ invoice: null, replay: false, topup: null });
  expect((await read(topup.id)).status).toBe('pending');
});

test('a callback that is faster than our own note of the session names it, and books', async () => {
  const topup = await fresh();
  await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
  expect((await deliver(events.completed(topup))).invoice).not.toBeNull();
  expect(await read(topup.id)).toMatchObject({ status: 'paid', gateway_ref: topup.gateway_ref });
});

test('wrong bytes, an old stamp and a re-serialised body are refused and leave no row', async () => {
  const topup = await fresh();
  const [before] = await rows<{ n: number }>('select count(*)::int as n from rail_event');
  const event = events.completed(topup);
  await expect(deliver(event, -301)).rejects.toMatchObject({ code: 'signature_expired' });
  await expect(deliver(event, 302)).rejects.toMatchObject({ code: 'signature_expired' });
  const signed = JSON.stringify(event, null, 2);
  const signature = world.sim.webhooks.sign(signed);
  for (const raw of [JSON.stringify(event), `${signed} `, signed.replace('2500', '2501'), '']) {
    const taken = takeRailCallback(world.context, world.rail, { raw: Buffer.from(raw), signature });
    await expect(taken).rejects.toMatchObject({ code: 'signature_invalid' });
  }
  expect(await rows('select count(*)::int as n from rail_event')).toEqual([before]);
  expect((await read(topup.id)).status).toBe('pending');
});

test('a booking that fails half way leaves nothing, no event, no number, no entry, and succeeds when sent again', async () => {
  const topup = await fresh();
  const owner = createPool(world.url, { max: 1 });
  atFileEnd(() => owner.end());
  const run = (text: string) => owner.query({ name: '', text });
  // The last statement of the booking is refused once by the database itself.
  await run(
    `create function break_signal() returns trigger language plpgsql as 'begin raise exception ''broken''; end'`,
  );
  await run(
    'create trigger break_signal before insert on workflow_signal for each row execute function break_signal()',
  );
  const [before] = await rows('select * from invoice_counter');
  const event = events.completed(topup);
  await expect(deliver(event)).rejects.toThrow('broken');
  expect(await rows('select * from invoice_counter')).toEqual(before === undefined ? [] : [before]);
  expect((await read(topup.id)).status).toBe('pending');
  expect(await outbox(topup.id)).toEqual([]);
  await run('drop trigger break_signal on workflow_signal');
  expect(await deliver(event)).toMatchObject({ replay: false, topup: topup.id });
  expect((await read(topup.id)).status).toBe('paid');
});

/** As the rail does: what a busy database refused (no connection within 5 s) is delivered again. */
async function delivered(event: object): ReturnType<typeof deliver> {
  for (let tries = 1; ; tries++) {
    try {
      return await deliver(event);
    } catch (error) {
      if (tries === 10 || !/timeout exceeded when trying to connect/.test(String(error))) throw error;
    }
  }
}

test('numbers have neither gap nor twin over two hundred bookings at once, one in ten of them rolled back', async () => {
  const org = await world.org(`org-${++serial}`);
  const topups = [];
  for (let i = 0; i < 200; i++) {
    const topup = await world.topup(await world.org(`org-${++serial}`));
    topups.push(topup);
  }
  expect(org.live_book_id).toBeGreaterThan(0);
  const [{ last_no: start = 0 } = {}] = await rows<{ last_no: number }>(
    'select last_no from invoice_counter',
  );
  const results = await Promise.allSettled(
    topups.map((topup, i) => {
      if (i % 10 !== 0) return delivered(events.completed(topup));
      return world.context.transaction(async (context) => {
        const raw = Buffer.from(JSON.stringify(events.completed(topup)));
        await takeRailCallback(context, world.rail, {
          raw,
          signature: world.sim.webhooks.sign(raw.toString()),
        });
        throw new Error('rolled back');
      });
    }),
  );
  const numbers = results.flatMap((result) =>
    result.status === 'fulfilled' ? [Number((result.value as { invoice: string }).invoice.slice(-5))] : [],
  );
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 180 }, (_, i) => start + i + 1));
  expect(microUsd(numbers.length)).toBe(180);
}, 120_000);

test('an issued document cannot be changed or deleted by a program', async () => {
  const [invoice] = await rows<{ id: string }>('select id from invoice limit 1');
  for (const text of [
    'update invoice set total_minor = 1 where id = $1',
    'update invoice set recipient = null where id = $1',
    `update invoice set status = 'cancelled' where id = $1`,
    'delete from invoice where id = $1',
    'delete from topup where invoice_id = $1',
    'update rail_event set event_id = $1',
  ]) {
    await expect(rows(text, [invoice?.id])).rejects.toMatchObject({ code: '42501' });
  }
});

test('an event that names no payment of ours is forgotten after 90 days, one that does stays with the books', async () => {
  const topup = await fresh();
  await deliver(events.completed(topup));
  await rows(`
    insert into rail_event (rail, event_id, type, facts, answer, received_at)
    values ('rail-b', 'evt_of_nobody', 'price.updated', '{}', '{"replay": false}', now())`);
  const before = (await rows('select 1 from rail_event')).length;
  const after_days = (days: number) => new Date(Date.now() + days * 86_400_000);
  expect(await purgeRailEvents(world.pool, after_days(89))).toBe(0);
  expect(await purgeRailEvents(world.pool, after_days(91))).toBeGreaterThan(0);
  expect(await rows(`select 1 from rail_event where event_id = 'evt_of_nobody'`)).toEqual([]);
  expect(await rows('select 1 from rail_event where topup_id = $1', [topup.id])).toHaveLength(1);
  expect((await rows('select 1 from rail_event')).length).toBeLessThan(before);
  await expect(
    world.pool.query({ name: 'test.delete', text: 'delete from rail_event', values: [] }),
  ).rejects.toThrow(/permission denied/);
});
