// The clock of calls. A call reads it where its process gives it (`CallDeps.clock`), so that a test can move it.
import { monotonicMs, nowMs } from '../../kernel/index.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds that only rise, for durations. */
  monotonicMs(): number;
}

/** The clock of the process. */
export const processClock: Clock = { nowMs, monotonicMs };
