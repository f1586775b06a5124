// The only clock of the product. Everything else takes `now()` from its context, so that tests and the
// development clock (`svcctl dev clock advance`) move the whole installation at once.

let offsetMs = 0;

/** Milliseconds since the epoch, shifted by the development clock. */
export function nowMs(): number {
  return Date.now() + offsetMs;
}

/** The present as a Date, shifted by the development clock. */
export function now(): Date {
  return new Date(nowMs());
}

/** Milliseconds since the epoch by the machine's clock, whatever the development clock says: what outside parties stamp. */
export function machineMs(): number {
  return Date.now();
}

/** Milliseconds that only rise; for durations, never for times that are shown or stored. */
export function monotonicMs(): number {
  return performance.now();
}

/** Moves `now()` of this process by `ms` from the machine's clock; 0 returns to it. */
export function shiftClock(ms: number): void {
  offsetMs = ms;
}

/** Form of `ts` in request rows: `YYYY-MM-DD hh:mm:ss.mmm`, UTC, without a zone. */
export function rowTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ');
}
