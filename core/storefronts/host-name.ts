// Hosts of requests, and the names that a reseller may take as a domain of its storefront. Pure.
import { isIP } from 'node:net';
import { type DomainName, readDomainName } from '../egress/index.ts';
import type { StorefrontSettings } from './settings.ts';

/** `_svc-storefront.` must fit before it into the 253 characters of a name. */
const LENGTH_MAX = 237;
const RECORD = '_svc-storefront';

/** Where the TXT record of `domain` stands. */
export function recordOf(domain: string): string {
  return `${RECORD}.${domain}`;
}

/** A `Host` as hosts are compared: lower case, without port and without a dot at the end. */
export function hostKey(host: string): string {
  const plain = host.trim().toLowerCase();
  // An IPv6 address stands in brackets, and has colons of its own.
  const bare = plain.startsWith('[') ? plain.slice(1).split(']', 1)[0] : plain.split(':', 1)[0];
  return (bare as string).replace(/\.$/, '');
}

/** The slug in `<slug>.<base>`; null for any other host. */
export function slugOf(host: string, base: string | null): string | null {
  if (base === null || !host.endsWith(`.${base}`)) return null;
  const slug = host.slice(0, -base.length - 1);
  return slug === '' || slug.includes('.') ? null : slug;
}

/** Names that only a machine, a cluster or a network of one's own knows: probes and neighbours ask there. */
const INSIDE = /^[^.]*$|\.(?:localhost|local|internal|svc)$/;

/** Whether `host` is an address of the installation itself: its public names, those inside a cluster, network addresses. */
export function isOwnHost(host: string, { own_hosts, base }: Pick<StorefrontSettings, 'own_hosts' | 'base'>) {
  if (slugOf(host, base) !== null) return false;
  return own_hosts.includes(host) || isIP(host) !== 0 || (host !== '' && INSIDE.test(host));
}

type ReadDomain = DomainName | { readonly fault: 'ours' };

/** `text` as a domain of a storefront; `ours`: a name of the installation, or one below its base. */
export function readDomain(text: string, settings: StorefrontSettings): ReadDomain {
  const plain = text.trim();
  const read = readDomainName(isIP(plain) === 0 ? plain.replace(/:\d{1,5}$/, '') : plain, LENGTH_MAX);
  if (read.fault !== null) return read;
  const { domain } = read;
  const { base } = settings;
  if (base !== null && (domain === base || domain.endsWith(`.${base}`))) return { fault: 'ours' };
  return settings.own_hosts.includes(domain) ? { fault: 'ours' } : read;
}
