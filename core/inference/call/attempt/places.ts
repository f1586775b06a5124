// Converts paths of the canonical form to paths of the caller's body.
import type { CanonicalRequest } from '../../canonical/types.ts';

const MESSAGE = /^messages\[(\d+)\]/;

/**
 * `param`, a path of the canonical form, as a path of the caller's body. In a dialect with another layout of
 * messages, only the message or item is named, because its parts are elsewhere.
 */
export function callersPath(request: Pick<CanonicalRequest, 'paths' | 'words'>, param: string): string {
  const { paths, words } = request;
  const at = paths === undefined ? null : MESSAGE.exec(param);
  if (at !== null) return paths?.[Number(at[1])] ?? param;
  return words?.get(param) ?? param;
}
