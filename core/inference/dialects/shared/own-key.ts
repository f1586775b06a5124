// What of a request means something only in the caller's own account at a provider (decisions 4.1 `file.file_id`).
import type { CanonicalRequest, Message, Part } from '../../canonical/types.ts';

/**
 * Path of the first part that names a file stored at a provider, or null. Such a request may be attempted only with
 * the caller's own provider key: pool accounts hold no caller files, and another tenant's must stay out of reach.
 */
export function storedFile(request: CanonicalRequest): string | null {
  const { messages } = request;
  for (let i = 0; i < messages.length; i++) {
    const found = storedIn((messages[i] as Message).content);
    if (found !== null) return `messages[${i}].content${found}`;
  }
  return null;
}

/** Path below `parts`; put together on the way back, since most requests have none. */
function storedIn(parts: readonly Part[]): string | null {
  for (let j = 0; j < parts.length; j++) {
    const part = parts[j] as Part;
    if (part.type === 'text') continue;
    if ('src' in part && 'file_id' in part.src) return `[${j}]`;
    if (part.type !== 'tool_result' && part.type !== 'search_result') continue;
    const inner = storedIn(part.content);
    if (inner !== null) return `[${j}].content${inner}`;
  }
  return null;
}
