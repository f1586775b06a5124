// What the comparison of arms promises, against figures of other implementations and over seeded traffic.
import { describe, expect, test } from 'vitest';
import { ALPHA, compareArms, type Moments, mixtureP, radius, sampleRatioP, tooLittle } from './comparison.ts';

type Five = readonly [number, number, number, number, number];
const moments = ([calls, sum, calls_squared, sum_squared, calls_by_sum]: Five): Moments => ({
  ...{ calls, sum, calls_squared, sum_squared, calls_by_sum },
});

describe('the figures of other implementations', () => {
  // `normal_mixture(t, 0.05, best_rho(5000, 0.05)) / t * sqrt(t * v)` of ville 0.1.0 (PyPI).
  test.each([
    [1e-4, 400, 0.040478566183741634],
    [2.5e-5, 2_000, 0.01558325458398405],
    [4e-6, 5_000, 0.006070244826057193],
    [3.2e-7, 60_000, 0.0018503660840354015],
    [12.5, 1_000_000, 12.94417765053344],
    [90_000, 777, 1045.8538040932667],
  ])('the interval of a variance of %d after %d calls', (variance, calls, expected) => {
    expect(radius(variance, calls)).toBeCloseTo(expected, 9 - Math.round(Math.log10(expected)));
  });

  // `MSPRT(theta0=0.5, sigma=0.5)` of ville 0.1.0 with the mixture of `best_rho(1000, 0.05)`, over drawn coins.
  test.each([
    [-10, 75, 0.9859456979812541],
    [13, 500, 1],
    [126, 500, 6.449558469082889e-6],
    [99, 5_000, 1],
  ])('the test of a split that is %d calls off with a variance of %d', (sum, variance, expected) => {
    expect(mixtureP(sum, variance) / expected).toBeCloseTo(1, 9);
  });

  // Estimate and cluster-robust variance of a regression on the arm (statsmodels, `cov_type='cluster'` without
  // correction), with ville's boundary around it.
  const clustered: readonly [string, Five, Five, number, number, number][] = [
    [
      'callers alike in number, unlike in failures',
      [2993, 215, 32549, 587, 2327],
      [3081, 442, 34865, 1832, 5129],
      ...([0.07162563562517892, 0.033139321335997785, 0.11011194991436005] as const),
    ],
    [
      'few busy callers beside many quiet ones',
      [3226, 108, 133814, 936, 4250],
      [3577, 74, 16967, 80, 359],
      ...([-0.012790264174867845, -0.040443617640782414, 0.014863089291046721] as const),
    ],
    [
      'calls that are independent',
      [2000, 194, 2000, 194, 194],
      [2000, 211, 2000, 211, 211],
      ...([0.008499999999999258, -0.020487384725611627, 0.03748738472561014] as const),
    ],
    [
      'busy callers in both arms',
      [8367, 2935, 183467, 30895, 64799],
      [5499, 1221, 508849, 36473, 111736],
      ...([-0.12874246636062053, -0.19852692889654833, -0.05895800382469274] as const),
    ],
  ];
  test.each(clustered)('the difference of arms: %s', (_, control, candidate, estimate, low, high) => {
    const found = compareArms(moments(control), moments(candidate));
    expect(found?.estimate).toBeCloseTo(estimate, 12);
    // Never narrower: where arms that are alike would vary more, that counts.
    expect(found?.low).toBeLessThanOrEqual(low + 1e-9);
    expect(found?.high).toBeGreaterThanOrEqual(high - 1e-9);
    expect((found?.high ?? 0) - (found?.low ?? 0)).toBeLessThan(1.2 * (high - low));
  });

  // `AsymptoticABTest(alpha=0.05, propensity=0.5, t_opt=5000)` of ville 0.1.0, call by call.
  test('a whole test, read at its end', () => {
    const control = moments([2945, 282, 2945, 282, 282]);
    const found = compareArms(control, moments([3055, 440, 3055, 440, 440]));
    expect(found?.low).toBeCloseTo(0.022078698906888176, 2);
    expect(found?.high).toBeCloseTo(0.0730160360477084, 2);
  });
});

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

const BUCKETS = 10_000;
type Sums = { -readonly [K in keyof Moments]: number };
const nothing = (): Sums => ({ calls: 0, sum: 0, calls_squared: 0, sum_squared: 0, calls_by_sum: 0 });

/** The buckets of both arms, call by call. */
class Traffic {
  readonly calls = new Float64Array(BUCKETS);
  readonly sums = new Float64Array(BUCKETS);
  readonly arms = [nothing(), nothing()] as const;
  readonly share: number;

  constructor(share: number) {
    this.share = share;
  }

  isCandidate(bucket: number): boolean {
    return bucket >= BUCKETS - this.share;
  }

  add(bucket: number, measured: number): void {
    const arm = this.arms[this.isCandidate(bucket) ? 1 : 0];
    const calls = this.calls[bucket] as number;
    const sum = this.sums[bucket] as number;
    arm.calls += 1;
    arm.sum += measured;
    arm.calls_squared += 2 * calls + 1;
    arm.sum_squared += (2 * sum + measured) * measured;
    arm.calls_by_sum += sum + calls * measured + measured;
    this.calls[bucket] = calls + 1;
    this.sums[bucket] = sum + measured;
  }
}

/** A caller, its bucket, and how often its calls fail. */
interface Caller {
  readonly bucket: number;
  readonly rate: number;
}

interface World {
  readonly share: number;
  readonly per_hour: number;
  readonly rate: number;
  /** How many who stay in one arm; 0: each call is drawn by itself. */
  readonly callers: number;
  /** What a call that fails counts; absent: 1, as for the rate of errors. */
  readonly measure?: (random: () => number) => number;
  /** By how much more often the candidate fails. */
  readonly effect?: number;
}

/** One call: of a caller of whom the first ones call most, or of nobody in particular. */
function call(traffic: Traffic, world: World, callers: readonly Caller[], random: () => number): void {
  const known = callers[Math.floor(random() ** 2 * callers.length)];
  const bucket = known?.bucket ?? Math.floor(random() * BUCKETS);
  const rate = (known?.rate ?? world.rate) + (traffic.isCandidate(bucket) ? (world.effect ?? 0) : 0);
  const { measure = () => 1 } = world;
  traffic.add(bucket, random() < rate ? measure(random) : 0);
}

/** Reads each hour; the first hour that `differs`, or null. */
function firstHour(
  seed: number,
  world: World,
  hours: number,
  differs: (traffic: Traffic) => boolean,
): number | null {
  const random = randomOf(seed);
  const traffic = new Traffic(world.share);
  const callers = Array.from({ length: world.callers }, () => ({
    bucket: Math.floor(random() * BUCKETS),
    rate: Math.min(1, world.rate * 2 * random()),
  }));
  for (let hour = 0; hour < hours; hour++) {
    for (let i = 0; i < world.per_hour; i++) call(traffic, world, callers, random);
    if (differs(traffic)) return hour;
  }
  return null;
}

function isDifferent({ arms: [control, candidate] }: Traffic): boolean {
  const found = compareArms(control, candidate);
  return found !== null && (found.low > 0 || found.high < 0);
}

const worlds: readonly [string, World][] = [
  ['few calls, half each', { share: 5_000, per_hour: 3, rate: 0.05, callers: 0 }],
  ['a small candidate, rare failures', { share: 1_000, per_hour: 20, rate: 0.005, callers: 0 }],
  ['a small control', { share: 9_000, per_hour: 20, rate: 0.02, callers: 0 }],
  ['400 callers who stay, some of whom fail often', { share: 5_000, per_hour: 20, rate: 0.05, callers: 400 }],
  ['cost of very unlike calls', { share: 3_000, per_hour: 12, rate: 1, callers: 0, measure: cost }],
];

/** Micro-USD: most calls cost little, a few a hundred times as much (lognormal). */
function cost(random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return 1_000 * Math.exp(1.2 * normal);
}

const HOURS = 30 * 24;

test('of 2,000 comparisons of equal arms, read hourly for 30 days, at most 5 % ever say different', () => {
  const each = 2_000 / worlds.length;
  const wrong = worlds.map(([name, world], w) => {
    const seeds = Array.from({ length: each }, (_, i) => 1_000_000 * w + i);
    return {
      name,
      found: seeds.filter((seed) => firstHour(seed, world, HOURS, isDifferent) !== null).length,
    };
  });
  for (const { name, found } of wrong) expect(found, name).toBeLessThanOrEqual(ALPHA * each);
  expect(wrong.reduce((sum, { found }) => sum + found, 0)).toBeLessThanOrEqual(ALPHA * 2_000);
});

test('of 500 even splits, read hourly for 30 days, at most 1 % ever look as if calls were lost', () => {
  const lost = ({ arms: [control, candidate], share }: Traffic) =>
    (sampleRatioP(control, candidate, share) ?? 1) <= 0.01;
  const found = worlds.flatMap(([, world], w) =>
    Array.from({ length: 100 }, (_, i) => firstHour(7_000 + 100 * w + i, world, HOURS, lost)),
  );
  expect(found.filter((hour) => hour !== null).length).toBeLessThanOrEqual(5);
});

test('an arm that fails in 8 % of its calls instead of 2 % is found within 4,000 calls', () => {
  const world: World = { share: 5_000, per_hour: 20, rate: 0.02, callers: 0, effect: 0.06 };
  const hours = Array.from({ length: 50 }, (_, seed) => firstHour(seed, world, 200, isDifferent) ?? 200);
  expect(hours.toSorted((a, b) => a - b)[47]).toBeLessThan(200);
});

test('a tenth of the calls of one arm that are lost show in the split within 20,000 calls', () => {
  const world: World = { share: 5_000, per_hour: 50, rate: 0, callers: 0 };
  const random = randomOf(3);
  const traffic = new Traffic(world.share);
  for (let i = 0; i < 20_000; i++) {
    const bucket = Math.floor(random() * BUCKETS);
    if (!traffic.isCandidate(bucket) || random() > 0.1) traffic.add(bucket, 0);
  }
  expect(sampleRatioP(...traffic.arms, world.share)).toBeLessThan(0.001);
});

test('arms without calls, with few, or with those of a few callers are not compared', () => {
  const none = moments([0, 0, 0, 0, 0]);
  expect(compareArms(none, none)).toBeNull();
  expect(sampleRatioP(none, none, 5_000)).toBeNull();
  const many = moments([1_000, 20, 1_000, 20, 20]);
  const few = moments([199, 20, 199, 20, 20]);
  expect(tooLittle(many, few)).toBe('199 of 200 calls of either arm');
  expect(compareArms(many, few)).toBeNull();
  const one_caller = moments([1_000, 20, 1_000_000, 400, 20_000]);
  expect(tooLittle(one_caller, many)).toContain('1 of 30 callers');
  expect(compareArms(one_caller, many)).toBeNull();
  expect(sampleRatioP(one_caller, one_caller, 5_000)).toBeNull();
});
