import { expect, test } from 'vitest';
import type { Endpoint } from '../catalog/index.ts';
import { createHealth, planRoute, type RouteInput, type RouteLoss, suggestions } from './index.ts';
import {
  able,
  catalogOf,
  drops,
  endpoint,
  features,
  input,
  loss,
  model,
  order,
  refusal,
  run,
} from './test-kit.ts';

test('each filter excludes with its own reason', () => {
  const one = (over: Partial<Endpoint>, wish: Partial<RouteInput> = {}) =>
    drops(run([endpoint('a', over)], wish))[0];
  const wish = (w: RouteInput['wish']) => ({ wish: w });
  expect(one({ status: 'disabled' })).toBe('a:status');
  expect(one({ missing: 'A_KEY' })).toBe('a:status');
  expect(one({}, { environment: 'test' })).toBe('a:environment');
  expect(one({}, wish({ providers: { only: ['b'] } }))).toBe('a:only');
  expect(one({}, wish({ endpoints: { ignore: ['ep_a'] } }))).toBe('a:ignored');
  expect(one({}, wish({ data_policy: 'zdr' }))).toBe('a:zdr');
  const trains = { data_policy: { trains: true, retention_days: null, zdr: false } };
  expect(one(trains, { data_policy: { zdr: false, no_train: true, regions: null } })).toBe('a:train');
  expect(one(trains, wish({ require: { max_retention_days: 3650 } }))).toBe('a:retention');
  expect(one({}, wish({ require: { max_retention_days: 29 } }))).toBe('a:retention');
  expect(one({ region: 'europe' }, wish({ require: { regions: ['eu'] } }))).toBe('a:region');
  expect(one({ region: 'eu-west' }, wish({ require: { regions: ['eu'] } }))).toBe(undefined);
  expect(one({}, wish({ require: { quantizations: ['fp8'] } }))).toBe('a:quantization');
  expect(one({ capabilities: { ...able, tools: false } }, features({ tools: true }))).toBe('a:capability');
  expect(one({}, wish({ require: { capabilities: ['zdr'] } }))).toBe('a:capability');
  expect(one({}, features({ server_tools: ['code_execution'] }))).toBe('a:server_tool');
  expect(one({}, features({ server_tools: ['web_search_20250305'] }))).toBe(undefined);
  expect(one({}, features({ input_tokens_bound: 150_001 }))).toBe('a:context');
  expect(one({}, features({ input_tokens_bound: 149_999 }))).toBe(undefined);
  expect(one({}, features({ max_tokens: 10_001 }))).toBe('a:max_output');
  expect(one({}, features({ service_tier: 'flex' }))).toBe('a:tier');
  expect(one({}, wish({ require: { max_price: { output: 0.999 } } }))).toBe('a:price');
  expect(one({}, wish({ require: { max_price: { output: 1 } } }))).toBe(undefined);
  expect(one({}, wish({ byok: 'only' }))).toBe('a:byok');
});

test('the regions of key and request must both admit an endpoint', () => {
  const over = {
    wish: { require: { regions: ['us'] } },
    data_policy: { zdr: false, no_train: false, regions: ['eu'] },
  };
  expect(drops(run([endpoint('a', { region: 'us' }), endpoint('b', { region: 'eu' })], over))).toEqual([
    'a:region',
    'b:region',
  ]);
});

test('what a loss does follows compat: strict excludes any, warn excludes content, drop none, parameters any', () => {
  const survives = (kind: RouteLoss['class'], over: Partial<RouteInput>) =>
    run([endpoint('a')], { losses: () => [loss(kind)], ...over }).plan.length === 1;
  expect(survives('hint', { compat: 'strict' })).toBe(false);
  expect(survives('behaviour', { compat: 'warn' })).toBe(true);
  expect(survives('content', { compat: 'warn' })).toBe(false);
  expect(survives('content', { compat: 'drop' })).toBe(true);
  expect(survives('hint', { compat: 'drop', wish: { require: { parameters: true } } })).toBe(false);
});

test('of equal endpoints the one that loses less behaviour comes first, for every request id', () => {
  for (let i = 0; i < 20; i++) {
    const losses = (e: Endpoint) => (e.provider === 'a' ? [loss('behaviour')] : [loss('hint')]);
    expect(order(run([endpoint('a'), endpoint('b')], { request_id: `r${i}`, losses }))).toEqual(['b', 'a']);
  }
});

test('sort by price, latency or throughput uses that figure alone, an unknown one counts as the best', () => {
  const health = createHealth();
  const seen = (id: string, ttft_ms: number, tps: number) =>
    health.succeeded(id, { ttft_ms, duration_ms: ttft_ms + 1000, output_tokens: tps }, 1_000_000);
  seen('ep_dear', 100, 50);
  seen('ep_cheap', 900, 200);
  const both = [endpoint('dear', {}, { input: 9000, output: 9000 }), endpoint('cheap')];
  const by = (sort: 'price' | 'latency' | 'throughput', more: Endpoint[] = []) =>
    order(run([...both, ...more], { wish: { sort }, health }));
  expect(by('price')).toEqual(['cheap', 'dear']);
  expect(by('latency')).toEqual(['dear', 'cheap']);
  expect(by('throughput')).toEqual(['cheap', 'dear']);
  expect(by('latency', [endpoint('new')]).at(-1)).toBe('cheap');
});

test('the order of the caller stands first, then healthy before degraded before unreadable signatures', () => {
  const health = createHealth();
  for (let i = 0; i < 10; i++)
    health.succeeded('ep_shaky', { ttft_ms: 1, duration_ms: 2, output_tokens: 1 }, 1_000_000);
  health.failed('ep_shaky', 'server', 1_000_000);
  const all = [
    endpoint('shaky', { family: 'anthropic_messages' }, { input: 1, output: 1 }),
    endpoint('well', { family: 'anthropic_messages' }, { input: 9000, output: 9000 }),
    endpoint('foreign', {}, { input: 1, output: 1 }),
  ];
  const signed = features({ signed_format: 'anthropic-claude-v1' });
  expect(order(run(all, { health, ...signed }))).toEqual(['well', 'shaky', 'foreign']);
  const wish = { providers: { order: ['foreign'] } };
  expect(order(run(all, { health, wish, ...signed }))).toEqual(['foreign', 'well', 'shaky']);
});

test('calls spread over endpoints of about equal score, and one call is always routed alike', () => {
  const endpoints = [
    endpoint('a', {}, { input: 1000, output: 1000 }),
    endpoint('b', {}, { input: 1010, output: 1010 }),
  ];
  const firsts = Array.from({ length: 400 }, (_, i) => order(run(endpoints, { request_id: `r${i}` }))[0]);
  const share = firsts.filter((first) => first === 'a').length / firsts.length;
  expect(share).toBeGreaterThan(0.4);
  expect(share).toBeLessThan(0.6);
  expect(order(run(endpoints, { request_id: 'r7' }))).toEqual(order(run(endpoints, { request_id: 'r7' })));
});

test('attempts and time limits can be lowered by the request, never raised', () => {
  const four = ['a', 'b', 'c', 'd'].map((name) => endpoint(name));
  expect(run(four).plan).toHaveLength(3);
  expect(run(four).spare).toHaveLength(1);
  expect(run(four, { wish: { max_attempts: 6 } }).plan).toHaveLength(3);
  expect(run(four, { wish: { max_attempts: 2 } }).plan).toHaveLength(2);
  expect(run(four, { wish: { fallbacks: false } }).plan).toHaveLength(1);
  const standard = { connect_ms: 5_000, first_event_ms: 60_000, idle_ms: 90_000, total_ms: 600_000 };
  expect(run(four)).toMatchObject({ timeouts: standard, chosen_deadline: false });
  expect(run(four, features({ reasoning: true })).timeouts.first_event_ms).toBe(180_000);
  const wish = (timeouts: object) => run(four, { wish: { timeouts } });
  expect(wish({ total_ms: 9e9 })).toMatchObject({ timeouts: standard, chosen_deadline: false });
  expect(wish({ first_event_ms: 1 })).toMatchObject({
    timeouts: { first_event_ms: 5_000 },
    chosen_deadline: false,
  });
  expect(wish({ total_ms: 1 })).toMatchObject({ timeouts: { total_ms: 10_000 }, chosen_deadline: true });
});

test('fallback models are tried in their order after all endpoints of the model, whatever their scores', () => {
  const large = model([endpoint('a', {}, { input: 9000, output: 9000 })]);
  const small = model([endpoint('b', { model_id: 'acme/small' })], 'acme/small');
  const route = planRoute(catalogOf(large, small), {
    ...input({ wish: { fallback_models: ['acme/small', 'acme/large'] } }),
    health: createHealth(),
  });
  expect(route.plan.map((item) => item.endpoint.model_id)).toEqual(['acme/large', 'acme/small']);
  expect(() =>
    planRoute(catalogOf(large), {
      ...input({ wish: { fallback_models: ['acme/smal'] } }),
      health: createHealth(),
    }),
  ).toThrow(expect.objectContaining({ code: 'model_not_found', param: 'svc.route.fallback_models[0]' }));
});

test('an unknown model is refused with what may have been meant', () => {
  const catalog = catalogOf(
    ...['openai/gpt-4o', 'openai/gpt-4o-mini', 'meta/llama-3.3-70b', 'x/y'].map((id) => model([], id)),
  );
  expect(suggestions(catalog, 'gpt-4o')[0]).toBe('openai/gpt-4o');
  expect(suggestions(catalog, 'openai/gpt4o')[0]).toBe('openai/gpt-4o');
  expect(suggestions(catalog, 'meta-llama/Llama-3.3-70B')).toEqual(['meta/llama-3.3-70b']);
  expect(suggestions(catalog, 'claude')).toEqual([]);
  const error = refusal([endpoint('a')], { model: 'acme/larg' });
  expect([error.code, error.param, error.details]).toEqual([
    'model_not_found',
    'model',
    { suggestions: ['acme/large'] },
  ]);
});

test('a live key with no usable endpoint learns which variable is missing', () => {
  const error = refusal([endpoint('a', { missing: 'A_KEY' }), endpoint('b', { missing: 'B_KEY' })]);
  expect(error).toMatchObject({
    code: 'no_endpoint_available',
    status: 400,
    details: { missing: ['A_KEY', 'B_KEY'] },
  });
  expect(error.message).toContain('A_KEY or B_KEY');
  expect(error.beside['excluded_by']).toEqual([
    { endpoint_id: 'ep_a', provider: 'a', reason: 'status' },
    { endpoint_id: 'ep_b', provider: 'b', reason: 'status' },
  ]);
});

test('an empty plan is refused by what emptied it: parameter, context, cap, or the endpoints themselves', () => {
  const lossy = refusal([endpoint('a')], { losses: () => [loss('hint'), loss('content')] });
  expect(lossy).toMatchObject({ code: 'unsupported_parameter', param: 'x', status: 400 });
  expect(refusal([endpoint('a')], features({ input_tokens_bound: 900_000 }))).toMatchObject({
    code: 'context_length_exceeded',
  });
  expect(refusal([endpoint('a')], features({ max_tokens: 10_001 }))).toMatchObject({
    code: 'invalid_request',
    param: 'max_tokens',
  });
  const mixed = refusal([endpoint('a', { status: 'disabled' }), endpoint('b')], {
    wish: { data_policy: 'zdr' },
  });
  expect(mixed).toMatchObject({ code: 'no_endpoint_available', status: 400, retry: false });
});

test('where waiting can help the refusal is 503 and says so', () => {
  const health = createHealth();
  for (let i = 0; i < 5; i++) health.failed('ep_a', 'server', 1_000_000);
  const catalog = catalogOf(model([endpoint('a'), endpoint('b', { status: 'disabled' })]));
  expect(() => planRoute(catalog, { ...input(), health })).toThrow(
    expect.objectContaining({
      code: 'no_endpoint_available',
      status: 503,
      retry: true,
      retry_after_ms: 15_000,
    }),
  );
});

test('only one call probes a half-open circuit', () => {
  const health = createHealth();
  for (let i = 0; i < 5; i++) health.failed('ep_a', 'server', 1_000_000);
  const catalog = catalogOf(model([endpoint('a'), endpoint('b')]));
  const at = (now_ms: number) =>
    planRoute(catalog, { ...input({ now_ms }), health })
      .plan.map((item) => item.endpoint.provider)
      .sort();
  expect(at(1_014_999)).toEqual(['b']);
  expect(at(1_015_000)).toEqual(['a', 'b']);
  expect(at(1_015_000)).toEqual(['b']);
  health.succeeded('ep_a', { ttft_ms: 1, duration_ms: 1, output_tokens: 1 }, 1_015_500);
  expect(at(1_015_500)).toEqual(['a', 'b']);
});

test('a tier with its own price is planned at that price', () => {
  const flex = { ...endpoint('x').price, id: 'pv_flex' as const };
  const choice = run([endpoint('a', { tiers: { flex } })], features({ service_tier: 'flex' }));
  expect(choice.plan[0]?.endpoint.price.id).toBe('pv_flex');
});

test('an affinity that is not offered yet is told, not ignored in silence', () => {
  expect(run([endpoint('a')], { wish: { affinity: 'session' } }).warnings).toMatchObject([
    { code: 'route_option_ignored', param: 'svc.route.affinity' },
  ]);
});
