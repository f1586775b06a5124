// Callers' own provider keys in the choice: before the pool, never in place of a refusal, and never past a filter.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint } from '../../catalog/index.ts';
import { nanoUsd } from '../../kernel/index.ts';
import { choose, type OwnKeys, type RouteInput } from '../index.ts';
import {
  catalogOf,
  drops,
  endpoint,
  healthOf,
  input,
  loss,
  model,
  order,
  refusal,
  run,
} from '../test-kit.ts';

/** An endpoint whose provider takes keys of callers. */
function capable(name: string, over: Partial<Endpoint> = {}): Endpoint {
  const plain = endpoint(name, over);
  return { ...plain, byok: { price: { ...plain.price, id: `pv_own_${name}`, fee_bps: 500 }, tiers: {} } };
}

interface Key {
  readonly id: string;
  readonly fallback?: boolean;
  readonly rest_ms?: number;
}

/** The caller's keys by provider. */
function keysOf(keys: Readonly<Record<string, readonly Key[]>>): OwnKeys {
  return {
    of: (at) =>
      (keys[at.provider] ?? []).map(({ id, fallback = false, rest_ms = 0 }) => ({
        endpoint: {
          ...at,
          price: at.byok?.price ?? at.price,
          own_key: { id: `byok_${id}`, hint: '...', fallback_to_pool: fallback },
        },
        rest_ms,
      })),
  };
}

/** The plan as `provider` or `provider+key`. */
const plan = (choice: ReturnType<typeof run>) =>
  choice.plan.map(({ endpoint: { provider, own_key } }) =>
    own_key === undefined ? provider : `${provider}+${own_key.id.slice(5)}`,
  );
const of = (name: string, key: Omit<Key, 'id'> = {}) => keysOf({ [name]: [{ id: 'k', ...key }] });

test('what an own key answers stands before the pool, whatever the order of the caller or the price', () => {
  const all = [capable('a'), capable('b', {}), endpoint('c')];
  const own_keys = of('b', { fallback: true });
  expect(plan(run(all, { own_keys, preferences: { providers: { order: ['c', 'a', 'b'] } } }))).toEqual([
    'b+k',
    'c',
    'a',
  ]);
  const expensive = capable('b', {
    price: { ...endpoint('b').price, rates: { input: nanoUsd(9e6), output: nanoUsd(9e6) } },
  });
  expect(plan(run([capable('a'), expensive], { own_keys, preferences: { sort: 'price' } }))[0]).toBe('b+k');
});

test('one attempt is kept for the pool where it may follow, and all are for own keys where it may not', () => {
  const all = [capable('a'), capable('b'), capable('c'), capable('d')];
  const keys = (fallback: boolean) =>
    keysOf(Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, [{ id: 'k', fallback }]])));
  const owned = (own_keys: OwnKeys, max_attempts: number) =>
    run(all, { own_keys, preferences: { max_attempts } }).plan.map(
      (item) => item.endpoint.own_key !== undefined,
    );
  expect(owned(keys(true), 3)).toEqual([true, true, false]);
  expect(owned(keys(false), 3)).toEqual([true, true, true]);
  expect(owned(keys(true), 1)).toEqual([true]);
});

test('a key without fallback keeps the call off every pool; the reason is reported', () => {
  const all = [capable('a'), endpoint('c')];
  const choice = run(all, { own_keys: of('a') });
  expect([plan(choice), drops(choice)]).toEqual([['a+k'], ['c:byok']]);
  const loose = run(all, { own_keys: of('a', { fallback: true }) });
  expect([plan(loose)[0], order(loose).length, drops(loose)]).toEqual(['a+k', 3, []]);
});

test('a key that rests leaves its place to the pool, or where it may not fall back to nobody for that long', () => {
  const all = [capable('a'), endpoint('c')];
  const loose = run(all, { own_keys: of('a', { fallback: true, rest_ms: 5_000 }) });
  expect(plan(loose).sort()).toEqual(['a', 'c']);
  const own_keys = of('a', { rest_ms: 5_000 });
  const strict = run(all, { own_keys });
  expect([plan(strict), drops(strict)]).toEqual([[], ['a:rate', 'c:byok']]);
  expect(refusal(all, { own_keys })).toMatchObject({ status: 503, retry_after_ms: 5_000 });
});

test('an open circuit keeps a key without fallback waiting too, and not on the pool of another provider', () => {
  const health = healthOf();
  for (let i = 0; i < 5; i++) health.failed('ep_a', 'server', 1_000_000);
  const choice = run([capable('a'), endpoint('c')], { health, own_keys: of('a') });
  expect([plan(choice), drops(choice)]).toEqual([[], ['a:circuit', 'c:byok']]);
});

test('every key of a provider is tried, in its order', () => {
  const own_keys = keysOf({ a: [{ id: 'one' }, { id: 'two', rest_ms: 1 }, { id: 'three' }] });
  expect(plan(run([capable('a')], { own_keys }))).toEqual(['a+one', 'a+three']);
});

test('a pool without a key does not take an endpoint from those who have one, and a key gives nobody a retired one', () => {
  const all = [capable('a', { missing: 'KEY' }), capable('b', { status: 'disabled' })];
  const own_keys = keysOf({ a: [{ id: 'k' }], b: [{ id: 'k' }] });
  expect([plan(run(all, { own_keys })), drops(run(all, { own_keys }))]).toEqual([['a+k'], ['b:status']]);
  expect(drops(run(all))).toEqual(['a:status', 'b:status']);
});

test.each([
  ['ignored', { preferences: { providers: { ignore: ['a'] } } }],
  ['zdr', { preferences: { require: { zdr: true } } }],
  ['region', { preferences: { require: { regions: ['eu'] } } }],
  ['price', { preferences: { require: { max_price: { input: 0.1 } } } }],
  ['lossy', { losses: () => [loss('content')] }],
] as const)('an own key passes no other filter: %s', (reason, over) => {
  const choice = run([capable('a')], { own_keys: of('a'), ...(over as Partial<RouteInput>) });
  expect([plan(choice), drops(choice)]).toEqual([[], [`a:${reason}`]]);
});

test('things of an account are reached with a key of the same format alone, whatever a policy locks', () => {
  const all = [capable('a'), capable('x', { family: 'anthropic_messages' })];
  const own_keys = keysOf({ a: [{ id: 'k', fallback: true }], x: [{ id: 'k', fallback: true }] });
  const account = { family: 'anthropic_messages' };
  expect(plan(run(all, { own_keys, account }))).toEqual(['x+k']);
  expect(drops(run(all, { account })).sort()).toEqual(['a:byok', 'x:byok']);
  expect(plan(run(all, { own_keys, account, preferences: { byok: 'never' } }))).toEqual([]);
});

test('a service tier is charged at its own fee', () => {
  const plain = capable('a');
  const flex = { ...plain.price, id: 'pv_flex' as const };
  const own_flex = { ...flex, id: 'pv_own_flex' as const, fee_bps: 500 };
  const at = {
    ...plain,
    tiers: { flex },
    byok: { price: (plain.byok as NonNullable<Endpoint['byok']>).price, tiers: { flex: own_flex } },
  };
  const features = { ...input().features, service_tier: 'flex' };
  const choice = run([at], { own_keys: of('a', { fallback: true }), features });
  expect(choice.plan.map((item) => item.endpoint.price.id)).toEqual(['pv_own_flex', 'pv_flex']);
  expect(choice.plan[0]?.endpoint.own_key).toBeDefined();
});

const names = ['a', 'b', 'c', 'd'];
const anyKey = fc.record({ fallback: fc.boolean(), rest_ms: fc.constantFrom(0, 0, 0, 9) });
const anyCase = fc.record({
  takes: fc.subarray(names),
  missing: fc.subarray(names),
  keys: fc.dictionary(fc.constantFrom(...names), fc.array(anyKey, { minLength: 1, maxLength: 2 })),
  byok: fc.constantFrom<'prefer' | 'only' | 'never' | undefined>('prefer', 'only', 'never', undefined),
  account: fc.constantFrom(undefined, { family: null }, { family: 'openai_chat' }),
  required: fc.subarray(names),
  max_attempts: fc.integer({ min: 1, max: 6 }),
  environment: fc.constantFrom<'live' | 'test'>('live', 'live', 'test'),
});

test('whatever keys there are: own before pool, no pool against a preference, and every endpoint accounted for', () => {
  fc.assert(
    fc.property(anyCase, (said) => {
      const all = names.map((name) => {
        const over = { missing: said.missing.includes(name) ? 'KEY' : null };
        return said.takes.includes(name) || said.required.includes(name)
          ? capable(name, over)
          : endpoint(name, over);
      });
      const one = model(all);
      const providers = new Map(said.required.map((id) => [id, { id, byok: 'required' } as never]));
      const keys = Object.fromEntries(
        Object.entries(said.keys).map(([name, list]) => [
          name,
          list.map((key, i) => ({ id: `${i}`, ...key })),
        ]),
      );
      const { byok, max_attempts, account, environment } = said;
      const choice = choose(
        { catalog: { ...catalogOf(one), providers }, models: [one] },
        input({
          ...{ environment, own_keys: keysOf(keys) },
          ...(account === undefined ? {} : { account }),
          preferences: { max_attempts, ...(byok === undefined ? {} : { byok }) },
        }),
      );
      const owned = choice.plan.map((item) => item.endpoint.own_key !== undefined);
      expect(choice.plan.length).toBeLessThanOrEqual(max_attempts);
      // Once the pool has begun, no own key follows.
      expect(owned.lastIndexOf(true)).toBeLessThan(owned.includes(false) ? owned.indexOf(false) : 99);
      const seen = [...choice.plan, ...choice.spare].map((item) => item.endpoint);
      for (const { provider, own_key, price } of seen) {
        expect(price.fee_bps !== undefined).toBe(own_key !== undefined);
        if (own_key === undefined) {
          expect([byok === 'only', account !== undefined]).toEqual([false, false]);
          expect(said.required).not.toContain(provider);
          expect(said.missing).not.toContain(provider);
        } else {
          expect([byok === 'never', environment]).toEqual([false, 'live']);
          expect(keys[provider]?.map(({ id }) => `byok_${id}`)).toContain(own_key.id);
        }
      }
      const strict = seen.some(({ own_key }) => own_key?.fallback_to_pool === false);
      if (strict) expect(seen.every(({ own_key }) => own_key !== undefined)).toBe(true);
      const excluded = choice.excluded.map(({ endpoint_id }) => endpoint_id);
      expect(new Set(excluded).size).toBe(excluded.length);
      expect(new Set([...excluded, ...seen.map(({ id }) => id)])).toEqual(new Set(all.map(({ id }) => id)));
      for (const { id } of seen) expect(excluded).not.toContain(id);
    }),
    { numRuns: 500 },
  );
});

test('a refused call learns the shortest wait among the keys that it may use: its own, those of the pool, or both', () => {
  const all = [capable('a')];
  const wait = (own_keys: OwnKeys, preferences: RouteInput['preferences']) =>
    refusal(all, { own_keys, preferences, rests: () => 9_000 }).retry_after_ms;
  expect(wait(of('a', { fallback: true }), { byok: 'never' })).toBe(9_000);
  expect(wait(of('a', { fallback: true, rest_ms: 30_000 }), {})).toBe(9_000);
  expect(wait(of('a', { fallback: true, rest_ms: 2_000 }), {})).toBe(2_000);
  expect(wait(of('a', { rest_ms: 30_000 }), {})).toBe(30_000);
});
