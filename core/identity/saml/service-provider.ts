// This service as the provider of one organization knows it, with the key that signs its requests where they are signed.
import {
  type Context,
  type Id,
  makeSigningKey,
  notFound,
  openColumn,
  sealColumn,
} from '../../kernel/index.ts';
import { sellerOf } from '../seller.ts';
import { addressesOf, addressesOfConnection, hostHere } from '../sso/addresses.ts';
import { findConnection, findOrgOfAlias } from '../sso/connection-store.ts';
import type { SamlConnection } from '../sso/types.ts';
import { describeOwn, type ServiceProvider } from './library.ts';
import { findSigningKey, insertSigningKey } from './store.ts';

const COLUMN = 'sso_signing_key.private_key';

/** Makes the key of an organization, where it has none, with a certificate for `entity_id`. */
export async function takeSigningKey(
  context: Context,
  { org_id, entity_id }: { org_id: Id<'org'>; entity_id: string },
): Promise<void> {
  if ((await findSigningKey(context.db, org_id)) !== null) return;
  const at = context.now();
  const { private_key, certificate } = await makeSigningKey(new URL(entity_id).hostname, at);
  const sealed = sealColumn(context.services.root_key, COLUMN, [org_id], Buffer.from(private_key));
  await insertSigningKey(context.db, { org_id, private_key: sealed, certificate, at });
}

async function signingOf(context: Context, org_id: Id<'org'>): Promise<ServiceProvider['signing']> {
  const found = await findSigningKey(context.db, org_id);
  if (found === null) return null;
  const private_key = openColumn(context.services.root_key, COLUMN, [org_id], found.private_key);
  return { private_key: private_key.toString(), certificate: found.certificate };
}

/** This service to the provider of `connection`. */
export async function serviceProviderOf(
  context: Context,
  connection: SamlConnection,
): Promise<ServiceProvider> {
  const { entity_id, acs_url } = await addressesOfConnection(context, connection);
  const { org_id, config } = connection;
  return { entity_id, acs_url, signing: config.sign_requests ? await signingOf(context, org_id) : null };
}

/**
 * The description that a SAML provider reads, of the organization whose word `alias` is. It is there before a connection is,
 * since the provider is set up first, and for the address that is asked. @throws ServiceError not_found.
 */
export async function describeServiceProvider(context: Context, alias: string): Promise<string> {
  const org_id = await findOrgOfAlias(context.db, alias);
  const host = org_id === null ? null : await hostHere(context, org_id);
  if (org_id === null || (host === null && (await sellerOf(context)) !== null)) throw notFound();
  const connection = await findConnection(context.db, org_id);
  const signs = connection?.kind === 'saml' && connection.config.sign_requests;
  const { entity_id, acs_url } = addressesOf(context, { alias, host });
  return describeOwn({ entity_id, acs_url, signing: signs ? await signingOf(context, org_id) : null });
}
