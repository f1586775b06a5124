// How a response ended (docs/compatibility.md#answers).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Stop } from '../../../canonical/types.ts';

/** What the answer contained that its status does not show. */
export interface Seen {
  refusal: boolean;
  calls: boolean;
}

/**
 * The stop of a response whose status is `completed` or `incomplete`; null for any other status. `incomplete` without
 * a reason is the output cap; a reason we do not know is a turn that can be continued.
 */
export function stopOf(response: JsonObject, seen: Seen): Stop | null {
  const { status, incomplete_details: details } = response;
  if (status === 'completed') {
    if (seen.calls) return { reason: 'tool_use', raw: status };
    return { reason: seen.refusal ? 'refusal' : 'end_turn', raw: status };
  }
  if (status !== 'incomplete') return null;
  const reason = isObject(details) && typeof details['reason'] === 'string' ? details['reason'] : null;
  const raw = reason === null ? status : `${status}/${reason}`;
  switch (reason) {
    case null:
    case 'max_output_tokens':
      return { reason: 'max_tokens', raw };
    case 'content_filter':
      return { reason: 'content_filter', raw };
    default:
      return { reason: 'pause', raw };
  }
}

/** The response of a last event of `type`; when the server left the status out, it follows from the event. */
export function responseOf(type: string, event: JsonObject): JsonObject {
  const response = isObject(event['response']) ? event['response'] : {};
  const reported = type.slice('response.'.length);
  const { status } = response;
  return status === undefined || status === null || status === 'in_progress' || reported === 'failed'
    ? { ...response, status: reported }
    : response;
}
