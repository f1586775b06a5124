// Ids are template types, so that an id of the wrong kind does not compile. A request id is a ULID without a prefix.
import { monotonicFactory } from 'ulid';
import { nowMs } from './clock.ts';
import { secureUnit } from './random.ts';

/** Prefix of each kind of id. */
export const prefixes = {
  org: 'org',
  project: 'prj',
  key: 'key',
  byok: 'byok',
  endpoint: 'ep',
  price: 'pv',
  user: 'usr',
  topup: 'tup',
  refund: 'rfd',
  dispute: 'dsp',
  mandate: 'mnd',
  gift: 'gift',
  redemption: 'red',
  invoice: 'inv',
  credit_note: 'cn',
  lot: 'lot',
  event: 'evt',
  webhook: 'wh',
  session: 'ses',
  staff: 'stf',
  approval: 'apr',
  mail: 'mail',
  ticket: 'tkt',
  announcement: 'ann',
  invitation: 'ivt',
  scim_token: 'scim',
  group: 'grp',
  access_request: 'acr',
  waitlist_entry: 'wle',
  invite_code: 'ivc',
  data_subject_request: 'dsr',
  eval_suite: 'es',
  eval_run: 'er',
  org_export: 'oex',
  usage_view: 'uvw',
  tier: 'tier',
  allocation: 'alc',
} as const;

export type Kind = keyof typeof prefixes;
export type Id<K extends Kind> = `${(typeof prefixes)[K]}_${string}`;

declare const requestIdBrand: unique symbol;
/** A ULID of 26 characters, `^[0-9A-HJKMNP-TV-Z]{26}$`, that names one call in rows, headers and logs. */
export type RequestId = string & { readonly [requestIdBrand]: true };

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** The digits of Crockford's base 32: no letter can be taken for a figure. */
export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/**
 * When the clock goes back by less than this, it is being corrected and ids keep rising; by more, it was set back on
 * purpose.
 */
const PUT_BACK_MS = 60_000;
let next = monotonicFactory(secureUnit);
let latest_ms = 0;

/**
 * A new ULID. The ids of one process rise, also within a millisecond. When the clock is set back by more than a
 * minute (`svcctl dev clock reset`), they start again at the new present, because the time in an id decides which
 * budget window a call counts in.
 */
export function newUlid(): string {
  const ms = nowMs();
  if (ms < latest_ms - PUT_BACK_MS) {
    next = monotonicFactory(secureUnit);
    latest_ms = ms;
  }
  latest_ms = Math.max(latest_ms, ms);
  return next(ms);
}

/** A new id of `kind`: its prefix, `_`, a ULID. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return `${prefixes[kind]}_${newUlid()}` as Id<K>;
}

/** A new request id. */
export function newRequestId(): RequestId {
  return newUlid() as RequestId;
}

/** Whether `text` has the form of a request id. It does not mean that such a call exists. */
export function isRequestId(text: string): text is RequestId {
  return ULID.test(text);
}

/** Whether `text` has the form of an id of `kind`. */
export function isId<K extends Kind>(kind: K, text: string): text is Id<K> {
  const prefix = prefixes[kind];
  return text.startsWith(`${prefix}_`) && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text.slice(prefix.length + 1));
}

/** Milliseconds since the epoch, from the first ten characters of a ULID. */
export function ulidMs(ulid: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i++) ms = ms * 32 + CROCKFORD.indexOf(ulid[i] as string);
  return ms;
}

/** `n` as `length` Crockford base32 characters; of a larger number, its lowest bits. */
export function crockford(n: number, length: number): string {
  let text = '';
  let left = n;
  for (let i = 0; i < length; i++) {
    text = CROCKFORD[left % 32] + text;
    left = Math.floor(left / 32);
  }
  return text;
}

/** The first 26 Crockford characters of `digest`, which has at least 17 bytes: the stable part of an endpoint id. */
export function crockford26(digest: Uint8Array): string {
  let text = '';
  let acc = 0;
  let bits = 0;
  for (let i = 0; text.length < 26; i++) {
    acc = ((acc << 8) | (digest[i] as number)) & 0xffff;
    bits += 8;
    while (bits >= 5 && text.length < 26) {
      bits -= 5;
      text += CROCKFORD[(acc >> bits) & 31];
    }
  }
  return text;
}
