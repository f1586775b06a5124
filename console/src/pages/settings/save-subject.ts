// What is stored of an end user, as a file.
import { faultOfResponse, offlineFault } from '../../api/errors.ts';
import { graphqlHeaders, guardedFetch, type Result } from '../../api/session.ts';
import { saveText } from '../../ui/save-file.ts';

/** Saves all calls of an end user of `org`, a line of JSON each. */
export async function saveSubject(
  org: { readonly id: string; readonly slug: string },
  user_id: string,
): Promise<Result<true>> {
  try {
    const response = await guardedFetch('/v1/privacy/export', {
      method: 'POST',
      headers: { ...graphqlHeaders(org.id), 'content-type': 'application/json' },
      body: JSON.stringify({ user_id, format: 'ndjson' }),
    });
    if (!response.ok) return { ok: false, fault: await faultOfResponse(response) };
    saveText(await response.text(), `end-user-${org.slug}.ndjson`);
    return { ok: true, value: true };
  } catch {
    return { ok: false, fault: offlineFault };
  }
}
