import { expect, test } from 'vitest';
import type { OrgKeys, OwnKey } from '../../byok/index.ts';
import type { Endpoint, Provider } from '../../catalog/index.ts';
import { type Id, silentLog } from '../../kernel/index.ts';
import { endpoint } from '../../routing/test-kit.ts';
import { builtIn } from '../formats/index.ts';
import { createOwnKeys } from './own-keys.ts';

const NOW = 1_000_000;
const at = endpoint('host', { byok: { price: { ...endpoint('host').price, fee_bps: 500 }, tiers: {} } });

function key(id: string, secret: string | null, fallback_to_pool = false): OwnKey {
  const byok: Id<'byok'> = `byok_${id}`;
  return { id: byok, provider_id: 'host', hint: '...', fallback_to_pool, secret: () => secret };
}
const keysOf = (...keys: OwnKey[]): OrgKeys => new Map([['host', keys]]);

function ring(kind: Provider['kind'] = 'openai') {
  let provider = { id: 'host', kind } as Provider;
  const book = { keysOf: () => new Map(), used() {} };
  const own = createOwnKeys(builtIn.kinds, book, () => new Map([['host', provider]]), silentLog);
  const uses = (keys: OrgKeys, now_ms = NOW, where: Endpoint = at) =>
    own.usesOf(keys, now_ms)?.of(where) ?? [];
  const become = (next: Provider['kind']) => {
    provider = { id: 'host', kind: next } as Provider;
  };
  return { own, uses, become };
}

test('nobody without keys pays for more than a look, and an endpoint without a key of its provider has no use', () => {
  const { own, uses } = ring();
  expect(own.usesOf(new Map(), NOW)).toBeUndefined();
  expect(uses(keysOf(key('a', 'sk-0123456789')), NOW, endpoint('other'))).toEqual([]);
});

test('an endpoint is called with its key, at the price of such calls; the endpoint itself stays as it was', () => {
  const { own, uses } = ring();
  const keys = keysOf(key('a', 'sk-0123456789'));
  const [use] = uses(keys);
  const called = use?.endpoint as Endpoint;
  expect([called.own_key?.id, called.price.fee_bps, use?.rest_ms]).toEqual(['byok_a', 500, 0]);
  expect(own.credentialOf(called)?.headers).toEqual(['authorization', 'Bearer sk-0123456789']);
  // Also at the price of a tier, which makes another object of it.
  expect(own.credentialOf({ ...called, price: at.price })?.headers).toEqual([
    'authorization',
    'Bearer sk-0123456789',
  ]);
  expect([at.own_key, own.credentialOf(at)]).toEqual([undefined, null]);
  expect(uses(keys)[0]?.endpoint).toBe(called);
  expect(JSON.stringify(called)).not.toContain('0123456789');
});

test('a key is read anew when its provider speaks another format', () => {
  const { own, uses, become } = ring();
  const keys = keysOf(key('a', 'sk-0123456789'));
  uses(keys);
  become('anthropic');
  const called = uses(keys)[0]?.endpoint as Endpoint;
  expect(own.credentialOf(called)?.headers).toEqual(['x-api-key', 'sk-0123456789']);
});

test.each([
  ['cannot be opened', 'openai', null],
  ['is no key of the provider', 'bedrock', 'AKIA:'],
] as const)('a key that %s is never called with, and is not the same as none', (_why, kind, secret) => {
  const { own, uses } = ring(kind);
  const [use] = uses(keysOf(key('a', secret)));
  expect(use?.rest_ms).toBeGreaterThan(0);
  expect(use?.endpoint.own_key?.fallback_to_pool).toBe(false);
  expect(own.credentialOf(use?.endpoint as Endpoint)).toBeNull();
});

test('a throttled key rests at its endpoint, for as long as the provider says, else for five seconds, and at most for ten minutes', () => {
  const { own, uses } = ring();
  const [keys, others] = [keysOf(key('a', 'sk-one-0123456789')), keysOf(key('b', 'sk-two-0123456789'))];
  const called = uses(keys)[0]?.endpoint as Endpoint;
  const rest = (of: OrgKeys, now_ms: number, where = at) => uses(of, now_ms, where)[0]?.rest_ms;
  for (const [reported, ms] of [
    [undefined, 5_000],
    [30_000, 30_000],
    [9_999_999, 600_000],
  ] as const) {
    own.report(called, 'rate_limit', reported, NOW);
    expect([rest(keys, NOW), rest(keys, NOW + ms), own.restMs(called, NOW)]).toEqual([ms, 0, ms]);
  }
  expect([rest(keys, NOW, { ...at, id: 'ep_sibling' }), rest(others, NOW)]).toEqual([0, 0]);
});

test('a refused key rests for a minute where the pool may answer, and is tried last where it may not', () => {
  const { own, uses } = ring();
  const loose = keysOf(key('a', 'sk-one-0123456789', true));
  own.report(uses(loose)[0]?.endpoint as Endpoint, 'auth', undefined, NOW);
  expect([uses(loose)[0]?.rest_ms, uses(loose, NOW + 60_000)[0]?.rest_ms]).toEqual([60_000, 0]);
  const strict = keysOf(key('b', 'sk-two-0123456789'), key('c', 'sk-three-0123456789'));
  own.report(uses(strict)[0]?.endpoint as Endpoint, 'quota', undefined, NOW);
  expect(uses(strict).map((use) => [use.endpoint.own_key?.id, use.rest_ms])).toEqual([
    ['byok_c', 0],
    ['byok_b', 0],
  ]);
  // Another secret under the same id is another key.
  expect(uses(keysOf(key('a', 'sk-new-0123456789', true)))[0]?.rest_ms).toBe(0);
});

test('rests of ten thousand keys and endpoints are remembered and no more', () => {
  const { own, uses } = ring();
  const called = uses(keysOf(key('a', 'sk-0123456789')))[0]?.endpoint as Endpoint;
  for (let i = 0; i < 10_050; i++) own.report({ ...called, id: `ep_${i}` }, 'rate_limit', 1, NOW + i * 2);
  own.report(called, 'rate_limit', 5_000, NOW + 30_000);
  expect(own.restMs(called, NOW + 30_000)).toBe(5_000);
});

test('what a provider repeats of the key is hidden, whole and in the parts that mean something alone', () => {
  const { own, uses } = ring('bedrock');
  const called = uses(keysOf(key('a', 'AKIAPLANTED00000:very/secret+one:token')))[0]?.endpoint as Endpoint;
  expect(own.hide(called, 'no AKIAPLANTED00000 with very/secret+one, twice very/secret+one')).toBe(
    'no [redacted] with [redacted], twice [redacted]',
  );
  expect(own.hide(at, 'as it is')).toBe('as it is');
});
