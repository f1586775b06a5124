// Which calls are copied for a shadow, and what the copy may reach.
import { expect, test } from 'vitest';
import { type Actions, activePolicy, decide } from '../../policies/index.ts';
import { drawShadow, type RoutePreferences } from '../index.ts';
import { order, policyFacts, ruling, run, three } from '../test-kit.ts';
import { preferencesOfCopy } from './shadow.ts';

const shadow: NonNullable<Actions['shadow']> = { endpoint: 'ep_c', percent: 5 };
const ids = (count: number) => Array.from({ length: count }, (_, i) => `request-${i}`);
const ruled = (defaults: Actions, version = 7) =>
  decide(activePolicy('p', version, { defaults }), policyFacts);

/** The plan of the copy of a call that `defaults` rule, whose request preferred `own`. */
function planOfCopy(defaults: Actions, own: RoutePreferences = {}) {
  const drawn = drawShadow(ruled({ shadow: { ...shadow, percent: 100 }, ...defaults }), 'request-1');
  if (drawn === null) throw new Error('the call was not drawn');
  return run(three(), { policy: drawn.ruling, preferences: preferencesOfCopy(own, drawn) });
}

test('a shadow copies its share of the calls, the same ones in every gateway, others for another version', () => {
  const drawn = (version: number) =>
    ids(10_000).filter((id) => drawShadow(ruled({ shadow }, version), id) !== null);
  const found = drawn(7);
  // Five standard deviations of a draw of 10,000 at 5 %.
  expect(Math.abs(found.length - 500)).toBeLessThan(5 * Math.sqrt(10_000 * 0.05 * 0.95));
  expect(drawn(7)).toEqual(found);
  const both = drawn(8).filter((id) => found.includes(id));
  expect(both.length).toBeLessThan(80);
});

test('who is drawn for a canary is drawn for a shadow as often as anybody', () => {
  const canary = { endpoint: 'ep_b', percent: 50 };
  const defaults = { shadow: { ...shadow, percent: 50 }, canary };
  const tried = ids(2_000).filter(
    (request_id) => run(three(), { policy: ruling(defaults), request_id }).canary?.arm === 'canary',
  );
  const copied = tried.filter((id) => drawShadow(ruled(defaults), id) !== null);
  expect(Math.abs(copied.length / tried.length - 0.5)).toBeLessThan(0.1);
});

test('no shadow, or one of no share, copies nothing; one of all copies everything', () => {
  expect(drawShadow(null, 'request-1')).toBeNull();
  expect(drawShadow(ruled({}), 'request-1')).toBeNull();
  const share = (percent: number) =>
    ids(100).filter((id) => drawShadow(ruled({ shadow: { ...shadow, percent } }), id) !== null).length;
  expect([share(0), share(100)]).toEqual([0, 100]);
});

test('a copy is tried once and at the endpoint of the shadow alone, whatever policy and request prefer', () => {
  const preferred: Actions = {
    ...{ endpoints: { order: ['ep_a'] }, sort: 'price', max_attempts: 6, fallbacks: true },
    ...{ canary: { endpoint: 'ep_a', percent: 50 }, lock: ['fallbacks', 'affinity', 'max_attempts'] },
  };
  const plans = [
    planOfCopy({}),
    planOfCopy(preferred),
    planOfCopy({}, { providers: { order: ['a', 'b'] }, max_attempts: 3, affinity: 'key' }),
  ];
  for (const plan of plans) {
    expect(order(plan)).toEqual(['c']);
    expect([plan.max_attempts, plan.affinity?.key ?? null, plan.canary, plan.experiment]).toEqual([
      ...[1, null, undefined, undefined],
    ]);
    expect(plan.warnings).toEqual([]);
  }
});

test('what protects the call, by policy or by request, keeps its copy away', () => {
  expect(order(planOfCopy({ providers: { ignore: ['c'] } }))).toEqual([]);
  expect(order(planOfCopy({ require: { zdr: true } }))).toEqual([]);
  expect(order(planOfCopy({}, { providers: { only: ['a'] } }))).toEqual([]);
  expect(order(planOfCopy({}, { endpoints: { ignore: ['ep_c'] } }))).toEqual([]);
  expect(order(planOfCopy({}, { require: { zdr: true } }))).toEqual([]);
  expect(order(planOfCopy({}, { data_policy: 'zdr' }))).toEqual([]);
});
