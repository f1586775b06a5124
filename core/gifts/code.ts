// Codes that people type: `GIFT` or `CR` and four groups of four, 80 bits in digits that cannot be mistaken for each other. Only a keyed hash is stored: who reads the database learns no code.
import { CROCKFORD, deriveKey, hmacSha256, secureText } from '../kernel/index.ts';

const GROUPS = 4;

/** `GIFT` for gifts, `CR` for codes of staff. */
type CodePrefix = 'GIFT' | 'CR';

/** A new code, shown once. */
export function newCode(prefix: CodePrefix): string {
  return [prefix, ...Array.from({ length: GROUPS }, () => secureText(CROCKFORD, 4))].join('-');
}

/** `text` as codes are compared: capitals, O as 0, I and L as 1, without spaces and hyphens of any kind. */
export function plainCode(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
}

/** The stored form of a code, under a key of the key ring. */
export function hashCode(root_key: Uint8Array, text: string): Buffer {
  return hmacSha256(deriveKey(root_key, 'credit code'), plainCode(text));
}

/** What is shown of a code after it was made. */
export function hintOf(code: string): string {
  return `...${code.slice(-4)}`;
}
