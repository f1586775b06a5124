import { expect, test } from 'vitest';
import type { Endpoint } from '../catalog/index.ts';
import { nanoUsd } from '../kernel/index.ts';
import { planRoute, type RouteInput, type RouteLoss } from './index.ts';
import {
  able,
  catalogOf,
  drops,
  endpoint,
  features,
  healthOf,
  input,
  loss,
  model,
  order,
  refusal,
  run,
} from './test-kit.ts';

test('each filter excludes with its own reason', () => {
  const one = (over: Partial<Endpoint>, preferences: Partial<RouteInput> = {}) =>
    drops(run([endpoint('a', over)], preferences))[0];
  const preferences = (w: RouteInput['preferences']) => ({ preferences: w });
  expect(one({ status: 'disabled' })).toBe('a:status');
  expect(one({ missing: 'A_KEY' })).toBe('a:status');
  expect(one({}, { environment: 'test' })).toBe('a:environment');
  expect(one({}, preferences({ providers: { only: ['b'] } }))).toBe('a:only');
  expect(one({}, preferences({ endpoints: { ignore: ['ep_a'] } }))).toBe('a:ignored');
  expect(one({}, preferences({ data_policy: 'zdr' }))).toBe('a:zdr');
  const trains = { data_policy: { trains: true, retention_days: null, zdr: false } };
  expect(one(trains, { data_policy: { zdr: false, no_train: true, regions: null } })).toBe('a:train');
  expect(one(trains, preferences({ require: { max_retention_days: 3650 } }))).toBe('a:retention');
  expect(one({}, preferences({ require: { max_retention_days: 29 } }))).toBe('a:retention');
  expect(one({ region: 'europe' }, preferences({ require: { regions: ['eu'] } }))).toBe('a:region');
  expect(one({ region: 'eu-west' }, preferences({ require: { regions: ['eu'] } }))).toBe(undefined);
  expect(one({}, preferences({ require: { quantizations: ['fp8'] } }))).toBe('a:quantization');
  expect(one({ capabilities: { ...able, tools: false } }, features({ tools: true }))).toBe('a:capability');
  expect(one({}, preferences({ require: { capabilities: ['zdr'] } }))).toBe('a:capability');
  expect(one({}, features({ server_tools: ['code_execution'] }))).toBe('a:server_tool');
  expect(one({}, features({ server_tools: ['web_search_20250305'] }))).toBe(undefined);
  expect(one({}, features({ input_tokens_bound: 150_001 }))).toBe('a:context');
  expect(one({}, features({ input_tokens_bound: 149_999 }))).toBe(undefined);
  expect(one({}, features({ max_tokens: 10_001 }))).toBe('a:max_output');
  expect(one({}, features({ service_tier: 'flex' }))).toBe('a:tier');
  expect(one({}, preferences({ require: { max_price: { output: 0.999 } } }))).toBe('a:price');
  expect(one({}, preferences({ require: { max_price: { output: 1 } } }))).toBe(undefined);
  expect(one({}, preferences({ byok: 'only' }))).toBe('a:byok');
  expect(one({}, { rests: () => 1 })).toBe('a:rate');
  const health = healthOf();
  health.rest('ep_a', 1_000, 1_000_000);
  expect(one({}, { health })).toBe('a:capacity');
  expect(one({}, { health, now_ms: 1_001_000 })).toBe(undefined);
  const open = healthOf();
  for (let i = 0; i < 5; i++) open.failed('ep_a', 'server', 1_000_000);
  expect(one({}, { health: open, rests: () => 1 })).toBe('a:circuit');
});

test('what is not known of an endpoint excludes it where a preference protects', () => {
  const unknown = endpoint('a', {
    ...{ quantization: null, region: 'global' },
    data_policy: { trains: false, retention_days: null, zdr: false },
  });
  const why = (require: NonNullable<RouteInput['preferences']['require']>) =>
    drops(run([unknown], { preferences: { require } }))[0];
  expect(why({ max_retention_days: 36_500 })).toBe('a:retention');
  expect(why({ quantizations: ['fp8', 'bf16', 'fp32'] })).toBe('a:quantization');
  expect(why({ quantizations: ['unknown'] })).toBe(undefined);
  expect(why({ regions: ['eu', 'us', 'ap'] })).toBe('a:region');
  expect(why({ regions: ['global'] })).toBe(undefined);
  expect(why({ capabilities: ['time_travel'] })).toBe('a:capability');
  expect(
    drops(run([unknown], { preferences: { require: { parameters: true } }, losses: () => [loss('hint')] })),
  ).toEqual(['a:lossy']);
});

test('max_price is held against what a call pays: its tier, its band, and reasoning that costs more than output', () => {
  const base = endpoint('a');
  const rates = (input: number, output: number, reasoning?: number) => ({
    ...{ input: nanoUsd(input), output: nanoUsd(output) },
    ...(reasoning === undefined ? {} : { reasoning: nanoUsd(reasoning) }),
  });
  const most = { preferences: { require: { max_price: { input: 2, output: 2 } } } };
  const flex = { ...base.price, rates: rates(9_000, 9_000) };
  const tiered = [endpoint('a', { tiers: { flex } })];
  expect(drops(run(tiered, most))).toEqual([]);
  expect(drops(run(tiered, { ...most, ...features({ service_tier: 'flex' }) }))).toEqual(['a:price']);
  const bands = [{ from_prompt_tokens: 5_000, rates: rates(2_001, 1_000) }];
  const banded = [endpoint('a', { price: { ...base.price, bands } })];
  expect(drops(run(banded, { ...most, ...features({ input_tokens_bound: 4_999 }) }))).toEqual([]);
  expect(drops(run(banded, { ...most, ...features({ input_tokens_bound: 5_000 }) }))).toEqual(['a:price']);
  const thinking = [endpoint('a', { price: { ...base.price, rates: rates(1_000, 1_000, 2_001) } })];
  expect(drops(run(thinking, most))).toEqual(['a:price']);
});

test('the regions of key and request must both admit an endpoint', () => {
  const over = {
    preferences: { require: { regions: ['us'] } },
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
  expect(survives('hint', { compat: 'drop', preferences: { require: { parameters: true } } })).toBe(false);
});

test('of equal endpoints the one that loses less behaviour comes first, for every request id', () => {
  for (let i = 0; i < 20; i++) {
    const losses = (e: Endpoint) => (e.provider === 'a' ? [loss('behaviour')] : [loss('hint')]);
    expect(order(run([endpoint('a'), endpoint('b')], { request_id: `r${i}`, losses }))).toEqual(['b', 'a']);
  }
});

test('sort by price, latency or throughput uses that figure alone, an unknown one counts as the best', () => {
  const health = healthOf();
  const seen = (id: string, ttft_ms: number, tps: number) =>
    health.succeeded(id, { ttft_ms, duration_ms: ttft_ms + 1000, output_tokens: tps }, 1_000_000);
  seen('ep_expensive', 100, 50);
  seen('ep_cheap', 900, 200);
  const both = [endpoint('expensive', {}, { input: 9000, output: 9000 }), endpoint('cheap')];
  const by = (sort: 'price' | 'latency' | 'throughput', more: Endpoint[] = []) =>
    order(run([...both, ...more], { preferences: { sort }, health }));
  expect(by('price')).toEqual(['cheap', 'expensive']);
  expect(by('latency')).toEqual(['expensive', 'cheap']);
  expect(by('throughput')).toEqual(['cheap', 'expensive']);
  expect(by('latency', [endpoint('new')]).at(-1)).toBe('cheap');
});

test('the order of the caller stands first, then healthy before degraded before unreadable signatures', () => {
  const health = healthOf();
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
  const preferences = { providers: { order: ['foreign'] } };
  expect(order(run(all, { health, preferences, ...signed }))).toEqual(['foreign', 'well', 'shaky']);
});

test('endpoints that run a tool that is offered come first, however expensive, and where none does each still stands', () => {
  const priced = (name: string, price: number) => endpoint(name, {}, { input: price, output: price });
  const all = [priced('without', 1), priced('runs', 9000)];
  const dropped = { ...loss('behaviour'), code: 'server_tool_dropped' };
  const losses = ({ provider }: { provider: string }) => (provider === 'runs' ? [] : [dropped]);
  expect(order(run(all, { losses }))).toEqual(['runs', 'without']);
  expect(run(all, { losses }).plan.at(-1)?.reason).toBe('server_tool');
  expect(order(run(all, { losses: () => [dropped] }))).toHaveLength(2);
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
  expect(run(four, { preferences: { max_attempts: 6 } }).plan).toHaveLength(3);
  expect(run(four, { preferences: { max_attempts: 2 } }).plan).toHaveLength(2);
  expect(run(four, { preferences: { fallbacks: false } }).plan).toHaveLength(1);
  const standard = { connect_ms: 5_000, first_event_ms: 60_000, idle_ms: 90_000, total_ms: 600_000 };
  expect(run(four)).toMatchObject({ timeouts: standard, chosen_deadline: false });
  expect(run(four, features({ reasoning: true })).timeouts.first_event_ms).toBe(180_000);
  const preferences = (timeouts: object) => run(four, { preferences: { timeouts } });
  expect(preferences({ total_ms: 9e9 })).toMatchObject({ timeouts: standard, chosen_deadline: false });
  expect(preferences({ first_event_ms: 1 })).toMatchObject({
    timeouts: { first_event_ms: 5_000 },
    chosen_deadline: false,
  });
  expect(preferences({ total_ms: 1 })).toMatchObject({
    timeouts: { total_ms: 10_000 },
    chosen_deadline: true,
  });
});

test('fallback models are tried in their order after all endpoints of the model, whatever their scores', () => {
  const large = model([endpoint('a', {}, { input: 9000, output: 9000 })]);
  const small = model([endpoint('b', { model_id: 'acme/small' })], 'acme/small');
  const route = planRoute(catalogOf(large, small), {
    ...input({ preferences: { fallback_models: ['acme/small', 'acme/large'] } }),
    health: healthOf(),
  });
  expect(route.plan.map((item) => item.endpoint.model_id)).toEqual(['acme/large', 'acme/small']);
  expect(() =>
    planRoute(catalogOf(large), {
      ...input({ preferences: { fallback_models: ['acme/smal'] } }),
      health: healthOf(),
    }),
  ).toThrow(expect.objectContaining({ code: 'model_not_found', param: 'svc.route.fallback_models[0]' }));
});

test('an unknown model is refused with what may have been meant', () => {
  const error = refusal([endpoint('a')], { model: 'acme/larg' });
  expect([error.code, error.param, error.details]).toEqual([
    'model_not_found',
    'model',
    { suggestions: ['acme/large'] },
  ]);
});

test('a name without its vendor is routed where one model has it, and refused with all where several do', () => {
  const [one, other] = [model([endpoint('a')], 'acme/large'), model([endpoint('b')], 'other/large')];
  const plan = (catalog: ReturnType<typeof catalogOf>) =>
    planRoute(catalog, input({ model: 'large' })).plan.map((item) => item.endpoint.provider);
  expect(plan(catalogOf(one))).toEqual(['a']);
  expect(() => plan(catalogOf(one, other))).toThrow(
    expect.objectContaining({
      code: 'model_not_found',
      details: { suggestions: ['acme/large', 'other/large'] },
    }),
  );
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
  const dead = endpoint('dead', { status: 'disabled', context_length: 2_000_000, max_output: 99_999 });
  const long = features({ input_tokens_bound: 900_000 });
  const wide = endpoint('b', { context_length: 200_000 });
  expect(refusal([endpoint('a'), wide, dead], long)).toMatchObject({
    code: 'context_length_exceeded',
    status: 400,
    retry: false,
    details: { input_tokens: 900_000, context_length: 200_000, source: 'estimate' },
    beside: { excluded_by: [{ reason: 'context' }, { reason: 'context' }, { reason: 'status' }] },
  });
  expect(refusal([endpoint('a', { family: 'sandbox' })], long).details).toMatchObject({ source: 'exact' });
  // A smaller cap helps where one endpoint has room for the prompt.
  const both = features({ input_tokens_bound: 900_000, max_tokens: 10_001 });
  const huge = endpoint('huge', { context_length: 1_000_000 });
  expect(refusal([endpoint('a'), huge, dead], both)).toMatchObject({
    code: 'invalid_request',
    param: 'max_tokens',
    details: { max_output: 10_000 },
  });
  expect(refusal([endpoint('a')], features({ max_tokens: 10_001 }))).toMatchObject({
    code: 'invalid_request',
    param: 'max_tokens',
  });
  const mixed = refusal([endpoint('a', { status: 'disabled' }), endpoint('b')], {
    preferences: { data_policy: 'zdr' },
  });
  expect(mixed).toMatchObject({ code: 'no_endpoint_available', status: 400, retry: false });
});

test('where waiting can help the refusal is 503 and says so', () => {
  const health = healthOf();
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

test('the wait in the refusal is that of the first endpoint that can be tried again', () => {
  const health = healthOf();
  for (let i = 0; i < 5; i++) health.failed('ep_a', 'server', 1_000_000);
  health.rest('ep_b', 7_500, 1_000_000);
  health.rest('ep_a', 20_000, 1_000_000);
  const wait = (rests: (e: Endpoint) => number, now_ms = 1_001_000) => {
    try {
      const catalog = catalogOf(model([endpoint('a'), endpoint('b'), endpoint('c')]));
      planRoute(catalog, {
        ...input({ rests, now_ms, preferences: { providers: { ignore: ['d'] } } }),
        health,
      });
    } catch (error) {
      return error as { code: string; status: number; retry_after_ms: number; beside: object };
    }
    throw new Error('was not refused');
  };
  const all = wait((e) => (e.provider === 'c' ? 30_000 : 0));
  expect(all).toMatchObject({ code: 'no_endpoint_available', status: 503, retry_after_ms: 6_500 });
  expect(all.beside).toEqual({
    excluded_by: [
      { endpoint_id: 'ep_a', provider: 'a', reason: 'circuit' },
      { endpoint_id: 'ep_b', provider: 'b', reason: 'capacity' },
      { endpoint_id: 'ep_c', provider: 'c', reason: 'rate' },
    ],
  });
  expect(wait((e) => (e.provider === 'c' ? 250 : 9_000)).retry_after_ms).toBe(250);
});

test('a fallback model that is named twice is tried once', () => {
  const catalog = catalogOf(model([endpoint('a')]), model([endpoint('b')], 'acme/small'));
  const preferences = { fallback_models: ['acme/small', 'acme/small', 'acme/large'], max_attempts: 3 };
  const { plan, spare } = planRoute(catalog, { ...input({ preferences }), health: healthOf() });
  expect([...plan, ...spare].map((item) => item.endpoint.provider)).toEqual(['a', 'b']);
});

test('one endpoint that is out for a while makes the refusal 503, whatever keeps the others out', () => {
  const health = healthOf();
  health.rest('ep_b', 1_000, 1_000_000);
  const others = [endpoint('a', { status: 'disabled' }), endpoint('c', { context_length: 10 })];
  const refused = (endpoints: Endpoint[]) => {
    try {
      planRoute(catalogOf(model(endpoints)), { ...input(), health });
    } catch (error) {
      return (error as { status: number }).status;
    }
    throw new Error('was not refused');
  };
  expect(refused([...others, endpoint('b')])).toBe(503);
  expect(refused(others)).toBe(400);
});

test('a refusal names 256 endpoints and counts the rest', () => {
  const many = Array.from({ length: 300 }, (_, i) => endpoint(`e${i}`, { region: 'us' }));
  const error = refusal(many, { preferences: { require: { regions: ['eu'] } } });
  expect(error.beside['excluded_by']).toHaveLength(256);
  expect(error.details).toEqual({ excluded_more: 44 });
});

test('a half-open circuit takes the call that is to probe it, and others only after its result', () => {
  const health = healthOf();
  for (let i = 0; i < 5; i++) health.failed('ep_a', 'server', 1_000_000);
  const catalog = catalogOf(model([endpoint('a'), endpoint('b')]));
  const at = (now_ms: number) =>
    planRoute(catalog, { ...input({ now_ms }), health })
      .plan.map((item) => item.endpoint.provider)
      .sort();
  expect(at(1_014_999)).toEqual(['b']);
  // A plan takes nothing: who cannot pay, or is answered elsewhere, keeps no other call from probing.
  expect(at(1_015_000)).toEqual(['a', 'b']);
  expect(at(1_015_000)).toEqual(['a', 'b']);
  health.probe('ep_a', 1_015_000);
  expect(at(1_015_000)).toEqual(['b']);
  health.succeeded('ep_a', { ttft_ms: 1, duration_ms: 1, output_tokens: 1 }, 1_015_500);
  expect(at(1_015_500)).toEqual(['a', 'b']);
});

test('a tier with its own price is planned at that price', () => {
  const flex = { ...endpoint('x').price, id: 'pv_flex' as const };
  const choice = run([endpoint('a', { tiers: { flex } })], features({ service_tier: 'flex' }));
  expect(choice.plan[0]?.endpoint.price.id).toBe('pv_flex');
});

test('rankings that are billed by the search are sorted by what their searches cost', () => {
  const billed = (name: string, search_unit: number) => {
    const at = endpoint(name, { task: 'rerank' }, { input: 0, output: 0 });
    const rates = { ...at.price.rates, search_unit: nanoUsd(search_unit) };
    return { ...at, price: { ...at.price, rates } };
  };
  const both = [billed('expensive', 5_000_000), billed('cheap', 2_000_000)];
  for (let i = 0; i < 20; i++) {
    const asked = features({ task: 'rerank', search_units: 1 });
    expect(order(run(both, { request_id: `r${i}`, preferences: { sort: 'price' }, ...asked }))[0]).toBe(
      'cheap',
    );
  }
});
