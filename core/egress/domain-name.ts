// Names that an organization may say are its own: a mail domain, the address of a storefront. Pure.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Why a name is none: nobody can own it alone, or it is no name. */
type NameFault = 'wildcard' | 'address' | 'shared' | 'form';

/** A name as names are compared, and the part of it that its owner registered. */
export type DomainName =
  | { readonly fault: null; readonly domain: string; readonly registered: string }
  | { readonly fault: NameFault };

/**
 * `text` in lower case and its ASCII form, without a dot at the end, of at most `length_max` characters. `shared`: a public
 * suffix alone (`co.uk`, `github.io`).
 */
export function readDomainName(text: string, length_max: number): DomainName {
  const name = text.trim().replace(/\.$/, '');
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return { fault: 'address' };
  if (name.includes('*')) return { fault: 'wildcard' };
  // A list of its own refuses what the conversion would let through or cut: ports, paths, user names.
  if (/[\s/\\?#@:%[\]_]/.test(name)) return { fault: 'form' };
  const domain = domainToASCII(name).toLowerCase();
  if (domain === '' || domain.length > length_max) return { fault: 'form' };
  if (!domain.includes('.') || !domain.split('.').every((label) => LABEL.test(label))) {
    return { fault: 'form' };
  }
  const { isIp, domain: registered } = parse(domain, { allowPrivateDomains: true });
  // The conversion reads 0x7f.1 as the address that it is.
  if (isIp === true) return { fault: 'address' };
  return registered === null ? { fault: 'shared' } : { fault: null, domain, registered };
}
