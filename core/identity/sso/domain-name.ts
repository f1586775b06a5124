// Which names an organization may claim as its mail domain. Pure.
import { domainToASCII } from 'node:url';
import { parse } from 'tldts';

/** `_svc-challenge.` must fit before it into the 253 characters of a name. */
const LENGTH_MAX = 238;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** The part of a domain's name under which its TXT record stands. */
const CHALLENGE = '_svc-challenge';

/**
 * `text` as domains are compared (lower case, ASCII form, no dot at the end); null for what nobody can own alone:
 * a public suffix (`co.uk`, `github.io`), an address, a name without a dot.
 */
export function domainKey(text: string): string | null {
  const name = text.trim().replace(/\.$/, '');
  // A list of its own refuses what the conversion would let through or cut: ports, paths, user names.
  if (/[\s/\\?#@:%[\]_]/.test(name)) return null;
  const domain = domainToASCII(name).toLowerCase();
  if (domain === '' || domain.length > LENGTH_MAX) return null;
  if (!domain.includes('.') || !domain.split('.').every((label) => LABEL.test(label))) return null;
  const { isIp, domain: registered } = parse(domain, { allowPrivateDomains: true });
  return isIp === true || registered === null ? null : domain;
}

/** Where the TXT record of `domain` stands. */
export function recordOf(domain: string): string {
  return `${CHALLENGE}.${domain}`;
}

/** The domain of an address in the form of `emailKey`. */
export function domainOf(email_key: string): string {
  return email_key.slice(email_key.lastIndexOf('@') + 1);
}
