// Anthropic's usage, in both directions (docs/fidelity.md#usage). Its input counts are already disjoint.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Usage } from '../../../canonical/types.ts';
import { hasNoOthers } from '../../../canonical/usage.ts';

/** A count as sent; undefined for anything that no honest server sends (negative, fraction, text). */
function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/**
 * Merges later wire usage over earlier: counts are cumulative, and one that is absent or null keeps its earlier
 * value.
 * @see RawMessageDeltaEvent of @anthropic-ai/sdk 1.12: "omitted when they don't apply, so overwrite when present".
 */
export function mergeWireUsage(before: JsonObject | null, later: JsonObject): JsonObject {
  const merged: JsonObject = { ...before };
  for (const key of Object.keys(later)) {
    const value = later[key];
    if (value !== null && value !== undefined) merged[key] = value;
  }
  return merged;
}

interface Writes {
  total: number;
  /** The split says more than the total. */
  over: boolean;
  five?: number;
  hour?: number;
}

// The total is authoritative: the split is reduced to it, and the remainder has the default lifetime.
function cacheWrites(wire: JsonObject): Writes {
  const split = wire['cache_creation'];
  const total = count(wire['cache_creation_input_tokens']);
  if (!isObject(split)) return { total: total ?? 0, over: false };
  const hour = count(split['ephemeral_1h_input_tokens']) ?? 0;
  const five = count(split['ephemeral_5m_input_tokens']) ?? 0;
  const sum = total ?? hour + five;
  const cut = Math.min(hour, sum);
  return { total: sum, over: hour + five > sum, five: sum - cut, hour: cut };
}

const PLAIN_COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
];

/** Whether every count that clients read of a `usage` as sent is one, or is left out. */
export function isSoundWire(wire: JsonObject): boolean {
  const split = wire['cache_creation'] ?? {};
  const details = wire['output_tokens_details'] ?? {};
  const server = wire['server_tool_use'] ?? {};
  return (
    PLAIN_COUNTS.every(
      (name) => wire[name] === null || wire[name] === undefined || count(wire[name]) !== undefined,
    ) &&
    hasNoOthers(split, ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']) &&
    hasNoOthers(details, ['thinking_tokens']) &&
    hasNoOthers(server, ['web_fetch_requests', 'web_search_requests'])
  );
}

/** Canonical usage of a merged wire object; null when it lacks the input or the output count. */
export function readUsage(wire: unknown): Usage | null {
  if (!isObject(wire)) return null;
  const input = count(wire['input_tokens']);
  const output = count(wire['output_tokens']);
  if (input === undefined || output === undefined) return null;
  const details = wire['output_tokens_details'];
  const thought = isObject(details) ? (count(details['thinking_tokens']) ?? 0) : 0;
  const writes = cacheWrites(wire);
  const usage: Usage = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: count(wire['cache_read_input_tokens']) ?? 0,
    cache_write_tokens: writes.total,
    reasoning_tokens: Math.min(thought, output),
    source: 'provider',
  };
  if (writes.five !== undefined && writes.hour !== undefined && writes.total > 0) {
    usage.cache_write_5m_tokens = writes.five;
    usage.cache_write_1h_tokens = writes.hour;
  }
  if (writes.over || thought > output) usage.inconsistent = true;
  const server = wire['server_tool_use'];
  const searches = isObject(server) ? count(server['web_search_requests']) : undefined;
  if (searches !== undefined && searches > 0) usage.search_units = searches;
  return withCompaction(usage, wire['iterations']);
}

/** What `message_start` says about the input before the answer is complete; output and reasoning are left out. */
export function readEarlyUsage(wire: unknown): Partial<Usage> | null {
  if (!isObject(wire)) return null;
  const usage = readUsage({ ...wire, output_tokens: 0, output_tokens_details: null });
  if (usage === null) return null;
  const { output_tokens: _output, reasoning_tokens: _reasoning, ...early } = usage;
  return early;
}

// A compaction is billed in addition to the answer: its entry is "not included in the top-level usage fields"
// (BetaUsage).
function withCompaction(usage: Usage, iterations: unknown): Usage {
  if (!Array.isArray(iterations)) return usage;
  for (const entry of iterations) {
    if (!isObject(entry) || entry['type'] !== 'compaction') continue;
    const extra = readUsage({ ...entry, iterations: null });
    if (extra === null) continue;
    usage.input_tokens += extra.input_tokens;
    usage.output_tokens += extra.output_tokens;
    usage.cache_read_tokens += extra.cache_read_tokens;
    usage.cache_write_tokens += extra.cache_write_tokens;
    if (extra.cache_write_5m_tokens !== undefined && extra.cache_write_1h_tokens !== undefined) {
      usage.cache_write_5m_tokens = (usage.cache_write_5m_tokens ?? 0) + extra.cache_write_5m_tokens;
      usage.cache_write_1h_tokens = (usage.cache_write_1h_tokens ?? 0) + extra.cache_write_1h_tokens;
    }
  }
  return usage;
}

function serverToolUse(usage: Usage): string {
  const searches = usage.search_units ?? 0;
  return searches > 0 ? `{"web_fetch_requests":0,"web_search_requests":${searches}}` : 'null';
}

function thinking(usage: Usage): string {
  return usage.reasoning_tokens > 0 ? `{"thinking_tokens":${usage.reasoning_tokens}}` : 'null';
}

/** The six keys of `message_delta.usage` as JSON text. */
export function writeDeltaUsage(usage: Usage): string {
  return (
    `{"input_tokens":${usage.input_tokens},"cache_creation_input_tokens":${usage.cache_write_tokens}` +
    `,"cache_read_input_tokens":${usage.cache_read_tokens},"output_tokens":${usage.output_tokens}` +
    `,"output_tokens_details":${thinking(usage)},"server_tool_use":${serverToolUse(usage)}}`
  );
}

/**
 * The ten keys of a whole message's `usage` as JSON text; cache writes without a lifetime, or of 30 minutes, count as
 * 5m.
 */
export function writeUsage(usage: Usage, service_tier: string | undefined): string {
  const hour = usage.cache_write_1h_tokens ?? 0;
  return (
    `{"input_tokens":${usage.input_tokens},"cache_creation_input_tokens":${usage.cache_write_tokens}` +
    `,"cache_read_input_tokens":${usage.cache_read_tokens},"cache_creation":{"ephemeral_5m_input_tokens":` +
    `${Math.max(0, usage.cache_write_tokens - hour)},"ephemeral_1h_input_tokens":${hour}}` +
    `,"output_tokens":${usage.output_tokens},"output_tokens_details":${thinking(usage)}` +
    `,"server_tool_use":${serverToolUse(usage)},"service_tier":${tier(service_tier)}` +
    `,"inference_geo":null,"speed":null}`
  );
}

const TIERS: Record<string, string> = {
  standard: 'standard',
  default: 'standard',
  priority: 'priority',
  batch: 'batch',
};

// The field has three values; a tier that is none of them is not presented as one.
function tier(word: string | undefined): string {
  const known = word === undefined ? undefined : TIERS[word];
  return known === undefined ? 'null' : `"${known}"`;
}
