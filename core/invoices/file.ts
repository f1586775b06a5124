// The file of a document: drawn once, then always the same bytes.
import { type Context, sha256Hex } from '../kernel/index.ts';
import { print } from './pdf/press.ts';
import { findFile, type InvoiceFile, keepFile } from './store.ts';
import type { Invoice } from './types.ts';

/**
 * The PDF of a document. The first to ask has it drawn and kept; a document that has been registered since gets a second
 * file with its registration. @throws ServiceError service_unavailable when too many documents wait to be drawn.
 */
export async function fileOf(context: Context, invoice: Invoice): Promise<InvoiceFile> {
  const { db } = context;
  const which = { invoice_id: invoice.id, registered: invoice.irn !== null };
  const found = await findFile(db, which);
  if (found !== null) return found;
  const pdf = await print(invoice);
  await keepFile(db, { ...which, pdf, sha256: sha256Hex(pdf), at: context.now() });
  const kept = await findFile(db, which);
  if (kept === null) throw new Error(`the file of ${invoice.number} was not kept`);
  return kept;
}
