// How a client's secret is stored: sealed under the key ring, bound to its organization and client.
import { type Id, openColumn, type RootKeyRing, sealColumn } from '../../kernel/index.ts';
import type { Connection } from './types.ts';

const COLUMN = 'sso_connection.client_secret';

/** `secret` as stored. */
export function sealClientSecret(root_key: RootKeyRing, org_id: Id<'org'>, secret: string): Buffer {
  return sealColumn(root_key, COLUMN, [org_id], Buffer.from(secret));
}

/** The secret of a connection; null for a client without one. @throws Error when key ring, row or bytes differ. */
export function openClientSecret(
  root_key: RootKeyRing,
  { org_id, client_secret }: Pick<Connection, 'org_id' | 'client_secret'>,
): string | null {
  if (client_secret === null) return null;
  return openColumn(root_key, COLUMN, [org_id], client_secret).toString();
}
