// Mails of documents: one with the document when a credit note is issued, and more when people ask for them again. The
// file goes with the mail and is drawn when it is sent. (A top-up's document goes with its receipt, core/topups.)
import { findBillingMailboxes } from '../identity/index.ts';
import {
  type Context,
  type Currency,
  type Db,
  formatMoney,
  type Id,
  isId,
  notFound,
  ServiceError,
} from '../kernel/index.ts';
import { countMails, getEmailKey, sendMail } from '../mail/index.ts';
import { findBilling } from '../orgs/index.ts';
import { fileOf } from './file.ts';
import { fileName } from './number.ts';
import { findInvoice, lockInvoice } from './store.ts';
import type { Invoice } from './types.ts';

const DAY_MS = 86_400_000;
/** Mails that people may ask for, of one document in 24 hours. */
const RESENDS_MAX = 10;

const words = {
  tax_invoice: 'invoice',
  export_invoice: 'invoice',
  credit_note: 'credit note',
  receipt: 'receipt',
} as const;

/** Asks for a mail with `invoice` to each of `to`; returns to how many it goes that it has not been asked for. */
async function mailDocument(
  context: Pick<Context, 'db' | 'now'>,
  invoice: Invoice,
  mail: { readonly to: readonly string[]; readonly reference: string },
): Promise<number> {
  const { id, org_id, number, kind, total_minor, currency, issued_at, original_number } = invoice;
  const billing = await findBilling(context.db, org_id);
  if (billing === null) throw new Error(`${number} has no organization`);
  return sendMail(context, {
    ...mail,
    template: 'invoice',
    org_id,
    data: {
      ...{ org: billing.name, slug: billing.slug, number, kind: words[kind], original_number },
      total: formatMoney(total_minor, currency as Currency),
      issued_at: issued_at.toISOString(),
    },
    attachments: [{ kind: 'invoice_pdf', id }],
  });
}

/**
 * Mails a document that was just issued to the billing address, else to the owners; once, in the open transaction. One that
 * went without its registration goes again with it.
 */
export async function mailIssued(
  context: Context,
  invoice: Invoice,
  has_registration = false,
): Promise<void> {
  const to = await findBillingMailboxes(context.db, invoice.org_id);
  const mails = await mailDocument(context, invoice, { to, reference: invoice.id });
  if (mails === 0 && has_registration)
    await mailDocument(context, invoice, { to, reference: `${invoice.id}-registered` });
}

/** The mailboxes that documents of `org_id` go to. @throws ServiceError conflict when there are none. */
async function mailboxesOf(db: Db, org_id: Id<'org'>): Promise<string[]> {
  const to = await findBillingMailboxes(db, org_id);
  if (to.length > 0) return to;
  throw new ServiceError('conflict', 'The organization has no billing address for mail, and no owner.', {
    param: 'to',
  });
}

/**
 * Sends a document again, to `to` or else to where documents go.
 * @throws ServiceError not_found, invalid_request for what is no address, conflict, rate_limit_exceeded beyond ten mails of
 * a document in 24 hours.
 */
export function resendInvoice(
  context: Context,
  args: { readonly org_id: Id<'org'>; readonly id: Invoice['id']; readonly to: string | null },
): Promise<{ to: string[] }> {
  const { org_id, id } = args;
  if (args.to !== null) getEmailKey(args.to);
  return context.transaction(async (context) => {
    const { db } = context;
    // The lock makes those who ask at once take turns, so that they are counted.
    const locked = await lockInvoice(db, { org_id, id });
    const invoice = locked === null ? null : await findInvoice(db, { org_id, id });
    if (invoice === null) throw notFound();
    const to = args.to === null ? await mailboxesOf(db, org_id) : [args.to];
    const at = context.now();
    const since = new Date(at.getTime() - DAY_MS);
    const asked = await countMails(db, { template: 'invoice', begins: `${id}-`, since });
    if (asked + to.length > RESENDS_MAX) {
      const message = `A document is mailed at most ${RESENDS_MAX} times a day. Download it instead.`;
      throw new ServiceError('rate_limit_exceeded', message, { details: { limit: RESENDS_MAX } });
    }
    await mailDocument(context, invoice, { to, reference: `${id}-${at.getTime()}-${asked}` });
    return { to };
  });
}

/** The document that a mail is about. */
export function documentOfMail(reference: string): string {
  return reference.split('-', 1)[0] as string;
}

/** The file that goes with a mail. @throws Error (a defect) when `org_id` has no such document. */
export async function openDocument(
  context: Context,
  args: { readonly org_id: Id<'org'>; readonly id: string },
): Promise<{ filename: string; content_type: string; content: Uint8Array }> {
  const { org_id, id } = args;
  const known = isId('invoice', id) || isId('credit_note', id);
  const invoice = known ? await findInvoice(context.db, { org_id, id }) : null;
  if (invoice === null) throw new Error(`no document ${id} to send`);
  const { pdf } = await fileOf(context, invoice);
  return { filename: fileName(invoice.number, 'pdf'), content_type: 'application/pdf', content: pdf };
}
