// How documents are called, and what of them is tax.
import type { InvoiceKindWord } from '../../app/search.ts';

export const kindNames: Readonly<Record<InvoiceKindWord, string>> = {
  tax_invoice: 'Tax invoice',
  export_invoice: 'Export invoice',
  credit_note: 'Credit note',
  receipt: 'Receipt',
};

/** The name of a kind as GraphQL writes it. */
export const nameOfKind = (kind: string) => kindNames[kind.toLowerCase() as InvoiceKindWord];

/** The tax of a document, in the smallest units of its currency. */
export function taxOf(row: { cgstMinor: string; sgstMinor: string; igstMinor: string }): number {
  return Number(row.cgstMinor) + Number(row.sgstMinor) + Number(row.igstMinor);
}
