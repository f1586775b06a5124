// Storefronts on the wire, and the addresses in them.
import type { Id } from '../kernel/index.ts';
import { accentColors } from './color.ts';
import type { StorefrontSettings } from './settings.ts';
import { slugAddress } from './settings.ts';
import type { PublicStorefrontView, Storefront, StorefrontView } from './types.ts';

/** Path of a logo; its name is what it holds, so that it can be kept for ever. */
export function logoPath(sha256: string): string {
  return `/v1/storefront/logos/${sha256}`;
}

function logoAt(shop: Storefront, address: string | null): string | null {
  return shop.logo_sha256 === null ? null : (address ?? '') + logoPath(shop.logo_sha256);
}

/** What everybody may see of a storefront that is at `address`. */
export function viewPublic(shop: Storefront, address: string | null): PublicStorefrontView {
  const { display_name, primary_color, support_email, support_url, terms_url } = shop;
  const { registration, display_currency, locale } = shop;
  return {
    ...{ display_name, logo_url: logoAt(shop, address), primary_color, ...accentColors(primary_color) },
    ...{ support_email, support_url, terms_url, registration, display_currency, locale },
  };
}

/** What the people of the reseller see. */
export function viewOwn(
  shop: Storefront,
  at: { settings: StorefrontSettings; slug: string; default_tier_id: Id<'tier'> | null },
): StorefrontView {
  const address = slugAddress(at.settings, at.slug);
  return {
    reseller_id: shop.org_id,
    ...viewPublic(shop, address),
    ...{ logo_url: shop.logo_url, logo_address: logoAt(shop, address), address },
    ...{ default_tier_id: at.default_tier_id, updated_at: shop.updated_at?.toISOString() ?? null },
  };
}
