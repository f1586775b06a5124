// What our page to pay on shows and sends (docs/money/rails.md#the-page-to-pay-on), for a rail whose checkout opens in a
// page of the merchant's.
import { type Context, type Id, isId, notFound } from '../kernel/index.ts';
import { findBilling } from '../orgs/index.ts';
import { formatCredits, formatMoney, isCurrency } from './currency.ts';
import { moneyIn } from './money-in.ts';
import { isPayToken, payUrl, returnUrl } from './pay-link.ts';
import type { CheckoutOpening } from './rails/types.ts';
import { findTopup } from './store.ts';
import type { Topup, TopupStatus } from './types.ts';

/** A top-up that can be paid. */
export interface OpenPage {
  readonly state: 'open';
  readonly id: Id<'topup'>;
  readonly org_name: string;
  /** As people read them. */
  readonly price: string;
  readonly tax: string | null;
  readonly total: string;
  readonly credits: string;
  readonly opening: CheckoutOpening;
  /** What the rail's checkout is opened with. */
  readonly fields: Readonly<Record<string, string>>;
  /** The console, without having paid. */
  readonly back_url: string;
}

/** A top-up that is over, or cannot be paid any more. */
export interface OverPage {
  readonly state: 'over';
  readonly id: Id<'topup'>;
  readonly status: TopupStatus;
  readonly back_url: string;
}

async function readable(
  context: Context,
  text: string,
): Promise<{ topup: Topup; slug: string; name: string; email: string | null; opening: CheckoutOpening }> {
  const topup = isId('topup', text) ? await findTopup(context.db, { id: text, org_id: null }) : null;
  const opening = topup === null ? null : (moneyIn(context).rails[topup.gateway]?.opening ?? null);
  const billing = topup === null ? null : await findBilling(context.db, topup.org_id);
  if (topup === null || opening === null || billing === null) throw notFound();
  const { slug, name, email } = billing;
  return { topup, slug, name, email, opening };
}

function fieldsOf(
  context: Context,
  args: { topup: Topup; gateway_ref: string; email: string | null; key_id: string; back_url: string },
): Record<string, string> {
  const { topup, email } = args;
  return {
    key_id: args.key_id,
    order_id: args.gateway_ref,
    amount: String(topup.total_minor),
    currency: topup.currency,
    name: topup.tax.supplier.legal_name,
    description: `Prepaid API credits, ${formatCredits(topup.credits_micro)}`,
    ...(email === null ? {} : { 'prefill[email]': email }),
    'notes[topup_id]': topup.id,
    'notes[org_id]': topup.org_id,
    callback_url: `${payUrl(context, topup.id)}/return`,
    cancel_url: args.back_url,
  };
}

/**
 * The page of a top-up. A wrong token is told from an unknown top-up by nothing.
 * @throws ServiceError not_found.
 */
export async function readPayPage(
  context: Context,
  args: { id: string; token: string },
): Promise<OpenPage | OverPage> {
  if (!isId('topup', args.id) || !isPayToken(context, args.id, args.token)) throw notFound();
  const { topup, slug, name, email, opening } = await readable(context, args.id);
  const { id, status, currency, gateway_ref, expires_at } = topup;
  const back_url = returnUrl(context, { slug, id, outcome: 'back' });
  if (status !== 'pending' || gateway_ref === null || expires_at <= context.now()) {
    return { state: 'over', id, status, back_url };
  }
  if (!isCurrency(currency)) throw new Error(`${id} is in ${currency}`);
  const { key_id } = opening;
  return {
    state: 'open',
    id,
    org_name: name,
    price: formatMoney(topup.amount_minor, currency),
    tax: topup.tax_minor === 0 ? null : formatMoney(topup.tax_minor, currency),
    total: formatMoney(topup.total_minor, currency),
    credits: formatCredits(topup.credits_micro),
    opening,
    fields: fieldsOf(context, { topup, gateway_ref, email, key_id, back_url }),
    back_url,
  };
}

/**
 * Where a browser goes that the rail sent back with `fields`: to the console when the rail signed that it was paid, else
 * to the page again. Nothing is booked by it: a browser can be told anything.
 * @throws ServiceError not_found.
 */
export async function readPayReturn(
  context: Context,
  args: { id: string; fields: Readonly<Record<string, string>> },
): Promise<string> {
  const { topup, slug, opening } = await readable(context, args.id);
  const { id, gateway_ref } = topup;
  const is_paid = gateway_ref !== null && opening.isPaid(gateway_ref, args.fields);
  return is_paid ? returnUrl(context, { slug, id, outcome: 'done' }) : payUrl(context, id);
}
