// Session tokens, the cookie that carries one, and the CSRF token that goes with it (docs/sign-in.md#sessions).
import {
  deriveKey,
  deriveKeys,
  equalBytes,
  hmacSha256,
  type RootKeyRing,
  secureBytes,
  sha256,
} from '../../kernel/index.ts';

export const SESSION_PREFIX = 'svc-sess-';
const STAFF_PREFIX = 'svc-staff-';
const MFA_PREFIX = 'svc-mfa-';
const INVITATION_PREFIX = 'svc-inv-';
const RANDOM = /^[A-Za-z0-9_-]{43}$/;

type TokenKind = 'session' | 'staff' | 'mfa' | 'invitation' | 'verification' | 'reset' | 'activation';

const prefixOf: Readonly<Record<TokenKind, string>> = {
  session: SESSION_PREFIX,
  staff: STAFF_PREFIX,
  mfa: MFA_PREFIX,
  invitation: INVITATION_PREFIX,
  verification: 'svc-ver-',
  reset: 'svc-rst-',
  activation: 'svc-act-',
};

/** A fresh token with 256 random bits. */
export function newToken(kind: TokenKind): string {
  return prefixOf[kind] + secureBytes(32).toString('base64url');
}

/** Whether `text` has the form of a token of `kind`; says nothing about whether it is in force. */
export function hasTokenForm(kind: TokenKind, text: string): boolean {
  const prefix = prefixOf[kind];
  return text.startsWith(prefix) && RANDOM.test(text.slice(prefix.length));
}

/** What is stored of a token: SHA-256 of the whole. Its entropy needs no pepper. */
export function hashToken(token: string): Buffer {
  return sha256(token);
}

/** base64url(HMAC-SHA256(`key`, `session_id`)): what pages send as `x-svc-csrf`. */
export function csrfOf(key: string | Uint8Array, session_id: string): string {
  return hmacSha256(key, session_id).toString('base64url');
}

/** The CSRF token of a session, under the current key of the ring. */
export function csrfToken(root_key: RootKeyRing, session_id: string): string {
  return csrfOf(deriveKey(root_key, 'csrf'), session_id);
}

/** Whether `given` is the CSRF token of the session, under any key of the ring; constant time. */
export function checkCsrf(root_key: RootKeyRing, session_id: string, given: string | null): boolean {
  if (given === null) return false;
  const bytes = Buffer.from(given);
  return deriveKeys(root_key, 'csrf').some((key) => equalBytes(Buffer.from(csrfOf(key, session_id)), bytes));
}

/** How cookies are named and marked at an address. */
export interface CookiePolicy {
  readonly session: string;
  readonly staff: string;
  /** Of a browser that went to an identity provider and has not come back. */
  readonly flow: string;
  /** Of a browser that somebody has signed in with. */
  readonly device: string;
  readonly secure: boolean;
}

/** With `secure` the names bind the cookie to this host over https (`__Host-`); without, plain names. */
export function cookiePolicy(secure: boolean): CookiePolicy {
  const prefix = secure ? '__Host-' : '';
  return {
    session: `${prefix}svc_session`,
    staff: `${prefix}svc_staff`,
    flow: `${prefix}svc_sso`,
    device: `${prefix}svc_device`,
    secure,
  };
}

function cookie(policy: CookiePolicy, name: string, value: string, more: string): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${policy.secure ? '; Secure' : ''}${more}`;
}

/** The value of `set-cookie` that hands over `token`, kept by the browser for `max_age_seconds`. */
export function sessionCookie(
  policy: CookiePolicy,
  who: 'session' | 'staff',
  token: string,
  max_age_seconds: number,
): string {
  return cookie(policy, policy[who], token, `; Max-Age=${Math.max(0, Math.round(max_age_seconds))}`);
}

/** The value of `set-cookie` that ties a sign-in at an identity provider to the browser that began it. */
export function flowCookie(policy: CookiePolicy, token: string, max_age_seconds: number): string {
  return cookie(policy, policy.flow, token, `; Max-Age=${max_age_seconds}`);
}

/** The value of `set-cookie` that makes a browser known at the next sign-in. */
export function deviceCookie(policy: CookiePolicy, value: string, max_age_seconds: number): string {
  return cookie(policy, policy.device, value, `; Max-Age=${max_age_seconds}`);
}

/** The value of `set-cookie` that takes the cookie away. */
export function clearedCookie(policy: CookiePolicy, who: 'session' | 'staff' | 'flow'): string {
  return cookie(policy, policy[who], '', '; Max-Age=0');
}

/** The values of cookie `name` in a `cookie` header; more than one when it was sent more than once. */
export function readCookie(header: string | undefined, name: string): string[] {
  if (header === undefined) return [];
  return header.split(';').flatMap((part) => {
    const at = part.indexOf('=');
    return at > 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : [];
  });
}
