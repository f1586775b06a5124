// Calls that belong together: kept where the prompt cache is, never at the price of an answer.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { activePolicy, decide } from '../policies/index.ts';
import { type AffinityKind, type AffinityMemory, createAffinity, type RouteInput } from './index.ts';
import { endpoint, features, healthOf, input, order, run } from './test-kit.ts';

const NOW = 1_000_000;
const three = () => [endpoint('a'), endpoint('b'), endpoint('c')];

function source(
  memory: AffinityMemory,
  values: Partial<Record<AffinityKind, string>> = { session: 's1', prefix: 'p1', user: 'u1', key: '7' },
  over: Partial<NonNullable<RouteInput['affinity']>> = {},
): Pick<RouteInput, 'affinity'> {
  const value = (kind: AffinityKind) => values[kind] ?? null;
  return {
    affinity: { memory, org_id: 'org_1', cache_hints: false, cache_ttl_ms: null, value, ...over },
  };
}

/** One call by session that is answered by the first of its plan, as the engine is told. */
function call(memory: AffinityMemory, over: Partial<RouteInput> = {}) {
  const route = run(three(), { preferences: { affinity: 'session' }, ...source(memory), ...over });
  return { route, first: order(route)[0] as string };
}
function remember(memory: AffinityMemory, { route }: ReturnType<typeof call>, name: string, now = NOW) {
  const { key, ttl_ms } = route.affinity as NonNullable<typeof route.affinity>;
  memory.keep('org_1', key as string, { endpoint_id: `ep_${name}`, until_ms: now + ttl_ms });
}

describe('the endpoint that answered', () => {
  test('is first for the next call of the session, before better ones, and the trace says hit', () => {
    const memory = createAffinity();
    const before = call(memory);
    expect(before.route.affinity?.state).toBe('miss');
    for (const name of ['a', 'b', 'c']) {
      remember(memory, before, name);
      const next = call(memory, { request_id: 'another' });
      expect(next.first).toBe(name);
      expect(next.route.affinity?.state).toBe('hit');
      expect(next.route.plan[0]?.reason).toBe('affinity');
      expect(next.route.plan).toHaveLength(3);
    }
    const expensive = [endpoint('a', {}, { input: 9_000, output: 9_000 }), endpoint('b')];
    remember(memory, before, 'a');
    const preferences = { affinity: 'session', sort: 'price' } as const;
    expect(order(run(expensive, { preferences, ...source(memory) }))).toEqual(['a', 'b']);
  });

  test('is forgotten after its time, five minutes unless policy or cache say otherwise', () => {
    const memory = createAffinity();
    remember(memory, call(memory), 'b');
    expect(call(memory, { now_ms: NOW + 299_999 }).route.affinity?.state).toBe('hit');
    expect(call(memory, { now_ms: NOW + 300_000 }).route.affinity?.state).toBe('miss');
    const ttl = (over: Partial<RouteInput>) => call(createAffinity(), over).route.affinity?.ttl_ms;
    const cached = (cache_ttl_ms: number) => source(memory, undefined, { cache_hints: true, cache_ttl_ms });
    expect(ttl({})).toBe(300_000);
    expect(ttl(cached(300_000))).toBe(300_000);
    expect(ttl(cached(3_600_000))).toBe(3_600_000);
    const policy = decide(activePolicy('p', 1, { defaults: { affinity_ttl_s: 60 } }), {
      ...{ model: 'acme/large', project_id: 'prj_x', key_id: 'key_x', environment: 'live', dialect: 'chat' },
      ...{ modalities_in: ['text'], modalities_out: ['text'], stream: true, input_tokens: 1, max_tokens: 1 },
      has: { tools: false, json_schema: false, images: false, reasoning: false, cache: false, byok: false },
      ...{ metadata: {}, app: '', now_ms: NOW },
    });
    expect(ttl({ ...cached(3_600_000), policy })).toBe(60_000);
  });

  test('is not tried while its circuit is open, and not first for other values, models or organizations', () => {
    const memory = createAffinity();
    remember(memory, call(memory), 'b');
    const health = healthOf();
    for (let i = 0; i < 5; i++) health.failed('ep_b', 'server', NOW);
    const open = call(memory, { health });
    expect(open.first).not.toBe('b');
    expect(open.route.affinity?.state).toBe('miss');
    expect(open.route.plan).toHaveLength(2);
    const other = source(memory, { session: 's2' });
    expect(call(memory, other).route.affinity?.state).toBe('miss');
    const foreign = source(memory, undefined, { org_id: 'org_2' });
    expect(call(memory, foreign).route.affinity?.state).toBe('miss');
    expect(call(memory, { environment: 'live' }).route.affinity?.state).toBe('hit');
    expect(call(memory, { model: 'acme/other' }).route.affinity?.state).toBe('miss');
  });

  test('stays behind the order of the caller and behind what can read signed reasoning', () => {
    const memory = createAffinity();
    remember(memory, call(memory), 'c');
    const preferences = { affinity: 'session' as const, providers: { order: ['a'] } };
    expect(
      call(memory, { preferences })
        .route.plan.map((item) => item.endpoint.provider)
        .slice(0, 2),
    ).toEqual(['a', 'c']);
    const signed = features({ signed_format: 'anthropic-claude-v1' });
    const all = [...three(), endpoint('x', { family: 'anthropic_messages' })];
    const read = run(all, { preferences: { affinity: 'session' }, ...source(memory), ...signed });
    expect(order(read)[0]).toBe('x');
  });

  test('is first though it failed of late: only an open circuit moves a conversation', () => {
    const memory = createAffinity();
    remember(memory, call(memory), 'b');
    const health = healthOf();
    for (let i = 0; i < 9; i++)
      health.succeeded('ep_b', { ttft_ms: 9, duration_ms: 9, output_tokens: 1 }, NOW);
    health.failed('ep_b', 'server', NOW);
    expect(call(memory, { health }).first).toBe('b');
  });
});

describe('what a call is kept by', () => {
  const kindOf = (over: Partial<RouteInput>) => run(three(), over).affinity;
  test('is the prefix from 1,024 tokens on or with cache hints, else nothing', () => {
    const memory = createAffinity();
    const of = (tokens: number, cache_hints = false) =>
      kindOf({ ...features({ input_tokens_bound: tokens }), ...source(memory, undefined, { cache_hints }) });
    expect(of(1_023)).toMatchObject({ kind: 'off', state: '-', key: null });
    expect(of(1_024)).toMatchObject({ kind: 'prefix', state: 'miss' });
    expect(of(10, true)).toMatchObject({ kind: 'prefix', state: 'miss' });
    expect(
      kindOf({ ...source(memory, undefined, { cache_hints: true }), preferences: { affinity: 'off' } })
        ?.state,
    ).toBe('-');
  });

  test('is nothing where the request has nothing of the kind', () => {
    const asked = {
      preferences: { affinity: 'session' },
      ...source(createAffinity(), { prefix: 'p' }),
    } as const;
    expect(kindOf(asked)).toMatchObject({ kind: 'session', state: '-', key: null });
  });

  test('is a digest that tells kinds apart and nothing of the value', () => {
    const memory = createAffinity();
    const same = { key: 'x', user: 'x', session: 'x', prefix: 'x' };
    const keys = (['key', 'user', 'session', 'prefix'] as const).map(
      (affinity) => kindOf({ preferences: { affinity }, ...source(memory, same) })?.key as string,
    );
    expect(new Set(keys).size).toBe(4);
    for (const key of keys) expect(key).toMatch(/^[\w-]{24}$/);
  });
});

test('two gateways that remember nothing choose alike for one session, and sessions spread over the endpoints', () => {
  const firsts = new Map<string, number>();
  for (let i = 0; i < 300; i++) {
    const session = { session: `session-${i}` };
    const [one, two] = ['r1', 'r2'].map((request_id) =>
      order(
        run(three(), {
          request_id,
          preferences: { affinity: 'session' },
          ...source(createAffinity(), session),
        }),
      ),
    );
    expect(one).toEqual(two);
    const first = one?.[0] as string;
    firsts.set(first, (firsts.get(first) ?? 0) + 1);
  }
  expect(firsts.size).toBe(3);
  for (const count of firsts.values()) expect(count).toBeGreaterThan(60);
});

test('an endpoint that goes takes only its own sessions along', () => {
  for (let i = 0; i < 100; i++) {
    const given = {
      preferences: { affinity: 'session' as const },
      ...source(createAffinity(), { session: `s${i}` }),
    };
    const all = order(run(three(), given));
    const without = order(run([endpoint('a'), endpoint('c')], given));
    expect(without).toEqual(all.filter((name) => name !== 'b'));
  }
});

describe('the memory', () => {
  test('keeps within its bounds whatever comes, and one organization pushes out its own first', () => {
    const entry = (i: number) => ({ endpoint_id: `ep_${i}`, until_ms: NOW + 1 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('o1', 'o2', 'o3'), fc.integer({ min: 0, max: 12 })), {
          maxLength: 120,
        }),
        (uses) => {
          const memory = createAffinity(4, 9);
          const held = new Map<string, Set<string>>();
          uses.forEach(([org, key], i) => {
            memory.keep(org, `k${key}`, entry(i));
            expect(memory.find(org, `k${key}`, NOW)).toBe(`ep_${i}`);
            expect(memory.size).toBeLessThanOrEqual(9);
            const keys = held.get(org) ?? new Set();
            held.set(org, keys.add(`k${key}`));
          });
          let found = 0;
          for (const [org, keys] of held) {
            const own = [...keys].filter((key) => memory.find(org, key, NOW) !== null).length;
            expect(own).toBeLessThanOrEqual(4);
            found += own;
          }
          expect(found).toBe(memory.size);
        },
      ),
    );
    const memory = createAffinity(2, 100);
    memory.keep('quiet', 'k', entry(1));
    for (let i = 0; i < 50; i++) memory.keep('loud', `k${i}`, entry(i));
    expect(memory.find('quiet', 'k', NOW)).toBe('ep_1');
    expect(memory.size).toBe(3);
  });

  test('forgets what was not used for longest', () => {
    const memory = createAffinity(2, 100);
    const entry = { endpoint_id: 'ep_x', until_ms: NOW + 1 };
    memory.keep('o', 'one', entry);
    memory.keep('o', 'two', entry);
    memory.keep('o', 'one', entry);
    memory.keep('o', 'three', entry);
    expect(['one', 'two', 'three'].map((key) => memory.find('o', key, NOW))).toEqual(['ep_x', null, 'ep_x']);
  });
});

test('the route of a call without an affinity source is the route it always was', () => {
  expect(order(run(three(), input()))).toEqual(order(run(three(), { ...input(), ...features({}) })));
  expect(run(three(), { preferences: { affinity: 'session' } }).affinity).toMatchObject({
    state: '-',
    key: null,
  });
});
