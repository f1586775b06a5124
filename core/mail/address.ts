// E-mail addresses as identities: kept as typed, compared in one form (docs/sign-in.md#passwords).
import { domainToASCII } from 'node:url';
import { invalid } from '../kernel/index.ts';

const LENGTH_MAX = 254;
const LOCAL = /^[^\s@"(),:;<>[\\\]\u0000-\u001f\u007f]{1,64}$/;

/**
 * The form in which addresses are compared: lower case (ASCII), domain in its IDNA form; null for text that is no
 * address.
 */
export function emailKey(email: string): string | null {
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  // The conversion leaves line ends and tabs out, and the address as it was typed would keep them.
  if (/[\u0000-\u0020\u007f]/.test(email)) return null;
  const domain = domainToASCII(email.slice(at + 1)).toLowerCase();
  if (at < 1 || !LOCAL.test(local) || !/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(domain)) return null;
  const key = `${local.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}@${domain}`;
  return key.length > LENGTH_MAX || email.length > LENGTH_MAX ? null : key;
}

/** As `emailKey`. @throws ServiceError invalid_request for text that is no address. */
export function getEmailKey(email: string): string {
  const key = emailKey(email);
  if (key === null) throw invalid('email', 'format', 'This is not an e-mail address.');
  return key;
}

/** Whether two addresses name one person. */
export function isSamePerson(a: string, b: string): boolean {
  const key = emailKey(a);
  return key !== null && key === emailKey(b);
}
