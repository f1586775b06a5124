// The documents that a reseller's customers have of it: the same that these read under /v1/invoices.
import { Type } from 'typebox';
import {
  fileName,
  fileOf,
  findSupplied,
  type Invoice,
  type InvoiceId,
  InvoiceView,
  invoiceExample,
  invoiceKinds,
  listSupplied,
  viewInvoice,
} from '../../invoices/index.ts';
import {
  type Context,
  FileAnswer,
  idOf,
  isId,
  notFound,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../../kernel/index.ts';
import { holders, resellerCaller } from '../audience.ts';

const PAGE = 50;
const readers = holders('reseller.read');

const example: InvoiceView = {
  ...invoiceExample,
  ...{ number: 'NWC/26-27/00001', supplier_reseller_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  ...{ supplier_gstin: '29AABCU9603R1ZJ', lines: [...invoiceExample.lines] },
  supplier: {
    ...{ legal_name: 'Northwind Cloud Private Limited', address: ['3 Example Road', 'Bengaluru 560003'] },
    ...{ state_code: '29', gstin: '29AABCU9603R1ZJ', pan: 'AABCU9603R', lut: null },
  },
};

/** A document of the caller's reseller. @throws ServiceError not_found. */
async function documentOf(context: Context, id: string): Promise<Invoice> {
  const { org_id: supplier_id } = resellerCaller(context);
  const is_id = isId('invoice', id) || isId('credit_note', id);
  const found = is_id
    ? await findSupplied(context.acrossOrgs.db, { supplier_id, id: id as InvoiceId })
    : null;
  if (found === null) throw notFound();
  return found;
}

export const listResellerInvoicesOperation = operation({
  name: 'reseller.invoices.list',
  method: 'GET',
  path: '/v1/reseller/invoices',
  summary: 'List the invoices and credit notes that customers have of the reseller, newest first',
  audience: readers,
  input: Type.Object({
    kind: Type.Optional(oneOf(invoiceKinds, 'InvoiceKind')),
    child_org_id: Type.Optional(Type.String()),
    ...pageInput(200),
  }),
  output: pageOf(InvoiceView),
  errors: ['grant_required'],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, { kind = null, child_org_id = null, cursor, limit }) {
    const { org_id: supplier_id } = resellerCaller(context);
    const { db } = context.acrossOrgs;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.invoices ${supplier_id} ${JSON.stringify([kind, child_org_id])}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => {
        const before = after === null ? null : { at: new Date(after.at), id: after.id };
        return listSupplied(db, { supplier_id, kind, child_org_id, before, limit });
      },
      placeOf: (invoice) => ({ at: invoice.issued_at.getTime(), id: invoice.id }),
    });
    return page(rows.map(viewInvoice), next_cursor, cursorAt);
  },
});

export const getResellerInvoiceOperation = operation({
  name: 'reseller.invoices.get',
  method: 'GET',
  path: '/v1/reseller/invoices/:id',
  summary: 'Read an invoice or credit note that a customer has of the reseller',
  audience: readers,
  input: Type.Object({ id: idOf('invoice') }),
  output: InvoiceView,
  errors: ['grant_required'],
  example,
  run: async (context, { id }) => viewInvoice(await documentOf(context, id)),
});

const resellerInvoicePdfOperation = operation({
  name: 'reseller.invoices.pdf',
  method: 'GET',
  path: '/v1/reseller/invoices/:id/pdf',
  summary: 'Download an invoice or credit note of the reseller as PDF: the file that its customer has',
  audience: readers,
  input: Type.Object({ id: idOf('invoice') }),
  output: Type.String({ description: 'the bytes of the file' }),
  produces: 'application/pdf',
  errors: ['grant_required', 'service_unavailable'],
  example: '%PDF-1.7',
  async run(context, { id }) {
    const invoice = await documentOf(context, id);
    // Its customer's row notes the file that was drawn.
    const { pdf } = await fileOf(context.acrossOrgs, invoice);
    return new FileAnswer({
      content_type: 'application/pdf',
      filename: fileName(invoice.number, 'pdf'),
      body: pdf,
    });
  },
});

export const resellerInvoiceOperations = [
  listResellerInvoicesOperation,
  getResellerInvoiceOperation,
  resellerInvoicePdfOperation,
] as const;
