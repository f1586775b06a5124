// Codes that people type: what they are for and four groups of four, 80 bits in digits that cannot be mistaken for each other. Only a keyed hash is stored: who reads the database learns no code.
import { hmacSha256 } from '../crypto.ts';
import { CROCKFORD } from '../ids.ts';
import { secureText } from '../random.ts';
import { deriveFrom, deriveKeys, type RootKeyRing, rootKeys } from './keyring.ts';

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

/** A keyed hash, and under which root key it was made, so that the key is kept for as long. */
export interface KeyedHash {
  readonly hash: Buffer;
  readonly hash_key_id: Buffer;
}

/** `text` as it is stored for one purpose, under the current key of the ring. */
export function keyedHash(root_key: RootKeyRing, purpose: string, text: string): KeyedHash {
  const [{ bytes, id }] = rootKeys(root_key);
  return { hash: hmacSha256(deriveFrom(bytes, purpose), text), hash_key_id: id };
}

/** The stored form of a code, under the current key of the key ring. */
export function hashCode(root_key: RootKeyRing, purpose: CodePurpose, text: string): KeyedHash {
  return keyedHash(root_key, purpose, plainCode(text));
}

/** What may be stored of a code: its form under each key of the ring, the current one first. */
export function hashesOfCode(root_key: RootKeyRing, purpose: CodePurpose, text: string): Buffer[] {
  return deriveKeys(root_key, purpose).map((key) => hmacSha256(key, plainCode(text)));
}

/** What is shown of a code after it was made. */
export function hintOf(code: string): string {
  return `...${code.slice(-4)}`;
}
