// What a number of graded answers says: bounds of a pass rate, an interval of a mean, and whether one target is better.
import { seededUnit } from './random.ts';

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Two-sided 95 % of the normal distribution. */
const Z = 1.959963984540054;
const RESAMPLES = 2_000;
/** Fewer cases that differ are compared in all their signs. */
const EXACT_MAX = 14;
const FLIPS = 10_000;
const ALPHA = 0.05;

/** The bounds of Wilson for `passed` of `of`, 95 %. Nothing graded: from 0 to 1. */
export function wilson(passed: number, of: number): Interval {
  if (of === 0) return { low: 0, high: 1 };
  const p = passed / of;
  const z2 = (Z * Z) / of;
  const middle = (p + z2 / 2) / (1 + z2);
  const half = (Z / (1 + z2)) * Math.sqrt((p * (1 - p)) / of + z2 / (4 * of));
  return {
    low: passed === 0 ? 0 : Math.max(0, middle - half),
    high: passed === of ? 1 : Math.min(1, middle + half),
  };
}

/** A value per case, and how much it counts. */
export interface Weighed {
  readonly value: number;
  readonly weight: number;
}

/** The weighed mean; 0 without anything that counts. */
export function meanOf(cases: readonly Weighed[]): number {
  let sum = 0;
  let weights = 0;
  for (const { value, weight } of cases) {
    sum += value * weight;
    weights += weight;
  }
  return weights === 0 ? 0 : sum / weights;
}

/**
 * The middle 95 % of the means of cases drawn again with the seed. Cases are drawn and not answers: repeats of a case are
 * no new cases.
 */
export function bootstrap(cases: readonly Weighed[], seed: number): Interval {
  const mean = meanOf(cases);
  if (cases.length < 2) return { low: mean, high: mean };
  const unit = seededUnit(seed);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    let weights = 0;
    for (let i = 0; i < cases.length; i++) {
      const { value, weight } = cases[Math.floor(unit() * cases.length)] as Weighed;
      sum += value * weight;
      weights += weight;
    }
    return weights === 0 ? mean : sum / weights;
  }).sort((a, b) => a - b);
  const at = (share: number) => means[Math.min(RESAMPLES - 1, Math.floor(share * RESAMPLES))] as number;
  return { low: at(0.025), high: at(0.975) };
}

/**
 * How often differences at least as large would come by chance, if each case had its sign by a coin: exact for few cases
 * that differ, else by drawing with the seed. 1 when none differs.
 */
export function pairedP(differences: readonly Weighed[], seed: number): number {
  const parts = differences.map(({ value, weight }) => value * weight).filter((part) => part !== 0);
  const observed = Math.abs(parts.reduce((sum, part) => sum + part, 0));
  // Sums of decimals in another order differ in the last bits.
  const least = observed - 1e-9 * Math.max(1, observed);
  if (parts.length === 0) return 1;
  if (parts.length <= EXACT_MAX) return exactP(parts, least);
  const unit = seededUnit(seed);
  let extreme = 1;
  for (let n = 0; n < FLIPS; n++) {
    let sum = 0;
    for (const part of parts) sum += unit() < 0.5 ? part : -part;
    if (Math.abs(sum) >= least) extreme++;
  }
  return extreme / (FLIPS + 1);
}

function exactP(parts: readonly number[], least: number): number {
  const all = 2 ** parts.length;
  let extreme = 0;
  for (let signs = 0; signs < all; signs++) {
    let sum = 0;
    for (const [i, part] of parts.entries()) sum += ((signs >> i) & 1) === 0 ? part : -part;
    if (Math.abs(sum) >= least) extreme++;
  }
  return extreme / all;
}

export type Decision = 'better' | 'worse' | 'cannot_tell';

export interface Comparison extends Interval {
  readonly decision: Decision;
  /** Weighed mean of the differences. */
  readonly difference: number;
  readonly p: number;
}

/** Whether the second of two targets is better than the first, from the difference of each case that both answered. */
export function decide(differences: readonly Weighed[], seed: number): Comparison {
  const difference = meanOf(differences);
  const p = pairedP(differences, seed);
  const interval = bootstrap(differences, seed);
  const decision = difference > 0 ? 'better' : 'worse';
  return { ...interval, difference, p, decision: p < ALPHA && difference !== 0 ? decision : 'cannot_tell' };
}
