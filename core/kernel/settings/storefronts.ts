// Settings of storefronts: the addresses at which resellers serve their customers (docs/resellers/storefront.md).
import { domainName } from '../config-values.ts';
import { setting } from './setting.ts';

export const storefrontSettings = {
  storefront_base: setting<string | null>(
    'SVC_STOREFRONT_BASE',
    'domain below which each reseller has an address, <slug>.<base>, and to which domains of resellers lead; unset: no storefronts',
    null,
    domainName,
  ),
  storefront_ca: setting<string | null>(
    'SVC_STOREFRONT_CA',
    'authority that issues the certificates of storefronts, as CAA records name it',
    'letsencrypt.org',
    domainName,
  ),
} as const;
