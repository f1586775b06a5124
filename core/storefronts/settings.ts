// Where storefronts are in this installation.
import type { Config } from '../kernel/index.ts';

export interface StorefrontSettings {
  /** Domain below which each storefront has an address, and to which domains of resellers lead; null: no storefronts. */
  readonly base: string | null;
  /** Authority of the certificates of storefronts, as CAA records name it. */
  readonly ca: string;
  /** Whether we get certificates of proved domains by ourselves; absent: whatever is in front of us does. */
  readonly issues?: boolean;
  /** Hosts of the installation itself. */
  readonly own_hosts: readonly string[];
  /** `https:` or `http:`, and the port that stands in addresses: "", or a colon and a number. */
  readonly protocol: string;
  readonly port: string;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    readonly storefronts?: StorefrontSettings;
  }
}

const hostOf = (address: string) => new URL(address).hostname.toLowerCase();

/** The settings of a program that is reached at `base_url`, whose consoles are at `console_origins`. */
export function storefrontSettings(
  config: Pick<Config, 'storefront_base' | 'storefront_ca' | 'acme_directory_url'>,
  { base_url, console_origins }: { readonly base_url: string; readonly console_origins: readonly string[] },
): StorefrontSettings {
  const { protocol, port } = new URL(base_url);
  return {
    base: config.storefront_base,
    ca: config.storefront_ca ?? 'letsencrypt.org',
    issues: config.acme_directory_url !== null,
    own_hosts: [...new Set([base_url, ...console_origins].map(hostOf))],
    protocol,
    port: port === '' ? '' : `:${port}`,
  };
}

const nowhere: StorefrontSettings = {
  ...{ base: null, ca: 'letsencrypt.org', own_hosts: [], protocol: 'https:', port: '' },
};

/** Those of the process; a program that serves nobody has none. */
export function settingsOf(services: { readonly storefronts?: StorefrontSettings }): StorefrontSettings {
  return services.storefronts ?? nowhere;
}

/** The address of `host`, without a slash at its end. */
export function addressAt({ protocol, port }: StorefrontSettings, host: string): string {
  return `${protocol}//${host}${port}`;
}

/** Where the storefront of a reseller is that has no domain; null in an installation without storefronts. */
export function slugAddress(settings: StorefrontSettings, slug: string): string | null {
  return settings.base === null ? null : addressAt(settings, `${slug}.${settings.base}`);
}
