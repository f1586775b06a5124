// This service as the provider of one organization knows it, with the key that signs its requests where they are signed.
import {
  type Context,
  type Id,
  makeSigningKey,
  notFound,
  openColumn,
  sealColumn,
} from '../../kernel/index.ts';
import { addressesOf, addressesOfOrg } from '../sso/addresses.ts';
import { findConnection, findOrgOfAlias } from '../sso/connection-store.ts';
import { describeOwn, type ServiceProvider } from './library.ts';
import { findSigningKey, insertSigningKey } from './store.ts';

const COLUMN = 'sso_signing_key.private_key';

/** Makes the key of an organization, where it has none. */
export async function takeSigningKey(context: Context, org_id: Id<'org'>): Promise<void> {
  if ((await findSigningKey(context.db, org_id)) !== null) return;
  const at = context.now();
  const { entity_id } = await addressesOfOrg(context, org_id);
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

/** This service to the provider of `org_id`. */
export async function serviceProviderOf(
  context: Context,
  { org_id, signs }: { org_id: Id<'org'>; signs: boolean },
): Promise<ServiceProvider> {
  const { entity_id, acs_url } = await addressesOfOrg(context, org_id);
  return { entity_id, acs_url, signing: signs ? await signingOf(context, org_id) : null };
}

/**
 * The description that a SAML provider reads, of the organization whose word `alias` is. It is there before a connection is,
 * since the provider is set up first. @throws ServiceError not_found.
 */
export async function describeServiceProvider(context: Context, alias: string): Promise<string> {
  const org_id = await findOrgOfAlias(context.db, alias);
  if (org_id === null) throw notFound();
  const connection = await findConnection(context.db, org_id);
  const signs = connection?.kind === 'saml' && connection.config.sign_requests;
  const { entity_id, acs_url } = addressesOf(context, alias);
  return describeOwn({ entity_id, acs_url, signing: signs ? await signingOf(context, org_id) : null });
}
