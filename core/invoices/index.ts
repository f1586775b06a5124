export { checkGstin, type GstinVerdict } from './gstin.ts';
export { issueTopupInvoice, type TopupInvoice } from './issue.ts';
export { invoiceOperations } from './operations.ts';
export { type InvoiceView, viewInvoice } from './schema.ts';
export { findInvoice, listInvoices, markSent } from './store.ts';
export { DEMO_SUPPLIER, readGstRate, readSupplier, taxTerms } from './supplier.ts';
export type { Invoice, InvoiceKind, Supplier, TaxDecision, TaxTerms } from './types.ts';
