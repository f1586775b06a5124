// A vector in a reply.
import type { Vector } from '../../../canonical/types.ts';

/** JSON text of the value of `vector`: its numbers as they came, or base64 in quotes. */
export function vectorText({ form, text }: Vector): string {
  // Base64 has nothing that JSON escapes.
  return form === 'base64' ? `"${text}"` : text;
}
