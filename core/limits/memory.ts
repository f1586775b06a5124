// Limits in the memory of one process: the store of a single gateway, and the stand-in while Redis is away.
import { monotonicMs, nowMs } from '../kernel/index.ts';
import { type Bucket, covers, gaugeOf, levelAt, requestsOf, tighter, waitMs } from './bucket.ts';
import { RejectionCounts } from './rejections.ts';
import type {
  Gauge,
  Gauges,
  LimitBound,
  LimitName,
  LimitRefusal,
  LimitSlot,
  LimitStore,
  LimitSubject,
  LimitView,
  Rejections,
} from './types.ts';

/** How long a caller who has too many calls at once is asked to wait. */
export const CONCURRENCY_WAIT_MS = 1_000;
const SWEEP_AT_LEAST = 10_000;

/** Buckets of one key, project or plan. `limit` stands beside each because limits change while calls run. */
interface Meter {
  readonly requests: Bucket;
  readonly tokens: Bucket;
  running: number;
}

interface Side {
  readonly bound: LimitBound;
  readonly meter: Meter;
}

export interface MemoryLimitStore extends LimitStore {
  enter(subject: LimitSubject): LimitSlot | LimitRefusal;
  /** A place for a call that is running already: it takes no request of the buckets and is never refused. */
  adopt(subject: LimitSubject): LimitSlot;
}

class MemoryLimits implements MemoryLimitStore {
  readonly mode = 'exact';
  readonly processes = 1;
  readonly #meters = new Map<string, Meter>();
  readonly #clock: () => number;
  readonly #rejected = new RejectionCounts();
  #sweep_at = SWEEP_AT_LEAST;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  enter(subject: LimitSubject): LimitSlot | LimitRefusal {
    const now_ms = this.#clock();
    const sides = this.#sides(subject, now_ms);
    for (const side of sides) {
      const refusal = refuseEntry(side, now_ms);
      if (refusal === null) continue;
      this.#rejected.count(subject.plan, refusal.limit, nowMs());
      return { ...refusal, gauges: standingOf(sides, now_ms) };
    }
    for (const { bound, meter } of sides) {
      take(meter.requests, bound.rates.rpm, 1, now_ms);
      meter.running++;
    }
    return new Slot(sides, {
      clock: this.#clock,
      gauges: standingOf(sides, now_ms),
      refused: (limit) => this.#rejected.count(subject.plan, limit, nowMs()),
    });
  }

  async rejections({ plan }: Pick<LimitSubject, 'plan'>): Promise<Rejections> {
    return this.#rejected.of(plan, nowMs());
  }

  adopt(subject: LimitSubject): LimitSlot {
    const now_ms = this.#clock();
    const sides = this.#sides(subject, now_ms);
    for (const { meter } of sides) meter.running++;
    // Refusals of such a call are counted by the Redis store that it came from.
    return new Slot(sides, { clock: this.#clock, gauges: standingOf(sides, now_ms), refused() {} });
  }

  async look(subject: LimitSubject): Promise<LimitView> {
    const now_ms = this.#clock();
    const sides = this.#sides(subject, now_ms);
    const { requests, tokens } = standingOf(sides, now_ms);
    return {
      rpm_remaining: requests?.remaining ?? null,
      tpm_remaining: tokens?.remaining ?? null,
      concurrency_in_use: sides[0]?.meter.running ?? 0,
    };
  }

  async close(): Promise<void> {
    this.#meters.clear();
  }

  #sides({ bounds }: LimitSubject, now_ms: number): Side[] {
    // Before any meter is taken, so that none of them is forgotten for another one.
    if (this.#meters.size >= this.#sweep_at) this.#sweep(now_ms);
    return bounds.map((bound) => ({ bound, meter: this.#meter(bound, now_ms) }));
  }

  #meter({ bucket, rates }: LimitBound, now_ms: number): Meter {
    let meter = this.#meters.get(bucket);
    if (meter === undefined) {
      meter = { requests: full(rates.rpm, now_ms), tokens: full(rates.tpm, now_ms), running: 0 };
      this.#meters.set(bucket, meter);
    }
    return meter;
  }

  /** Forgets those without calls for so long that their buckets are full again. */
  #sweep(now_ms: number): void {
    for (const [id, { requests, tokens, running }] of this.#meters) {
      const touched = Math.max(requests.at_ms, tokens.at_ms);
      if (running === 0 && tokens.level >= 0 && requests.level >= 0 && now_ms - touched > 60_000)
        this.#meters.delete(id);
    }
    this.#sweep_at = Math.max(SWEEP_AT_LEAST, 2 * this.#meters.size);
  }
}

class Slot implements LimitSlot {
  readonly #sides: readonly Side[];
  readonly #clock: () => number;
  gauges: Gauges;
  readonly #refused: (limit: LimitName) => void;
  #debited = 0;
  #left = false;

  constructor(
    sides: readonly Side[],
    of: { clock: () => number; gauges: Gauges; refused: (limit: LimitName) => void },
  ) {
    this.#sides = sides;
    this.#clock = of.clock;
    this.gauges = of.gauges;
    this.#refused = of.refused;
  }

  weigh(bytes: number): void {
    const requests = requestsOf(bytes);
    if (requests === 0) return;
    const now_ms = this.#clock();
    for (const { bound, meter } of this.#sides) take(meter.requests, bound.rates.rpm, requests, now_ms);
    this.gauges = standingOf(this.#sides, now_ms);
  }

  spend(tokens: number): LimitRefusal | null {
    const now_ms = this.#clock();
    let refusal: Omit<LimitRefusal, 'gauges'> | null = null;
    for (const side of this.#sides) refusal ??= refuseTokens(side, tokens, now_ms);
    if (refusal === null) this.#debit(tokens, now_ms);
    else this.#refused(refusal.limit);
    this.gauges = standingOf(this.#sides, now_ms);
    return refusal === null ? null : { ...refusal, gauges: this.gauges };
  }

  settle(tokens: number): void {
    if (tokens !== this.#debited) this.#debit(tokens - this.#debited, this.#clock());
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    for (const { meter } of this.#sides) meter.running--;
  }

  #debit(tokens: number, now_ms: number): void {
    this.#debited += tokens;
    for (const { bound, meter } of this.#sides) take(meter.tokens, bound.rates.tpm, tokens, now_ms);
  }
}

function full(limit: number | null, now_ms: number): Bucket {
  // Without a limit the level is never read; one that gets a limit later starts full.
  return { level: limit ?? Number.MAX_SAFE_INTEGER, at_ms: now_ms };
}

function take(bucket: Bucket, limit: number | null, units: number, now_ms: number): void {
  if (limit === null) return;
  bucket.level = Math.min(limit, levelAt(bucket, limit, now_ms) - units);
  bucket.at_ms = now_ms;
}

function refused(
  { bound: { scope, subject } }: Side,
  limit: LimitName,
  limit_value: number,
  reset_ms: number,
): Omit<LimitRefusal, 'gauges'> {
  return { limit, scope, subject, limit_value, reset_ms };
}

function refuseEntry(side: Side, now_ms: number): Omit<LimitRefusal, 'gauges'> | null {
  const { rpm, concurrency } = side.bound.rates;
  if (rpm !== null) {
    const level = levelAt(side.meter.requests, rpm, now_ms);
    if (level < 1) return refused(side, 'rpm', rpm, waitMs(level, rpm, 1));
  }
  if (concurrency !== null && side.meter.running >= concurrency) {
    return refused(side, 'concurrency', concurrency, CONCURRENCY_WAIT_MS);
  }
  return null;
}

function refuseTokens(side: Side, tokens: number, now_ms: number): Omit<LimitRefusal, 'gauges'> | null {
  const { tpm } = side.bound.rates;
  if (tpm === null) return null;
  const level = levelAt(side.meter.tokens, tpm, now_ms);
  return covers(level, tpm, tokens) ? null : refused(side, 'tpm', tpm, waitMs(level, tpm, tokens));
}

function standingOf(sides: readonly Side[], now_ms: number): Gauges {
  let requests: Gauge | null = null;
  let tokens: Gauge | null = null;
  for (const side of sides) {
    requests = tighter(requests, gauge(side, 'requests', now_ms));
    tokens = tighter(tokens, gauge(side, 'tokens', now_ms));
  }
  return { requests, tokens };
}

function gauge({ bound, meter }: Side, kind: 'requests' | 'tokens', now_ms: number): Gauge | null {
  const limit = kind === 'requests' ? bound.rates.rpm : bound.rates.tpm;
  return limit === null ? null : gaugeOf(levelAt(meter[kind], limit, now_ms), limit);
}

/**
 * A store for one process. `clock` gives rising milliseconds; the kernel's monotonic one unless a test moves its own.
 */
export function openMemoryLimits(clock: () => number = monotonicMs): MemoryLimitStore {
  return new MemoryLimits(clock);
}
