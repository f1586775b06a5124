// In which name a reseller sells, and the documents of its customers. Their files are not GraphQL:
// `GET /v1/reseller/invoices/{id}/pdf` has them.
import {
  getInvoicingOperation,
  getResellerInvoiceOperation,
  InvoicingView,
  listResellerInvoicesOperation,
  setInvoicingOperation,
} from '@svc/core/resellers/index.ts';
import { builder, derive } from '../../builder.ts';
import { pageField } from '../../connection.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { Invoice, InvoiceConnection } from '../money/invoice.ts';
import { Reseller } from './reseller.ts';

const Invoicing = derive.output('ResellerInvoicing', InvoicingView);

builder.objectFields(Reseller, (t) => ({
  invoicing: t.field({
    type: Invoicing,
    nullable: true,
    description: 'In which name customers are sold to; null before it was said.',
    extensions: { operation: getInvoicingOperation.name },
    resolve: (_root, _args, { runner }) => nullWhenMissing(runner.run(getInvoicingOperation, {})),
  }),
  invoices: pageField(t, 'ResellerInvoices', {
    operation: listResellerInvoicesOperation,
    type: InvoiceConnection,
    description: 'Invoices and credit notes that customers have of the reseller, newest first.',
    options: () => ({}),
  }),
  invoice: t.field({
    type: Invoice,
    nullable: true,
    description: 'A document that a customer has of the reseller, by id.',
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getResellerInvoiceOperation.name },
    resolve: (_root, { id }, { runner }) =>
      nullWhenMissing(runner.run(getResellerInvoiceOperation, { id: id as never })),
  }),
}));

mutation({
  name: 'setResellerInvoicing',
  operation: setInvoicingOperation,
  input: setInvoicingOperation.input,
  description: 'Says in which name customers are sold to, and how documents are numbered.',
  payload: (t) => ({
    invoicing: t.field({
      type: Invoicing,
      resolve: ({ answer }: { readonly answer: unknown }) => answer as never,
    }),
  }),
});
