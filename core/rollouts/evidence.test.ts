// What the judgement of canaries promises, over seeded traffic.
import { describe, expect, test } from 'vitest';
import type { CanaryPlan } from '../policies/index.ts';
import type { Window } from './evidence.ts';
import { judge } from './verdict.ts';

const HOUR_MIN = 60;
const WEEK_MIN = 7 * 24 * HOUR_MIN;

function planOf(over: Partial<CanaryPlan> = {}): CanaryPlan {
  return {
    ...{ endpoint_id: 'ep_new', share: 500, max_error_rate: null, min_samples: 100, window_s: 3_600 },
    ...{ on_breach: 'rollback', alpha: 0.01, min_effect: 0.02, ...over },
  };
}

/** Numbers in [0, 1) that a seed draws (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Successes of `n` trials of probability `p`: jumps from one to the next. */
function draw(random: () => number, n: number, p: number): number {
  if (p <= 0 || p >= 1) return p <= 0 ? 0 : n;
  const gap = () => Math.floor(Math.log(1 - random()) / Math.log(1 - p));
  let found = 0;
  for (let at = gap(); at < n; at += 1 + gap()) found++;
  return found;
}

/** How often calls fail at the canary and beside it in the minute `min`. */
type Rates = (min: number) => { readonly canary: number; readonly control: number };
const healthy: Rates = () => ({ canary: 0.02, control: 0.02 });

interface Traffic {
  readonly plan?: CanaryPlan;
  readonly per_min: number;
  readonly minutes: number;
  /** Minutes between two looks. */
  readonly look?: number;
  readonly rates: Rates;
}

/** Runs traffic until the canary is red; null: it never was. */
function run(seed: number, { plan = planOf(), per_min, minutes, look = 1, rates }: Traffic) {
  const random = randomOf(seed);
  const q = plan.share / 10_000;
  const windows: { -readonly [K in keyof Window]: Window[K] }[] = [];
  const window_min = plan.window_s / 60;
  for (let min = 0; min < minutes; min += look) {
    const window_no = Math.floor(min / window_min);
    if (windows.at(-1)?.window_no !== window_no)
      windows.push({ window_no, canary_calls: 0, canary_errors: 0, control_calls: 0, control_errors: 0 });
    const window = windows.at(-1) as (typeof windows)[number];
    const calls = per_min * look;
    const { canary: p1, control: p0 } = rates(min);
    // Of many calls only the failures are drawn one by one, each at the canary with probability q.
    const canary = calls < 500 ? draw(random, calls, q) : Math.round(calls * q);
    window.canary_calls += canary;
    window.control_calls += calls - canary;
    window.canary_errors += calls < 500 ? draw(random, canary, p1) : draw(random, calls, q * p1);
    window.control_errors +=
      calls < 500 ? draw(random, calls - canary, p0) : draw(random, calls, (1 - q) * p0);
    const verdict = judge(plan, windows);
    if (verdict.state === 'red') {
      return { min, canary_calls: windows.reduce((sum, one) => sum + one.canary_calls, 0), verdict };
    }
  }
  return null;
}

function seeds(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

describe('a canary as good as its control', () => {
  test.each([
    [5, 60, 5],
    [50, 60, 5],
    [500, 60, 5],
    [50, 60, 50],
  ])(
    'at %i calls a minute, read every %i minutes for seven days at %i percent, is rolled back in no more than alpha of the weeks',
    (per_min, look, percent) => {
      // Without a least effect, which would only make it rarer.
      const plan = planOf({ share: percent * 100, min_effect: 0 });
      const traffic = { plan, per_min, look, minutes: WEEK_MIN, rates: healthy };
      const red = seeds(100).filter((seed) => run(seed, traffic) !== null);
      expect(red.length).toBeLessThanOrEqual(100 * plan.alpha);
    },
  );

  test('is not rolled back by an outage of both sides, at any hour', () => {
    const rates: Rates = (min) => {
      const rate = min % 1_440 >= 600 && min % 1_440 < 660 ? 0.7 : 0.01;
      return { canary: rate, control: rate };
    };
    const traffic = { plan: planOf({ min_effect: 0 }), per_min: 50, look: 15, minutes: 2 * 1_440, rates };
    expect(seeds(100).filter((seed) => run(seed, traffic) !== null).length).toBeLessThanOrEqual(1);
  });

  test('without calls is pending, and so is one without control', () => {
    expect(judge(planOf(), [])).toEqual({ state: 'pending', p_value: 1, reason: '' });
    const lonely = { canary_calls: 500, canary_errors: 400, control_calls: 0, control_errors: 0 };
    expect(judge(planOf(), [{ window_no: 0, ...lonely }]).state).toBe('pending');
  });

  test('is green from as many calls of either side as the policy asks for', () => {
    const counts = { canary_errors: 2, control_calls: 1_900, control_errors: 40 };
    expect(judge(planOf(), [{ window_no: 0, canary_calls: 99, ...counts }]).state).toBe('pending');
    expect(judge(planOf(), [{ window_no: 0, canary_calls: 100, ...counts }]).state).toBe('green');
  });
});

describe('a worse canary', () => {
  const failing: Rates = () => ({ canary: 0.1, control: 0.02 });

  test('that fails in a tenth of its calls is found within 200 of them', () => {
    const traffic = { per_min: 50, minutes: 1_000, rates: failing };
    const calls = seeds(100).map((seed) => run(seed, traffic)?.canary_calls ?? Number.POSITIVE_INFINITY);
    calls.sort((a, b) => a - b);
    expect(calls[50]).toBeLessThanOrEqual(100);
    expect(calls[94]).toBeLessThanOrEqual(200);
  });

  test('that always fails is found before ten calls, however few calls were asked for', () => {
    const traffic = { per_min: 5, minutes: 1_000, rates: () => ({ canary: 1, control: 0.02 }) };
    for (const seed of seeds(20)) expect(run(seed, traffic)?.canary_calls).toBeLessThan(10);
  });

  test('that was good for six days is found too', () => {
    const late: Rates = (min) => (min < 6 * 1_440 ? healthy(min) : failing(min));
    const traffic = { per_min: 50, look: 30, minutes: WEEK_MIN, rates: late };
    for (const seed of seeds(10)) {
      const found = run(seed, traffic);
      expect(found?.min).toBeGreaterThanOrEqual(6 * 1_440);
      expect(found?.min).toBeLessThan(6 * 1_440 + 240);
    }
  });

  test('stays where the difference is far below what counts, or its failures are excused', () => {
    const slight: Rates = () => ({ canary: 0.013, control: 0.01 });
    const traffic = { per_min: 50, look: 60, minutes: WEEK_MIN, rates: slight };
    expect(seeds(100).filter((seed) => run(seed, traffic) !== null).length).toBeLessThanOrEqual(5);
    const excused = { plan: planOf({ max_error_rate: 0.3 }), per_min: 50, minutes: 300, rates: failing };
    expect(seeds(20).filter((seed) => run(seed, excused) !== null)).toEqual([]);
  });
});
