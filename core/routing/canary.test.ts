// A canary's share of the calls, and its place in the plan.
import { expect, test } from 'vitest';
import { type Actions, activePolicy, decide } from '../policies/index.ts';
import type { RouteInput } from './index.ts';
import { endpoint, healthOf, input, order, policyFacts, ruling, run, three } from './test-kit.ts';
import { routeLine, routeOf } from './trace.ts';

const canary: NonNullable<Actions['canary']> = { endpoint: 'ep_c', percent: 5 };
const ids = (count: number) => Array.from({ length: count }, (_, i) => `request-${i}`);
const by = (defaults: Actions, over: Partial<RouteInput> = {}) => ({ policy: ruling(defaults), ...over });

/** Of 10,000 calls, those on the side of the canary. */
function chosen(over: Partial<RouteInput>) {
  return ids(10_000)
    .map((request_id) => run(three(), { ...over, request_id }))
    .filter((choice) => choice.canary?.arm === 'canary');
}

test('a canary gets its share of the calls as their first endpoint, and every other call has it last', () => {
  const calls = ids(10_000).map((request_id) => run(three(), by({ canary }, { request_id })));
  const first = calls.filter((choice) => order(choice)[0] === 'c');
  // Five standard deviations of a draw of 10,000 at 5 %.
  expect(Math.abs(first.length - 500)).toBeLessThan(5 * Math.sqrt(10_000 * 0.05 * 0.95));
  for (const choice of calls) {
    const at = order(choice).indexOf('c');
    expect(choice.canary).toEqual({ endpoint_id: 'ep_c', arm: at === 0 ? 'canary' : 'control' });
    expect([0, 2]).toContain(at);
  }
  expect(first[0]?.plan[0]?.reason).toBe('canary');
});

test('the side of a call is the same in every gateway, and drawn anew for another version', () => {
  const sides = (version: number) =>
    ids(2_000).map((request_id) => {
      const policy = decide(activePolicy('p', version, { defaults: { canary } }), policyFacts);
      return run(three(), { policy, request_id }).canary?.arm;
    });
  expect(sides(7)).toEqual(sides(7));
  const both = sides(7).filter((arm, i) => arm === 'canary' && sides(8)[i] === 'canary');
  expect(both.length).toBeLessThan(30);
});

test('neither the order of caller and policy nor affinity changes the sides', () => {
  const plain = chosen(by({ canary })).length;
  expect(chosen(by({ canary, endpoints: { order: ['ep_a'] } })).length).toBe(plain);
  expect(chosen(by({ canary }, { preferences: { providers: { order: ['c', 'a'] } } })).length).toBe(plain);
});

test('a canary that was rolled back gets no call that another endpoint can answer', () => {
  const halted = activePolicy('p', 7, { defaults: { canary } }, new Set(['ep_c']));
  const policy = decide(halted, policyFacts);
  for (const request_id of ids(500)) {
    const choice = run(three(), { policy, request_id });
    expect(order(choice)[2]).toBe('c');
    expect(choice.canary).toBeUndefined();
  }
  expect(order(run([endpoint('c')], { policy }))).toEqual(['c']);
});

test.each<[string, Partial<RouteInput>]>([
  ['the canary may not serve', by({ canary, endpoints: { ignore: ['ep_c'] } })],
  ['nothing else may serve', by({ canary, endpoints: { only: ['ep_c'] } })],
  ['the circuit of the canary is open', by({ canary }, { health: brokenAt('ep_c') })],
  ['the circuits of all others are open', by({ canary }, { health: brokenAt('ep_a', 'ep_b') })],
])('a call takes no part where %s: both sides must have been possible', (_, over) => {
  for (const request_id of ids(200)) {
    expect(run(three(), { ...over, request_id }).canary).toBeUndefined();
  }
});

function brokenAt(...broken: string[]): RouteInput['health'] {
  const health = healthOf();
  for (const id of broken) for (let i = 0; i < 6; i++) health.failed(id, 'server', input().now_ms);
  return health;
}

test('the route of a call says on which side it was', () => {
  const [choice] = chosen(by({ canary }));
  if (choice === undefined) throw new Error('no call was for the canary');
  const route = routeOf(
    { route: choice, catalog: 'v', reserve_micro_usd: 0 },
    { attempts: null, winner: null },
  );
  expect(route.canary).toEqual({ endpoint_id: 'ep_c', arm: 'canary' });
  expect(routeLine(route)).toContain('arm=-; canary=1; aff=');
});
