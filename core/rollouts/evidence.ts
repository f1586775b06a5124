// Whether a canary fails more often than its control: a test that may be read after every call (an e-process). Pure.
//
// Chance sends a known share q of the calls to the canary. If it is no worse, then of the calls that fail a share of at
// most q are the canary's, whatever the rate of failures is and however it changes: an outage of both sides makes many
// failures, and leaves their share alone. So each failure is a bet at odds that are fair for a canary as good as its
// control; the stake grows without bound where it is worse. By Ville's inequality the probability that it ever reaches
// 1/alpha for one that is not worse is at most alpha.
// @see https://arxiv.org/abs/2210.01948 Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference"
import type { ArmCounts } from '../analytics/index.ts';

/** The counts of one stretch of time; the first has number 0. */
export interface Window extends ArmCounts {
  readonly window_no: number;
}

/** The alternatives that are bet on in equal parts: by how much more often the canary fails. */
const RATIOS = [1.5, 2, 3, 5, 10, 30, 100];
const NOTHING: ArmCounts = { canary_calls: 0, canary_errors: 0, control_calls: 0, control_errors: 0 };

export interface Evidence {
  /** At most the probability that a canary as good as its control ever looks as bad as this one has; 1: no sign. */
  readonly p_value: number;
  /** The counts since the beginning that speaks most against the canary. */
  readonly since: ArmCounts;
}

/** `a` and `b` together. */
export function plus(a: ArmCounts, b: ArmCounts): ArmCounts {
  return {
    canary_calls: a.canary_calls + b.canary_calls,
    canary_errors: a.canary_errors + b.canary_errors,
    control_calls: a.control_calls + b.control_calls,
    control_errors: a.control_errors + b.control_errors,
  };
}

/** For each ratio, what a failure of either side adds to the logarithm of the stake, at a share of `q`. */
function betsAt(q: number): readonly { readonly canary: number; readonly control: number }[] {
  return RATIOS.map((ratio) => {
    const worse = (ratio * q) / (1 - q + ratio * q);
    return { canary: Math.log(worse / q), control: Math.log((1 - worse) / (1 - q)) };
  });
}

/** Logarithm of what a stake on all `bets` in equal parts has become after these failures. */
function logStake({ canary_errors, control_errors }: ArmCounts, bets: ReturnType<typeof betsAt>): number {
  const logs = bets.map(({ canary, control }) => canary_errors * canary + control_errors * control);
  return addLogs(logs) - Math.log(bets.length);
}

/** Logarithm of the sum of what `logs` are logarithms of. */
function addLogs(logs: readonly number[]): number {
  const most = Math.max(...logs);
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0));
}

/**
 * What `windows` say against a canary that gets a share of `q` of the calls. A part of the stake is bet anew at the
 * beginning of each window, so that a canary that was good for days is found out as well; the parts, 1/(k(k+1)) for the
 * k-th, make one.
 */
export function evidenceOf(windows: readonly Window[], q: number): Evidence {
  const newest_first = windows.toSorted((a, b) => b.window_no - a.window_no);
  const bets = betsAt(q);
  const logs: number[] = [];
  let since = NOTHING;
  let worst = { log: Number.NEGATIVE_INFINITY, since: NOTHING };
  for (const window of newest_first) {
    since = plus(since, window);
    const k = window.window_no + 1;
    const log = logStake(since, bets) - Math.log(k * (k + 1));
    logs.push(log);
    if (log > worst.log) worst = { log, since };
  }
  if (logs.length === 0) return { p_value: 1, since: NOTHING };
  return { p_value: Math.min(1, Math.exp(-addLogs(logs))), since: worst.since };
}
