// Verifies the signature of a mail (RFC 6376) with nothing but the mail and what is published for its key.
import { createHash, createPublicKey, verify } from 'node:crypto';

/** What a valid signature says: who signed, and which headers it holds. */
interface Signed {
  readonly domain: string;
  readonly selector: string;
  readonly headers: readonly string[];
}

function tagsOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(';').flatMap((part) => {
    const at = part.indexOf('=');
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).replaceAll(/\s+/g, '')] as const];
  });
  return new Map(pairs);
}

/** 3.4.2: name in lower case, folding undone, runs of white space one space. */
function relaxedHeader(line: string): string {
  const at = line.indexOf(':');
  const value = line
    .slice(at + 1)
    .replaceAll(/\r\n/g, '')
    .replaceAll(/[ \t]+/g, ' ');
  return `${line.slice(0, at).trim().toLowerCase()}:${value.trim()}`;
}

/** 3.4.4: white space as in headers, none at the end of a line, no empty lines at the end. */
function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replaceAll(/[ \t]+/g, ' ').replace(/ $/, ''));
  while (lines.at(-1) === '') lines.pop();
  return lines.length === 0 ? '' : `${lines.join('\r\n')}\r\n`;
}

/** The lines that `names` say, each from the last one up (5.4.2). */
function chosen(lines: readonly string[], names: readonly string[]): string[] {
  const left = [...lines];
  return names.flatMap((name) => {
    const at = left.findLastIndex((line) => line.toLowerCase().startsWith(`${name}:`));
    return at < 0 ? [] : left.splice(at, 1);
  });
}

/**
 * The signature of `raw`, latin1, that its key verifies; null without a valid one. `lookup` returns the TXT record of a name.
 */
export function verifiedSignature(raw: string, lookup: (name: string) => string | undefined): Signed | null {
  const at = raw.indexOf('\r\n\r\n');
  const lines = raw.slice(0, at).split(/\r\n(?![ \t])/);
  const signature = lines.find((line) => /^dkim-signature:/i.test(line));
  if (signature === undefined) return null;
  const tags = tagsOf(signature.slice(signature.indexOf(':') + 1));
  const tag = (name: string) => tags.get(name) ?? '';
  if (tag('v') !== '1' || tag('a') !== 'rsa-sha256' || tag('c') !== 'relaxed/relaxed' || tags.has('l'))
    return null;
  const body = Buffer.from(relaxedBody(raw.slice(at + 4)), 'latin1');
  if (createHash('sha256').update(body).digest('base64') !== tag('bh')) return null;
  const record = tagsOf(lookup(`${tag('s')}._domainkey.${tag('d')}`) ?? '');
  const published = record.get('p') ?? '';
  // An empty key is one that was revoked (3.6.1).
  if (record.get('v') !== 'DKIM1' || record.get('k') !== 'rsa' || published === '') return null;
  const key = createPublicKey({
    key: Buffer.from(published, 'base64'),
    format: 'der',
    type: 'spki',
  });
  const headers = tag('h').toLowerCase().split(':');
  const bare = relaxedHeader(signature.replace(/([;\s]b=)[^;]*/, '$1'));
  const text = [...chosen(lines, headers).map(relaxedHeader), bare].join('\r\n');
  const is_valid = verify('sha256', Buffer.from(text, 'latin1'), key, Buffer.from(tag('b'), 'base64'));
  return is_valid ? { domain: tag('d'), selector: tag('s'), headers } : null;
}
