// What a decision on a payment in review leaves, compared whole, and a rate of tax that changes before a payment is booked.
import { setGstRate } from '@svc/core/invoices/index.ts';
import { type Context, newId, newRequestId } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { acceptReview, applyCharge, listReviews, refuseReview, type Topup } from '@svc/core/topups/index.ts';
import { readReviewWorth } from '@svc/core/topups/review/decide.ts';
import { describe, expect, test } from 'vitest';
import { atTime, events, eventsA, startWorld } from './world.ts';

const world = await startWorld();
const { read, rows } = world;
let serial = 0;
const caller = { kind: 'staff', name: 'fin@staff.example', staff_id: null, roles: ['super'] } as const;
const staff: Context = createContext({
  ...{ request_id: newRequestId(), pool: world.pool, log: world.context.log },
  ...{ services: world.context.services, caller },
});
const reason = 'spoken with the payer';

/** A top-up of 1,000 rupees and tax, for which `amount` was paid. */
async function inReview(amount: number): Promise<Topup> {
  const topup = await world.topup(await world.indian(`whole-${++serial}`, '27'));
  await world.deliverA(eventsA.captured(topup, { amount }));
  return read(topup.id);
}
const auditOf = async ({ id }: Topup) =>
  rows(
    `select action, org_id, target_type, target_display, before, after, reason from audit_entry
      where target_id = $1`,
    [id],
  );
const before = {
  ...{ amount_minor: 100_000, tax_minor: 18_000, total_minor: 118_000, credits_micro: 11_107_346 },
};
const offer = { amount_minor: 50_000, tax_minor: 9_000, total_minor: 59_000, credits_micro: 5_553_673 };

describe('a payment in review', () => {
  test('is listed with whose it is and what it would buy, the oldest first', async () => {
    const [first, second] = [await inReview(59_000), await inReview(60_000)];
    const reviews = await listReviews(staff);
    expect(
      reviews.map(({ topup, org_name, paid_minor, paid_currency }) => [
        topup.id,
        org_name,
        paid_minor,
        paid_currency,
      ]),
    ).toEqual([
      [first.id, `whole-${serial - 1}`, 59_000, 'INR'],
      [second.id, `whole-${serial}`, 60_000, 'INR'],
    ]);
    expect(reviews[0]?.topup).toEqual(first);
    expect(reviews[0]?.offer).toMatchObject(offer);
    for (const { id } of [first, second]) await refuseReview(staff, { id, reason });
  });

  test('is worth what was asked or what it would buy, whichever is more', async () => {
    const [less, more] = [await inReview(59_000), await inReview(236_000)];
    const worth = ({ id }: Topup) => readReviewWorth(staff, id);
    expect(await worth(less)).toEqual({ org_id: less.org_id, amount_micro_usd: 11_107_346 });
    expect(await worth(more)).toEqual({ org_id: more.org_id, amount_micro_usd: 22_214_693 });
    for (const { id } of [less, more]) await refuseReview(staff, { id, reason });
    expect(await worth(less)).toBeNull();
    expect(await readReviewWorth(staff, newId('topup'))).toBeNull();
    const foreign = await world.topup(await world.org(`whole-${++serial}`));
    await world.deliver(events.completed(foreign, { currency: 'eur' }));
    expect(await worth(foreign)).toEqual({ org_id: foreign.org_id, amount_micro_usd: 25_000_000 });
    await refuseReview(staff, { id: foreign.id, reason });
  });

  test('that nobody knows is not found, and one without what was paid is a defect', async () => {
    for (const act of [acceptReview, refuseReview])
      await expect(act(staff, { id: newId('topup'), reason })).rejects.toMatchObject({ code: 'not_found' });
    const topup = await inReview(59_000);
    await rows('update staff_item set resolved_at = created_at where subject = $1', [topup.id]);
    await expect(acceptReview(staff, { id: topup.id, reason })).rejects.toThrow('no item says what was paid');
    await rows('update staff_item set resolved_at = null where subject = $1', [topup.id]);
    await refuseReview(staff, { id: topup.id, reason });
  });

  test('that is accepted is paid at its own price, and in the audit log with both prices', async () => {
    const topup = await inReview(59_000);
    const accepted = await acceptReview(staff, { id: topup.id, reason });
    expect(accepted).toEqual(await read(topup.id));
    expect(accepted).toMatchObject({
      ...{ ...offer, status: 'paid', payment_ref: `pay_${topup.id}`, method: 'upi' },
      tax: { igst_minor: 9_000 },
    });
    expect(await auditOf(topup)).toEqual([
      {
        ...{ action: 'staff.topups.accept', org_id: topup.org_id, target_type: 'topup' },
        ...{ target_display: topup.id, before, after: offer, reason },
      },
    ]);
  });

  test('that is decided is not decided again', async () => {
    const topup = await inReview(59_000);
    await acceptReview(staff, { id: topup.id, reason });
    for (const act of [acceptReview, refuseReview])
      await expect(act(staff, { id: topup.id, reason })).rejects.toMatchObject({
        ...{ code: 'state_conflict', details: { state: 'paid' } },
        message: 'The top-up is paid and not in review.',
      });
    expect(await auditOf(topup)).toHaveLength(1);
  });

  test('in another currency cannot be accepted, and stays in review', async () => {
    const topup = await world.topup(await world.org(`whole-${++serial}`));
    await world.deliver(events.completed(topup, { currency: 'eur' }));
    await expect(acceptReview(staff, { id: topup.id, reason })).rejects.toMatchObject({
      ...{ code: 'state_conflict', details: { state: 'review' } },
    });
    await refuseReview(staff, { id: topup.id, reason });
  });

  test('that is refused goes back, its organization is told, and it is in the audit log', async () => {
    const topup = await inReview(59_000);
    const refused = await refuseReview(staff, { id: topup.id, reason });
    expect(refused).toEqual(await read(topup.id));
    const message = 'Another amount was paid than was asked. It goes back to where it came from.';
    expect(refused).toMatchObject({
      ...{ status: 'failed', failure_code: 'amount_mismatch', failure_message: message },
    });
    expect(await rows('select rail, kind, ref from rail_task where topup_id = $1', [topup.id])).toEqual([
      { rail: 'rail-a', kind: 'refund_payment', ref: `pay_${topup.id}` },
    ]);
    expect(
      await rows(`select topic, payload from outbox where org_id = $1 and topic like 'topup.%'`, [
        topup.org_id,
      ]),
    ).toEqual([
      {
        topic: 'topup.failed',
        payload: {
          ...{ topup_id: topup.id, currency: 'INR', total_minor: 118_000, source: 'checkout' },
          ...{ failure_code: 'amount_mismatch', failure_message: message, consecutive_failures: 0 },
        },
      },
    ]);
    expect(await auditOf(topup)).toEqual([
      {
        ...{ action: 'staff.topups.refuse', org_id: topup.org_id, target_type: 'topup' },
        ...{ target_display: topup.id, before, reason },
        after: { status: 'failed', refunded: `pay_${topup.id}` },
      },
    ]);
    expect(
      await rows('select 1 from staff_item where subject = $1 and resolved_at is null', [topup.id]),
    ).toEqual([]);
  });
});

describe('a rate of tax that changes before the payment is booked', () => {
  const DAY_MS = 86_400_000;
  const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const book = (topup: Topup, days: number) =>
    applyCharge(atTime(world.context, new Date(Date.now() + days * DAY_MS)), topup.id, {
      gateway_ref: null,
      facts: [
        {
          ...({ kind: 'captured', payment_ref: `pay_${topup.id}`, method: 'upi' } as const),
          ...{ amount_minor: topup.total_minor, currency: topup.currency },
        },
      ],
    });

  test('is the one of the document: the same total buys fewer credits', async () => {
    const topup = await world.topup(await world.indian(`whole-${++serial}`, '27'));
    const unchanged = await world.topup(await world.indian(`whole-${++serial}`, '27'));
    const abroad = await world.topup(await world.org(`whole-${++serial}`));
    await setGstRate(staff, { from_day: dayIn(2), rate_bps: 2_800 });
    expect(await book(unchanged, 0)).toMatchObject({ ...before, status: 'paid' });
    const paid = await book(topup, 3);
    // 921.87 and its tax of 258.12 leave a paisa, which is of the amount.
    expect(paid).toMatchObject({
      ...{ status: 'paid', amount_minor: 92_188, tax_minor: 25_812, total_minor: 118_000 },
      ...{ credits_micro: 10_239_641, tax: { igst_minor: 25_812, decision: { rate_bps: 2_800 } } },
    });
    expect(
      await rows('select taxable_minor, igst_minor from invoice where topup_id = $1', [topup.id]),
    ).toEqual([{ taxable_minor: 92_188, igst_minor: 25_812 }]);
    // Exports have none, and keep the terms of their price.
    expect((await book(abroad, 3)).tax).toEqual(abroad.tax);
  });
});
