// The file of a document, saved by the browser under its number.
import { type Fault, faultOfResponse, offlineFault } from '../../api/errors.ts';
import { graphqlHeaders, guardedFetch } from '../../api/session.ts';

/** A document by its id and by what people call it. */
export interface DocumentName {
  readonly id: string;
  readonly number: string;
}

async function save(path: string, org_id: string | null, number: string): Promise<Fault | null> {
  try {
    const response = await guardedFetch(path, { headers: graphqlHeaders(org_id) });
    if (!response.ok) return await faultOfResponse(response);
    const address = URL.createObjectURL(await response.blob());
    const link = document.createElement('a');
    link.href = address;
    link.download = `${number.replaceAll('/', '-')}.pdf`;
    link.click();
    URL.revokeObjectURL(address);
    return null;
  } catch {
    return offlineFault;
  }
}

/** Downloads the PDF of a document of `org_id`; null, or why it could not be. */
export function savePdf(org_id: string, { id, number }: DocumentName): Promise<Fault | null> {
  return save(`/v1/invoices/${id}/pdf`, org_id, number);
}

/** Of a customer of the reseller `org_id`. */
export function savePdfOfReseller(org_id: string, { id, number }: DocumentName): Promise<Fault | null> {
  return save(`/v1/reseller/invoices/${id}/pdf`, org_id, number);
}

/** As staff, of any organization. */
export function savePdfAsStaff({ id, number }: DocumentName): Promise<Fault | null> {
  return save(`/staff/documents/${id}/pdf`, null, number);
}
