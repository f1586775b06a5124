// Rate-limit headers (docs/limits.md#what-a-client-sees) in the form that most dialects use.
import type { Gauge, Gauges } from '../../limits/index.ts';

/** Milliseconds in the format of Go durations: `120ms`, `1.5s`, `6m0s`. */
export function goDuration(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/**
 * Appends `gauges` to the flat list `headers` in the form that OpenAI's clients read; a gauge without a limit adds
 * nothing.
 */
export function addLimits(headers: string[], { requests, tokens }: Gauges): void {
  if (requests !== null) addGauge(headers, 'requests', requests);
  if (tokens !== null) addGauge(headers, 'tokens', tokens);
}

function addGauge(headers: string[], of: string, { limit, remaining, reset_ms }: Gauge): void {
  headers.push(`x-ratelimit-limit-${of}`, String(limit), `x-ratelimit-remaining-${of}`, String(remaining));
  headers.push(`x-ratelimit-reset-${of}`, goDuration(reset_ms));
}
