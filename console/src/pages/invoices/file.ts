// The file of a document, saved by the browser under its number.
import { type Fault, faultOfResponse, offlineFault } from '../../api/errors.ts';
import { graphqlHeaders, guardedFetch } from '../../api/session.ts';

/** Downloads the PDF of a document of `org_id`; null, or why it could not be. */
export async function savePdf(org_id: string, row: { id: string; number: string }): Promise<Fault | null> {
  try {
    const response = await guardedFetch(`/v1/invoices/${row.id}/pdf`, { headers: graphqlHeaders(org_id) });
    if (!response.ok) return await faultOfResponse(response);
    const address = URL.createObjectURL(await response.blob());
    const link = document.createElement('a');
    link.href = address;
    link.download = `${row.number.replaceAll('/', '-')}.pdf`;
    link.click();
    URL.revokeObjectURL(address);
    return null;
  } catch {
    return offlineFault;
  }
}
