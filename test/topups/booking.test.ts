// What a fact about a top-up does beside its row: credit, document, event, signals, work at the rail, matters for the staff. All
// of it is compared whole, since others read each member: webhooks, workflows, the staff.
import { writeSetting } from '@svc/core/db/index.ts';
import { type Id, microUsd } from '@svc/core/kernel/index.ts';
import { orderCredit } from '@svc/core/ledger/index.ts';
import { applyFact, closingWorkflowId, findTopup, type Topup } from '@svc/core/topups/index.ts';
import { startWorkflow } from '@svc/core/workflow-starts/index.ts';
import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { context, read, rows } = world;
let serial = 0;
const fresh = async () => world.topup(await world.org(`booking-${++serial}`));

type Fact = Parameters<typeof applyFact>[2];
/** Applies `fact` to the top-up as it is now. */
const apply = (id: Id<'topup'>, fact: Fact) =>
  context.transaction(async (context) =>
    applyFact(context, (await findTopup(context.db, { id, org_id: null })) as Topup, fact),
  );

type Payment = Extract<Fact, { kind: 'captured' }>;
/** The payment that was asked for. */
const paid = (topup: Topup, more: Partial<Payment> = {}): Payment => ({
  ...{ kind: 'captured', payment_ref: `pay_${topup.id}`, method: 'card' },
  ...{ amount_minor: topup.total_minor, currency: topup.currency },
  ...more,
});
const failed = (last: boolean) =>
  ({ kind: 'failed', last, code: 'card_declined', message: 'No money.' }) as const;

/** Asks for the workflows that signals go to: one that was not asked for gets none. */
async function ask(...workflow_ids: string[]): Promise<void> {
  for (const workflow_id of workflow_ids)
    await startWorkflow(world.pool, { workflow_id, type: 'of_tests', args: {}, at: context.now() });
}

/** Everything that was done about a top-up but for what its payment books. */
async function effectsOf({ id, org_id }: Topup) {
  const [events, signals, tasks, items] = await Promise.all([
    rows(`select topic, payload from outbox where org_id = $1 and topic like 'topup.%' order by outbox_id`, [
      org_id,
    ]),
    rows(
      `select workflow_id, name, args from workflow_signal
        where workflow_id like '%' || $1 or workflow_id like '%' || $2 || '%' order by signal_id`,
      [id, org_id],
    ),
    rows(`select rail, kind, ref from rail_task where topup_id = $1`, [id]),
    rows(
      `select kind, subject, details from staff_item
        where subject = $1 or details ->> 'topup_id' = $1`,
      [id],
    ),
  ]);
  return { events, signals, tasks, items };
}
const NOTHING = { events: [], signals: [], tasks: [], items: [] };
/** The answer to a callback that booked nothing. */
const noted = ({ id }: Topup) => ({ invoice: null, replay: false, topup: id });

test('the right payment is booked: the row says with what, and the answer names its document', async () => {
  const topup = await fresh();
  const answer = await apply(topup.id, paid(topup));
  const booked = await read(topup.id);
  expect(booked).toMatchObject({ status: 'paid', payment_ref: `pay_${topup.id}`, method: 'card' });
  expect(answer).toEqual({ invoice: booked.invoice_number, replay: false, topup: topup.id });
  await world.expectRight();
});

test('what is booked is paid credit of the top-up, without an end unless staff have set how many days it has', async () => {
  const lotOf = async (id: Id<'topup'>) =>
    (
      await rows(
        `select e.ref_type, l.is_grant, l.amount, extract(epoch from nullif(l.expires_at, 'infinity') - t.paid_at)::int as seconds
           from topup t join ledger.lot l using (lot_id) join ledger.entry e on e.book_id = l.book_id and e.seq = l.seq
          where t.id = $1 and e.ref_id = t.id and e.kind = 2`,
        [id],
      )
    )[0];
  const [endless, ending] = [await fresh(), await fresh()];
  await apply(endless.id, paid(endless));
  await writeSetting(world.pool, { name: 'topups', value: { paid_credit_days: 30 }, at: context.now() });
  await apply(ending.id, paid(ending));
  await rows(`delete from settings where name = 'topups'`);
  const lot = { ref_type: 'topup', is_grant: false, amount: 25_000_000 };
  expect(await lotOf(endless.id)).toEqual({ ...lot, seconds: null });
  expect(await lotOf(ending.id)).toEqual({ ...lot, seconds: 30 * 86_400 });
});

test('a booking tells the organization, the workflow of the top-up, and the one that closes the organization', async () => {
  const topup = await world.topup(await world.indian(`booking-${++serial}`));
  const closing = closingWorkflowId(topup.org_id);
  expect(closing).toBe(`close-${topup.org_id}`);
  await ask(closing);
  await apply(topup.id, paid(topup));
  const { invoice_id, invoice_number } = await read(topup.id);
  const payload = {
    topup_id: topup.id,
    ...{ credits_micro: topup.credits_micro, currency: 'INR', source: 'checkout', method: 'card' },
    ...{ amount_minor: 100_000, tax_minor: 18_000, total_minor: 118_000 },
    ...{ invoice_id, invoice_number },
  };
  const signal = { name: 'booked', args: {} };
  expect(await effectsOf(topup)).toEqual({
    ...NOTHING,
    events: [{ topic: 'topup.completed', payload }],
    signals: [
      { workflow_id: `topup-${topup.id}`, ...signal },
      { workflow_id: closing, ...signal },
    ],
  });
});

test('a document says what was bought, at which rate, and by which payment', async () => {
  const topup = await fresh();
  await apply(topup.id, paid(topup));
  const [document] = await rows(
    `select org_id, currency, taxable_minor, total_minor, fx_rate, credits_micro, payment_ref, lines
       from invoice where topup_id = $1`,
    [topup.id],
  );
  const { org_id, fx_rate, credits_micro } = topup;
  expect(document).toEqual({
    ...{ org_id, currency: 'USD', taxable_minor: 2_500, total_minor: 2_500, fx_rate, credits_micro },
    ...{ payment_ref: `pay_${topup.id}`, lines: [expect.objectContaining({ amount_minor: 2_500 })] },
  });
});

test('the same payment again does nothing more, and is answered with its document', async () => {
  const topup = await fresh();
  const first = await apply(topup.id, paid(topup));
  const before = await effectsOf(topup);
  expect(await apply(topup.id, paid(topup))).toEqual({ ...first, replay: true });
  expect(await effectsOf(topup)).toEqual(before);
});

test('credit that is there without a paid top-up is a defect: nothing of the booking stays', async () => {
  const topup = await fresh();
  const org = { book_id: topup.book_id, kind: 'topup', ref_type: 'topup', ref_id: topup.id } as const;
  const lot = { amount_micro_usd: microUsd(1), granted: false, expires_at: null };
  const twice = context.transaction(async (context) => {
    await orderCredit(context, 'main', { ...org, ...lot });
    await applyFact(context, topup, paid(topup));
  });
  await expect(twice).rejects.toThrow(`${topup.id} was credited and is not paid`);
  expect(await effectsOf(topup)).toEqual(NOTHING);
  await world.expectRight();
});

test('another amount than was asked waits for a person, who sees both', async () => {
  const topup = await fresh();
  const payment_ref = `pay_${topup.id}`;
  const other = paid(topup, { amount_minor: 2_499, currency: 'EUR' });
  expect(await apply(topup.id, other)).toEqual(noted(topup));
  expect(await read(topup.id)).toMatchObject({ status: 'review', payment_ref, paid_at: null });
  const details = {
    ...{ rail: 'rail-b', payment_ref, method: 'card' },
    ...{ expected_minor: 2_500, expected_currency: 'USD', paid_minor: 2_499, paid_currency: 'EUR' },
  };
  const items = [{ kind: 'amount_mismatch', subject: topup.id, details }];
  expect(await effectsOf(topup)).toEqual({ ...NOTHING, items });
});

test('a second payment is to go back at the rail, and the staff are told', async () => {
  const topup = await fresh();
  await apply(topup.id, paid(topup));
  const before = await effectsOf(topup);
  const ref = `second_${topup.id}`;
  expect(await apply(topup.id, paid(topup, { payment_ref: ref }))).toEqual(noted(topup));
  const details = { topup_id: topup.id, amount_minor: 2_500, currency: 'USD' };
  expect(await effectsOf(topup)).toEqual({
    ...before,
    tasks: [{ rail: 'rail-b', kind: 'refund_payment', ref }],
    items: [{ kind: 'second_payment', subject: `rail-b ${ref}`, details }],
  });
});

const FAILURE = { failure_code: 'card_declined', failure_message: 'No money.' };

test('an attempt that failed leaves its reason and tells nobody: the payer may go on', async () => {
  const topup = await fresh();
  expect(await apply(topup.id, failed(false))).toEqual(noted(topup));
  expect(await read(topup.id)).toMatchObject({ status: 'pending', ...FAILURE });
  expect(await effectsOf(topup)).toEqual(NOTHING);
});

test('a payment that failed for good is told to the organization', async () => {
  const topup = await fresh();
  expect(await apply(topup.id, failed(true))).toEqual(noted(topup));
  expect(await read(topup.id)).toMatchObject({ status: 'failed', ...FAILURE });
  const payload = {
    ...{ topup_id: topup.id, currency: 'USD', total_minor: 2_500, source: 'checkout', ...FAILURE },
    consecutive_failures: 0,
  };
  const events = [{ topic: 'topup.failed', payload }];
  expect(await effectsOf(topup)).toEqual({ ...NOTHING, events });
  // What failed is over: a further failure is nothing new.
  expect(await apply(topup.id, failed(true))).toEqual(noted(topup));
  expect(await effectsOf(topup)).toEqual({ ...NOTHING, events });
});

test('of an attempt under a mandate its workflow hears that it failed, and the organization from there', async () => {
  const topup = await fresh();
  await rows(`update topup set source = 'auto', attempt_no = 3 where id = $1`, [topup.id]);
  const workflow_id = `auto-${topup.org_id}-3`;
  await ask(workflow_id);
  expect(await apply(topup.id, failed(false))).toEqual(noted(topup));
  expect(await read(topup.id)).toMatchObject({ status: 'failed', ...FAILURE });
  const signals = [{ workflow_id, name: 'failed', args: {} }];
  expect(await effectsOf(topup)).toEqual({ ...NOTHING, signals });
});

test('an order that no rail took fails without a word: whoever asked has had the answer', async () => {
  const topup = await fresh();
  await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
  expect(await apply(topup.id, { kind: 'unreachable', message: 'away' })).toEqual(noted(topup));
  expect(await read(topup.id)).toMatchObject({
    ...{ status: 'failed', failure_code: 'rail_unavailable', failure_message: 'away' },
  });
  expect(await effectsOf(topup)).toEqual(NOTHING);
});

test.each([
  ['lapses', 'is not told: it waited for that', 'lapsed', 0],
  ['is cancelled', 'is told', 'cancelled', 1],
] as const)(
  'a top-up that %s expires, its order is to be closed, and its workflow %s',
  async (_, __, kind, signalled) => {
    const topup = await fresh();
    expect(await apply(topup.id, { kind })).toEqual(noted(topup));
    expect((await read(topup.id)).status).toBe('expired');
    const signal = { workflow_id: `topup-${topup.id}`, name: 'cancelled', args: {} };
    expect(await effectsOf(topup)).toEqual({
      ...NOTHING,
      tasks: [{ rail: 'rail-b', kind: 'close_order', ref: topup.gateway_ref }],
      signals: Array.from({ length: signalled }, () => signal),
    });
  },
);

test('where no rail has an order there is none to close', async () => {
  const topup = await fresh();
  await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
  await apply(topup.id, { kind: 'lapsed' });
  expect(await effectsOf(topup)).toEqual(NOTHING);
});
