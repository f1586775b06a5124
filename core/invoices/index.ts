export { type Credited, issueCreditNote, refundedTax } from './credit-note.ts';
export { type EInvoice, eInvoice } from './e-invoice.ts';
export { fileOf } from './file.ts';
export { checkGstin } from './gstin.ts';
export { issueTopupInvoice } from './issue.ts';
export { fileName } from './number.ts';
export {
  invoiceExample,
  invoiceOperations,
  invoicePdfOperation,
  listInvoicesOperation,
  resendOperation,
} from './operations.ts';
export { printText } from './pdf/press.ts';
export { listGstRates } from './rate-store.ts';
export { monthInKolkata, returnFiles } from './returns.ts';
export { InvoiceView, viewInvoice } from './schema.ts';
export { setIdentity } from './sellers/identity.ts';
export { findIdentity, type SellerIdentity } from './sellers/identity-store.ts';
export { findSupplied, listSupplied } from './sellers/supplied-store.ts';
export { documentOfMail, mailIssued, openDocument } from './sending.ts';
export { isStateOfAddress, stateName } from './states.ts';
export {
  endRegistration,
  findDocument,
  findDocumentsOf,
  findInvoice,
  findNumbered,
  listInvoices,
  listIssued,
  markRegistered,
  markSent,
  type NamedDocument,
  reopenRegistration,
} from './store.ts';
export {
  DEMO_SUPPLIER,
  readGstRate,
  readResellerSupplier,
  readSupplier,
  readSupplierOf,
  taxTerms,
} from './supplier.ts';
export { type SupplierChange, setGstRate, setSupplier } from './supplier-change.ts';
export { taxOn } from './tax.ts';
export { type DocumentTotal, sumDocuments } from './totals-store.ts';
export type { Invoice, InvoiceId, IrnStatus, Supplier, TaxParts, TaxTerms } from './types.ts';
export { invoiceKinds } from './types.ts';
