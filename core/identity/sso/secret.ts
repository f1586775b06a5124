// How a client's secret is stored: sealed under the key ring, bound to its organization and client.
import { deriveKey, type Id, seal, unseal } from '../../kernel/index.ts';
import type { Connection } from './types.ts';

const bindingOf = (org_id: Id<'org'>) => `sso_connection ${org_id} client_secret`;

/** `secret` as stored. */
export function sealClientSecret(root_key: Uint8Array, org_id: Id<'org'>, secret: string): Buffer {
  return seal(deriveKey(root_key, 'sso client secret'), Buffer.from(secret), bindingOf(org_id));
}

/** The secret of a connection; null for a client without one. @throws Error when key ring, row or bytes differ. */
export function openClientSecret(
  root_key: Uint8Array,
  { org_id, client_secret }: Pick<Connection, 'org_id' | 'client_secret'>,
): string | null {
  if (client_secret === null) return null;
  return unseal(deriveKey(root_key, 'sso client secret'), client_secret, bindingOf(org_id)).toString();
}
