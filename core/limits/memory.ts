// Limits in the memory of one process: the store of a single gateway, and the stand-in while Redis is away.
import { monotonicMs, nowMs } from '../kernel/index.ts';
import { type Bucket, covers, gaugeOf, levelAt, requestsOf, tighter, waitMs } from './bucket.ts';
import { RejectionCounts } from './rejections.ts';
import type {
  Gauge,
  Gauges,
  LimitName,
  LimitRefusal,
  LimitScope,
  LimitSlot,
  LimitStore,
  LimitSubject,
  LimitView,
  Rates,
  Rejections,
} from './types.ts';

/** How long a caller who has too many calls at once is asked to wait. */
export const CONCURRENCY_WAIT_MS = 1_000;
const SWEEP_AT_LEAST = 10_000;

/** Buckets of one key or plan. `limit` stands beside each because limits change while calls run. */
interface Meter {
  readonly requests: Bucket;
  readonly tokens: Bucket;
  running: number;
}

interface Side {
  readonly scope: LimitScope;
  readonly rates: Rates;
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
    const key = this.#side('key', subject.key, subject.key_rates, now_ms);
    const plan = this.#side('plan', subject.plan, subject.plan_rates, now_ms);
    const refusal = refuseEntry(key, now_ms) ?? refuseEntry(plan, now_ms);
    if (refusal !== null) {
      this.#rejected.count(subject.plan, refusal.limit, nowMs());
      return { ...refusal, gauges: standingOf(key, plan, now_ms) };
    }
    for (const side of [key, plan]) {
      take(side.meter.requests, side.rates.rpm, 1, now_ms);
      side.meter.running++;
    }
    return new Slot(key, plan, {
      clock: this.#clock,
      gauges: standingOf(key, plan, now_ms),
      refused: (limit) => this.#rejected.count(subject.plan, limit, nowMs()),
    });
  }

  async rejections({ plan }: Pick<LimitSubject, 'plan'>): Promise<Rejections> {
    return this.#rejected.of(plan, nowMs());
  }

  adopt(subject: LimitSubject): LimitSlot {
    const now_ms = this.#clock();
    const key = this.#side('key', subject.key, subject.key_rates, now_ms);
    const plan = this.#side('plan', subject.plan, subject.plan_rates, now_ms);
    key.meter.running++;
    plan.meter.running++;
    // Refusals of such a call are counted by the Redis store that it came from.
    return new Slot(key, plan, {
      clock: this.#clock,
      gauges: standingOf(key, plan, now_ms),
      refused() {},
    });
  }

  async look(subject: LimitSubject): Promise<LimitView> {
    const now_ms = this.#clock();
    const key = this.#side('key', subject.key, subject.key_rates, now_ms);
    const plan = this.#side('plan', subject.plan, subject.plan_rates, now_ms);
    const { requests, tokens } = standingOf(key, plan, now_ms);
    return {
      rpm_remaining: requests?.remaining ?? null,
      tpm_remaining: tokens?.remaining ?? null,
      concurrency_in_use: key.meter.running,
    };
  }

  async close(): Promise<void> {
    this.#meters.clear();
  }

  #side(scope: LimitScope, id: string, rates: Rates, now_ms: number): Side {
    let meter = this.#meters.get(id);
    if (meter === undefined) {
      if (this.#meters.size >= this.#sweep_at) this.#sweep(now_ms);
      meter = { requests: full(rates.rpm, now_ms), tokens: full(rates.tpm, now_ms), running: 0 };
      this.#meters.set(id, meter);
    }
    return { scope, rates, meter };
  }

  /** Forgets keys and plans without calls for so long that their buckets are full again. */
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
  readonly #key: Side;
  readonly #plan: Side;
  readonly #clock: () => number;
  gauges: Gauges;
  readonly #refused: (limit: LimitName) => void;
  #debited = 0;
  #left = false;

  constructor(
    key: Side,
    plan: Side,
    of: { clock: () => number; gauges: Gauges; refused: (limit: LimitName) => void },
  ) {
    this.#key = key;
    this.#plan = plan;
    this.#clock = of.clock;
    this.gauges = of.gauges;
    this.#refused = of.refused;
  }

  weigh(bytes: number): void {
    const requests = requestsOf(bytes);
    if (requests === 0) return;
    const now_ms = this.#clock();
    take(this.#key.meter.requests, this.#key.rates.rpm, requests, now_ms);
    take(this.#plan.meter.requests, this.#plan.rates.rpm, requests, now_ms);
    this.gauges = standingOf(this.#key, this.#plan, now_ms);
  }

  spend(tokens: number): LimitRefusal | null {
    const now_ms = this.#clock();
    const refusal = refuseTokens(this.#key, tokens, now_ms) ?? refuseTokens(this.#plan, tokens, now_ms);
    if (refusal === null) this.#debit(tokens, now_ms);
    else this.#refused(refusal.limit);
    this.gauges = standingOf(this.#key, this.#plan, now_ms);
    return refusal === null ? null : { ...refusal, gauges: this.gauges };
  }

  settle(tokens: number): void {
    if (tokens !== this.#debited) this.#debit(tokens - this.#debited, this.#clock());
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#key.meter.running--;
    this.#plan.meter.running--;
  }

  #debit(tokens: number, now_ms: number): void {
    this.#debited += tokens;
    take(this.#key.meter.tokens, this.#key.rates.tpm, tokens, now_ms);
    take(this.#plan.meter.tokens, this.#plan.rates.tpm, tokens, now_ms);
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
  { scope }: Side,
  limit: LimitName,
  limit_value: number,
  reset_ms: number,
): Omit<LimitRefusal, 'gauges'> {
  return { limit, scope, limit_value, reset_ms };
}

function refuseEntry(side: Side, now_ms: number): Omit<LimitRefusal, 'gauges'> | null {
  const { rpm, concurrency } = side.rates;
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
  const { tpm } = side.rates;
  if (tpm === null) return null;
  const level = levelAt(side.meter.tokens, tpm, now_ms);
  return covers(level, tpm, tokens) ? null : refused(side, 'tpm', tpm, waitMs(level, tpm, tokens));
}

function standingOf(key: Side, plan: Side, now_ms: number): Gauges {
  return {
    requests: tighter(gauge(key, 'requests', now_ms), gauge(plan, 'requests', now_ms)),
    tokens: tighter(gauge(key, 'tokens', now_ms), gauge(plan, 'tokens', now_ms)),
  };
}

function gauge(side: Side, kind: 'requests' | 'tokens', now_ms: number): Gauge | null {
  const limit = kind === 'requests' ? side.rates.rpm : side.rates.tpm;
  return limit === null ? null : gaugeOf(levelAt(side.meter[kind], limit, now_ms), limit);
}

/**
 * A store for one process. `clock` gives rising milliseconds; the kernel's monotonic one unless a test moves its own.
 */
export function openMemoryLimits(clock: () => number = monotonicMs): MemoryLimitStore {
  return new MemoryLimits(clock);
}
