// Finds what is valid only in the caller's own account at a provider.
import type { CanonicalRequest, Message, Part } from '../../canonical/types.ts';

/**
 * Path of the first part that refers to a file stored at a provider, or null. Such a request can only be attempted
 * with the caller's own provider key: accounts of the pool hold no files of callers, and other tenants' files must
 * stay out of reach.
 */
export function storedFile(request: CanonicalRequest): string | null {
  const { messages } = request;
  for (let i = 0; i < messages.length; i++) {
    const found = storedIn((messages[i] as Message).content);
    if (found !== null) return `messages[${i}].content${found}`;
  }
  return null;
}

/** Path of such a part below `parts`. It is built on the way back, because most requests have none. */
function storedIn(parts: readonly Part[]): string | null {
  for (let j = 0; j < parts.length; j++) {
    const part = parts[j] as Part;
    if (part.type === 'text') continue;
    if (familyOf(part) !== null) return `[${j}]`;
    if (part.type !== 'tool_result' && part.type !== 'search_result') continue;
    const inner = storedIn(part.content);
    if (inner !== null) return `[${j}].content${inner}`;
  }
  return null;
}

/** Family of the first file that `storedFile` finds; null when there is none. */
export function familyOfFile(request: CanonicalRequest): string | null {
  for (const { content } of request.messages) {
    const found = familyIn(content);
    if (found !== null) return found;
  }
  return null;
}

function familyIn(parts: readonly Part[]): string | null {
  for (const part of parts) {
    if (part.type === 'text') continue;
    const family = familyOf(part);
    if (family !== null) return family;
    if (part.type !== 'tool_result' && part.type !== 'search_result') continue;
    const inner = familyIn(part.content);
    if (inner !== null) return inner;
  }
  return null;
}

/** Family at which `part` itself refers to a file, even in a block that the canonical form does not interpret. */
function familyOf(part: Part): string | null {
  if ('src' in part) return 'file_id' in part.src ? part.src.family : null;
  // Results of the provider's own tools may name its files; they are sent back unchanged.
  if (part.type !== 'server_tool' || /(?:_tool_result|_call)$/.test(part.name)) return null;
  return namesFile(part.payload, 0) ? part.family : null;
}

const FILES = new Set(['file_id', 'file_ids', 'fileUri', 'file_uri', 's3Location']);
/** Deeper than any block of a provider; anything deeper counts as referring to a file. */
const DEPTH_MAX = 64;

function namesFile(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > DEPTH_MAX) return true;
  if (Array.isArray(value)) return value.some((item) => namesFile(item, depth + 1));
  return Object.entries(value).some(
    ([name, member]) => (FILES.has(name) && member != null) || namesFile(member, depth + 1),
  );
}
