// How the text of a setting becomes its value. Each parser throws a RangeError that says what was expected.
import { isIP } from 'node:net';

export type Parse<T> = (text: string) => T;

/** Any text. */
export const text: Parse<string> = (t) => t;
/** Any text; empty is unset. */
export const optional: Parse<string | null> = (t) => (t === '' ? null : t);
/** An address without its trailing slash, because paths are appended to it. */
export const address: Parse<string | null> = (t) => {
  if (t === '') return null;
  if (!/^https?:\/\/[^/]/.test(t) || !URL.canParse(t))
    throw new RangeError('expected an address of http or https');
  return t.replace(/\/+$/, '');
};
/** An integer from `min` to `max`. */
export const count =
  (min: number, max: number): Parse<number> =>
  (t) => {
    const n = Number(t);
    if (!/^\d+$/.test(t) || n < min || n > max)
      throw new RangeError(`expected an integer from ${min} to ${max}`);
    return n;
  };
/** Items with commas between, each of which `isValid` accepts. */
export const list =
  (isValid: (item: string) => boolean, expected: string): Parse<readonly string[] | null> =>
  (t) => {
    const items = t.split(',').map((item) => item.trim());
    const wrong = items.find((item) => !isValid(item));
    if (wrong !== undefined) throw new RangeError(`expected ${expected}`);
    return items;
  };
/** Whether `text` is an origin, without a path. */
export const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;
/** An address of http or https. */
export const httpUrl: Parse<string | null> = (t) => {
  if (!URL.canParse(t) || !/^https?:$/.test(new URL(t).protocol))
    throw new RangeError('expected an http(s) address');
  return t;
};
/** An address of ClickHouse with the name of a database, which may hold credentials. */
export const analyticsUrl: Parse<string | null> = (t) => {
  if (t === '') return null;
  if (!URL.canParse(t) || !/^https?:\/\/[^/]+\/\w+$/.test(t))
    throw new RangeError('expected http(s)://user:password@host:port/database');
  return t;
};
/** An address of a mail server. */
export const smtpUrl: Parse<string | null> = (t) => {
  if (!URL.canParse(t) || !/^smtps?:$/.test(new URL(t).protocol) || new URL(t).hostname === '')
    throw new RangeError('expected smtp://host:port or smtps://host:port');
  return t;
};
/** `Name <address>` or an address; nothing that could begin another header. */
export const mailFrom: Parse<string | null> = (t) => {
  if (!/^(?:[^<>@",;\p{Cc}]{1,80} )?<?[^<>@\s",;\p{Cc}]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+>?$/iu.test(t))
    throw new RangeError('expected an address, or Name <address>');
  return t;
};
/** A domain in lower case. */
export const domainName: Parse<string | null> = (t) => {
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(t)) throw new RangeError('expected a domain in lower case');
  return t;
};
/** Whether `text` is an address or a network like 10.0.0.0/8. */
export const isNetwork = (text: string) => {
  const [address = '', bits, more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
};
/** Whether `text` is the address of a name server, with or without a port. */
export const isNameServer = (text: string) => {
  const [, bracketed, bare] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(text) !== 0 || isIP(bracketed ?? '') === 6 || isIP(bare ?? '') === 4;
};
/** 1, 0, true or false. */
export const flag: Parse<boolean> = (t) => {
  if (t === '1' || t === 'true') return true;
  if (t === '0' || t === 'false' || t === '') return false;
  throw new RangeError('expected 1, 0, true or false');
};

/** One of `words`. */
export const oneOf =
  <T extends string>(words: readonly T[]): Parse<T> =>
  (t) => {
    const found = words.find((word) => word === t);
    if (found === undefined) throw new RangeError(`expected ${words.join(', ')}`);
    return found;
  };

export const SHARD_NAME = /^[a-z][a-z0-9_]{0,39}$/;
/** A shard, or a further place of one: its name, a dot, and what tells the place from others. `main` is nowhere else. */
const LISTED = /^(?!main(?:\.|$))[a-z][a-z0-9_]{0,39}(?:\.[a-z0-9_]{1,20})?$/;
/** Entries `name=address`, separated by white space, because any other character may occur in an address. */
export const shardList: Parse<readonly { readonly name: string; readonly url: string }[]> = (t) =>
  t
    .trim()
    .split(/\s+/)
    .map((item) => {
      const at = item.indexOf('=');
      const [name, url] = [item.slice(0, at), item.slice(at + 1)];
      if (!LISTED.test(name) || !/^postgres(ql)?:$/.test(protocolOf(url)))
        throw new RangeError('expected name=postgres://… with spaces between, no name `main`');
      return { name, url };
    });
const protocolOf = (url: string) => (URL.canParse(url) ? new URL(url).protocol : '');
