// A document as PDF/A-3a: drawn, tagged, its fonts inside, its data attached in the form of e-invoices. The same row
// gives the same bytes.
import { eInvoice } from '../e-invoice.ts';
import { fileName } from '../number.ts';
import type { Invoice } from '../types.ts';
import { draw } from './draw.ts';
import { Paper } from './page.ts';
import { sheetOf } from './sheet.ts';

/** The bytes of the document. Takes some hundred milliseconds of processor time. */
export function render(invoice: Invoice): Promise<Buffer> {
  const sheet = sheetOf(invoice);
  const at = invoice.issued_at;
  const paper = new Paper({ title: `${sheet.title} ${sheet.number}`, author: sheet.supplier.name, at });
  const data = Buffer.from(`${JSON.stringify(eInvoice(invoice), null, 2)}\n`);
  const options = {
    name: fileName(invoice.number, 'json'),
    type: 'application/json',
    description: 'The data of this document in the form of e-invoices (schema 1.1)',
    relationship: 'Data',
    creationDate: at,
    modifiedDate: at,
  };
  paper.doc.file(data, options);
  draw(paper, sheet);
  return paper.end(`${sheet.number} · ${sheet.supplier.name}`);
}
