export { issueCreditNote, refundedTax } from './credit-note.ts';
export { checkGstin } from './gstin.ts';
export { issueTopupInvoice } from './issue.ts';
export { invoiceOperations } from './operations.ts';
export { isStateOfAddress } from './states.ts';
export { findInvoice, listInvoices, markSent } from './store.ts';
export { DEMO_SUPPLIER, readGstRate, readSupplier, taxTerms } from './supplier.ts';
export { type DocumentTotal, sumDocuments } from './totals-store.ts';
export type { Invoice, InvoiceId, Supplier, TaxTerms } from './types.ts';
