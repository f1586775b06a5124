// Payments that differ from what was asked: what a person can do with them, over both rails, on PostgreSQL.
import { type Context, newRequestId, type Services, silentLog } from '@svc/core/kernel/index.ts';
import { readBalance } from '@svc/core/ledger/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  acceptReview,
  listReviews,
  listStaffItems,
  pollTopup,
  refuseReview,
  repriced,
  runRailTasks,
  type Topup,
} from '@svc/core/topups/index.ts';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { events, eventsA, startWorld } from './world.ts';

const world = await startWorld();
const { read, rows } = world;
let serial = 0;
afterEach(() => world.expectRight());
const staff: Context = createContext({
  request_id: newRequestId(),
  caller: { kind: 'staff', name: 'fin@staff.example', staff_id: null, roles: ['finance'] },
  pool: world.pool,
  log: silentLog,
  services: world.context.services as Services,
});
const reason = 'spoken with the payer';

/** A top-up in rupees of 1,000 and tax, for which `paid` was paid. */
async function inReview(paid: number, state = '27'): Promise<Topup> {
  const topup = await world.topup(await world.indian(`in-${++serial}`, state));
  await world.deliverA(eventsA.captured(topup, { amount: paid }));
  expect((await read(topup.id)).status).toBe('review');
  return read(topup.id);
}
const available = async (topup: Topup) => (await readBalance(world.pool, topup.book_id)).available_micro_usd;
const invoiceOf = async (id: string) =>
  (await rows<Record<string, unknown>>('select * from invoice where topup_id = $1', [id]))[0];

test('accepted, a payment buys what it pays for at the rate of its quote, with a document of that total', async () => {
  const topup = await inReview(59_000);
  expect(await listReviews(staff)).toMatchObject([
    { paid_minor: 59_000, offer: { amount_minor: 50_000, tax_minor: 9_000, credits_micro: 5_553_673 } },
  ]);
  expect(await acceptReview(staff, { id: topup.id, reason })).toMatchObject({
    status: 'paid',
    amount_minor: 50_000,
    total_minor: 59_000,
    credits_micro: 5_553_673,
  });
  expect(await available(topup)).toBe(5_553_673);
  expect(await invoiceOf(topup.id)).toMatchObject({
    taxable_minor: 50_000,
    igst_minor: 9_000,
    total_minor: 59_000,
  });
  expect(await listReviews(staff)).toEqual([]);
  expect((await listStaffItems(world.pool)).filter(({ subject }) => subject === topup.id)).toEqual([]);
  const [audit] = await rows(`select action, before, after, reason from audit_entry where target_id = $1`, [
    topup.id,
  ]);
  expect(audit).toMatchObject({
    action: 'staff.topups.accept',
    before: { total_minor: 118_000 },
    after: { total_minor: 59_000 },
    reason,
  });
  // The rail tells it once more: the document that it got.
  const again = await world.deliverA(eventsA.orderPaid(topup, { amount: 59_000 }));
  expect(again).toMatchObject({ replay: true, invoice: (await read(topup.id)).invoice_number });
});

test('a paisa short within one state: halves stay equal, the total is what was paid', async () => {
  const topup = await inReview(117_999, '29');
  await acceptReview(staff, { id: topup.id, reason });
  expect(await invoiceOf(topup.id)).toMatchObject({
    cgst_minor: 9_000,
    sgst_minor: 9_000,
    total_minor: 117_999,
  });
  expect(await read(topup.id)).toMatchObject({
    amount_minor: 99_999,
    tax_minor: 18_000,
    total_minor: 117_999,
  });
});

test('whatever was paid: amount and tax add up to it, halves are equal, and never more is credited than was paid for', async () => {
  const topups = await Promise.all(['27', '29'].map((state) => inReview(1_000, state)));
  for (const topup of topups) {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100_000_000 }), (paid) => {
        const offer = repriced(topup, paid);
        if (offer === null) return;
        const { tax } = offer;
        expect(offer.amount_minor + offer.tax_minor).toBe(paid);
        expect(tax.cgst_minor + tax.sgst_minor + tax.igst_minor).toBe(offer.tax_minor);
        expect(tax.cgst_minor).toBe(tax.sgst_minor);
        // Within two smallest units of the tax that the amount would have.
        expect(Math.abs(offer.tax_minor - offer.amount_minor * 0.18)).toBeLessThanOrEqual(2);
        expect(offer.credits_micro).toBeLessThanOrEqual((offer.amount_minor * 1e6) / 9_003.05);
      }),
    );
    await refuseReview(staff, { id: topup.id, reason });
  }
});

test('refused, a payment goes back whole and once, the organization is told, and nothing was ever credited', async () => {
  const topup = await world.topup(await world.indian(`in-${++serial}`));
  world.sim_a.turn({ amount_delta: 5 });
  const payment = world.sim_a.act(topup.gateway_ref as string, 'upi');
  world.sim_a.turn({ amount_delta: 0 });
  expect(await pollTopup(world.context, { topup_id: topup.id })).toMatchObject({ status: 'review' });
  expect(await refuseReview(staff, { id: topup.id, reason })).toMatchObject({
    status: 'failed',
    failure_code: 'amount_mismatch',
  });
  while ((await runRailTasks(world.context)) > 0);
  await runRailTasks(world.context);
  const back = [...world.sim_a.store.refunds.values()].filter(({ payment_id }) => payment_id === payment.id);
  expect(back.map(({ amount }) => amount)).toEqual([118_005]);
  // Whatever the rail still says of this payment books nothing.
  expect(
    await world.deliverA(eventsA.captured(topup, { payment: payment.id, amount: 118_005 })),
  ).toMatchObject({
    replay: true,
    invoice: null,
  });
  await pollTopup(world.context, { topup_id: topup.id });
  expect([(await read(topup.id)).status, await available(topup)]).toEqual(['failed', 0]);
  const reported = await rows<{ topic: string }>(
    `select topic from outbox where payload ->> 'topup_id' = $1`,
    [topup.id],
  );
  expect(reported).toEqual([{ topic: 'topup.failed' }]);
  // Another payment of the right amount is booked all the same.
  await world.deliverA(eventsA.captured(topup, { payment: 'pay_of_the_right_amount' }));
  expect((await read(topup.id)).status).toBe('paid');
});

test('a payment in another currency can only be refused', async () => {
  const topup = await world.topup(await world.org(`us-${++serial}`));
  await world.deliver(events.completed(topup, { currency: 'eur' }));
  const [review] = await listReviews(staff);
  expect(review).toMatchObject({ paid_currency: 'EUR', offer: null });
  await expect(acceptReview(staff, { id: topup.id, reason })).rejects.toMatchObject({
    code: 'state_conflict',
  });
  expect((await refuseReview(staff, { id: topup.id, reason })).status).toBe('failed');
});

test('of many decisions at once one counts; what is over cannot be decided', async () => {
  const topup = await inReview(59_000);
  const acts = Array.from({ length: 12 }, (_, i) =>
    (i % 2 === 0 ? acceptReview : refuseReview)(staff, { id: topup.id, reason }),
  );
  const results = await Promise.allSettled(acts);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const after = await read(topup.id);
  expect(await available(topup)).toBe(after.status === 'paid' ? 5_553_673 : 0);
  for (const act of [acceptReview, refuseReview]) {
    await expect(act(staff, { id: topup.id, reason })).rejects.toMatchObject({
      code: 'state_conflict',
      details: { state: after.status },
    });
  }
});
