// Mandates and automatic top-up over rail-b: cards that are kept, and debits while nobody is there.

import { applyMandateFact } from '@svc/core/mandates/change.ts';
import {
  actOnMandate,
  announceAttempt,
  beginAttempt,
  chargeAttempt,
  createMandate,
  endAttempt,
  lapseMandate,
  pollMandate,
  readAutoTopup,
  readSkipPage,
  releaseMandate,
  setAutoTopup,
  skipByLink,
  skipUrl,
} from '@svc/core/mandates/index.ts';
import { RailError } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startPost } from '../mail/post.ts';
import { events } from '../topups/world.ts';
import { startWorld } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DOLLAR = 1_000_000;
const world = await startWorld();
const { context, sim } = world;
const post = await startPost(world);

afterEach(async () => {
  sim.turn({ api: [] });
  await world.expectRight();
});

/** Below the threshold of ten dollars. */
const spendDown = (org: Parameters<typeof world.spend>[0]) => world.spend(org, 16 * DOLLAR);

test('a card is registered at the rail, and the former one is given up when the new one is there', async () => {
  const org = await world.org('registers');
  const first = await world.register(org);
  expect(first).toMatchObject({ status: 'active', method: 'card', max_amount_minor: 500_000, reason: null });
  const { mandate: second, registration_url } = await createMandate(context, {
    org_id: org.id,
    method: 'card',
  });
  expect(registration_url).toContain('/c/setup/');
  expect(await world.mandate(first.id)).toMatchObject({ status: 'active' });
  await expect(createMandate(context, { org_id: org.id, method: 'card' })).rejects.toMatchObject({
    code: 'mandate_exists',
  });
  sim.store.mandates.save(second.setup_ref as string);
  // The event only says that the payer is done; the rail is asked which card it is.
  const completed = sim.webhooks.events.findLast(({ type }) => type === 'checkout.session.completed');
  await world.deliver(completed as object);
  await pollMandate(context, { mandate_id: second.id });
  expect(await world.mandate(second.id)).toMatchObject({ status: 'active' });
  expect(await world.mandate(first.id)).toMatchObject({ status: 'cancelled', reason: 'replaced' });
  await releaseMandate(context, { mandate_id: first.id });
  expect(sim.store.mandates.payment_methods.get(first.token_ref as string)?.customer).toBeNull();
  expect((await world.facts(org, 'mandate.updated')).map(({ payload }) => payload['status'])).toEqual([
    'active',
    'cancelled',
    'active',
  ]);
});

test('the event of a card that was saved makes its mandate active, without anybody asking', async () => {
  const org = await world.org('event-alone');
  const { mandate } = await createMandate(context, { org_id: org.id, method: 'card' });
  sim.store.mandates.save(mandate.setup_ref as string);
  const saved = sim.webhooks.events.findLast(({ type }) => type === 'setup_intent.succeeded');
  await world.deliver(saved as object);
  expect(await world.mandate(mandate.id)).toMatchObject({ status: 'active' });
});

test('a registration lapses after a day; one that is finished after all is taken back at the rail', async () => {
  const org = await world.org('lapses');
  const { mandate } = await createMandate(context, { org_id: org.id, method: 'card' });
  expect(await lapseMandate(context, { mandate_id: mandate.id })).toMatchObject({ status: 'pending' });
  world.pass(DAY);
  expect(await lapseMandate(context, { mandate_id: mandate.id })).toMatchObject({ status: 'expired' });
  const session = sim.store.mandates.save(mandate.setup_ref as string);
  const fact = await world.rail.mandates?.readSetup(session.id);
  expect(fact).toMatchObject({ change: 'confirmed', mandate_id: mandate.id });
  await context.transaction((context) => applyMandateFact(context, mandate.id, fact as never));
  expect(await world.mandate(mandate.id)).toMatchObject({ status: 'expired', released_at: null });
  await releaseMandate(context, { mandate_id: mandate.id });
  const { token_ref, released_at } = await world.mandate(mandate.id);
  expect(sim.store.mandates.payment_methods.get(token_ref as string)?.customer).toBeNull();
  expect(released_at).not.toBeNull();
});

test('a card that is removed at the rail ends the mandate and switches automatic top-up off', async () => {
  const { org, mandate } = await world.payer('removed');
  sim.store.mandates.detach(mandate.token_ref as string);
  await world.deliver(sim.webhooks.events.at(-1) as object);
  expect(await world.mandate(mandate.id)).toMatchObject({ status: 'cancelled', reason: 'cancelled_at_rail' });
  const view = await readAutoTopup(context, org.id);
  expect(view.config.enabled).toBe(false);
  expect(view.next).toMatchObject({ step: 'off', reason: 'mandate_cancelled' });
  expect(await world.facts(org, 'auto_topup.disabled')).toHaveLength(1);
  expect(await world.mails(org)).toContain('auto_topup_disabled');
});

test('people pause, resume and cancel; an end is final', async () => {
  const { org, mandate } = await world.payer('pauses');
  const act = (act: 'pause' | 'resume' | 'cancel') =>
    actOnMandate(context, { org_id: org.id, id: mandate.id, act });
  expect(await act('pause')).toMatchObject({ status: 'paused' });
  await expect(act('pause')).rejects.toMatchObject({ code: 'state_conflict' });
  expect(await act('resume')).toMatchObject({ status: 'active', reason: null });
  expect(await act('cancel')).toMatchObject({ status: 'cancelled', reason: 'by_people' });
  await expect(act('resume')).rejects.toMatchObject({ code: 'state_conflict' });
  const other = await world.org('stranger');
  await expect(
    actOnMandate(context, { org_id: other.id, id: mandate.id, act: 'cancel' }),
  ).rejects.toMatchObject({ code: 'not_found' });
});

test('it is switched on only with an active mandate, and for no more than that allows', async () => {
  const org = await world.org('sets');
  const set = (amount_minor: number, enabled = true) =>
    setAutoTopup(context, { org_id: org.id, enabled, threshold_micro: DOLLAR, amount_minor });
  await expect(set(2_500)).rejects.toMatchObject({ code: 'state_conflict' });
  await set(2_500, false);
  await world.register(org);
  await set(500_000);
  await expect(set(500_001)).rejects.toMatchObject({
    code: 'amount_above_cap',
    details: { cap_minor: 500_000, total_minor: 500_001 },
  });
  await expect(set(499)).rejects.toMatchObject({ code: 'amount_too_small' });
});

test('below the threshold credits are bought, booked once, and the next one waits ten minutes', async () => {
  const { org } = await world.payer('buys');
  expect(await world.look(org)).toBe(0);
  await spendDown(org);
  expect(await world.look(org)).toBe(1);
  expect(await world.look(org)).toBe(0);
  expect(await world.carryOut(org)).toMatchObject({ attempt_no: 1, status: 'succeeded' });
  const [intent] = [...sim.store.intents.values()].slice(-1);
  expect(intent?.metadata).toMatchObject({ org_id: org.id, topup_id: (await world.last(org)).topup_id });
  const succeeded = sim.webhooks.events.findLast(({ type }) => type === 'payment_intent.succeeded');
  expect(await world.deliver(succeeded as object)).toMatchObject({ replay: true });
  expect(await world.available(org)).toBe(34 * DOLLAR);
  const [completed] = (await world.facts(org, 'topup.completed')).slice(-1);
  expect(completed?.payload).toMatchObject({ source: 'auto', method: 'card' });
  await world.spend(org, 30 * DOLLAR);
  expect(await world.look(org)).toBe(0);
  const view = await readAutoTopup(context, org.id);
  expect(view.next).toMatchObject({ step: 'blocked', reason: 'too_soon' });
  expect(view.last_attempt).toMatchObject({ status: 'blocked', reason: 'too_soon' });
  world.pass(11 * MINUTE);
  expect(await world.look(org)).toBe(1);
  await world.carryOut(org);
});

test('five debits a day, then it waits for the next UTC day', async () => {
  const { org } = await world.payer('often');
  for (let n = 1; n <= 5; n++) {
    await world.spend(org, (await world.available(org)) - DOLLAR);
    if (n > 1) world.pass(11 * MINUTE);
    expect(await world.look(org)).toBe(1);
    expect(await world.carryOut(org)).toMatchObject({ attempt_no: n, status: 'succeeded' });
  }
  await world.spend(org, 24 * DOLLAR);
  world.pass(11 * MINUTE);
  const began = await world.look(org);
  const { next } = await readAutoTopup(context, org.id);
  // The five may lie on two days when the test runs about midnight.
  if (began === 0) expect(next).toMatchObject({ step: 'blocked', reason: 'daily_limit' });
  else await world.carryOut(org);
});

test.each([
  ['insufficient_funds', 'insufficient_funds'],
  ['authentication_required', 'authentication_required'],
  ['expired_card', 'expired_card'],
] as const)('a card that says %s fails the attempt and rests for a day', async (fate, code) => {
  const { org, mandate } = await world.payer(`says-${fate.replaceAll('_', '-')}`, fate);
  await spendDown(org);
  await world.look(org);
  expect(await world.carryOut(org)).toMatchObject({ status: 'failed' });
  const [failed] = await world.facts(org, 'topup.failed');
  expect(failed?.payload).toMatchObject({ source: 'auto', failure_code: code, consecutive_failures: 1 });
  expect(await world.mandate(mandate.id)).toMatchObject({ status: 'active', consecutive_failures: 1 });
  // The rail's own event of it comes later and changes nothing.
  const event = sim.webhooks.events.findLast(({ type }) => type === 'payment_intent.payment_failed');
  await world.deliver(event as object);
  expect(await world.facts(org, 'topup.failed')).toHaveLength(1);
  world.pass(23 * HOUR);
  expect(await world.look(org)).toBe(0);
  const view = await readAutoTopup(context, org.id);
  expect(view.next).toMatchObject({ step: 'blocked', reason: 'too_soon' });
  expect(await world.mails(org)).toContain('topup_failed');
});

test('three failures in a row pause the mandate and switch it off; a success in between begins anew', async () => {
  const { org, mandate } = await world.payer('fails', 'insufficient_funds');
  await spendDown(org);
  const attempt = async () => {
    world.pass(25 * HOUR);
    expect(await world.look(org)).toBe(1);
    return (await world.carryOut(org)).status;
  };
  expect([await attempt(), await attempt()]).toEqual(['failed', 'failed']);
  sim.store.mandates.turn(mandate.setup_ref as string, 'ok');
  expect(await attempt()).toBe('succeeded');
  expect((await world.mandate(mandate.id)).consecutive_failures).toBe(0);
  sim.store.mandates.turn(mandate.setup_ref as string, 'insufficient_funds');
  await world.spend(org, 30 * DOLLAR);
  expect([await attempt(), await attempt(), await attempt()]).toEqual(['failed', 'failed', 'failed']);
  expect(await world.mandate(mandate.id)).toMatchObject({
    status: 'paused',
    reason: 'three_failures',
    consecutive_failures: 3,
  });
  const view = await readAutoTopup(context, org.id);
  expect(view.next).toMatchObject({ step: 'off', reason: 'three_failures' });
  expect(view.last_attempt).toMatchObject({ status: 'failed', reason: 'insufficient_funds' });
  const counted = (await world.facts(org, 'topup.failed')).map(
    ({ payload }) => payload['consecutive_failures'],
  );
  expect(counted).toEqual([1, 2, 1, 2, 3]);
  expect((await world.facts(org, 'auto_topup.disabled'))[0]?.payload).toMatchObject({
    mandate_id: mandate.id,
    reason: 'three_failures',
    consecutive_failures: 3,
  });
  world.pass(25 * HOUR);
  expect(await world.look(org)).toBe(0);
});

test('a blocked automatic top-up leaves one event for each reason, and the reason in its view', async () => {
  const { org, mandate } = await world.payer('blocked');
  await spendDown(org);
  const { payment_intent } = [...sim.store.sessions.values()].at(-1) as { payment_intent: string };
  const dispute = async (status?: 'won') => {
    const from = sim.webhooks.events.length;
    if (status === undefined) dispute_id = sim.store.disputing.open(payment_intent).id;
    else sim.store.disputing.move(dispute_id, status);
    for (const event of sim.webhooks.events.slice(from)) await world.deliver(event);
  };
  let dispute_id = '';
  await dispute();
  for (let i = 0; i < 3; i++) {
    expect(await world.look(org)).toBe(0);
    world.pass(6 * MINUTE);
  }
  expect((await readAutoTopup(context, org.id)).last_attempt).toMatchObject({ reason: 'dispute_open' });
  await dispute('won');
  await actOnMandate(context, { org_id: org.id, id: mandate.id, act: 'pause' });
  expect(await world.look(org)).toBe(0);
  const reasons = (await world.facts(org, 'auto_topup.blocked')).map(({ payload }) => payload['reason']);
  expect(reasons).toEqual(['dispute_open', 'mandate_paused']);
  await actOnMandate(context, { org_id: org.id, id: mandate.id, act: 'resume' });
  expect(await world.look(org)).toBe(1);
  expect(await world.carryOut(org)).toMatchObject({ status: 'succeeded' });
  expect((await readAutoTopup(context, org.id)).next).toMatchObject({ step: 'watching', reason: '' });
});

test('before the debit it is judged again: what is not needed or not wanted any more is left, without a failure', async () => {
  const { org, mandate } = await world.payer('judged');
  await spendDown(org);
  await world.look(org);
  const name = await world.last(org);
  await announceAttempt(context, name);
  await actOnMandate(context, { org_id: org.id, id: mandate.id, act: 'pause' });
  await chargeAttempt(context, name);
  expect(await world.last(org)).toMatchObject({ status: 'not_needed', sent_at: null });
  expect(await world.read(name.topup_id)).toMatchObject({ status: 'expired', failure_code: null });
  expect(await world.facts(org, 'topup.failed')).toEqual([]);
});

test('the link of a notice shows its debit, and skips it only when its button is pressed', async () => {
  const { org, mandate } = await world.payer('skips');
  await world.rows('update mandate set notify_hours = 24 where id = $1', [mandate.id]);
  await spendDown(org);
  await world.look(org);
  const attempt = await world.last(org);
  await announceAttempt(context, attempt);
  const url = new URL(skipUrl(context, attempt.topup_id));
  expect(url.pathname).toBe(`/skip/${attempt.topup_id}`);
  const link = { id: attempt.topup_id, token: url.searchParams.get('t') as string };
  for (const wrong of [
    { ...link, token: '' },
    { ...link, token: `${link.token.slice(1)}x` },
    { ...link, id: 'tup_1' },
  ]) {
    await expect(skipByLink(context, wrong)).rejects.toMatchObject({ code: 'not_found' });
  }
  expect(await readSkipPage(context, link)).toMatchObject({ state: 'open', total: '$25.00' });
  expect((await readAutoTopup(context, org.id)).next).toMatchObject({ step: 'waiting', can_skip: true });
  expect(await skipByLink(context, link)).toMatchObject({ state: 'skipped' });
  expect(await skipByLink(context, link)).toMatchObject({ state: 'skipped' });
  world.pass(25 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await world.last(org)).toMatchObject({ status: 'skipped', sent_at: null });
  // A debit that was made is not skipped any more, and the page says so.
  await world.look(org);
  const second = await world.last(org);
  await announceAttempt(context, second);
  await post.send();
  world.pass(25 * HOUR);
  await chargeAttempt(context, second);
  const late = new URL(skipUrl(context, second.topup_id)).searchParams.get('t') as string;
  expect(await skipByLink(context, { id: second.topup_id, token: late })).toMatchObject({ state: 'made' });
  expect(await world.last(org)).toMatchObject({ status: 'succeeded' });
});

test('an answer that is lost is asked for: the debit is made once', async () => {
  const { org } = await world.payer('lost');
  await spendDown(org);
  await world.look(org);
  const name = await world.last(org);
  await announceAttempt(context, name);
  sim.turn({ api: [{ match: 'POST /v1/payment_intents', mode: 'lost_answer', times: 3 }] });
  await expect(chargeAttempt(context, name)).rejects.toBeInstanceOf(RailError);
  expect(await world.last(org)).toMatchObject({ status: 'charging' });
  sim.turn({ api: [], forget_keys: true });
  await chargeAttempt(context, name);
  expect(await world.last(org)).toMatchObject({ status: 'succeeded' });
  const made = [...sim.store.intents.values()].filter(
    ({ metadata }) => metadata['topup_id'] === name.topup_id,
  );
  expect(made).toHaveLength(1);
});

test('a rail that is away for a day gets nothing any more, and the attempt fails', async () => {
  const { org } = await world.payer('away');
  await spendDown(org);
  await world.look(org);
  const name = await world.last(org);
  await announceAttempt(context, name);
  sim.turn({ api: [{ match: 'POST /v1/payment_intents', mode: 'error', status: 503, times: 3 }] });
  await expect(chargeAttempt(context, name)).rejects.toBeInstanceOf(RailError);
  world.pass(DAY);
  await chargeAttempt(context, name);
  expect(await world.last(org)).toMatchObject({ status: 'failed' });
  expect(await world.read(name.topup_id)).toMatchObject({ failure_code: 'no_outcome' });
});

test('a payment that comes in after its attempt had failed is booked, and counts as a success', async () => {
  const { org, mandate } = await world.payer('late', 'insufficient_funds');
  await spendDown(org);
  await world.look(org);
  const { topup_id, ...name } = await world.carryOut(org);
  const topup = await world.read(topup_id);
  await world.deliver(events.succeeded(topup, { payment: 'pi_that_came_late' }));
  await endAttempt(context, name);
  expect(await world.last(org)).toMatchObject({ status: 'succeeded' });
  expect(await world.mandate(mandate.id)).toMatchObject({ consecutive_failures: 0 });
});

/** `CROSSING=10000` for as many as the promise names; a minute. */
const CROSSING = Number(process.env['CROSSING'] ?? 200);

test(`of ${CROSSING} calls that cross the threshold and a hundred looks at once, one top-up begins`, {
  timeout: 600_000,
}, async () => {
  const { org } = await world.payer('crowd', 'ok', 100_000);
  expect(await world.spend(org, DOLLAR)).toBe(true);
  const settles = Array.from({ length: CROSSING }, () =>
    world.spend(org, Math.floor(992_000_000 / CROSSING)),
  );
  const args = { org_id: org.id, book_id: org.live_book_id };
  const looks = Array.from({ length: 50 }, () => beginAttempt(context, args));
  expect((await Promise.all(settles)).every(Boolean)).toBe(true);
  const late = Array.from({ length: 50 }, () => beginAttempt(context, args));
  const begun = (await Promise.all([...looks, ...late])).filter((attempt) => attempt !== null);
  expect(begun).toHaveLength(1);
  expect(await world.carryOut(org)).toMatchObject({ status: 'succeeded', attempt_no: 1 });
  const auto = await world.rows(`select id from topup where org_id = $1 and source = 'auto'`, [org.id]);
  expect(auto).toHaveLength(1);
});
