// Codes that people type: what they are for and four groups of four, 80 bits in digits that cannot be mistaken for each other. Only a keyed hash is stored: who reads the database learns no code.
import { hmacSha256 } from '../crypto.ts';
import { CROCKFORD } from '../ids.ts';
import { secureText } from '../random.ts';
import { deriveKey } from './keyring.ts';

const GROUPS = 4;

/** `GIFT` for gifts, `CR` for credits from staff, `INV` for invitations from staff. */
type CodePrefix = 'GIFT' | 'CR' | 'INV';
/** What a code is worth; a code for one thing is none for another. */
type CodePurpose = 'credit code' | 'invite code';

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
export function hashCode(root_key: Uint8Array, purpose: CodePurpose, text: string): Buffer {
  return hmacSha256(deriveKey(root_key, purpose), plainCode(text));
}

/** What is shown of a code after it was made. */
export function hintOf(code: string): string {
  return `...${code.slice(-4)}`;
}
