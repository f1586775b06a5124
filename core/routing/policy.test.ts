// A policy in the choice: what it excludes stays out, what it locks stays locked, what it limits is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../catalog/index.ts';
import { type Actions, activePolicy, decide, type PolicyDocument, type Ruling } from '../policies/index.ts';
import { choose, createAffinity, planRoute, previewRoute, type RouteInput } from './index.ts';
import {
  catalogOf,
  drops,
  endpoint,
  healthOf,
  input,
  model,
  order,
  policyFacts,
  ruling,
  run,
  three,
} from './test-kit.ts';

const names = ['a', 'b', 'c', 'd'];
const regions = ['us', 'eu', 'eu-west'];
const some = (from: string[]) => fc.subarray(from, { minLength: 1 });
const lists = fc.record(
  { order: fc.subarray(names), only: some(names), ignore: fc.subarray(names) },
  { requiredKeys: [] },
);
const requirements = fc.record(
  {
    ...{ zdr: fc.boolean(), no_train: fc.boolean(), regions: some(regions) },
    ...{ max_retention_days: fc.constantFrom(0, 30), quantizations: some(['fp8', 'bf16']) },
    max_price: fc.record({ input: fc.constantFrom(0.5, 1, 3) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const preferences = fc.record(
  {
    sort: fc.constantFrom('price' as const, 'latency' as const, 'throughput' as const),
    ...{ fallbacks: fc.boolean(), max_attempts: fc.integer({ min: 1, max: 6 }) },
    ...{ providers: lists, require: requirements },
    timeouts: fc.record({ total_ms: fc.integer({ min: 0, max: 900_000 }) }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);
const actions = fc.record(
  {
    sort: fc.constantFrom('price' as const, 'uptime' as const, 'balanced' as const),
    ...{ fallbacks: fc.boolean(), max_attempts: fc.integer({ min: 1, max: 6 }) },
    ...{ providers: lists, endpoints: lists, require: requirements },
    timeouts: fc.record({ total_ms: fc.integer({ min: 10_000, max: 600_000 }) }, { requiredKeys: [] }),
    lock: fc.subarray(['sort', 'fallbacks', 'providers', 'max_attempts', 'timeouts'] as const),
  },
  { requiredKeys: [] },
);
const endpointOf = (name: string) =>
  fc
    .record({
      region: fc.constantFrom(...regions),
      quantization: fc.constantFrom(null, 'fp8', 'bf16'),
      data_policy: fc.record({
        ...{ trains: fc.boolean(), zdr: fc.boolean() },
        retention_days: fc.constantFrom(null, 0, 30),
      }),
      rate: fc.constantFrom(400, 900, 2_000),
    })
    .map(({ rate, ...over }) => endpoint(name, over, { input: rate, output: rate }));
const endpoints = fc.tuple(...names.map(endpointOf));
const id = (name: string) => [name, `ep_${name}`];

/** Why `one` may not serve under `rules`; written anew from the words of the language. */
function forbids(rules: Actions, one: Endpoint): boolean {
  const named = (list: readonly string[]) => id(one.provider).some((name) => list.includes(name));
  const { require } = rules;
  for (const list of [rules.providers, rules.endpoints]) {
    if (list?.only !== undefined && !named(list.only)) return true;
    if (list?.ignore !== undefined && named(list.ignore)) return true;
  }
  if (require?.zdr && !one.data_policy.zdr) return true;
  if (require?.no_train && one.data_policy.trains) return true;
  if (require?.regions && !require.regions.some((r) => one.region === r || one.region.startsWith(`${r}-`))) {
    return true;
  }
  const days = require?.max_retention_days;
  if (days !== undefined && (one.data_policy.retention_days ?? Infinity) > days) return true;
  if (require?.quantizations && !require.quantizations.includes(one.quantization ?? 'unknown')) return true;
  return one.price.rates.input > (require?.max_price?.input ?? Infinity) * 1_000;
}

test('an endpoint that policy or request excludes is never planned or spare, whatever the other says', () => {
  fc.assert(
    fc.property(endpoints, preferences, actions, (list, preferred, rules) => {
      const one = model([...list]);
      const given = input({
        preferences: preferred as RouteInput['preferences'],
        policy: ruling(rules as Actions),
      });
      const choice = choose({ catalog: catalogOf(one), models: [one] }, given);
      for (const { endpoint: found } of [...choice.plan, ...choice.spare]) {
        expect(forbids(rules as Actions, found)).toBe(false);
        expect(forbids({ ...(preferred as Actions) }, found)).toBe(false);
      }
      const seen = choice.plan.length + choice.spare.length + choice.excluded.length;
      expect(seen).toBe(list.length);
    }),
    { numRuns: 600 },
  );
});

const kept = (days: number | null) => ({ data_policy: { trains: false, retention_days: days, zdr: false } });
const tightened: [string, Actions, RouteInput['preferences'], Endpoint, string][] = [
  ...([0, 7] as const).map((days): [string, Actions, RouteInput['preferences'], Endpoint, string] => [
    `the shorter retention, ${days === 0 ? "the policy's" : "the request's"}`,
    { require: { max_retention_days: days } },
    { require: { max_retention_days: 7 - days } },
    endpoint('a', kept(3)),
    'a:retention',
  ]),
  ...([1, 3] as const).map((price): [string, Actions, RouteInput['preferences'], Endpoint, string] => [
    `the lower price, ${price === 1 ? "the policy's" : "the request's"}`,
    { require: { max_price: { output: price } } },
    { require: { max_price: { output: 4 - price, input: 9 } } },
    endpoint('a', {}, { input: 1_000, output: 2_000 }),
    'a:price',
  ]),
  ['zdr of the policy', { require: { zdr: true } }, { require: { zdr: false } }, endpoint('a'), 'a:zdr'],
  [
    'no training of the policy',
    { require: { no_train: true } },
    {},
    endpoint('a', { data_policy: { trains: true, retention_days: 0, zdr: true } }),
    'a:train',
  ],
  [
    'both regions',
    { require: { regions: ['eu'] } },
    { require: { regions: ['us'] } },
    endpoint('a'),
    'a:region',
  ],
  [
    'both lists of providers',
    { providers: { only: ['a', 'b'] } },
    { providers: { only: ['c'] } },
    endpoint('a'),
    'a:only',
  ],
  ['what the policy ignores', { endpoints: { ignore: ['ep_a'] } }, {}, endpoint('a'), 'a:ignored'],
  [
    'capabilities of both',
    { require: { capabilities: ['prefill'] } },
    { require: { capabilities: ['tools'] } },
    endpoint('a'),
    'a:capability',
  ],
  [
    'both quantizations',
    { require: { quantizations: ['bf16'] } },
    { require: { quantizations: ['fp8'] } },
    endpoint('a', { quantization: 'fp8' }),
    'a:quantization',
  ],
];

test.each(tightened)('of policy and request %s counts', (_name, rules, preferred, one, drop) => {
  expect(drops(run([one], { preferences: preferred, policy: ruling(rules) }))).toEqual([drop]);
});

test('what a policy locks is as if the request had not asked for it', () => {
  fc.assert(
    fc.property(endpoints, preferences, actions, fc.string(), (list, preferred, rules, request_id) => {
      const one = model([...list]);
      const lock = ['sort', 'fallbacks', 'providers', 'max_attempts', 'timeouts'] as const;
      const policy = ruling({ ...(rules as Actions), lock: [...lock] });
      const of = (own: RouteInput['preferences']) =>
        choose({ catalog: catalogOf(one), models: [one] }, input({ preferences: own, policy, request_id }));
      const { providers, require } = preferred as RouteInput['preferences'];
      const { order: _, ...protecting } = providers ?? {};
      const bare = of({ providers: protecting, ...(require === undefined ? {} : { require }) });
      const full = of(preferred as RouteInput['preferences']);
      expect({ ...full, warnings: [] }).toEqual({ ...bare, warnings: [] });
    }),
    { numRuns: 300 },
  );
});

test('a request lowers attempts and times of a policy, never raises them', () => {
  fc.assert(
    fc.property(preferences, actions, (preferred, rules) => {
      const policy = ruling(rules as Actions);
      const of = (own: RouteInput['preferences']) => run(three(), { preferences: own, policy });
      const full = of(preferred as RouteInput['preferences']);
      const bare = of({});
      if (preferred.fallbacks === undefined) expect(full.max_attempts).toBeLessThanOrEqual(bare.max_attempts);
      expect(full.timeouts.total_ms).toBeLessThanOrEqual(bare.timeouts.total_ms);
    }),
    { numRuns: 300 },
  );
});

describe('preferences', () => {
  const cheap = (name: string, rate: number) => endpoint(name, {}, { input: rate, output: rate });

  test('the policy sorts and orders where the request does not', () => {
    const list = [cheap('a', 3_000), cheap('b', 1_000), cheap('c', 2_000)];
    expect(order(run(list, { policy: ruling({ sort: 'price' }) }))).toEqual(['b', 'c', 'a']);
    const policy = ruling({ sort: 'price', providers: { order: ['c'] } });
    expect(order(run(list, { policy }))).toEqual(['c', 'b', 'a']);
    expect(order(run(list, { policy, preferences: { providers: { order: ['a'] } } }))).toEqual([
      'a',
      'b',
      'c',
    ]);
    // One order, in whichever list it is written.
    const by_endpoint: Actions = { sort: 'price', endpoints: { order: ['ep_c'] } };
    const asked = { preferences: { providers: { order: ['a'] } } };
    expect(order(run(list, { policy: ruling(by_endpoint), ...asked }))).toEqual(['a', 'b', 'c']);
    const kept = ruling({ ...by_endpoint, lock: ['endpoints'] });
    expect(order(run(list, { policy: kept, ...asked }))).toEqual(['c', 'a', 'b']);
    const locked = ruling({ providers: { order: ['c'] }, sort: 'price', lock: ['providers'] });
    const choice = run(list, { policy: locked, preferences: { providers: { order: ['a'] } } });
    expect(order(choice)).toEqual(['c', 'b', 'a']);
    expect(choice.warnings).toEqual([
      expect.objectContaining({ code: 'route_locked', param: 'svc.route.providers.order' }),
    ]);
  });

  test('weights decide what balanced means', () => {
    const health = healthOf();
    const seen = (name: string, ttft_ms: number) => {
      for (let i = 0; i < 3; i++) {
        health.succeeded(`ep_${name}`, { ttft_ms, duration_ms: 1_000, output_tokens: 100 }, 1_000_000);
      }
    };
    seen('a', 50);
    seen('b', 5_000);
    const list = [cheap('a', 9_000), cheap('b', 1_000)];
    expect(order(run(list, { health, policy: ruling({ weights: { latency: 1 } }) }))).toEqual(['a', 'b']);
    expect(order(run(list, { health, policy: ruling({ weights: { price: 1 } }) }))).toEqual(['b', 'a']);
    const policy = ruling({ sort: 'price', prefer: { max_latency_ms: 1_000 } });
    const choice = run(list, { health, policy });
    expect(choice.plan.map((item) => [item.endpoint.provider, item.reason])).toEqual([
      ['a', 'score'],
      ['b', 'slow'],
    ]);
  });

  test('an endpoint that fails more often than the policy allows is out, one not seen lately is not', () => {
    const health = healthOf();
    for (let i = 0; i < 4; i++) {
      health.succeeded('ep_a', { ttft_ms: 50, duration_ms: 100, output_tokens: 10 }, 1_000_000);
    }
    health.failed('ep_a', 'server', 1_000_000);
    const policy = ruling({ require: { min_uptime: 0.9 } });
    expect(drops(run(three(), { health, policy }))).toEqual(['a:uptime']);
  });

  test('affinity is that of the request, else of the policy, unless it is locked', () => {
    const memory = createAffinity();
    const affinity = { memory, org_id: 'o', cache_hints: true, cache_ttl_ms: null, value: () => 'v' };
    const of = (rules: Actions, own?: RouteInput['preferences']['affinity']) => {
      const preferences = own === undefined ? {} : { affinity: own };
      const route = run(three(), { affinity, preferences, policy: ruling(rules) });
      return [route.affinity?.kind, ...route.warnings.map(({ param }) => param)];
    };
    expect(of({})).toEqual(['prefix']);
    expect(of({ affinity: 'session' })).toEqual(['session']);
    expect(of({ affinity: 'session' }, 'user')).toEqual(['user']);
    expect(of({ affinity: 'off' })).toEqual(['off']);
    expect(of({ affinity: 'off', lock: ['affinity'] }, 'user')).toEqual(['off', 'svc.route.affinity']);
    expect(of({ lock: ['affinity'] }, 'off')).toEqual(['prefix', 'svc.route.affinity']);
  });

  test('what the policy says of failover goes with the route, the later rule over the defaults', () => {
    const on = (policy: Ruling | null) => run(three(), { policy }).failover;
    expect(on(null)).toBe(undefined);
    expect(on(ruling({}))).toBe(undefined);
    expect(on(ruling({ failover: { on: ['-rate_limit'] } }))).toEqual(['-rate_limit']);
    const rules = [{ match: {}, failover: { on: ['content_filtered'] } }];
    expect(on(ruling({ failover: { on: ['-rate_limit'] } }, { rules }))).toEqual(['content_filtered']);
  });

  test('a policy raises attempts to six and falls back to other models in their order', () => {
    const first = model([endpoint('a')]);
    const second = model([{ ...endpoint('b'), model_id: 'acme/small' }], 'acme/small');
    const policy = ruling({ fallback_models: ['acme/small', 'acme/gone'], max_attempts: 6 });
    const catalog = catalogOf(first, second);
    const route = planRoute(catalog, { ...input({ policy }), health: healthOf() });
    expect(route.plan.map((item) => item.endpoint.model_id)).toEqual(['acme/large', 'acme/small']);
    expect([route.max_attempts, route.policy]).toEqual([6, { name: 'p', version: 7, rule: '-' }]);
    expect(route.warnings.map(({ code }) => code)).toEqual(['policy_model_missing']);
  });
});

const about = (rest: Actions) => ({ rules: [{ match: { models: ['acme/small'] }, ...rest }] });
const byModel: [string, PolicyDocument, boolean][] = [
  ['a denied model', { rules: [{ match: { models: ['acme/small'] }, deny: {} }] }, false],
  ['one that needs zero retention', about({ require: { zdr: true } }), false],
  ['one for other providers', about({ providers: { only: ['c'] } }), false],
  ['one with a lower limit', about({ limits: { max_tokens: 10 } }), false],
  ['one with a lock', about({ lock: ['sort'] }), false],
  ['one that is only sorted otherwise', about({ sort: 'price' }), true],
  ['one that is less protected', { rules: [{ match: { models: ['acme/large'] }, lock: ['sort'] }] }, true],
];
test.each(byModel)(
  'as fallback of a request, %s is tried only if rules ask no more of it',
  (_name, rules, is_tried) => {
    const catalog = catalogOf(
      model([endpoint('a')]),
      model([{ ...endpoint('b'), model_id: 'acme/small' }], 'acme/small'),
    );
    // The request leaves no endpoint of its own model, so that the fallback is all there is.
    const preferences = { fallback_models: ['acme/small'], providers: { ignore: ['a'] } };
    const policy = decide(activePolicy('p', 7, rules), policyFacts, preferences.fallback_models);
    const tried = previewRoute(catalog, input({ policy, preferences }));
    expect(tried.plan.map((item) => item.endpoint.model_id)).toEqual(is_tried ? ['acme/small'] : []);
    expect(tried.warnings.map(({ code }) => code)).toEqual(is_tried ? [] : ['route_locked']);
  },
);
