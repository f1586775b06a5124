// The records that a reseller publishes for its sender, and what follows from finding them. Pure.
import type { Found, MailSender } from './types.ts';

/** Of the key of a sender; there is one key at a time. */
export const SELECTOR = 'svc1';
/** Daily looks in a row that must miss a record before mails come from our own address again. */
const MISSES_MAX = 2;

interface SenderRecord {
  readonly type: 'TXT' | 'CNAME';
  readonly host: string;
  readonly value: string;
}

/** The record of the public half (RFC 6376 3.6.1). */
export function dkimRecord({ domain, public_key }: Pick<MailSender, 'domain' | 'public_key'>): SenderRecord {
  const value = `v=DKIM1; k=rsa; p=${public_key}`;
  return { type: 'TXT', host: `${SELECTOR}._domainkey.${domain}`, value };
}

/** The record by which mails that cannot be delivered come to us, and by which receivers let us send (SPF). */
export function returnRecord({
  domain,
  return_host,
}: Pick<MailSender, 'domain' | 'return_host'>): SenderRecord {
  return { type: 'CNAME', host: `bounce.${domain}`, value: return_host };
}

const bare = (text: string) => text.replaceAll(/\s+/g, '');

/** Whether one of the published texts is `wanted`; white space says nothing, because providers break long values. */
export function isTextPublished(wanted: string, texts: readonly string[]): boolean {
  return texts.some((text) => bare(text) === bare(wanted));
}

/** Whether one of the published names is `wanted`; case and a dot at the end say nothing. */
export function isNamePublished(wanted: string, names: readonly string[]): boolean {
  const key = (name: string) => name.toLowerCase().replace(/\.$/, '');
  return names.some((name) => key(name) === key(wanted));
}

/**
 * What a sender is after a look: verified as soon as both records are there; failed when it was verified and a record was
 * missing at two daily looks in a row. A look that a person asks for counts for neither.
 */
export function afterLook(
  before: Pick<MailSender, 'status' | 'misses'>,
  found: Found,
  is_daily: boolean,
): Pick<MailSender, 'status' | 'misses'> {
  if (found.dkim_found && found.return_found) return { status: 'verified', misses: 0 };
  if (before.status !== 'verified') return { status: before.status, misses: 0 };
  const misses = before.misses + (is_daily ? 1 : 0);
  return misses >= MISSES_MAX ? { status: 'failed', misses: 0 } : { status: 'verified', misses };
}
