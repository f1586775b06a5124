// The limits a caller may watch, in the words of its dialect (docs/limits.md#what-a-client-sees). Official clients
// and agents slow down by these.
import { nowMs } from '../../../kernel/index.ts';
import type { Gauge, Standing } from '../../../limits/index.ts';

/** Milliseconds as Go writes a duration: `120ms`, `1.5s`, `6m0s`. */
export function goDuration(ms: number): string {
  if (ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Adds the buckets of `standing` to the flat list `headers`; a bucket without a limit has none. */
export function addLimitHeaders(headers: string[], dialect: string, standing: Standing): void {
  const { requests, tokens } = standing;
  if (requests === null && tokens === null) return;
  if (dialect === 'messages') {
    const now = nowMs();
    if (requests !== null) addAnthropic(headers, 'requests', requests, now);
    if (tokens === null) return;
    // One bucket for both directions: the three groups show the same.
    addAnthropic(headers, 'tokens', tokens, now);
    addAnthropic(headers, 'input-tokens', tokens, now);
    addAnthropic(headers, 'output-tokens', tokens, now);
    return;
  }
  if (requests !== null) addOpenai(headers, 'requests', requests);
  if (tokens !== null) addOpenai(headers, 'tokens', tokens);
}

function addOpenai(headers: string[], of: string, { limit, remaining, reset_ms }: Gauge): void {
  headers.push(`x-ratelimit-limit-${of}`, String(limit), `x-ratelimit-remaining-${of}`, String(remaining));
  headers.push(`x-ratelimit-reset-${of}`, goDuration(reset_ms));
}

function addAnthropic(
  headers: string[],
  of: string,
  { limit, remaining, reset_ms }: Gauge,
  now: number,
): void {
  headers.push(`anthropic-ratelimit-${of}-limit`, String(limit));
  headers.push(`anthropic-ratelimit-${of}-remaining`, String(remaining));
  headers.push(`anthropic-ratelimit-${of}-reset`, new Date(now + reset_ms).toISOString());
}
