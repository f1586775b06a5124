// What stands around a mail to a customer of a reseller: the storefront's name, looks and addresses, and nothing of ours.
import type { Db } from '../kernel/index.ts';
import type { Surroundings } from '../mail/index.ts';
import { addressAt, type StorefrontSettings, slugAddress } from './settings.ts';
import { findStorefrontOf, type Placed } from './store.ts';
import { viewPublic } from './view.ts';

/** Where a storefront is: at its first domain, else below the base; null in an installation without storefronts. */
export function addressOf({ domain, slug }: Placed, settings: StorefrontSettings): string | null {
  if (settings.base === null) return null;
  return domain === null ? slugAddress(settings, slug) : addressAt(settings, domain);
}

/** What stands around `mail`: `ours` for everybody who is no customer of a reseller with a storefront. */
export async function surroundingsOf(
  db: Db,
  mail: {
    readonly org_id: string | null;
    readonly recipient_key: string;
    readonly data: Readonly<Record<string, unknown>>;
  },
  { settings, ours }: { settings: StorefrontSettings; ours: Surroundings },
): Promise<Surroundings> {
  const { seller_id } = mail.data;
  const reader = {
    ...{ org_id: mail.org_id, email_key: mail.recipient_key },
    seller_id: typeof seller_id === 'string' ? seller_id : null,
  };
  const shop = await findStorefrontOf(db, reader);
  const address = shop === null ? null : addressOf(shop, settings);
  if (shop === null || address === null) return ours;
  const { logo_url, accent_light, accent_dark } = viewPublic(shop, address);
  const support = [shop.support_email, shop.support_url].filter((one) => one !== null);
  return {
    ...{ console_url: address, product: shop.display_name },
    look: { logo_url, accent_light, accent_dark, support, own_hosts: settings.own_hosts },
  };
}
