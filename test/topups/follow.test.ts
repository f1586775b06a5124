// What the workflow of a top-up does step by step, and what happens when the rail misbehaves while one is made.
import { writeSetting } from '@svc/core/db/index.ts';
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { readBalance } from '@svc/core/ledger/index.ts';
import { type Org, setBilling } from '@svc/core/orgs/index.ts';
import { takeRailCallback } from '@svc/core/refunds/index.ts';
import {
  cancelTopup,
  createTopup,
  expireTopup,
  pollTopup,
  purgeQuotes,
  quoteFor,
  type Rail,
  RailError,
  readProgress,
  runRailTasks,
} from '@svc/core/topups/index.ts';
import {
  markSignalled,
  markStarted,
  startWorkflow,
  takeSignals,
  takeStarts,
} from '@svc/core/workflow-starts/index.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { events, later as laterThan, startWorld } from './world.ts';

const world = await startWorld();
const { sim, context, read, rows } = world;
let serial = 0;
const freshOrg = () => world.org(`org-${++serial}`);
const fresh = async () => world.topup(await freshOrg());
const later = (hours: number) => laterThan(context, hours);
const create = (org: Org, amount_minor = 2_500) => createTopup(context, { org_id: org.id, amount_minor });

afterEach(() => world.expectRight());

test('a payment whose callbacks are all lost is found by the poll, booked once, and its fee is known', async () => {
  sim.turn({ webhooks: { drop: ['checkout.session.completed', 'payment_intent.succeeded'] } });
  const topup = await fresh();
  expect(await pollTopup(context, { topup_id: topup.id })).toMatchObject({
    status: 'pending',
    fee_known: false,
  });
  sim.act(topup.gateway_ref as string, 'pay');
  sim.turn({ webhooks: { drop: [] } });
  const polls = await Promise.all(
    Array.from({ length: 5 }, () => pollTopup(context, { topup_id: topup.id })),
  );
  expect(polls.every(({ status, fee_known }) => status === 'paid' && fee_known)).toBe(true);
  // 2.9 % of 25 dollars, half up, and 30 cents.
  expect(await read(topup.id)).toMatchObject({ status: 'paid', fee_minor: 103, method: 'card' });
  const reported = sim.webhooks.events.find(({ type, data }) => {
    return type === 'checkout.session.completed' && (data.object as { id: string }).id === topup.gateway_ref;
  });
  expect(await world.deliver(reported as object)).toMatchObject({ replay: true, topup: topup.id });
});

test('poll and callback at the same moment book once', async () => {
  const topup = await fresh();
  sim.act(topup.gateway_ref as string, 'pay');
  const intent = sim.store.sessions.get(topup.gateway_ref as string)?.payment_intent as string;
  await Promise.all([
    ...Array.from({ length: 4 }, () => pollTopup(context, { topup_id: topup.id })),
    ...Array.from({ length: 4 }, () => world.deliver(events.completed(topup, { payment: intent }))),
  ]);
  expect(await readBalance(world.pool, topup.book_id)).toMatchObject({ available_micro_usd: 25_000_000 });
});

test('the poll learns of failed and expired orders too, and of a payment under way it says pending', async () => {
  const [slow, lost] = [await fresh(), await fresh()];
  sim.act(slow.gateway_ref as string, 'later');
  expect(await pollTopup(context, { topup_id: slow.id })).toMatchObject({ status: 'pending' });
  sim.act(slow.gateway_ref as string, 'bounce');
  expect(await pollTopup(context, { topup_id: slow.id })).toMatchObject({ status: 'failed' });
  sim.act(lost.gateway_ref as string, 'expire');
  expect(await pollTopup(context, { topup_id: lost.id })).toMatchObject({ status: 'expired' });
});

test('a rail that is down makes the poll fail in a way that can be tried again, and changes nothing', async () => {
  const topup = await fresh();
  sim.turn({ api: [{ match: 'GET /v1/checkout/sessions', mode: 'error', status: 503, times: 3 }] });
  await expect(pollTopup(context, { topup_id: topup.id })).rejects.toBeInstanceOf(RailError);
  sim.turn({ api: [] });
  expect(await pollTopup(context, { topup_id: topup.id })).toMatchObject({ status: 'pending' });
});

test('a top-up expires at its time and not before, its session is to be closed, and late money is booked', async () => {
  const topup = await fresh();
  const topup_id = topup.id;
  expect(await expireTopup(later(22.9), { topup_id })).toMatchObject({ status: 'pending' });
  expect(await expireTopup(later(23.1), { topup_id })).toMatchObject({ status: 'expired' });
  expect(await expireTopup(later(24), { topup_id })).toMatchObject({ status: 'expired' });
  expect(await rows('select kind from rail_task where ref = $1', [topup.gateway_ref])).toEqual([
    { kind: 'close_order' },
  ]);
  await world.deliver(events.completed(topup));
  expect(await readProgress(context, { topup_id })).toMatchObject({ status: 'paid' });
  expect(await expireTopup(later(48), { topup_id })).toMatchObject({ status: 'paid' });
});

test('a rail that cannot be reached fails the top-up with 503, no event, and nothing to pay', async () => {
  const org = await freshOrg();
  sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'error', status: 500, times: 3 }] });
  await expect(create(org)).rejects.toMatchObject({ code: 'rail_unavailable', status: 503 });
  sim.turn({ api: [] });
  const [row] = await rows<{ status: string; failure_code: string; gateway_ref: null; reported: number }>(
    `select status, failure_code, gateway_ref,
            (select count(*)::int from outbox where topic = 'topup.failed' and outbox.org_id = topup.org_id) as reported
       from topup where org_id = $1`,
    [org.id],
  );
  expect(row).toEqual({ status: 'failed', failure_code: 'rail_unavailable', gateway_ref: null, reported: 0 });
});

test('when the rail acts and its answer is lost, the retry gets the same session, and one row has it', async () => {
  const org = await freshOrg();
  const before = sim.store.sessions.size;
  sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'lost_answer', times: 2 }] });
  const { topup, checkout_url } = await create(org);
  sim.turn({ api: [] });
  expect(sim.store.sessions.size).toBe(before + 1);
  expect(sim.store.sessions.get(topup.gateway_ref as string)).toMatchObject({
    url: checkout_url,
    client_reference_id: topup.id,
    metadata: { topup_id: topup.id, org_id: org.id },
    intent_metadata: { topup_id: topup.id, org_id: org.id },
    amount_total: topup.total_minor,
  });
});

test('a top-up cancelled while the rail is still being asked has its session closed once there is one', async () => {
  const org = await freshOrg();
  sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'delay', delay_ms: 3_000, times: 1 }] });
  const making = create(org);
  const pending = () => rows<{ id: Id<'topup'> }>('select id from topup where org_id = $1', [org.id]);
  const id = await vi.waitFor(async () => (await pending())[0]?.id ?? expect.fail('no row yet'), {
    timeout: 10_000,
  });
  await cancelTopup(world.context, { org_id: org.id, id });
  const { topup } = await making;
  sim.turn({ api: [] });
  expect([topup.id, topup.status]).toEqual([id, 'expired']);
  await runRailTasks(world.context);
  expect(sim.store.sessions.get(topup.gateway_ref as string)?.status).toBe('expired');
});

test('a rail task that meets a defect is put off alone: what waits behind it is done in the same turn', async () => {
  const [stuck, next] = [await fresh(), await fresh()];
  for (const { id, org_id } of [stuck, next]) await cancelTopup(context, { org_id, id });
  const { money_in } = context.services;
  const rail: Rail = {
    ...world.rail,
    async closeCheckout(ref) {
      if (ref === stuck.gateway_ref) throw new TypeError('an answer of a form that nobody foresaw');
      await world.rail.closeCheckout(ref);
    },
  };
  const services = {
    ...context.services,
    money_in: { ...money_in, rails: { 'rail-a': null, 'rail-b': rail } },
  };
  const defective: Context = Object.create(context, { services: { value: services } });
  expect(await runRailTasks(defective)).toBe(1);
  expect(sim.store.sessions.get(next.gateway_ref as string)?.status).toBe('expired');
  const [task] = await rows<{ error: string; waits: boolean }>(
    'select last_error as error, next_at > created_at as waits from rail_task where ref = $1',
    [stuck.gateway_ref],
  );
  expect(task).toEqual({ error: expect.stringContaining('nobody foresaw'), waits: true });
});

test('a payment on a session whose answer never came is booked on the failed row', async () => {
  const org = await freshOrg();
  sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'lost_answer', times: 3 }] });
  await expect(create(org)).rejects.toMatchObject({ code: 'rail_unavailable' });
  sim.turn({ api: [] });
  const session = [...sim.store.sessions.values()].at(-1);
  expect(session?.metadata['org_id']).toBe(org.id);
  sim.act(session?.id as string, 'pay');
  const reported = sim.webhooks.events.findLast(({ type }) => type === 'checkout.session.completed');
  expect(await world.deliver(reported as object)).toMatchObject({ replay: false });
  expect(await readBalance(world.pool, org.live_book_id)).toMatchObject({ available_micro_usd: 25_000_000 });
});

test('the rate of a quote binds for fifteen minutes, for its amount alone', async () => {
  const org = await freshOrg();
  await setBilling(world.pool, { org_id: org.id, at: new Date(), billing_currency: 'EUR' });
  const quote = await quoteFor(context, { org_id: org.id, amount_minor: 5_000 });
  expect(quote).toMatchObject({ fx_rate: '0.87411800', credits_micro: 57_200_515 });
  await writeSetting(world.pool, { name: 'topups', value: { spread_bps: 1_000 }, at: new Date() });
  expect((await create(org, 5_000)).topup).toMatchObject({
    fx_rate: '0.87411800',
    credits_micro: 57_200_515,
  });
  expect((await create(org, 5_100)).topup.fx_rate).toBe('0.94732000');
  await rows(`update topup_quote set quoted_at = quoted_at - interval '15 minutes 1 second'`);
  expect((await create(org, 5_000)).topup.fx_rate).toBe('0.94732000');
  await rows(`delete from settings where name = 'topups'`);
  await rows(`update topup_quote set quoted_at = quoted_at - interval '1 hour'`);
  expect(await purgeQuotes(world.pool, new Date())).toBeGreaterThan(0);
  expect(await rows('select 1 from topup_quote')).toEqual([]);
});

test('an organization has at most ten top-ups open, however many it asks for at once', async () => {
  const org = await freshOrg();
  const results = await Promise.allSettled(Array.from({ length: 14 }, () => create(org)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  for (const result of results) {
    if (result.status === 'rejected') {
      expect(result.reason).toMatchObject({
        code: 'rate_limit_exceeded',
        details: { limit: 'pending_topups' },
      });
    }
  }
});

test('an organization makes at most thirty top-ups in 24 hours and, after five failed ones, none for an hour', async () => {
  const limit = (org: Org) =>
    create(org).then(
      () => 'made',
      ({ code, details }) => [code, details.limit, details.limit_value, details.scope],
    );
  const busy = await freshOrg();
  for (let made = 0; made < 30; made++) {
    const { id, org_id } = (await create(busy)).topup;
    await cancelTopup(context, { org_id, id });
  }
  expect(await limit(busy)).toEqual(['rate_limit_exceeded', 'topups_per_day', 30, 'org']);
  const age = (org: Org, by: string) =>
    rows(
      `update topup set created_at = created_at - $2::interval, updated_at = updated_at - $2::interval
        where org_id = $1`,
      [org.id, by],
    );
  await age(busy, '24 hours 1 second');
  expect(await limit(busy)).toBe('made');

  const unlucky = await freshOrg();
  for (let failed = 0; failed < 5; failed++) {
    const topup = await world.topup(unlucky);
    const type = 'checkout.session.async_payment_failed';
    await world.deliver(events.completed(topup, { type, status: 'unpaid' }));
  }
  expect(await limit(unlucky)).toEqual(['rate_limit_exceeded', 'failed_topups_per_hour', 5, 'org']);
  expect(await limit(await freshOrg())).toBe('made');
  await age(unlucky, '1 hour 1 second');
  expect(await limit(unlucky)).toBe('made');
});

test('a workflow is asked for once, and only when its fact commits; signals follow their start in order', async () => {
  const topup = await fresh();
  const workflow_id = `topup-${topup.id}`;
  const at = new Date();
  const start = { workflow_id, type: 'topUp', args: { topup_id: topup.id }, at };
  const starts = async () =>
    (await takeStarts(world.pool, 1_000)).filter((one) => one.workflow_id === workflow_id);
  const { org_id } = topup;
  expect(await starts()).toEqual([{ workflow_id, type: 'topUp', args: { topup_id: topup.id }, org_id }]);
  expect(await startWorkflow(world.pool, start)).toBe(false);
  const undone = context.transaction(async (context) => {
    await startWorkflow(context.db, { ...start, workflow_id: 'topup-undone' });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect((await takeStarts(world.pool, 1_000)).map((one) => one.workflow_id)).not.toContain('topup-undone');
  await world.deliver(events.completed(topup));
  const signals = async () =>
    (await takeSignals(world.pool, 1_000)).filter((one) => one.workflow_id === workflow_id);
  expect(await signals()).toEqual([]);
  await markStarted(world.pool, { workflow_id, at });
  expect([await starts(), (await signals()).map(({ name }) => name)]).toEqual([[], ['booked']]);
  for (const { signal_id } of await signals()) await markSignalled(world.pool, { signal_id, at });
  expect(await signals()).toEqual([]);
});

test('an event is verified and taken by any of several secrets in force', async () => {
  const topup = await fresh();
  sim.turn({ webhook_secrets: ['whsec_old'] });
  const raw = Buffer.from(JSON.stringify(events.completed(topup)));
  const signature = sim.webhooks.sign(raw.toString());
  sim.turn({ webhook_secrets: ['whsec_of_tests'] });
  expect(await takeRailCallback(context, world.rail, { raw, signature })).toMatchObject({ topup: topup.id });
});
