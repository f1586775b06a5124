// The clock of calls. A call uses the one in `CallDeps.clock`, so that tests can move it.
import { monotonicMs, nowMs } from '../../kernel/index.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds from a clock that never goes back, for durations. */
  monotonicMs(): number;
}

/** The clock of the process. */
export const processClock: Clock = { nowMs, monotonicMs };
