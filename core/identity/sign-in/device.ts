// The browser of an earlier sign-in, known by a signed cookie (docs/sign-in.md#known-devices). Its attempts are counted apart,
// so that whoever fills the count of an account from elsewhere does not lock its owner out.
import {
  type Context,
  deriveKey,
  deriveKeys,
  equalBytes,
  hmacSha256,
  secureBytes,
} from '../../kernel/index.ts';
import { deviceCookie, readCookie } from '../sessions/token.ts';
import type { Person } from '../types.ts';

const KEPT_DAYS = 180;
const DAY_S = 86_400;
/** Random part, second of the sign-in, signature. */
const FORM = /^([A-Za-z0-9_-]{22})\.([0-9]{1,12})\.([A-Za-z0-9_-]{43})$/;

/** Whose device it is. The hash is signed with it: a change of the password ends what every device had. */
export type DeviceOwner = Pick<Person, 'id' | 'password_hash'>;

function nowSeconds(context: Context): number {
  return Math.floor(context.now().getTime() / 1_000);
}

function signatureOf(key: Uint8Array, owner: DeviceOwner, signed: string): string {
  return hmacSha256(key, `${owner.id} ${signed} ${owner.password_hash}`).toString('base64url');
}

/** The random part of the caller's cookie where `owner` has signed in with it; null for every other cookie, and for none. */
export function knownDevice(context: Context, owner: DeviceOwner): string | null {
  const { device } = context.services.sign_in.cookies;
  const keys = deriveKeys(context.services.root_key, 'device');
  for (const value of readCookie(context.requestHeader('cookie') ?? undefined, device)) {
    const [, id = '', since = '', signature = ''] = FORM.exec(value) ?? [];
    const given = Buffer.from(signature);
    const isOurs = (key: Uint8Array) =>
      equalBytes(given, Buffer.from(signatureOf(key, owner, `${id}.${since}`)));
    if (!keys.some(isOurs)) continue;
    const age_s = nowSeconds(context) - Number(since);
    if (age_s <= KEPT_DAYS * DAY_S) return id;
  }
  return null;
}

/** Makes the caller's browser known for `owner`, who has signed in there. One that was known keeps its count. */
export function rememberDevice(context: Context, owner: DeviceOwner): void {
  const id = knownDevice(context, owner) ?? secureBytes(16).toString('base64url');
  const signed = `${id}.${nowSeconds(context)}`;
  const key = deriveKey(context.services.root_key, 'device');
  const value = `${signed}.${signatureOf(key, owner, signed)}`;
  context.header('set-cookie', deviceCookie(context.services.sign_in.cookies, value, KEPT_DAYS * DAY_S));
}
