// Reading documents. A test key sees none, because documents are about real money.
import { Type } from 'typebox';
import {
  type Context,
  FileAnswer,
  idOf,
  isId,
  named,
  notFound,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { fileOf } from './file.ts';
import { fileName } from './number.ts';
import { InvoiceView, viewInvoice } from './schema.ts';
import { resendInvoice } from './sending.ts';
import { findInvoice, listInvoices } from './store.ts';
import { type Invoice, invoiceKinds } from './types.ts';

const readers = {
  kind: 'key',
  scopes: ['read:credits'],
  session: ['owner', 'admin', 'billing'],
  while_closed: true,
} as const;
const DEFAULT_LIMIT = 50;

/** A document as examples show it. */
export const invoiceExample = {
  id: 'inv_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  number: 'INV/26-27/00001',
  fy: '26-27',
  kind: 'tax_invoice',
  status: 'issued',
  currency: 'INR',
  place_of_supply: '29-Karnataka',
  supplier: {
    legal_name: 'Demo Supplier Private Limited',
    address: ['1 Example Road', 'Bengaluru 560001'],
    state_code: '29',
    gstin: '29AAACD0000A1ZR',
    pan: 'AAACD0000A',
    lut: null,
  },
  supplier_gstin: '29AAACD0000A1ZR',
  supplier_reseller_id: null,
  recipient: {
    org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
    name: 'Acme',
    address: { line1: '2 Example Road', city: 'Bengaluru', state_code: '29', postal_code: '560002' },
    country: 'IN',
    state_code: '29',
    gstin: null,
  },
  lines: [
    {
      description: 'Prepaid API credits',
      kind: 'credits',
      sac: '998315',
      quantity: 1,
      unit_minor: 100_000,
      amount_minor: 100_000,
    },
  ],
  hsn_sac: '998315',
  tax_rate_bps: 1_800,
  taxable_minor: 100_000,
  cgst_minor: 9_000,
  sgst_minor: 9_000,
  igst_minor: 0,
  total_minor: 118_000,
  fx_rate: '90.03050000',
  credits_micro: 11_107_346,
  topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  refund_id: null,
  original_invoice_id: null,
  original_number: null,
  reverse_charge: false,
  irn_status: 'not_applicable',
  irn: null,
  irn_qr: null,
  ack_no: null,
  ack_at: null,
  pdf_sha256: null,
  issued_at: '2026-11-21T10:00:00.000Z',
  sent_at: null,
} as const;

/** Whether the caller may see documents. */
function seesDocuments(context: Context): boolean {
  return orgCaller(context).environment === 'live';
}

/** A document of the caller's organization. @throws ServiceError not_found. */
async function documentOf(context: Context, id: string): Promise<Invoice> {
  const { org_id } = orgCaller(context);
  // PostgreSQL takes no NUL in text; an id of another shape is a missing one.
  const is_id = isId('invoice', id) || isId('credit_note', id);
  const invoice = is_id && seesDocuments(context) ? await findInvoice(context.db, { org_id, id }) : null;
  if (invoice === null) throw notFound();
  return invoice;
}

export const listInvoicesOperation = operation({
  name: 'invoices.list',
  method: 'GET',
  path: '/v1/invoices',
  summary: 'List invoices and credit notes, newest first',
  audience: readers,
  input: Type.Object({ kind: Type.Optional(oneOf(invoiceKinds, 'InvoiceKind')), ...pageInput(200) }),
  output: pageOf(InvoiceView),
  errors: [],
  example: {
    object: 'list',
    data: [{ ...invoiceExample, supplier: { ...invoiceExample.supplier, address: [] }, lines: [] }],
    next_cursor: '',
  },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    if (!seesDocuments(context)) return page([], '');
    const kind = input.kind ?? null;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `invoices ${org_id} ${kind ?? ''}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) =>
        listInvoices(context.db, {
          org_id,
          kind,
          before: after === null ? null : { at: new Date(after.at), id: after.id },
          limit,
        }),
      placeOf: (invoice) => ({ at: invoice.issued_at.getTime(), id: invoice.id }),
    });
    return page(rows.map(viewInvoice), next_cursor, cursorAt);
  },
});

const getInvoiceOperation = operation({
  name: 'invoices.get',
  method: 'GET',
  path: '/v1/invoices/:id',
  summary: 'Read one invoice or credit note',
  audience: readers,
  input: Type.Object({ id: idOf('invoice') }),
  output: InvoiceView,
  errors: [],
  example: {
    ...invoiceExample,
    supplier: { ...invoiceExample.supplier, address: [...invoiceExample.supplier.address] },
    lines: [...invoiceExample.lines],
  },
  async run(context, { id }) {
    return viewInvoice(await documentOf(context, id));
  },
});

export const invoicePdfOperation = operation({
  name: 'invoices.pdf',
  method: 'GET',
  path: '/v1/invoices/:id/pdf',
  summary: 'Download an invoice or credit note as PDF',
  audience: readers,
  input: Type.Object({ id: idOf('invoice') }),
  output: Type.String({ description: 'the bytes of the file' }),
  produces: 'application/pdf',
  errors: ['service_unavailable'],
  example: '%PDF-1.7',
  async run(context, { id }) {
    const invoice = await documentOf(context, id);
    const { pdf } = await fileOf(context, invoice);
    return new FileAnswer({
      content_type: 'application/pdf',
      filename: fileName(invoice.number, 'pdf'),
      body: pdf,
    });
  },
});

export const resendOperation = operation({
  name: 'invoices.resend',
  method: 'POST',
  path: '/v1/invoices/:id/resend',
  summary: 'Mail an invoice or credit note again, at most ten times a day',
  audience: {
    ...{ kind: 'key', scopes: ['manage:credits'], while_suspended: true },
    session: readers.session,
  },
  input: Type.Object({
    id: idOf('invoice'),
    to: Type.Optional(
      Type.String({
        format: 'email',
        maxLength: 254,
        description: 'default: the billing address, else the owners',
      }),
    ),
  }),
  output: named('InvoiceResent', Type.Object({ queued: Type.Boolean(), to: Type.String() })),
  errors: ['conflict'],
  request: { to: 'accounts@acme.example' },
  example: { queued: true, to: 'accounts@acme.example' },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const { id } = await documentOf(context, input.id);
    const { to } = await resendInvoice(context, { org_id, id, to: input.to ?? null });
    return { queued: true, to: to.join(', ') };
  },
});

export const invoiceOperations = [
  listInvoicesOperation,
  getInvoiceOperation,
  invoicePdfOperation,
  resendOperation,
] as const;
