// Registering a document: what the workflow `invoiceIssue` does step by step. Each step may be repeated and decides from the
// document's row, so that a worker killed anywhere leaves nothing half done.
import {
  eInvoice,
  endRegistration,
  fileOf,
  findDocument,
  type Invoice,
  type InvoiceId,
  type IrnStatus,
  mailIssued,
  markRegistered,
} from '../invoices/index.ts';
import { type Context, notFound } from '../kernel/index.ts';
import { addStaffItem, resolveStaffItem } from '../topups/index.ts';
import type { PortalAnswer } from './answer.ts';
import { type Portal, PortalError } from './portal.ts';

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Where documents are registered; absent or null: nowhere yet. */
    readonly portal?: Portal | null;
  }
}

/** Where a document stands: words of ours and integers only. */
export interface RegistrationProgress {
  readonly invoice_id: InvoiceId;
  readonly irn_status: IrnStatus;
  readonly issued_at_ms: number;
  /** The portal has refused the document as it is; asking again soon changes nothing. */
  readonly is_refused: boolean;
}

interface Args {
  readonly invoice_id: InvoiceId;
}

/** Kinds of staff items about a document; the subject is its number. */
const ITEMS = {
  refused: 'irn_refused',
  differs: 'irn_differs',
  hidden: 'irn_hidden',
  late: 'irn_late',
} as const;

async function getDocument(context: Context, id: InvoiceId): Promise<Invoice> {
  const invoice = await findDocument(context.db, id);
  if (invoice === null) throw notFound();
  return invoice;
}

function progressOf(invoice: Invoice, is_refused = false): RegistrationProgress {
  const { id: invoice_id, irn_status, issued_at } = invoice;
  return { invoice_id, irn_status, issued_at_ms: issued_at.getTime(), is_refused };
}

/** Where a document stands. @throws ServiceError not_found. */
export async function readRegistration(context: Context, args: Args): Promise<RegistrationProgress> {
  return progressOf(await getDocument(context, args.invoice_id));
}

function putItem(
  context: Context,
  invoice: Invoice,
  item: { kind: string; details: Readonly<Record<string, string | null>> },
): Promise<void> {
  const { id: invoice_id, org_id, number } = invoice;
  return addStaffItem(context.db, {
    kind: item.kind,
    subject: number,
    details: { invoice_id, org_id, ...item.details },
    at: context.now(),
  });
}

/** A document without a registration is sent as it is: the sale stands, and a person looks after the rest. */
async function giveUp(
  context: Context,
  invoice: Invoice,
  item: Parameters<typeof putItem>[2],
): Promise<void> {
  if (!(await endRegistration(context.db, invoice.id))) return;
  await putItem(context, invoice, item);
  await mailIssued(context, invoice);
}

/** Applies what the portal said, in one transaction; a document that is not pending any more stays as it is. */
function apply(context: Context, invoice: Invoice, answer: PortalAnswer): Promise<void> {
  return context.transaction(async (context) => {
    const { db } = context;
    switch (answer.kind) {
      case 'registered': {
        const { kind: _, ...registration } = answer;
        if (!(await markRegistered(db, { id: invoice.id, ...registration }))) return;
        for (const item of Object.values(ITEMS))
          await resolveStaffItem(db, { kind: item, subject: invoice.number, at: context.now() });
        return mailIssued(context, invoice, true);
      }
      case 'differs': {
        const { irn, fields } = answer;
        return giveUp(context, invoice, { kind: ITEMS.differs, details: { irn, fields: fields.join(', ') } });
      }
      case 'hidden': {
        const { irn, code, message } = answer;
        return giveUp(context, invoice, { kind: ITEMS.hidden, details: { irn, code, message } });
      }
      case 'refused': {
        const { code, message } = answer;
        return putItem(context, invoice, { kind: ITEMS.refused, details: { code, message } });
      }
      case 'unusable':
        throw new PortalError(answer.reason);
    }
  });
}

/**
 * Asks the portal to register a document that waits for it, and books what it says. A document that the portal has already,
 * from a call whose answer was lost, is adopted only when it is the same to the paisa.
 * @throws PortalError when the portal cannot be asked now; ServiceError not_found.
 */
export async function registerDocument(context: Context, args: Args): Promise<RegistrationProgress> {
  const invoice = await getDocument(context, args.invoice_id);
  if (invoice.irn_status !== 'pending') return progressOf(invoice);
  const { portal } = context.services;
  if (portal === null || portal === undefined) throw new PortalError('SVC_EINVOICE_URL is not set');
  const answer = await portal.register(eInvoice(invoice));
  await apply(context, invoice, answer);
  return progressOf(await getDocument(context, invoice.id), answer.kind === 'refused');
}

/** Ends the wait for a registration that did not come in time; it is put before the staff. */
export async function abandonRegistration(context: Context, args: Args): Promise<RegistrationProgress> {
  const invoice = await getDocument(context, args.invoice_id);
  await context.transaction((context) => giveUp(context, invoice, { kind: ITEMS.late, details: {} }));
  return progressOf(await getDocument(context, invoice.id));
}

/** Draws the file of a document anew, with its registration; the one drawn first is kept. */
export async function drawRegistered(context: Context, args: Args): Promise<RegistrationProgress> {
  const invoice = await getDocument(context, args.invoice_id);
  if (invoice.irn_status === 'generated') await fileOf(context, invoice);
  return progressOf(invoice);
}
