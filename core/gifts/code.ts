// Codes that people type: GIFT-XXXX-XXXX-XXXX-XXXX and CR-XXXX-XXXX-XXXX-XXXX, 80 bits of Crockford's base 32, whose
// letters cannot be mistaken for digits. Only a keyed hash is stored: who reads the database learns no code.
import { deriveKey, hmacSha256, secureText } from '../kernel/index.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const GROUPS = 4;

/** `GIFT` for gifts, `CR` for codes of staff. */
type CodePrefix = 'GIFT' | 'CR';

/** A new code, shown once. */
export function newCode(prefix: CodePrefix): string {
  return [prefix, ...Array.from({ length: GROUPS }, () => secureText(ALPHABET, 4))].join('-');
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
