// An exchange rate that two members of staff set, from the quote to the refund: quote, credits, invoice, credit note and ledger
// hold the rate of their day, whatever is set afterwards.
import { approveActOperation, proposeRatesOperation } from '@svc/core/desk/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import type { Invoice } from '@svc/core/invoices/index.ts';
import { newRequestId, now, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { pollTopup, quoteFor } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { context, sim_a } = world;
const DAY = 86_400_000;
afterEach(() => shiftClock(0));

const staff = await Promise.all(
  ['asks@svc.example', 'confirms@svc.example'].map((email) =>
    createStaff(context, Buffer.alloc(32, 7), { email, roles: ['finance'] }),
  ),
);
const as = (of: (typeof staff)[number]) =>
  createContext({
    ...{ request_id: newRequestId(), pool: world.pool, log: silentLog, services: context.services },
    caller: { kind: 'staff', name: of.id, staff_id: of.id, roles: ['finance'] },
  });

/** Sets the rupees of a dollar for today. */
async function setRate(rate: string): Promise<void> {
  const [asks, confirms] = staff.map(as);
  const { approval_id } = (await proposeRatesOperation.run(asks!, {
    day: now().toISOString().slice(0, 10),
    rates: [{ currency: 'INR', rate }],
    ...{ source: 'the bank', reason: 'the source is away' },
  })) as { approval_id: string };
  await approveActOperation.run(confirms!, { id: approval_id });
}

const documents = (topup_id: string) =>
  world.rows<Pick<Invoice, 'kind' | 'fx_rate' | 'credits_micro' | 'total_minor'>>(
    'select kind, fx_rate, credits_micro, total_minor from invoice where topup_id = $1 order by issued_at',
    [topup_id],
  );

test('a refund goes by the rate at which its credits were sold, though another one was set since', async () => {
  const org = await world.indian('set-rate');
  await setRate('90');
  const today = now().toISOString().slice(0, 10);
  const quote = await quoteFor(context, { org_id: org.id, amount_minor: 100_000 });
  expect(quote).toMatchObject({ fx_day: today });
  const topup = await world.topup(org);
  sim_a.act(topup.gateway_ref as string, 'upi');
  await pollTopup(context, { topup_id: topup.id });
  const paid = await world.read(topup.id);
  expect(paid).toMatchObject({ status: 'paid', fx_day: today, credits_micro: quote.credits_micro });
  shiftClock(DAY);
  await setRate('99');
  const later = await quoteFor(context, { org_id: org.id, amount_minor: 100_000 });
  expect(later.credits_micro).toBeLessThan(quote.credits_micro);
  const refund = await world.refund(paid, 50_000);
  // Half of what was paid is half of what was sold.
  expect(refund).toMatchObject({ status: 'refunded', credits_micro: Math.ceil(quote.credits_micro / 2) });
  const whole = await world.refund(await world.read(topup.id));
  expect(refund.credits_micro + whole.credits_micro).toBe(paid.credits_micro);
  expect(await world.available(topup)).toBe(0);
  // 90 rupees for a dollar and 1.5 % of spread.
  const { fx_rate } = quote;
  expect(fx_rate).toBe('91.35000000');
  expect(await documents(topup.id)).toEqual([
    { kind: 'tax_invoice', fx_rate, credits_micro: paid.credits_micro, total_minor: 118_000 },
    { kind: 'credit_note', fx_rate, credits_micro: refund.credits_micro, total_minor: 59_000 },
    { kind: 'credit_note', fx_rate, credits_micro: whole.credits_micro, total_minor: 59_000 },
  ]);
  await world.expectBooksRight();
});
