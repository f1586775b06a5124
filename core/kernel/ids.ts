// Ids are template types, so that a wrong kind does not compile. A request id is a bare ULID.
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
  gift: 'gift',
  invoice: 'inv',
  lot: 'lot',
  event: 'evt',
  webhook: 'wh',
  session: 'ses',
  staff: 'stf',
} as const;

export type Kind = keyof typeof prefixes;
export type Id<K extends Kind> = `${(typeof prefixes)[K]}_${string}`;

declare const requestIdBrand: unique symbol;
/** A ULID of 26 characters, `^[0-9A-HJKMNP-TV-Z]{26}$`; names one call everywhere. */
export type RequestId = string & { readonly [requestIdBrand]: true };

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** A clock that falls by less than this is being corrected, and ids go on rising; by more, it was put back. */
const PUT_BACK_MS = 60_000;
let next = monotonicFactory(secureUnit);
let latest_ms = 0;

/**
 * A fresh ULID. Ids of one process rise, within a millisecond too, until the clock is put back by more than a minute
 * (`svcctl dev clock reset`): from then on they rise from the new present, because the time that an id carries decides
 * in which budget window a call counts.
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

/** A fresh id of `kind`: its prefix, `_`, a ULID. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return `${prefixes[kind]}_${newUlid()}` as Id<K>;
}

/** A fresh request id. */
export function newRequestId(): RequestId {
  return newUlid() as RequestId;
}

/** Whether `text` has the shape of a request id; says nothing about whether such a call exists. */
export function isRequestId(text: string): text is RequestId {
  return ULID.test(text);
}

/** Whether `text` has the shape of an id of `kind`. */
export function isId<K extends Kind>(kind: K, text: string): text is Id<K> {
  const prefix = prefixes[kind];
  return text.startsWith(`${prefix}_`) && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text.slice(prefix.length + 1));
}

/** The milliseconds since the epoch that a ULID carries in its first ten characters. */
export function ulidMs(ulid: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i++) ms = ms * 32 + ALPHABET.indexOf(ulid[i] as string);
  return ms;
}

/** `n` as so many Crockford characters, the lowest bits where it has more. */
export function crockford(n: number, length: number): string {
  let text = '';
  let left = n;
  for (let i = 0; i < length; i++) {
    text = ALPHABET[left % 32] + text;
    left = Math.floor(left / 32);
  }
  return text;
}

/** 26 Crockford characters of `digest` (at least 17 bytes): the stable part of an endpoint id. */
export function crockford26(digest: Uint8Array): string {
  let text = '';
  let acc = 0;
  let bits = 0;
  for (let i = 0; text.length < 26; i++) {
    acc = ((acc << 8) | (digest[i] as number)) & 0xffff;
    bits += 8;
    while (bits >= 5 && text.length < 26) {
      bits -= 5;
      text += ALPHABET[(acc >> bits) & 31];
    }
  }
  return text;
}
