// Top-ups and documents for tests of lists and tenants, without a rail.
import { issueTopupInvoice, readSupplierOf, taxTerms } from '@svc/core/invoices/index.ts';
import { type Context, type Id, newId } from '@svc/core/kernel/index.ts';
import { insertMandate } from '@svc/core/mandates/store.ts';
import { type Billing, findBilling } from '@svc/core/orgs/index.ts';
import { insertRefund } from '@svc/core/refunds/store.ts';
import { applyFact, lockTopup } from '@svc/core/topups/index.ts';
import { insertTopup } from '@svc/core/topups/store.ts';
import type { Tenant } from './harness.ts';

const PRICE = { currency: 'USD', amount_minor: 2_500, fx_rate: '1.00000000', credits_micro: 25_000_000 };

/** A pending top-up of 25 USD, as its checkout leaves it. */
async function insertPending(context: Context, { org }: Pick<Tenant, 'org'>) {
  const billing = (await findBilling(context.db, org.id)) as Billing;
  const terms = taxTerms({
    supplier: (await readSupplierOf(context, org.id)).supplier,
    billing,
    amount_minor: 2_500,
    gst_rate_bps: 1_800,
    inr_rate: '88.70000000',
  });
  const topup_id = newId('topup');
  const at = context.now();
  await insertTopup(context.db, {
    ...PRICE,
    id: topup_id,
    org_id: org.id,
    book_id: org.live_book_id,
    gateway: 'rail-b',
    tax_minor: 0,
    total_minor: 2_500,
    fx_day: '2026-11-20',
    tax: terms,
    source: 'checkout',
    mandate_id: null,
    attempt_no: null,
    created_at: at,
    expires_at: new Date(at.getTime() + 3_600_000),
  });
  return { topup_id, terms, at };
}

/** A pending top-up of `tenant`, a document and a refund that name it. */
export function makeTopup(
  context: Context,
  tenant: Pick<Tenant, 'org'>,
): Promise<{
  topup_id: Id<'topup'>;
  invoice_id: Id<'invoice'>;
  refund_id: Id<'refund'>;
}> {
  return context.transaction(async (context) => {
    const { topup_id, terms, at } = await insertPending(context, tenant);
    const invoice = await issueTopupInvoice(context, {
      ...PRICE,
      topup_id,
      payment_ref: `pi_${topup_id}`,
      terms,
    });
    const refund_id = newId('refund');
    await insertRefund(context.db, {
      ...PRICE,
      id: refund_id,
      org_id: tenant.org.id,
      topup_id,
      book_id: tenant.org.live_book_id,
      gateway: 'rail-b',
      payment_ref: `pi_${topup_id}`,
      gateway_ref: null,
      ...{ cgst_minor: 0, sgst_minor: 0, igst_minor: 0, total_minor: PRICE.amount_minor },
      source: 'request',
      reason: '',
      requested_minor: null,
      idempotency_key: null,
      created_at: at,
    });
    return { topup_id, invoice_id: invoice.id, refund_id };
  });
}

/** A top-up of 25 USD that was paid, booked as the callback of a rail books it. `fails` takes all of it back. */
export function payTopup(context: Context, tenant: Pick<Tenant, 'org'>, fails?: Error): Promise<Id<'topup'>> {
  return context.transaction(async (context) => {
    const { topup_id } = await insertPending(context, tenant);
    const topup = await lockTopup(context.db, topup_id);
    if (topup === null) throw new Error('the top-up is not there');
    const paid = { kind: 'captured', payment_ref: `pi_${topup_id}`, method: 'card' } as const;
    await applyFact(context, topup, { ...paid, amount_minor: 2_500, currency: 'USD' });
    if (fails !== undefined) throw fails;
    return topup_id;
  });
}

/** A pending mandate of `tenant`, which can have one. */
export async function makeMandate(context: Context, tenant: Pick<Tenant, 'org'>): Promise<Id<'mandate'>> {
  const mandate_id = newId('mandate');
  const at = context.now();
  await insertMandate(context.db, {
    id: mandate_id,
    org_id: tenant.org.id,
    ...{ gateway: 'rail-b', method: 'card', max_amount_minor: 500_000, currency: 'USD', notify_hours: 0 },
    created_at: at,
    expires_at: new Date(at.getTime() + 3_600_000),
  });
  return mandate_id;
}
