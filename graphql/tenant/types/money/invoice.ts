// Invoices and credit notes. Their files are not GraphQL: `GET /v1/invoices/{id}/pdf` has them.
import {
  InvoiceView,
  invoiceKinds,
  listInvoicesOperation,
  resendOperation,
} from '@svc/core/invoices/index.ts';
import { builder, derive } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { mutation } from '../../mutation.ts';
import { type Book, Credits } from './credits.ts';

derive.enum('InvoiceKind', invoiceKinds);
derive.enum('InvoiceStatus', ['issued', 'cancelled']);

export const Invoice = derive.output('Invoice', InvoiceView, { names: { lines: 'InvoiceLine' } });
export const InvoiceConnection = connectionType('Invoice', Invoice);

builder.objectFields(Credits, (t) => ({
  invoices: pageField(t, 'Invoices', {
    operation: listInvoicesOperation,
    type: InvoiceConnection,
    description: 'Invoices and credit notes, newest first; live only.',
    options: ({ environment }: Book) => ({ environment }),
  }),
}));

interface Payload {
  readonly answer: { readonly queued: boolean; readonly to: string };
}

mutation({
  name: 'resendInvoice',
  operation: resendOperation,
  input: resendOperation.input,
  description: 'Mails a document again, at most ten times a day.',
  payload: (t) => ({
    queued: t.boolean({ resolve: ({ answer }: Payload) => answer.queued }),
    to: t.string({ resolve: ({ answer }: Payload) => answer.to }),
  }),
});
