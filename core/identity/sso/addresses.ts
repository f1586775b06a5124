// The addresses that an identity provider is given, and the organization's word in them.
import { type Context, type Id, secureText } from '../../kernel/index.ts';
import { findAlias, insertAlias } from './connection-store.ts';

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Gives an organization its word, where it has none: its slug, with four characters behind it where that is taken. */
export async function takeAlias(context: Context, org: { id: Id<'org'>; slug: string }): Promise<string> {
  for (let alias = org.slug; ; alias = `${org.slug}-${secureText(LETTERS, 4)}`) {
    await insertAlias(context.db, { org_id: org.id, alias });
    const present = await findAlias(context.db, org.id);
    if (present !== null) return present;
  }
}

/** The addresses of an organization at this installation. */
export function addressesOf(context: Context, alias: string) {
  const base = `${context.services.sign_in.base_url}/v1/auth/sso/${alias}`;
  return {
    start_url: `${base}/start`,
    callback_url: `${base}/callback`,
    acs_url: `${base}/acs`,
    logout_url: `${base}/logout`,
    // The name of this service for SAML is where its description is.
    entity_id: `${base}/metadata`,
  };
}

/** The same, of an organization that has a connection. @throws Error (a defect) for one without addresses. */
export async function addressesOfOrg(context: Context, org_id: Id<'org'>) {
  const alias = await findAlias(context.db, org_id);
  if (alias === null) throw new Error('a connection without an address');
  return addressesOf(context, alias);
}
