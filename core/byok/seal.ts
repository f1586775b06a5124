// How a provider key is stored and what is shown of it (docs/secrets.md).
import { deriveKey, seal, unseal } from '../kernel/index.ts';

const TAIL = 4;
/** Four characters would reveal too much of a shorter secret. */
const HINT_MIN = 12;

function bindingOf(byok_id: string): string {
  return `byok_key ${byok_id} secret`;
}

/** `secret` as stored: sealed under the key ring, bound to its row. */
export function sealProviderKey(root_key: Uint8Array, byok_id: string, secret: string): Buffer {
  return seal(deriveKey(root_key, 'byok secret'), Buffer.from(secret), bindingOf(byok_id));
}

/** What `sealProviderKey` sealed. @throws Error when key ring, row or bytes differ. */
export function openProviderKey(root_key: Uint8Array, byok_id: string, sealed: Uint8Array): string {
  return unseal(deriveKey(root_key, 'byok secret'), sealed, bindingOf(byok_id)).toString();
}

/** The part of a secret that may be shown: its last four characters, or nothing of a short one. */
export function hintOf(secret: string): string {
  return secret.length < HINT_MIN ? '...' : `...${secret.slice(-TAIL)}`;
}
