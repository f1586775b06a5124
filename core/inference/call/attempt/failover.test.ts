// Which endpoint comes next, with the real pool of keys: the resting ones last.

import { expect, test } from 'vitest';
import { silentLog } from '../../../kernel/index.ts';
import { endpoint } from '../../../routing/test-kit.ts';
import type { FaultClass } from '../../canonical/types.ts';
import { builtIn } from '../../formats/index.ts';
import { createCredentials } from '../../upstream/credentials.ts';
import { createOwnKeys } from '../../upstream/own-keys.ts';
import { processClock } from '../clock.ts';
import type { CallDeps } from '../types.ts';
import { nextPlace, Tries, throttleMs } from './failover.ts';

const keys: Record<string, string[]> = { one: ['k1'], two: ['k1', 'k2'], other: ['k1'] };

function pool() {
  const credentials = createCredentials(builtIn.kinds, (provider) => keys[provider.id] ?? []);
  const providers = new Map(
    Object.keys(keys).map((id) => [id, { id, kind: 'openai', api_key_env: ['X'], api_key_file: [] }]),
  );
  const provider = (at: { provider: string }) => providers.get(at.provider) as never;
  const none = { keysOf: () => new Map(), used() {} };
  const own_keys = createOwnKeys(builtIn.kinds, none, () => new Map(), silentLog);
  const deps: Pick<CallDeps, 'credentials' | 'provider' | 'own_keys' | 'clock'> = {
    ...{ credentials, provider, own_keys },
    clock: processClock,
  };
  const used = (name: string, fault: FaultClass, wait_ms: number | undefined, now: number, at = name) => {
    const handle = credentials.take(provider({ provider: name }), now)?.handle as string;
    credentials.report(handle, fault, wait_ms, now, `ep_${at}`);
  };
  return { deps, used };
}

test('an endpoint is throttled once each key of its pool is, for as long as the first of them', () => {
  const { deps, used } = pool();
  const two = endpoint('two');
  used('two', 'rate_limit', 9_000, 1_000);
  expect(throttleMs(deps, two, 1_000)).toBe(0);
  used('two', 'rate_limit', 4_000, 1_000);
  expect(throttleMs(deps, two, 1_000)).toBe(4_000);
  expect(throttleMs(deps, two, 4_999)).toBe(1);
  expect(throttleMs(deps, two, 5_000)).toBe(0);
  expect(throttleMs(deps, two, 20_000)).toBe(0);
});

test('a key is throttled at the endpoint that said so, for five seconds if it does not say, ten minutes at most', () => {
  const { deps, used } = pool();
  used('one', 'rate_limit', undefined, 1_000);
  expect(throttleMs(deps, endpoint('one'), 1_000)).toBe(5_000);
  expect(throttleMs(deps, { ...endpoint('one'), id: 'ep_sibling' }, 1_000)).toBe(0);
  used('other', 'rate_limit', 86_400_000, 1_000);
  expect(throttleMs(deps, endpoint('other'), 1_000)).toBe(600_000);
});

test('a parked key is none to wait for: with the other one throttled the endpoint rests', () => {
  const { deps, used } = pool();
  used('two', 'auth', undefined, 1_000);
  expect(throttleMs(deps, endpoint('two'), 1_000)).toBe(0);
  used('two', 'rate_limit', 3_000, 1_000);
  expect(throttleMs(deps, endpoint('two'), 1_000)).toBe(3_000);
});

const wide = endpoint('wide', { context_length: 900_000 });
const next = (names: string[], faults: FaultClass[], over: { raw?: boolean; failover?: string[] } = {}) => {
  const { deps } = pool();
  const plan = names.map((name) => ({
    endpoint: name === 'wide' ? wide : endpoint(name),
    cap: null,
    by_credit: false,
  }));
  const given = over.failover === undefined ? { plan } : { plan, failover: over.failover };
  const list = faults.map((fault) => ({ fault: { class: fault, status: 400, message: '' } }));
  return nextPlace(deps, given, { at: faults.length - 1, raw: over.raw ?? false, faults: list });
};

test('a client fault gets one more endpoint in the canonical lane, none in the raw one', () => {
  expect(next(['a', 'b', 'c'], ['client'])).toBe(1);
  expect(next(['a', 'b', 'c'], ['client', 'client'])).toBe(null);
  expect(next(['a', 'b', 'c'], ['server', 'client'])).toBe(2);
  expect(next(['a', 'b'], ['client'], { raw: true })).toBe(null);
});

test('a prompt that was too long passes over endpoints that are no larger', () => {
  expect(next(['a', 'b', 'wide'], ['context_length'])).toBe(2);
  expect(next(['a', 'b'], ['context_length'])).toBe(null);
  expect(next(['a', 'b'], ['context_length'], { failover: ['context_length'] })).toBe(1);
});

test('another key of the pool comes after every other endpoint, once, and nothing after it', () => {
  const { deps, used } = pool();
  const plan = ['two', 'other'].map((name) => ({ endpoint: endpoint(name), cap: null, by_credit: false }));
  const tries = new Tries({ plan, max_attempts: 6 });
  let made = 0;
  const failed = (name: string, fault: FaultClass) => {
    if (fault === 'auth') used(name, 'auth', undefined, Date.now());
    const of = plan.find(({ endpoint }) => endpoint.provider === name)?.endpoint ?? wide;
    const last = { fault: { class: fault, status: 400, message: '' }, endpoint: of };
    const goes_on = tries.next(deps, last, { sent: true, raw: true, made: ++made });
    return goes_on ? tries.planned.endpoint.provider : null;
  };
  expect(failed('two', 'auth')).toBe('other');
  expect(failed('other', 'server')).toBe('two');
  expect(failed('two', 'server')).toBe(null);
});

test('what is at fault with the request itself is not asked again with another key', () => {
  const { deps, used } = pool();
  const plan = ['two', 'other'].map((name) => ({ endpoint: endpoint(name), cap: null, by_credit: false }));
  const tries = new Tries({ plan, max_attempts: 6 });
  used('two', 'auth', undefined, Date.now());
  const tried = (name: string, fault: FaultClass, made: number) => {
    const last = { fault: { class: fault, status: 400, message: '' }, endpoint: endpoint(name) };
    return tries.next(deps, last, { sent: true, raw: true, made });
  };
  expect([tried('two', 'auth', 1), tried('other', 'client', 2)]).toEqual([true, false]);
});

test('the policy takes classes out and adds others', () => {
  expect(next(['a', 'b'], ['rate_limit'], { failover: ['-rate_limit'] })).toBe(null);
  expect(next(['a', 'b'], ['server'], { failover: ['-rate_limit'] })).toBe(1);
  expect(next(['a', 'b'], ['content_filter'])).toBe(null);
  expect(next(['a', 'b'], ['content_filter'], { failover: ['content_filtered'] })).toBe(1);
});
