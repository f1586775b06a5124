// The arithmetic of a token bucket (docs/limits.md): capacity is the limit of a minute, the refill is continuous.
// The Lua of `scripts.ts` does the same in Redis; the contract test holds both to one model.
import type { Gauge } from './types.ts';

const MINUTE_MS = 60_000;
/** Bytes of a body that a request of the minute stands for. */
const REQUEST_BYTES = 1_048_576;

export interface Bucket {
  /** Units left at `at_ms`; below zero after a settle that cost more than estimated. */
  level: number;
  at_ms: number;
}

/** Units in `bucket` at `now_ms`. */
export function levelAt(bucket: Bucket, limit: number, now_ms: number): number {
  const grown = bucket.level + ((now_ms - bucket.at_ms) * limit) / MINUTE_MS;
  return grown < limit ? grown : limit;
}

/**
 * Whether `units` may be taken at `level`. A full bucket also grants more than its capacity, since such a request could
 * never pass otherwise.
 */
export function covers(level: number, limit: number, units: number): boolean {
  return level >= (units < limit ? units : limit);
}

/** Milliseconds until `covers` becomes true if nothing else is taken. */
export function waitMs(level: number, limit: number, units: number): number {
  if (limit === 0) return MINUTE_MS;
  const missing = Math.min(units, limit) - level;
  return missing <= 0 ? 0 : Math.ceil((missing * MINUTE_MS) / limit);
}

/** The bucket as headers show it. */
export function gaugeOf(level: number, limit: number): Gauge {
  return {
    limit,
    remaining: Math.max(0, Math.floor(level)),
    reset_ms: limit === 0 ? MINUTE_MS : Math.ceil(((limit - level) * MINUTE_MS) / limit),
  };
}

/** The gauge with less left; null means no limit. */
export function tighter(a: Gauge | null, b: Gauge | null): Gauge | null {
  if (a === null || b === null) return a ?? b;
  return a.remaining <= b.remaining ? a : b;
}

/** Requests that a body of so many bytes takes beyond the one that let it in. */
export function requestsOf(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / REQUEST_BYTES) - 1);
}
