// How an organization's people change where it is taxed and what it pays in (docs/money/topups.md#billing-facts).

import type { Static } from 'typebox';
import { Type } from 'typebox';
import { changesOf, writeAudit } from '../identity/index.ts';
import { checkGstin, isStateOfAddress } from '../invoices/index.ts';
import {
  type Context,
  type Id,
  invalid,
  named,
  notFound,
  nullable,
  oneOf,
  ServiceError,
} from '../kernel/index.ts';
import { type BillingChange, findOrgRecords, lockOrg, type Org, setBilling } from '../orgs/index.ts';
import { currencies } from './currency.ts';
import { hasPaid } from './store.ts';

const closed = { additionalProperties: false } as const;
const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));

const AddressChange = named(
  'BillingAddressChange',
  Type.Object(
    {
      line1: text(200),
      city: text(100),
      state_code: Type.Optional(
        Type.String({ minLength: 1, maxLength: 40, description: 'in India the two digits of its GST code' }),
      ),
      postal_code: text(20),
    },
    closed,
  ),
);

/** Members of a change of an organization, as they stand in its request. Null takes a fact away. */
export const billingMembers = {
  legal_name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  billing_currency: Type.Optional(oneOf(currencies, 'BillingCurrency')),
  gstin: Type.Optional(
    nullable(
      Type.String({
        minLength: 15,
        maxLength: 15,
        description:
          'of an organization in India, where `tax_status` gst_registered and sez need it; elsewhere the status is overseas',
      }),
    ),
  ),
  tax_status: Type.Optional(oneOf(['gst_registered', 'unregistered', 'sez', 'overseas'], 'TaxStatus')),
  billing_email: Type.Optional(nullable(Type.String({ format: 'email', maxLength: 254 }))),
  billing_address: Type.Optional(nullable(AddressChange)),
};
const Change = Type.Object(billingMembers);
type Change = Static<typeof Change>;

const names = Object.keys(billingMembers) as (keyof Change)[];

/** The billing facts that `input` changes; null where it changes none. */
export function billingChangeIn(input: Change): Change | null {
  const change = Object.fromEntries(
    names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]),
  );
  return Object.keys(change).length === 0 ? null : (change as Change);
}

/** @throws ServiceError conflict after the first paid top-up, invalid_request for a currency of another country. */
async function checkCurrency(context: Context, org: Org, currency: string): Promise<void> {
  if (currency === org.billing_currency) return;
  const isIndia = org.billing_country === 'IN';
  if (isIndia !== (currency === 'INR')) {
    const words = isIndia
      ? 'An organization in India pays in INR.'
      : 'Only an organization in India pays in INR.';
    throw invalid('billing_currency', 'unsupported', words);
  }
  if (await hasPaid(context.db, org.id)) {
    const words = 'The billing currency is fixed by the first paid top-up. Ask support to change it.';
    throw new ServiceError('conflict', words, { param: 'billing_currency' });
  }
}

function checkTax(
  org: Org,
  next: { gstin: string | null; tax_status: string; billing_address: unknown },
): void {
  const isIndia = org.billing_country === 'IN';
  const { gstin, tax_status } = next;
  // Before the status, which follows from a GSTIN: the fault names what was sent.
  if (!isIndia && gstin !== null)
    throw invalid('gstin', 'unsupported', 'A GSTIN belongs to an organization in India.');
  if (isIndia === (tax_status === 'overseas')) {
    const words = isIndia
      ? 'The tax status of an organization in India cannot be overseas.'
      : 'The tax status of an organization outside India is overseas.';
    throw invalid('tax_status', 'unsupported', words);
  }
  if (gstin === null) {
    if (tax_status !== 'gst_registered' && tax_status !== 'sez') return;
    throw invalid('gstin', 'missing', 'This tax status needs a GSTIN.');
  }
  const verdict = checkGstin(gstin);
  if (verdict.valid) return;
  const details = { reason: verdict.reason };
  throw new ServiceError('invalid_gstin', 'The GSTIN is not valid.', { param: 'gstin', details });
}

function checkAddress(org: Org, address: { state_code?: string } | null): void {
  if (org.billing_country !== 'IN' || address?.state_code === undefined) return;
  if (isStateOfAddress(address.state_code)) return;
  const words = 'The state is given by the two digits of its GST code, such as 29 for Karnataka.';
  throw invalid('billing_address.state_code', 'unsupported', words);
}

/** The tax status that follows from what was said: a GSTIN registers, and without one nothing is registered. */
function statusOf(change: Change, now: { gstin: string | null; tax_status: string }): string {
  if (change.tax_status !== undefined) return change.tax_status;
  if (change.gstin === undefined) return now.tax_status;
  if (change.gstin === null) return now.tax_status === 'overseas' ? 'overseas' : 'unregistered';
  return now.tax_status === 'sez' ? 'sez' : 'gst_registered';
}

/**
 * Changes the billing facts of an organization, inside a transaction; documents that were issued stay as they are.
 * @throws ServiceError not_found, conflict, invalid_gstin, invalid_request.
 */
export async function changeBilling(context: Context, org_id: Id<'org'>, change: Change): Promise<void> {
  const org = await lockOrg(context.db, org_id);
  const [now] = await findOrgRecords(context.db, [org_id]);
  if (org === null || now === undefined) throw notFound();
  const overseas = org.billing_country === 'IN' ? now.tax_status : 'overseas';
  const said = { ...change, tax_status: statusOf(change, { gstin: now.gstin, tax_status: overseas }) };
  const next = { ...now, ...said };
  if (change.billing_currency !== undefined) await checkCurrency(context, org, change.billing_currency);
  checkTax(org, next);
  checkAddress(org, change.billing_address ?? null);
  const changes = changesOf<object>(now, next, names as never);
  if (Object.keys(changes.after).length === 0) return;
  const at = context.now();
  await setBilling(context.db, { ...(said as BillingChange), org_id, at });
  const target = { type: 'org', id: org_id, display: org.slug };
  await writeAudit(context, { action: 'orgs.update', org_id, target, ...changes });
}
