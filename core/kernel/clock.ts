// The only clock of the product. All other code takes `now()` from its context, so that tests and the development
// clock (`svcctl dev clock advance`) can move the whole installation at once.

let offsetMs = 0;

/** Milliseconds since the epoch, shifted by the development clock. */
export function nowMs(): number {
  return Date.now() + offsetMs;
}

/** The current time as a Date, shifted by the development clock. */
export function now(): Date {
  return new Date(nowMs());
}

/**
 * Milliseconds since the epoch by the machine's clock, ignoring the development clock: for comparing with timestamps
 * that outside parties make.
 */
export function machineMs(): number {
  return Date.now();
}

/** Milliseconds from a clock that never goes back; for durations, never for times that are shown or stored. */
export function monotonicMs(): number {
  return performance.now();
}

/**
 * Sets how far `now()` of this process is ahead of the machine's clock, in milliseconds; 0 returns to the machine's
 * clock.
 */
export function shiftClock(ms: number): void {
  offsetMs = ms;
}

/** `ms` since the epoch as request rows store `ts`: `YYYY-MM-DD hh:mm:ss.mmm`, UTC, without a zone. */
export function rowTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ');
}
