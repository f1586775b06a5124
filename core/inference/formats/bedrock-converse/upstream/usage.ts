// Usage of Converse (docs/fidelity.md#usage): its input counts are disjoint.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Usage } from '../../../canonical/types.ts';

/** A count as sent; undefined for anything that no honest server sends. */
function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Cache writes by lifetime; entries of other lifetimes count only in the total. */
function byTtl(wire: JsonObject): { five: number; hour: number } | null {
  const details = wire['cacheDetails'];
  if (!Array.isArray(details) || details.length === 0) return null;
  const sums = { five: 0, hour: 0 };
  for (const entry of details) {
    if (!isObject(entry)) continue;
    const tokens = count(entry['inputTokens']) ?? 0;
    if (entry['ttl'] === '1h') sums.hour += tokens;
    else if (entry['ttl'] === '5m') sums.five += tokens;
  }
  return sums;
}

/** Canonical usage of a `usage` object; null when it lacks the input or the output count. */
export function readUsage(wire: unknown): Usage | null {
  if (!isObject(wire)) return null;
  const input = count(wire['inputTokens']);
  const output = count(wire['outputTokens']);
  if (input === undefined || output === undefined) return null;
  const split = byTtl(wire);
  const written = count(wire['cacheWriteInputTokens']) ?? (split === null ? 0 : split.five + split.hour);
  const usage: Usage = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: count(wire['cacheReadInputTokens']) ?? 0,
    cache_write_tokens: written,
    // Not reported: hidden reasoning is part of the output.
    reasoning_tokens: 0,
    source: 'provider',
  };
  if (split !== null && written > 0) {
    // The total is authoritative; the remainder of the split has the default lifetime.
    const hour = Math.min(split.hour, written);
    usage.cache_write_1h_tokens = hour;
    usage.cache_write_5m_tokens = written - hour;
    if (split.five + split.hour > written) usage.inconsistent = true;
  }
  return usage;
}
