// The service limits the requests of a key (600 a minute unless set otherwise), and many objects share one. A reconcile
// that is between its steps waits for its turn, because starting again would cost more requests than it saves. The number
// of those that wait is bounded, so that objects of other keys still find a worker.
import { elapsedMs, pause, randomUnit } from './system.ts';

/** How long one call may wait for its turn. */
const WAIT_LIMIT_MS = 60_000;
/** How soon a wait notices that its work is no longer wanted. */
const SLICE_MS = 500;

export interface RateGate {
  /** The service said of `key` that it takes no request for `ms`. */
  close(key: string, ms: number): void;
  /**
   * Resolves with null when a request of `key` may be sent; else with the milliseconds after which to come back, because
   * the wait is long, too many wait, or `isWanted` says no.
   */
  pass(key: string, isWanted: () => boolean): Promise<number | null>;
}

const never = new AbortController().signal;

/** A gate through which at most `waiting_max` calls wait at once. */
export function openRateGate(waiting_max: number): RateGate {
  const until = new Map<string, number>();
  let waiting = 0;
  const leftOf = (key: string) => {
    const left = (until.get(key) ?? 0) - elapsedMs();
    if (left <= 0) until.delete(key);
    return left;
  };
  return {
    close(key, ms) {
      until.set(key, Math.max(until.get(key) ?? 0, elapsedMs() + ms));
    },
    async pass(key, isWanted) {
      const deadline = elapsedMs() + WAIT_LIMIT_MS;
      if (leftOf(key) <= 0) return null;
      if (waiting >= waiting_max) return leftOf(key) + 5_000 * randomUnit();
      waiting++;
      try {
        for (let left = leftOf(key); left > 0; left = leftOf(key)) {
          if (!isWanted() || elapsedMs() > deadline) return left;
          await pause(Math.min(left + 20 * randomUnit(), SLICE_MS), never);
        }
        return isWanted() ? null : SLICE_MS;
      } finally {
        waiting--;
      }
    },
  };
}
