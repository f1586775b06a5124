// The addresses that an identity provider is given: the organization's word in them, and the host. A customer of a reseller who
// connects a provider at the reseller's storefront is answered there; whoever connected one at our address, at ours.
import { type Context, type Id, notFound, secureText } from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { addressOfHost, type Seller, sellerOf } from '../seller.ts';
import { findAlias, insertAlias } from './connection-store.ts';
import type { Connection } from './types.ts';

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Gives an organization its word, where it has none: its slug, with four characters behind it where that is taken. */
export async function takeAlias(context: Context, org: { id: Id<'org'>; slug: string }): Promise<string> {
  for (let alias = org.slug; ; alias = `${org.slug}-${secureText(LETTERS, 4)}`) {
    await insertAlias(context.db, { org_id: org.id, alias });
    const present = await findAlias(context.db, org.id);
    if (present !== null) return present;
  }
}

/** The addresses of an organization at the storefront's `host`; null: at our own address. */
export function addressesOf(context: Context, { alias, host }: { alias: string; host: string | null }) {
  const address = host === null ? context.services.sign_in.base_url : addressOfHost(context, host);
  const base = `${address}/v1/auth/sso/${alias}`;
  return {
    start_url: `${base}/start`,
    callback_url: `${base}/callback`,
    acs_url: `${base}/acs`,
    logout_url: `${base}/logout`,
    // The name of this service for SAML is where its description is.
    entity_id: `${base}/metadata`,
  };
}

async function isServedBy(context: Context, seller: Seller, org_id: Id<'org'>): Promise<boolean> {
  return org_id === seller.org_id || (await findOrg(context.db, org_id))?.parent_org_id === seller.org_id;
}

/** Where the request came to, of the storefront that serves `org_id`; null: at our address, or at somebody else's. */
export async function hostHere(context: Context, org_id: Id<'org'>): Promise<string | null> {
  const seller = await sellerOf(context);
  return seller !== null && (await isServedBy(context, seller, org_id)) ? seller.host : null;
}

type Placed = Pick<Connection, 'org_id' | 'host'>;

/** Where answers to a connection are taken: at its storefront, as long as that serves the organization; null: at ours. */
async function hostOf(context: Context, { org_id, host }: Placed): Promise<string | null> {
  const seller = host === null ? null : await (context.services.seller_hosts?.at(host) ?? null);
  return seller !== null && (await isServedBy(context, seller, org_id)) ? seller.host : null;
}

/** The addresses of a connection. @throws Error (a defect) for an organization without a word. */
export async function addressesOfConnection(context: Context, connection: Placed) {
  const alias = await findAlias(context.db, connection.org_id);
  if (alias === null) throw new Error('a connection without an address');
  return addressesOf(context, { alias, host: await hostOf(context, connection) });
}

/** Whether the request came to where answers to `connection` are taken. */
export async function isHere(context: Context, connection: Placed): Promise<boolean> {
  const seller = await sellerOf(context);
  return (seller?.host ?? null) === (await hostOf(context, connection));
}

/**
 * Refuses an answer at another address than the one that the provider was given: what is said to one is for that one.
 * @throws ServiceError not_found, as where there is no connection.
 */
export async function refuseElsewhere(context: Context, connection: Placed): Promise<void> {
  if (!(await isHere(context, connection))) throw notFound();
}
