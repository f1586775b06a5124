// Which names an organization may claim as its mail domain. Pure.
import { readDomainName } from '../../egress/index.ts';

/** `_svc-challenge.` must fit before it into the 253 characters of a name. */
const LENGTH_MAX = 238;
/** The part of a domain's name under which its TXT record stands. */
const CHALLENGE = '_svc-challenge';

/**
 * `text` as domains are compared (lower case, ASCII form, no dot at the end); null for what nobody can own alone:
 * a public suffix (`co.uk`, `github.io`), an address, a name without a dot.
 */
export function domainKey(text: string): string | null {
  const read = readDomainName(text, LENGTH_MAX);
  return read.fault === null ? read.domain : null;
}

/** Where the TXT record of `domain` stands. */
export function recordOf(domain: string): string {
  return `${CHALLENGE}.${domain}`;
}

/** The domain of an address in the form of `emailKey`. */
export function domainOf(email_key: string): string {
  return email_key.slice(email_key.lastIndexOf('@') + 1);
}
