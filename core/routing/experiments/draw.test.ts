// The split of an experiment: how many calls each arm gets, who stays in one, and who takes no part.
import { expect, test } from 'vitest';
import { type Actions, activePolicy, decide, experimentOf } from '../../policies/index.ts';
import { createAffinity, planRoute, type RouteInput } from '../index.ts';
import { catalogOf, endpoint, healthOf, input, model, policyFacts, ruling, three } from '../test-kit.ts';
import { routeLine, routeOf } from '../trace.ts';
import { armOf } from './draw.ts';

type Experiment = NonNullable<Actions['experiment']>;
const experiment = (over: Partial<Experiment> = {}, percent = 10): Experiment => ({
  name: 'cheap',
  arms: [
    { name: 'control', percent: 100 - percent, endpoints: { only: ['ep_a'] } },
    { name: 'candidate', percent, endpoints: { only: ['ep_b'] } },
  ],
  ...over,
});
const ids = (count: number) => Array.from({ length: count }, (_, i) => `request-${i}`);
const catalog = () => catalogOf(model(three()));
const planned = (over: Partial<RouteInput>, of = catalog()) => planRoute(of, input(over));
const first = (route: ReturnType<typeof planned>) => route.plan[0]?.endpoint.provider;

/** What a request has to stick to. */
function source(values: { readonly [kind: string]: string }): NonNullable<RouteInput['affinity']> {
  const value = (kind: string) => values[kind] ?? null;
  return { memory: createAffinity(), org_id: 'org', cache_hints: false, cache_ttl_ms: null, value };
}

test.each([0, 0.01, 0.1, 5, 33.33, 50, 99.99, 100])(
  'of the 10,000 buckets a candidate at %d percent has exactly its share',
  (percent) => {
    const plan = experimentOf(experiment({}, percent));
    if (plan === null) throw new Error('no plan');
    const arms = Array.from({ length: 10_000 }, (_, bucket) => armOf(plan, bucket).name);
    expect(arms.filter((arm) => arm === 'candidate')).toHaveLength(Math.round(percent * 100));
  },
);

test('each call is drawn by itself, and is served as its arm says', () => {
  const policy = ruling({ experiment: experiment() });
  const routes = ids(4_000).map((request_id) => planned({ policy, request_id }));
  for (const route of routes) {
    expect(first(route)).toBe(route.experiment?.arm === 'candidate' ? 'b' : 'a');
    expect(route.plan).toHaveLength(1);
  }
  const candidates = routes.filter(({ experiment }) => experiment?.arm === 'candidate');
  // Five standard deviations of a draw of 4,000 at 10 %.
  expect(Math.abs(candidates.length - 400)).toBeLessThan(5 * Math.sqrt(4_000 * 0.1 * 0.9));
});

test.each(['key', 'user', 'session'] as const)(
  'who sticks by %s stays in one arm in every gateway, under whatever rule the calls come',
  (stick) => {
    const rules = [{ name: 'short', match: { stream: true }, continue: true, sort: 'price' as const }];
    const document = { defaults: { experiment: experiment({ stick }, 50) }, rules };
    const arms = ids(200).map((who) => {
      const taken = [true, false, true].map((stream, i) => {
        const policy = decide(activePolicy('p', 7, document), { ...policyFacts, stream });
        const affinity = source({ [stick]: who });
        return planned({ policy, affinity, request_id: `${who}-${i}` }).experiment;
      });
      expect(new Set(taken.map((one) => one?.bucket)).size).toBe(1);
      return taken[0]?.arm;
    });
    expect(arms.filter((arm) => arm === 'candidate').length).toBeGreaterThan(60);
    expect(arms.filter((arm) => arm === 'control').length).toBeGreaterThan(60);
  },
);

test('a call that does not say who it is of is drawn by itself', () => {
  const policy = ruling({ experiment: experiment({ stick: 'user' }, 50) });
  const buckets = ids(50).map(
    (request_id) => planned({ policy, request_id, affinity: source({ key: '1' }) }).experiment?.bucket,
  );
  expect(new Set(buckets).size).toBeGreaterThan(40);
});

test('another version draws anew', () => {
  const arm = (version: number, request_id: string) => {
    const document = { defaults: { experiment: experiment({}, 50) } };
    const policy = decide(activePolicy('p', version, document), policyFacts);
    return planned({ policy, request_id }).experiment?.arm;
  };
  const same = ids(1_000).filter((id) => arm(7, id) === arm(8, id));
  expect(same.length).toBeGreaterThan(400);
  expect(same.length).toBeLessThan(600);
});

test.each<[string, Partial<RouteInput>, Actions]>([
  ['the policy leaves the endpoint of an arm out', {}, { endpoints: { ignore: ['ep_b'] } }],
  ['the request leaves it out', { preferences: { endpoints: { ignore: ['ep_a'] } } }, {}],
  ['its circuit is open', { health: brokenAt('ep_b') }, {}],
  ['the catalog does not have the model of an arm', {}, { experiment: experiment({ arms: gone() }) }],
])('where %s, calls of both arms take no part, and are routed as without the experiment', (_, over, more) => {
  const policy = ruling({ experiment: experiment({}, 50), ...more });
  const { experiment: _own, ...others } = more;
  const plain = ruling(others);
  for (const request_id of ids(100)) {
    const route = planned({ ...over, policy, request_id });
    expect(route.experiment).toBeUndefined();
    const other = planned({ ...over, policy: plain, request_id });
    expect(route.plan.map((item) => item.endpoint.id)).toEqual(other.plan.map((item) => item.endpoint.id));
  }
});

function gone(): Experiment['arms'] {
  return [
    { name: 'control', percent: 50 },
    { name: 'candidate', percent: 50, model: 'acme/gone' },
  ];
}

function brokenAt(id: string): RouteInput['health'] {
  const health = healthOf();
  for (let i = 0; i < 6; i++) health.failed(id, 'server', input().now_ms);
  return health;
}

test('a call that nothing can serve is refused as without the experiment', () => {
  const policy = ruling({ experiment: experiment(), endpoints: { ignore: ['ep_a', 'ep_b', 'ep_c'] } });
  expect(() => planned({ policy })).toThrow(/endpoint/);
});

test('an arm may answer with another model, and what protects holds there too', () => {
  const small = model([endpoint('s', { model_id: 'acme/small' })], 'acme/small');
  const open = model([endpoint('t', { model_id: 'acme/small', region: 'us' })], 'acme/small');
  const arms: Experiment['arms'] = [
    { name: 'control', percent: 50 },
    { name: 'candidate', percent: 50, model: 'acme/small' },
  ];
  const policy = ruling({ experiment: experiment({ arms }) });
  const of = catalogOf(model(three()), small);
  for (const request_id of ids(100)) {
    const route = planned({ policy, request_id }, of);
    expect(first(route) === 's').toBe(route.experiment?.arm === 'candidate');
  }
  const strict = ruling({ experiment: experiment({ arms }), require: { regions: ['global'] } });
  for (const request_id of ids(100)) {
    const route = planned({ policy: strict, request_id }, catalogOf(model(three()), open));
    expect(route.experiment).toBeUndefined();
    expect(route.plan.every(({ endpoint }) => endpoint.region === 'global')).toBe(true);
  }
});

test('the order of an arm stands above that of policy and request', () => {
  const arms: Experiment['arms'] = [
    { name: 'control', percent: 50 },
    { name: 'candidate', percent: 50, providers: { order: ['c'] } },
  ];
  const policy = ruling({ experiment: experiment({ arms }), endpoints: { order: ['ep_a'] } });
  const preferences: RouteInput['preferences'] = { endpoints: { order: ['ep_b'] } };
  for (const request_id of ids(100)) {
    const route = planned({ policy, preferences, request_id });
    expect(first(route)).toBe(route.experiment?.arm === 'candidate' ? 'c' : 'b');
  }
});

test('an arm keeps to endpoints of its own: what answered in the other moves nothing', () => {
  const arms: Experiment['arms'] = [
    { name: 'control', percent: 50 },
    { name: 'candidate', percent: 50, endpoints: { ignore: ['ep_a'] } },
  ];
  const policy = ruling({ experiment: experiment({ arms }), affinity: 'session' });
  const affinity = source({ session: 's' });
  const keys = new Set(
    ids(50).map((request_id) => {
      const route = planned({ policy, affinity, request_id });
      return `${route.experiment?.arm} ${route.affinity?.key}`;
    }),
  );
  expect(new Set([...keys].map((key) => key.split(' ')[1])).size).toBe(2);
  expect(keys.size).toBe(2);
});

test('the route of a call names experiment and arm, and so does its line', () => {
  const policy = ruling({ experiment: experiment({}, 100) });
  const decided = { route: planned({ policy }), catalog: 'v', reserve_micro_usd: 0 };
  const route = routeOf(decided, { attempts: null, winner: null });
  expect(route.experiment).toMatchObject({ name: 'cheap', arm: 'candidate' });
  expect(routeLine(route)).toContain('arm=cheap/candidate; canary=0;');
});
