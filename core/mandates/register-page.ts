// What our page to register on shows and sends, for a rail whose checkout opens in a page of the merchant's.
import { type Context, type Id, isId, notFound } from '../kernel/index.ts';
import { type Billing, findBilling } from '../orgs/index.ts';
import { type CheckoutOpening, formatAmount, isPayToken, moneyIn, payUrl } from '../topups/index.ts';
import { consoleUrl } from './register.ts';
import { findMandate } from './store.ts';
import type { Mandate } from './types.ts';

/** The page of a mandate; `fields` open the rail's checkout, null where it cannot be registered any more. */
export interface RegisterPage {
  readonly id: Id<'mandate'>;
  readonly org_name: string;
  readonly method: Mandate['method'];
  /** The most of one debit, as people read it. */
  readonly cap: string;
  readonly opening: CheckoutOpening;
  readonly fields: Readonly<Record<string, string>> | null;
  readonly back_url: string;
}

async function readable(
  context: Context,
  text: string,
): Promise<{ mandate: Mandate; billing: Billing; opening: CheckoutOpening }> {
  const mandate = isId('mandate', text) ? await findMandate(context.db, { id: text, org_id: null }) : null;
  const opening = mandate === null ? null : (moneyIn(context).rails[mandate.gateway]?.opening ?? null);
  const billing = mandate === null ? null : await findBilling(context.db, mandate.org_id);
  if (mandate === null || opening === null || billing === null) throw notFound();
  return { mandate, billing, opening };
}

/** One rupee proves UPI and cards and goes back; a bank account needs none. */
const proofOf = (method: Mandate['method']) => (method === 'emandate' ? '0' : '100');

function fieldsOf(
  context: Context,
  args: { mandate: Mandate; billing: Billing; key_id: string; back_url: string },
): Record<string, string> | null {
  const { mandate, billing } = args;
  const { id, org_id, setup_ref, customer_ref, status, expires_at } = mandate;
  if (status !== 'pending' || setup_ref === null || customer_ref === null || expires_at <= context.now())
    return null;
  return {
    key_id: args.key_id,
    order_id: setup_ref,
    customer_id: customer_ref,
    recurring: '1',
    amount: proofOf(mandate.method),
    currency: mandate.currency,
    name: billing.name,
    description: 'Automatic top-up of prepaid API credits',
    ...(billing.email === null ? {} : { 'prefill[email]': billing.email }),
    'notes[mandate_id]': id,
    'notes[org_id]': org_id,
    callback_url: `${payUrl(context, id)}/return`,
    cancel_url: args.back_url,
  };
}

/** The page of a mandate. A wrong token is told from an unknown mandate by nothing. @throws ServiceError not_found. */
export async function readRegisterPage(
  context: Context,
  args: { id: string; token: string },
): Promise<RegisterPage> {
  if (!isId('mandate', args.id) || !isPayToken(context, args.id, args.token)) throw notFound();
  const { mandate, billing, opening } = await readable(context, args.id);
  const { id, method, max_amount_minor, currency } = mandate;
  const back_url = consoleUrl(context, billing.slug, id, 'back');
  return {
    ...{ id, method, opening, back_url, org_name: billing.name },
    cap: formatAmount(max_amount_minor, currency),
    fields: fieldsOf(context, { mandate, billing, key_id: opening.key_id, back_url }),
  };
}

/** Where a browser goes that the rail sent back; nothing follows from it. @throws ServiceError not_found. */
export async function readRegisterReturn(context: Context, id: string): Promise<string> {
  const { mandate, billing } = await readable(context, id);
  return consoleUrl(context, billing.slug, mandate.id, 'done');
}
