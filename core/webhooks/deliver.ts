// The delivery worker of a process: takes deliveries that are due, a bounded number at once, and does not wait for a
// slow receiver before it takes the next.
import { newUlid, now } from '../kernel/index.ts';
import { type AttemptParts, attemptDelivery, type Outcome } from './attempt.ts';
import { claimDeliveries } from './delivery-store.ts';
import type { Claimed } from './types.ts';

/** Attempts at once in a process, and at one endpoint. */
export const IN_FLIGHT_MAX = 64;
export const IN_FLIGHT_PER_ENDPOINT_MAX = 4;

export interface Deliverer {
  /** Attempts under way. */
  readonly in_flight: number;
  /** Attempts by result, for metrics. */
  readonly outcomes: ReadonlyMap<Outcome, number>;
  /**
   * Starts due deliveries while there is room and returns how many. Each attempt that ends starts the next by itself.
   */
  pump(): Promise<number>;
  /** Starts nothing more and waits for running attempts. */
  stop(): Promise<void>;
}

/** Runs `take` one at a time. Calls of `pump` during a run share it, and cause one further run, by `again`. */
function oneAtATime(
  take: () => Promise<number>,
  again: () => void,
): { pump(): Promise<number>; settled(): Promise<unknown> } {
  let taking: Promise<number> | null = null;
  let is_wanted = false;
  return {
    pump() {
      if (taking !== null) {
        is_wanted = true;
        return taking;
      }
      taking = take().finally(() => {
        taking = null;
        if (!is_wanted) return;
        is_wanted = false;
        again();
      });
      return taking;
    },
    settled: async () => await taking?.catch(() => {}),
  };
}

/** A worker that starts deliveries by itself while `mayTake()` is true, which it is while its process leads. */
export function createDeliverer(parts: AttemptParts & { readonly mayTake: () => boolean }): Deliverer {
  /** Attempts under way by endpoint; none is 0. */
  const runs = new Map<string, number>();
  const outcomes = new Map<Outcome, number>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  async function run(claimed: Claimed): Promise<void> {
    try {
      const outcome = await attemptDelivery(parts, claimed);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    } catch (error) {
      parts.log.warn({ delivery: claimed.id, error }, 'attempt not recorded; it is made again');
    }
  }

  function start(claimed: Claimed): void {
    const { webhook_id } = claimed;
    runs.set(webhook_id, (runs.get(webhook_id) ?? 0) + 1);
    const work: Promise<void> = run(claimed).finally(() => {
      running.delete(work);
      const left = (runs.get(webhook_id) ?? 1) - 1;
      if (left === 0) runs.delete(webhook_id);
      else runs.set(webhook_id, left);
      if (parts.mayTake()) takeOn();
    });
    running.add(work);
  }

  function takeOn(): void {
    pump().catch((error: unknown) => parts.log.warn({ error }, 'deliveries not taken'));
  }

  async function take(): Promise<number> {
    const room = IN_FLIGHT_MAX - running.size;
    if (stopped || room === 0) return 0;
    const claimed = await claimDeliveries(parts.store, {
      lease: newUlid(),
      at: now(),
      limit: room,
      per_endpoint: IN_FLIGHT_PER_ENDPOINT_MAX,
      runs,
    });
    for (const delivery of claimed) start(delivery);
    return claimed.length;
  }

  const { pump, settled } = oneAtATime(take, takeOn);

  return {
    get in_flight() {
      return running.size;
    },
    outcomes,
    pump,
    async stop() {
      stopped = true;
      await settled();
      await Promise.all(running);
    },
  };
}
