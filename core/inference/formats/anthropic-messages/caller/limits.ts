// Rate-limit headers (docs/limits.md#what-a-client-sees) in the form that clients of this format read.
import { nowMs } from '../../../../kernel/index.ts';
import type { Gauge, Gauges } from '../../../../limits/index.ts';

/** Appends `gauges` to the flat list `headers`; a gauge without a limit adds nothing. */
export function addLimits(headers: string[], { requests, tokens }: Gauges): void {
  if (requests === null && tokens === null) return;
  const now = nowMs();
  if (requests !== null) addGauge(headers, 'requests', requests, now);
  if (tokens === null) return;
  // One bucket counts both directions, so the three groups show the same.
  for (const group of ['tokens', 'input-tokens', 'output-tokens']) addGauge(headers, group, tokens, now);
}

function addGauge(headers: string[], of: string, { limit, remaining, reset_ms }: Gauge, now: number): void {
  headers.push(`anthropic-ratelimit-${of}-limit`, String(limit));
  headers.push(`anthropic-ratelimit-${of}-remaining`, String(remaining));
  headers.push(`anthropic-ratelimit-${of}-reset`, new Date(now + reset_ms).toISOString());
}
