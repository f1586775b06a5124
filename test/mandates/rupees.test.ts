// Mandates over rail-a: one rupee proves them, each debit waits until its notice was delivered and a day has passed, and
// the rail's rules of notice and cycle are never broken.
import { createPerson } from '@svc/core/identity/index.ts';
import { type Id, now, shiftClock } from '@svc/core/kernel/index.ts';
import { sendMail, takeBounce } from '@svc/core/mail/index.ts';
import {
  actOnMandate,
  announceAttempt,
  beginAttempt,
  cancelOfClosed,
  chargeAttempt,
  createMandate,
  endAttempt,
  findMandate,
  lastAttempt,
  lookAtBalances,
  type Mandate,
  pollMandate,
  readAutoTopup,
  releaseMandate,
  setAutoTopup,
  skipUrl,
} from '@svc/core/mandates/index.ts';
import { changeTerms, type Org } from '@svc/core/orgs/index.ts';
import { pollTopup, runRailTasks } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startPost } from '../mail/post.ts';
import type { Bank, NoticeFate } from '../sim/rails/rail-a/mandates.ts';
import { atFileEnd } from '../support/ends.ts';
import { type RailAEvent, startWorld } from '../topups/world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const METHODS = ['upi', 'card', 'emandate'] as const;
const world = await startWorld();
const { context, sim_a } = world;
const { mandates } = sim_a.store;
const post = await startPost(world);
let shift_ms = 0;
let delivered = 0;
atFileEnd(async () => {
  shiftClock(0);
  sim_a.turn({ clock_shift_ms: 0 });
});

/** Moves the clocks of the service and of the rail. */
function pass(ms: number): void {
  shift_ms += ms;
  shiftClock(shift_ms);
  sim_a.turn({ clock_shift_ms: shift_ms });
}

/** Delivers what the rail has reported since the last time. */
async function news(): Promise<void> {
  for (const event of sim_a.webhooks.events.slice(delivered)) {
    delivered++;
    await world.deliverA(event as unknown as RailAEvent);
  }
}

afterEach(async () => {
  sim_a.turn({ notices: 'deliver', api: [] });
  post.server.turn({ recipient: () => null });
  await news();
  await world.expectRight();
  expect(mandates.refused).toEqual([]);
});

const read = async ({ id }: { id: Id<'mandate'> }) =>
  (await findMandate(world.pool, { id, org_id: null })) as Mandate;
const last = async (org: Org) => (await lastAttempt(world.pool, org.id))!;

async function register(org: Org, method: (typeof METHODS)[number], bank: Bank = 'ok'): Promise<Mandate> {
  const { mandate } = await createMandate(context, { org_id: org.id, method });
  mandates.register(sim_a.store.order(mandate.setup_ref as string), bank);
  await news();
  return read(mandate);
}

/** An organization without credit, whose automatic top-up of 1,000 rupees is due. */
async function payer(slug: string, method: (typeof METHODS)[number] = 'upi', bank: Bank = 'ok') {
  const org = await world.indian(slug);
  const mandate = await register(org, method, bank);
  await setAutoTopup(context, {
    ...{ org_id: org.id, enabled: true, threshold_micro: 1_000_000, amount_minor: 100_000 },
  });
  return { org, mandate };
}

async function begin(org: Org) {
  const attempt = await beginAttempt(context, { org_id: org.id, book_id: org.live_book_id });
  if (attempt === null) throw new Error('no attempt began');
  await announceAttempt(context, attempt);
  await news();
  await post.send();
  return attempt;
}

test.each(METHODS)(
  '%s is registered by the rail’s own event, and what proved it goes back',
  async (method) => {
    const org = await world.indian(`registers-${method}`);
    const { mandate, registration_url } = await createMandate(context, { org_id: org.id, method });
    expect(registration_url).toMatch(new RegExp(`^http://gateway.test/pay/${mandate.id}\\?t=`));
    mandates.register(sim_a.store.order(mandate.setup_ref as string));
    await news();
    expect(await read(mandate)).toMatchObject({ status: 'active', method });
    await runRailTasks(context);
    const [proof] = sim_a.store.paymentsOf(mandate.setup_ref as string);
    expect(proof?.amount_refunded).toBe(method === 'emandate' ? 0 : 100);
    expect(await world.rows('select 1 from staff_item where resolved_at is null')).toEqual([]);
  },
);

test('who has cancelled a mandate registers another one: the rail knows its customer by the address', async () => {
  const org = await world.indian('twice');
  const first = await register(org, 'upi');
  await actOnMandate(context, { org_id: org.id, id: first.id, act: 'cancel' });
  await releaseMandate(context, { mandate_id: first.id });
  const second = await register(org, 'card');
  expect(second).toMatchObject({ status: 'active', customer_ref: first.customer_ref });
});

test('a registration whose events are lost is found by asking', async () => {
  const org = await world.indian('asks');
  const { mandate } = await createMandate(context, { org_id: org.id, method: 'upi' });
  mandates.register(sim_a.store.order(mandate.setup_ref as string));
  delivered = sim_a.webhooks.events.length;
  await pollMandate(context, { mandate_id: mandate.id });
  expect(await read(mandate)).toMatchObject({ status: 'active' });
});

test('a debit waits a day from the delivery of its notice, is made once, and the next one waits a day', async () => {
  const { org } = await payer('waits');
  sim_a.turn({ notices: 'hold' });
  const attempt = await begin(org);
  pass(30 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'waiting', due_at: null, sent_at: null });
  mandates.report((await world.read(attempt.topup_id)).gateway_ref as string, true);
  await news();
  pass(23 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'waiting', sent_at: null });
  // The clock that noted the delivery may be a minute behind the rail's.
  pass(HOUR + 58_000);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'waiting', sent_at: null });
  pass(3_000);
  await chargeAttempt(context, attempt);
  await news();
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
  const booked = await world.read(attempt.topup_id);
  expect(booked).toMatchObject({ status: 'paid', method: 'upi', total_minor: 118_000 });
  // The number that the payer gave when he allowed it.
  expect(sim_a.store.paymentsOf(booked.gateway_ref as string)).toMatchObject([{ contact: '+919812345678' }]);
});

test.each([
  ['fail', 'notice_failed', 1_000],
  ['hold', 'notice_not_delivered', 72 * HOUR],
] as const)(
  'a notice that the rail is asked for and that does not arrive (%s): nothing is debited',
  async (fate, code, ms) => {
    const { org, mandate } = await payer(`notice-${fate}`);
    sim_a.turn({ notices: fate as NoticeFate });
    const attempt = await begin(org);
    pass(ms);
    await chargeAttempt(context, attempt);
    expect(await last(org)).toMatchObject({ status: 'failed', sent_at: null });
    expect(await world.read(attempt.topup_id)).toMatchObject({ status: 'failed', failure_code: code });
    expect(await read(mandate)).toMatchObject({ consecutive_failures: 1 });
  },
);

/** What `takeBounce` is told when a mail comes back after all. */
async function comeBack(topup_id: string): Promise<void> {
  const sent = await world.rows<{ id: Id<'mail'> }>(
    `select id from mail where template = 'debit_notice' and reference = $1 and status = 'sent'`,
    [topup_id],
  );
  for (const { id: mail_id } of sent)
    await takeBounce(world.pool, { mail_id, permanent: true, answer: '5.1.1 No such user' });
}

/** Nothing was asked of the rail for an attempt but its order, and the payer has a failure of that code. */
async function expectNothingDebited(org: Org, failure_code: string): Promise<void> {
  const attempt = await last(org);
  expect(attempt).toMatchObject({ status: 'failed', sent_at: null });
  const topup = await world.read(attempt.topup_id);
  expect(topup).toMatchObject({ status: 'failed', failure_code });
  expect(sim_a.store.paymentsOf(topup.gateway_ref as string)).toEqual([]);
}

test('where our mail is the notice, a day counts from when a mail server took it', async () => {
  const { org } = await payer('by-mail', 'emandate');
  post.server.turn({ recipient: () => '451 4.3.0 Later' });
  const attempt = await begin(org);
  pass(5 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'waiting', notified_at: null, due_at: null });
  post.server.turn({ recipient: () => null });
  await post.send();
  pass(23 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'waiting', sent_at: null });
  pass(HOUR + 1_000);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
});

test('a notice goes to the billing address and every owner: the sum, the earliest time, and the link that skips', async () => {
  const { org } = await payer('told', 'emandate');
  for (const [email, role] of [
    ['first@told.example', 'owner'],
    ['second@told.example', 'owner'],
    ['admin@told.example', 'admin'],
  ] as const)
    await createPerson(context, { email, org_id: org.id, role });
  const { topup_id } = await begin(org);
  // The notice, and then 36 hours until the debit must have been booked.
  const { created_at, expires_at } = await world.read(topup_id);
  expect(expires_at.getTime() - created_at.getTime()).toBe((24 + 36) * HOUR);
  const earliest_ms = now().getTime() + 24 * HOUR;
  const mails = await world.rows<{ recipient: string; data: Record<string, string> }>(
    `select recipient, data from mail where template = 'debit_notice' and reference = $1 order by recipient`,
    [topup_id],
  );
  expect(mails.map(({ recipient }) => recipient)).toEqual([
    ...['first@told.example', 'second@told.example', 'told@example.in'],
  ]);
  for (const { data } of mails) {
    expect(data).toMatchObject({ total: '₹1,180.00', method: 'bank account (e-mandate)', topup_id });
    expect(Math.abs(Date.parse(data['earliest_at'] as string) - earliest_ms)).toBeLessThan(60_000);
  }
  const arrived = post.server.received.filter(({ mail }) => mail.text?.includes(topup_id));
  expect(arrived.map(({ to }) => to[0]).sort()).toEqual(mails.map(({ recipient }) => recipient));
  for (const { mail } of arrived) expect(mail.text).toContain(skipUrl(context, topup_id));
});

test.each([
  ['is refused', { recipient: () => '550 5.1.1 No such user' }, 0],
  ['is late for a day', { recipient: () => '451 4.3.0 Later' }, 25 * HOUR],
])('where our mail is the notice and %s, nothing is debited', async (what, manners, ms) => {
  const { org } = await payer(`by-mail-${ms}-${what.length}`, 'emandate');
  post.server.turn(manners);
  const attempt = await begin(org);
  pass(ms);
  await post.send();
  expect(await last(org)).toMatchObject({ status: 'waiting', notice_failed: true });
  await chargeAttempt(context, attempt);
  await expectNothingDebited(org, 'notice_failed');
});

test('where our mail is the notice and comes back within its day, nothing is debited', async () => {
  const { org } = await payer('comes-back', 'emandate');
  const attempt = await begin(org);
  expect(await last(org)).toMatchObject({ due_at: expect.any(Date) });
  pass(20 * HOUR);
  await comeBack(attempt.topup_id);
  pass(5 * HOUR);
  await chargeAttempt(context, attempt);
  await expectNothingDebited(org, 'notice_failed');
});

test('where our mail is the notice and there is no address for it, nothing is debited', async () => {
  const { org } = await payer('no-address', 'emandate');
  await world.rows('update org set billing_email = null where id = $1', [org.id]);
  const attempt = await begin(org);
  await chargeAttempt(context, attempt);
  await expectNothingDebited(org, 'notice_failed');
});

test('twenty courtesies to its address do not put a notice off', async () => {
  const { org } = await payer('busy', 'emandate');
  const [{ billing_email } = { billing_email: '' }] = await world.rows<{ billing_email: string }>(
    'select billing_email from org where id = $1',
    [org.id],
  );
  for (let i = 0; i < 20; i++)
    await context.transaction((context) =>
      sendMail(context, {
        ...{ template: 'low_balance', to: [billing_email], org_id: org.id, reference: `busy-${i}` },
        data: { org: 'Busy', slug: 'busy', available: '$4.20', threshold: '$5.00' },
      }),
    );
  await post.send();
  await begin(org);
  expect(await last(org)).toMatchObject({ notice_failed: false, due_at: expect.any(Date) });
});

test('a notice whose asker died before it was noted is found at the rail and not given again', async () => {
  const { org } = await payer('died');
  const begun = await beginAttempt(context, { org_id: org.id, book_id: org.live_book_id });
  const attempt = begun ?? (await last(org));
  const dies: typeof context = Object.create(context, {
    transaction: { value: () => Promise.reject(new Error('killed')) },
  });
  await expect(announceAttempt(dies, attempt)).rejects.toThrow('killed');
  await announceAttempt(context, attempt);
  await news();
  const orders = [...sim_a.store.orders.values()].filter(({ receipt }) => receipt === attempt.topup_id);
  expect(orders).toHaveLength(1);
  expect((await world.read(attempt.topup_id)).gateway_ref).toBe(orders[0]?.id);
});

test('a bank that takes days keeps the attempt open; nothing else is debited until it has said', async () => {
  const { org } = await payer('days', 'emandate', 'pending');
  const attempt = await begin(org);
  pass(25 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'charging' });
  pass(2 * DAY);
  await lookAtBalances(context);
  expect((await last(org)).attempt_no).toBe(1);
  const [debit] = sim_a.store.paymentsOf((await world.read(attempt.topup_id)).gateway_ref as string);
  sim_a.store.capture(debit?.id as string);
  await pollTopup(context, { topup_id: attempt.topup_id });
  await endAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
});

test('an answer to a debit that is lost is asked for: the account is debited once', async () => {
  const { org } = await payer('lost-a');
  const attempt = await begin(org);
  pass(25 * HOUR);
  sim_a.turn({ api: [{ match: 'POST /v1/payments/create/recurring', mode: 'lost_answer' }] });
  await expect(chargeAttempt(context, attempt)).rejects.toThrow();
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
  expect(sim_a.store.paymentsOf((await world.read(attempt.topup_id)).gateway_ref as string)).toHaveLength(1);
});

test('a mandate of an organization that is closed is cancelled, and taken back at the rail', async () => {
  const { org, mandate } = await payer('closes');
  const pending = await world.indian('closes-early');
  const { mandate: begun } = await createMandate(context, { org_id: pending.id, method: 'upi' });
  const { mandate: others } = await payer('stays');
  for (const { id } of [org, pending]) await changeTerms(context, id, { status: 'closed' });
  expect(await cancelOfClosed(context)).toBe(2);
  expect(await cancelOfClosed(context)).toBe(0);
  for (const each of [mandate, begun])
    expect(await read(each)).toMatchObject({ status: 'cancelled', reason: 'org_closed' });
  expect(await read(others)).toMatchObject({ status: 'active' });
  expect(await releaseMandate(context, { mandate_id: mandate.id })).toMatchObject({ to_release: false });
  const { token_ref } = await read(mandate);
  expect(mandates.tokens.get(token_ref as string)?.recurring_details.status).toBe('cancelled');
});

test.each([
  ['paused', 'paused'],
  ['cancelled', 'cancelled'],
] as const)(
  'a mandate that was %s at the bank, of which every event was lost: the rail is asked first, and no rule is broken',
  async (at_bank, status) => {
    const { org, mandate } = await payer(`untold-${at_bank}`);
    const attempt = await begin(org);
    mandates.move(mandate.token_ref as string, at_bank);
    delivered = sim_a.webhooks.events.length;
    pass(25 * HOUR);
    await chargeAttempt(context, attempt);
    expect(await last(org)).toMatchObject({ status: 'not_needed', sent_at: null });
    expect(await read(mandate)).toMatchObject({
      status,
      reason: `${at_bank}_at_rail`,
      consecutive_failures: 0,
    });
  },
);

test('a rail that does not say how a mandate stands is asked for the debit all the same', async () => {
  const { org } = await payer('says-nothing');
  const attempt = await begin(org);
  pass(25 * HOUR);
  sim_a.turn({ api: [{ match: 'GET /v1/customers/', mode: 'error', status: 503 }] });
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
});

test('a mandate that its payer pauses and cancels at the bank follows, and is not debited', async () => {
  const { org, mandate } = await payer('bank');
  mandates.move(mandate.token_ref as string, 'paused');
  await news();
  expect(await read(mandate)).toMatchObject({ status: 'paused', reason: 'paused_at_rail' });
  await lookAtBalances(context);
  expect((await readAutoTopup(context, org.id)).next).toMatchObject({
    step: 'blocked',
    reason: 'mandate_paused',
  });
  mandates.move(mandate.token_ref as string, 'confirmed');
  await news();
  expect(await read(mandate)).toMatchObject({ status: 'active' });
  mandates.move(mandate.token_ref as string, 'cancelled');
  await news();
  expect(await read(mandate)).toMatchObject({ status: 'cancelled' });
  await releaseMandate(context, { mandate_id: mandate.id });
});
