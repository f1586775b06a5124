// When a certificate is worked on next. Pure: clock and dice are given.
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Five failures an hour are what public authorities allow for a name; the fourth pause is longer than that. */
const PAUSES_MS = [1, 5, 15, 60, 120, 240, 480, 720].map((minutes) => minutes * MINUTE_MS);
/** Nothing is asked again later than that, whatever an authority says. */
const PAUSE_MS_MAX = 24 * HOUR_MS;
const LOOK_MS = 6 * HOUR_MS;
const LOOK_MS_MIN = HOUR_MS;

/** When to try again after `failures` in a row; `die` in [0, 1) spreads those that failed together. */
export function retryAt(
  failures: number,
  { now, retry_after_ms, die }: { now: Date; retry_after_ms: number | null; die: number },
): Date {
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? MINUTE_MS;
  const wait = Math.max(pause * (1 + die / 4), retry_after_ms ?? 0);
  return new Date(now.getTime() + Math.min(wait, PAUSE_MS_MAX));
}

interface Life {
  readonly not_before: Date;
  readonly not_after: Date;
}

/** Times between which the authority wants a renewal, and when it wants to be asked again. */
export interface Window {
  readonly start: Date;
  readonly end: Date;
  readonly again_ms: number | null;
}

/**
 * Whether to renew now, and when to look next. Without a word of the authority a certificate is renewed when a third of its
 * life is left; with one at a time drawn from its window (RFC 9773, 4.2), but never later than when a sixth is left.
 */
export function planRenewal(
  { not_before, not_after }: Life,
  window: Window | null,
  { now, die }: { now: Date; die: number },
): { readonly renew: boolean; readonly next_at: Date } {
  const life_ms = not_after.getTime() - not_before.getTime();
  const third = not_after.getTime() - life_ms / 3;
  const last = not_after.getTime() - life_ms / 6;
  const drawn =
    window === null
      ? third
      : Math.min(last, window.start.getTime() + die * (window.end.getTime() - window.start.getTime()));
  const look = now.getTime() + Math.max(LOOK_MS_MIN, Math.min(window?.again_ms ?? LOOK_MS, PAUSE_MS_MAX));
  return {
    renew: drawn <= now.getTime(),
    next_at: new Date(window === null ? third : Math.min(drawn, look)),
  };
}
