// Paths of the canonical form as paths of the caller's body.
import type { CanonicalRequest } from '../../canonical/types.ts';

const MESSAGE = /^messages\[(\d+)\]/;

/**
 * `param`, a path of the canonical form, in the caller's words: of a dialect that has its messages elsewhere the message
 * or item alone, since its parts are not where the canonical form has them.
 */
export function callersPath(request: Pick<CanonicalRequest, 'paths' | 'words'>, param: string): string {
  const { paths, words } = request;
  const at = paths === undefined ? null : MESSAGE.exec(param);
  if (at !== null) return paths?.[Number(at[1])] ?? param;
  return words?.get(param) ?? param;
}
