// The audit log as a file, every page of it.
import { type Fault, faultOfResponse, offlineFault } from '../../api/errors.ts';
import { graphqlHeaders, guardedFetch } from '../../api/session.ts';
import { saveText } from '../../ui/save-file.ts';

/** Rows of one request, and how many requests at most make a file. */
const ROWS = 500;
const PAGES_MAX = 200;

/** Saves the entries of `org_id` whose action begins with `action`; null, or why it could not be. */
export async function saveAudit(
  org: { readonly id: string; readonly slug: string },
  action: string | undefined,
): Promise<Fault | null> {
  let text = '';
  let cursor = '';
  try {
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = new URLSearchParams({ format: 'csv', limit: String(ROWS), cursor });
      if (action !== undefined) query.set('action', action);
      const response = await guardedFetch(`/v1/audit-log?${query}`, { headers: graphqlHeaders(org.id) });
      if (!response.ok) return await faultOfResponse(response);
      const part = await response.text();
      text += page === 0 ? part : part.slice(part.indexOf('\r\n') + 2);
      cursor = response.headers.get('x-svc-next-cursor') ?? '';
      if (cursor === '') break;
    }
  } catch {
    return offlineFault;
  }
  saveText(text, `audit-${org.slug}.csv`);
  return null;
}
