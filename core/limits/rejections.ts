// How many calls the limits refused within a day, by limit: hours in UTC, the newest partly filled.
import type { LimitName, Rejections } from './types.ts';

const HOUR_MS = 3_600_000;
/** A day is this many hours back, the present one included. */
const HOURS = 24;
/** Most plans that one process counts; beyond that its counts start again. */
const PLANS_MAX = 100_000;

/** Number of the hour that `now_ms` is in. */
function hourOf(now_ms: number): number {
  return Math.floor(now_ms / HOUR_MS);
}

/** The hours that count at `now_ms`, oldest first. */
export function countedHours(now_ms: number): number[] {
  const last = hourOf(now_ms);
  return Array.from({ length: HOURS }, (_, i) => last - HOURS + 1 + i);
}

/** The sum of `hours`. */
export function sumRejections(hours: Iterable<Partial<Rejections>>): Rejections {
  const sum = { rpm: 0, tpm: 0, concurrency: 0 };
  for (const one of hours) {
    sum.rpm += one.rpm ?? 0;
    sum.tpm += one.tpm ?? 0;
    sum.concurrency += one.concurrency ?? 0;
  }
  return sum;
}

/** Refusals by plan and hour, in memory. */
export class RejectionCounts {
  readonly #plans = new Map<string, Map<number, { -readonly [K in LimitName]: number }>>();

  count(plan: string, limit: LimitName, now_ms: number): void {
    let hours = this.#plans.get(plan);
    if (hours === undefined) {
      if (this.#plans.size >= PLANS_MAX) this.#plans.clear();
      hours = new Map();
      this.#plans.set(plan, hours);
    }
    const hour = hourOf(now_ms);
    let counts = hours.get(hour);
    if (counts === undefined) {
      for (const old of hours.keys()) if (old <= hour - HOURS) hours.delete(old);
      counts = { rpm: 0, tpm: 0, concurrency: 0 };
      hours.set(hour, counts);
    }
    counts[limit]++;
  }

  of(plan: string, now_ms: number): Rejections {
    const hours = this.#plans.get(plan);
    return sumRejections(countedHours(now_ms).map((hour) => hours?.get(hour) ?? {}));
  }

  /** Takes all counts out, to be added up over processes. */
  take(): { plan: string; hour: number; limit: LimitName; count: number }[] {
    const taken = [...this.#plans].flatMap(([plan, hours]) =>
      [...hours].flatMap(([hour, counts]) =>
        (['rpm', 'tpm', 'concurrency'] as const).map((limit) => ({
          plan,
          hour,
          limit,
          count: counts[limit],
        })),
      ),
    );
    this.#plans.clear();
    return taken.filter(({ count }) => count > 0);
  }
}
