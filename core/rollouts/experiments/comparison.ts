// Whether two arms differ: an estimate with an interval that may be read after every call (a confidence sequence), and
// a test of the split itself. Pure.
//
// Calls of who stays in one arm are alike, so that calls are not independent of each other; the buckets that they are
// drawn into are. A mean per call is therefore a ratio of sums over buckets, and its variance the delta method's. The
// interval is Robbins' normal mixture in the asymptotic form: at any time, however often it is looked at, it misses the
// true difference with a probability of ALPHA at most.
// @see https://arxiv.org/abs/2103.06476 Waudby-Smith et al., "Time-uniform central limit theory"
import { SHARES } from '../../policies/index.ts';

/** Sums over the buckets of an arm, each with its calls and the sum of what is measured in them. */
export interface Moments {
  readonly calls: number;
  readonly sum: number;
  readonly calls_squared: number;
  readonly sum_squared: number;
  readonly calls_by_sum: number;
}

export interface Comparison {
  /** Candidate less control, per call. */
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export const ALPHA = 0.05;
/** Precision of the mixture that makes the interval narrowest at 5,000 calls. */
const RHO = 608.867_922_283_517_1;
/** The same for the variance of a split in half of 4,000 calls. */
const RHO_RATIO = 121.773_581_549_844_34;
/** Below these an arm has shown too little for a limit theorem. */
const CALLS_MIN = 200;
const UNITS_MIN = 30;
/** Of the smaller arm, for the test of the split. */
const RATIO_UNITS_MIN = 15;

/** As how many equal buckets the calls count: few calls of many say more than many calls of few. */
function unitsOf({ calls, calls_squared }: Pick<Moments, 'calls' | 'calls_squared'>): number {
  return calls === 0 ? 0 : calls ** 2 / calls_squared;
}

/** Sum over buckets of the squared difference between what was measured and `mean` for each call. */
function residuals({ sum_squared, calls_by_sum, calls_squared }: Moments, mean: number): number {
  return Math.max(0, sum_squared - 2 * mean * calls_by_sum + mean ** 2 * calls_squared);
}

/**
 * Half the width of the interval of a mean after `calls` calls, whose estimate has the variance `variance`: the mixture's
 * boundary, ville's `normal_mixture(t, alpha, rho) / t` for t calls of variance `t * variance`.
 */
export function radius(variance: number, calls: number): number {
  return Math.sqrt(variance * (1 + RHO / calls) * Math.log((calls + RHO) / (RHO * ALPHA ** 2)));
}

/**
 * The variance of the difference. Each arm's own one is nothing where an arm has seen none of something rare, so it is
 * at least what the arms would have if they were alike.
 */
function varianceOf(control: Moments, candidate: Moments): number {
  const own = [control, candidate].map((arm) => residuals(arm, arm.sum / arm.calls) / arm.calls ** 2);
  const calls = control.calls + candidate.calls;
  const mean = (control.sum + candidate.sum) / calls;
  const alike = (residuals(control, mean) + residuals(candidate, mean)) / calls;
  const pooled = alike * (1 / control.calls + 1 / candidate.calls);
  return Math.max(
    own.reduce((sum, one) => sum + one, 0),
    pooled,
  );
}

/** Why these arms cannot be compared yet, for people; empty where they can. */
export function tooLittle(control: Moments, candidate: Moments): string {
  const calls = Math.min(control.calls, candidate.calls);
  if (calls < CALLS_MIN) return `${calls} of ${CALLS_MIN} calls of either arm`;
  const units = Math.floor(Math.min(unitsOf(control), unitsOf(candidate)));
  if (units < UNITS_MIN)
    return `as few as ${units} of ${UNITS_MIN} callers in an arm make up most of its calls`;
  return '';
}

/** The difference of the arms with its interval; null while they have shown too little. */
export function compareArms(control: Moments, candidate: Moments): Comparison | null {
  if (tooLittle(control, candidate) !== '') return null;
  const estimate = candidate.sum / candidate.calls - control.sum / control.calls;
  const half = radius(varianceOf(control, candidate), control.calls + candidate.calls);
  return { estimate, low: estimate - half, high: estimate + half };
}

/**
 * How likely a split that is as far from `share` as this one ever comes about by chance, at most; small: calls of one arm
 * are lost or counted twice. A mixture sequential probability ratio test of the candidate's calls, whose variance is that
 * of drawing its share of all buckets. Null while too few were drawn.
 */
export function sampleRatioP(control: Moments, candidate: Moments, share: number): number | null {
  const q = share / SHARES;
  const calls = control.calls + candidate.calls;
  const squared = control.calls_squared + candidate.calls_squared;
  const units = unitsOf({ calls, calls_squared: squared });
  if (Math.min(q, 1 - q) * units < RATIO_UNITS_MIN) return null;
  const excess = candidate.calls - q * calls;
  const variance = q * (1 - q) * (squared - calls ** 2 / SHARES) * (SHARES / (SHARES - 1));
  return mixtureP(excess, variance);
}

/** At most the probability that a sum of mean 0 and variance `variance` is ever as far from 0 as `sum`. */
export function mixtureP(sum: number, variance: number): number {
  const whole = variance + RHO_RATIO;
  return Math.min(1, Math.exp(0.5 * Math.log(whole / RHO_RATIO) - sum ** 2 / (2 * whole)));
}
