// The document of a top-up, by its number.
import type { TopupRowFragment } from '../../api/gen/graphql.ts';
import { DocumentLink } from '../invoices/document-link.tsx';

/** A dash before it is paid. */
export function InvoiceOf({ row }: { row: Pick<TopupRowFragment, 'invoiceId' | 'invoiceNumber'> }) {
  const { invoiceId: id, invoiceNumber: number } = row;
  return id && number ? <DocumentLink row={{ id, number }} /> : <span className="faint">–</span>;
}
