// What is answered about an end user, as files: all that is stored of them, and the receipt of an erasure.
import { faultOfResponse, offlineFault } from '../../api/errors.ts';
import type { SubjectRowFragment } from '../../api/gen/tools/graphql.ts';
import { graphqlHeaders, guardedFetch, type Result } from '../../api/session.ts';
import { saveText } from '../../ui/save-file.ts';
import { receiptText } from './subjects.ts';

/** Saves all calls of an end user of `org`, a line of JSON each; gives how many they are. */
export async function saveSubject(
  org: { readonly id: string; readonly slug: string },
  user_id: string,
): Promise<Result<number>> {
  try {
    const response = await guardedFetch('/v1/privacy/export', {
      method: 'POST',
      headers: { ...graphqlHeaders(org.id), 'content-type': 'application/json' },
      body: JSON.stringify({ user_id, format: 'ndjson' }),
    });
    if (!response.ok) return { ok: false, fault: await faultOfResponse(response) };
    const text = await response.text();
    saveText(text, `end-user-${org.slug}.ndjson`, 'application/x-ndjson');
    return { ok: true, value: text.split('\n').length - 1 };
  } catch {
    return { ok: false, fault: offlineFault };
  }
}

/** Saves a request about an end user with its receipt. */
export function saveReceipt(row: SubjectRowFragment): void {
  saveText(receiptText(row), `receipt-${row.id}.json`, 'application/json');
}
