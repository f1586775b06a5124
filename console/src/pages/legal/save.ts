// The texts that are made for the organisation, saved by the browser.
import { type Fault, faultOfResponse, offlineFault } from '../../api/errors.ts';
import { graphqlHeaders, guardedFetch } from '../../api/session.ts';

interface Text {
  readonly label: string;
  readonly path: string;
  readonly name: string;
  readonly ending: string;
  readonly accept?: string;
}

export const texts: readonly Text[] = [
  {
    label: 'Agreement on processing (PDF)',
    path: '/v1/documents/dpa',
    name: 'dpa',
    ending: 'pdf',
    accept: 'application/pdf',
  },
  { label: 'Standard contractual clauses, annexes', path: '/v1/legal/scc', name: 'scc', ending: 'md' },
  { label: 'DPDP notice', path: '/v1/legal/dpdp-notice', name: 'dpdp-notice', ending: 'md' },
  {
    label: 'Templates of breach notices',
    path: '/v1/legal/breach-template',
    name: 'breach-template',
    ending: 'md',
  },
];
/** For owners and admins. */
export const record: Text = {
  label: 'Record of processing (CSV)',
  path: '/v1/legal/ropa?format=csv',
  name: 'ropa',
  ending: 'csv',
};

/** Downloads `text` for `org_id`; null, or why it could not be. */
export async function saveLegal(org_id: string, text: Text): Promise<Fault | null> {
  try {
    const headers = { ...graphqlHeaders(org_id), accept: text.accept ?? '*/*' };
    const response = await guardedFetch(text.path, { headers });
    if (!response.ok) return await faultOfResponse(response);
    const address = URL.createObjectURL(await response.blob());
    const link = document.createElement('a');
    link.href = address;
    link.download = `${text.name}.${text.ending}`;
    link.click();
    URL.revokeObjectURL(address);
    return null;
  } catch {
    return offlineFault;
  }
}
