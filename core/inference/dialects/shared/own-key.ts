// What of a request means something only in the caller's own account at a provider (decisions 4.1 `file.file_id`).
import type { CanonicalRequest, Part } from '../../canonical/types.ts';

/**
 * Path of the first part that names a file stored at a provider, or null. Such a request may be attempted only with
 * the caller's own provider key: pool accounts hold no caller files, and another tenant's must stay out of reach.
 */
export function storedFile(request: CanonicalRequest): string | null {
  for (const [i, message] of request.messages.entries()) {
    const found = storedIn(message.content, `messages[${i}].content`);
    if (found !== null) return found;
  }
  return null;
}

function storedIn(parts: readonly Part[], path: string): string | null {
  for (const [j, part] of parts.entries()) {
    const here = `${path}[${j}]`;
    if ('src' in part && 'file_id' in part.src) return here;
    const inner =
      part.type === 'tool_result' || part.type === 'search_result'
        ? storedIn(part.content, `${here}.content`)
        : null;
    if (inner !== null) return inner;
  }
  return null;
}
