// The operator's clock, randomness and digest. It has its own because it is a client: of core it takes types alone.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** The time of day. */
export function now(): Date {
  return new Date();
}

/** Milliseconds that only go forward: for leases, back-off and durations. */
export function elapsedMs(): number {
  return performance.now();
}

/** A uniform number in [0, 1), for jitter. */
export function randomUnit(): number {
  return Math.random();
}

/** `bytes` random bytes in hex, for names that must differ between processes. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

/** SHA-256 of `text`, hex. */
export function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Resolves after `ms`, or at once when `signal` is aborted. Never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
