// How a provider key is stored and what is shown of it (docs/secrets.md).
import { openColumn, type RootKeyRing, sealColumn } from '../kernel/index.ts';

const TAIL = 4;
/** Four characters would reveal too much of a shorter secret. */
const HINT_MIN = 12;

const COLUMN = 'byok_key.secret_sealed';

/** `secret` as stored: sealed under the key ring, bound to its row. */
export function sealProviderKey(root_key: RootKeyRing, byok_id: string, secret: string): Buffer {
  return sealColumn(root_key, COLUMN, [byok_id], Buffer.from(secret));
}

/** What `sealProviderKey` sealed. @throws Error when key ring, row or bytes differ. */
export function openProviderKey(root_key: RootKeyRing, byok_id: string, sealed: Uint8Array): string {
  return openColumn(root_key, COLUMN, [byok_id], sealed).toString();
}

/** The part of a secret that may be shown: its last four characters, or nothing of a short one. */
export function hintOf(secret: string): string {
  return secret.length < HINT_MIN ? '...' : `...${secret.slice(-TAIL)}`;
}
