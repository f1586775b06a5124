// The reseller that sold the service to an organization. It has a part of the organization's data by its own contract with it, so
// who reads who processes data finds it first; sub-processors of ours are those after it.

import { sellerOf } from '../identity/index.ts';
import { findIdentity } from '../invoices/index.ts';
import type { Context, Id } from '../kernel/index.ts';
import { findOrgs } from '../orgs/index.ts';
import { currentSubprocessors } from './texts.ts';
import type { Subprocessor } from './types.ts';

export const RESELLER = 'reseller';
const PURPOSE =
  'sells the service to you by its own contract: has what you are called and billed as, your balance, sums of your use, your invoices and your tickets to it; no keys, no calls and nothing of what they say';

/** A reseller as an entry: it gets no content, so it neither keeps any nor trains on it. */
const entryOf = (name: string, location: string): Subprocessor => ({
  ...{ id: RESELLER, name, category: 'reseller', location, purpose: PURPOSE },
  ...{ trains: false, retention_days: 0, zdr: true, regions: [] },
});

/**
 * Under which name a reseller is known to its customers: as it invoices them, else as its storefront is called; its own name only where
 * it goes by no other.
 */
async function nameOf(context: Context, reseller: { readonly id: Id<'org'>; readonly name: string }) {
  const identity = await findIdentity(context.db, reseller.id);
  if (identity?.enabled === true) return identity.legal_name;
  return (await context.services.seller_hosts?.nameOf(reseller.id)) ?? reseller.name;
}

/** The reseller of an organization, or (null) of the address that was asked; null: nobody but us. */
export async function sellerEntry(context: Context, org_id: Id<'org'> | null): Promise<Subprocessor | null> {
  const { acrossOrgs } = context;
  const one = async (id: Id<'org'>) => (await findOrgs(acrossOrgs.db, [id])).get(id);
  if (org_id === null) {
    const seller = await sellerOf(context);
    const reseller = seller && (await one(seller.org_id));
    return reseller ? entryOf(seller.name, reseller.billing_country) : null;
  }
  const parent_id = (await one(org_id))?.parent_org_id ?? null;
  const reseller = parent_id === null ? undefined : await one(parent_id);
  return reseller === undefined
    ? null
    : entryOf(await nameOf(acrossOrgs, reseller), reseller.billing_country);
}

/** Who processes data of an organization, or (null) of whoever reads at the address that was asked: its reseller first. */
export async function processorsOf(context: Context, org_id: Id<'org'> | null): Promise<Subprocessor[]> {
  const seller = await sellerEntry(context, org_id);
  return [...(seller === null ? [] : [seller]), ...(await currentSubprocessors(context))];
}
