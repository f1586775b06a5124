// How calls end that a policy refuses, or leaves without an endpoint.
import { describe, expect, test } from 'vitest';
import type { Endpoint } from '../catalog/index.ts';
import { nanoUsd, ServiceError } from '../kernel/index.ts';
import type { Actions, Ruling } from '../policies/index.ts';
import { reserve } from '../pricing/index.ts';
import { affordsUnder, planRoute, type RouteInput, withinLimits } from './index.ts';
import { catalogOf, endpoint, features, healthOf, input, model, ruling, run, three } from './test-kit.ts';

describe('refusals', () => {
  function refusalOf(policy: Ruling, over: Partial<RouteInput> = {}): ServiceError {
    try {
      planRoute(catalogOf(model(three())), { ...input({ ...over, policy }), health: healthOf() });
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
    throw new Error('was not refused');
  }

  test('a denial names policy, version and rule, before the model is even looked for', () => {
    const rules = [{ name: 'closed', match: {}, deny: { message: 'Not today' } }];
    const refusal = refusalOf(ruling({}, { rules }), { model: 'acme/unknown' });
    expect([refusal.code, refusal.status, refusal.message]).toEqual(['policy_denied', 403, 'Not today']);
    expect(refusal.details).toEqual({ policy: 'p', version: 7, rule: 'closed' });
  });

  test('a call at its limits passes, one token beyond is denied', () => {
    const policy = ruling({ limits: { max_tokens: 100, max_input_tokens: 1_000 } });
    const passes = { ...input({ policy, ...features({ max_tokens: 100 }) }), health: healthOf() };
    expect(planRoute(catalogOf(model(three())), passes).plan).toHaveLength(3);
    expect(refusalOf(policy, features({ max_tokens: 101 })).param).toBe('max_tokens');
    expect(refusalOf(policy, features({ input_tokens_bound: 1_001 })).message).toMatch(/1001/);
  });

  const held = {
    ...{ input_tokens_bound: 1_000, candidates: 1, upstream_stream: true, cache_hints: false },
    ...{ audio_output: false, image_output: false, search_units: 0 },
  };
  /** The route of a call for `max_tokens` under `policy`, as calls plan it. */
  const limited = (
    list: Endpoint[],
    policy: Ruling,
    max_tokens: number | null,
    over: Partial<RouteInput> = {},
  ) => {
    const preferences = { ...held, max_tokens };
    const affords = affordsUnder(policy, () => preferences);
    const asked = input({ policy, ...(affords === undefined ? {} : { affords }), ...over });
    return withinLimits(planRoute(catalogOf(model(list)), asked), policy, preferences);
  };
  const names = ({ route }: ReturnType<typeof limited>) =>
    route.plan.map((item) => item.endpoint.provider).toSorted();

  test('a limit of cost caps a call without a cap, drops endpoints that are too expensive, and denies what fits nowhere', () => {
    const list = [
      endpoint('a', {}, { input: 1_000, output: 1_000 }),
      endpoint('b', {}, { input: 1_000, output: 9_000 }),
    ];
    // 1,000 tokens of prompt cost 1,000 micro-USD, which leaves 1,000 for the answer.
    const policy = ruling({ limits: { max_cost_micro: 2_000 } });
    const capped = limited(list, policy, null);
    expect([names(capped), capped.max_tokens]).toEqual([['a', 'b'], 111]);
    const own = limited(list, policy, 500);
    expect([names(own), own.max_tokens]).toEqual([['a'], null]);
    expect(own.route.excluded.at(-1)).toMatchObject({ provider: 'b', reason: 'price' });
    const tight = ruling({ limits: { max_cost_micro: 1_010, max_tokens: 50 } });
    for (const [rule, tokens] of [
      [policy, 1_001],
      [tight, null],
      [ruling({ limits: { max_cost_micro: 999 } }), 0],
    ] as const) {
      const refused = () => limited(list, rule, tokens);
      expect(refused).toThrow(`at most ${rule.actions.limits.max_cost_micro} micro-USD`);
      expect(refused).toThrow(expect.objectContaining({ code: 'policy_denied' }));
    }
    const both = ruling({ limits: { max_cost_micro: 2_000, max_tokens: 50 } });
    expect(limited(list, both, null).max_tokens).toBe(50);
    // Embeddings have no output: the prompt alone decides.
    expect(names(limited(list, policy, 0))).toEqual(['a', 'b']);
  });

  test('a limit of tokens lowers what an endpoint writes at most, and never raises it', () => {
    const list = [endpoint('a', { max_output: 4_000 }), endpoint('b', { max_output: 8_000 })];
    const caps = (limits: NonNullable<Actions['limits']>) => {
      const { route, max_tokens } = limited(list, ruling({ limits }), null);
      const endpoints = route.plan.map((item) => item.endpoint);
      const reserved = reserve(endpoints, { ...held, max_tokens, available_micro_usd: null });
      if (reserved.status !== 'ok') throw new Error(reserved.status);
      const of = (name: string) =>
        reserved.endpoints.find(({ endpoint_id }) => endpoint_id === `ep_${name}`)?.output_cap;
      return { sent: max_tokens, a: of('a'), b: of('b') };
    };
    expect(caps({ max_tokens: 1_000 })).toEqual({ sent: 1_000, a: 1_000, b: 1_000 });
    expect(caps({ max_tokens: 6_000 })).toEqual({ sent: 6_000, a: 4_000, b: 6_000 });
    expect(caps({ max_tokens: 100_000 })).toEqual({ sent: null, a: 4_000, b: 8_000 });
    // What the smaller one cannot write anyway does not shorten the answers of the larger one.
    expect(caps({ max_cost_micro: 1_000_000 })).toEqual({ sent: 8_000, a: 4_000, b: 8_000 });
    expect(caps({ max_cost_micro: 7_001 })).toEqual({ sent: 6_000, a: 4_000, b: 6_000 });
  });

  test('a limit of cost finds the endpoint that it pays for, however many more expensive ones would come before it', () => {
    const expensive = ['a', 'b', 'c', 'd'].map((name) => endpoint(name, {}, { input: 9_000, output: 9_000 }));
    const list = [...expensive, endpoint('cheap', {}, { input: 1_000, output: 1_000 })];
    const policy = ruling({ limits: { max_cost_micro: 2_000 } });
    const preferences = { providers: { order: ['a', 'b', 'c', 'd'] } };
    expect(names(limited(list, policy, 100, { preferences }))).toEqual(['cheap']);
    expect(names(limited(list, policy, 100, { preferences: { ...preferences, max_attempts: 1 } }))).toEqual([
      'cheap',
    ]);
    // One that rests is worth waiting for: no word of the policy.
    const rests = ({ provider }: Endpoint) => (provider === 'cheap' ? 5_000 : 0);
    expect(() => limited(list, policy, 100, { preferences, rests })).toThrow(
      expect.objectContaining({ code: 'no_endpoint_available', status: 503 }),
    );
  });

  test('a call under no policy is not touched', () => {
    const free = endpoint('a', {}, { input: nanoUsd(0), output: nanoUsd(0) });
    const route = run([free], { policy: null });
    expect(route.policy).toBeUndefined();
    expect(withinLimits(route, ruling({}), { max_tokens: null } as never)).toEqual({
      ...{ route, max_tokens: null },
    });
  });
});
