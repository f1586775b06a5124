// Calls that belong together at one endpoint, because the provider's prompt cache is there
// (docs/policies.md#affinity). What a process remembers is a hint: it moves an endpoint first, it never keeps another
// from being tried.
import { hmacSha256 } from '../kernel/index.ts';
import type { AffinityEntry, AffinityMemory, RouteAffinity, SettledInput } from './types.ts';

/** Prompts from here on are cached by providers without being asked to. */
const CACHED_FROM_TOKENS = 1_024;
/** Life of a prompt cache where neither policy nor request names one: five minutes, renewed by each use. */
const TTL_MS = 300_000;
const TTL_MAX_MS = 86_400_000;
const ORG_MAX = 10_000;
const TOTAL_MAX = 100_000;

/**
 * A memory of at most `total_max` endpoints, `org_max` of one organization: beyond it the ones not used for longest go,
 * of the same organization first, so that none can push out the others.
 */
export function createAffinity(org_max = ORG_MAX, total_max = TOTAL_MAX): AffinityMemory {
  // Maps keep the order of insertion: what is used is put behind all others, what is in front goes first.
  const orgs = new Map<string, Map<string, AffinityEntry>>();
  let size = 0;

  function dropOldest(entries: Map<string, AffinityEntry>): void {
    const [oldest] = entries.keys();
    if (oldest !== undefined && entries.delete(oldest)) size--;
  }
  function makeRoom(entries: Map<string, AffinityEntry>): void {
    if (entries.size >= org_max) dropOldest(entries);
    if (size < total_max) return;
    const [first] = orgs;
    if (first === undefined) return;
    dropOldest(first[1]);
    if (first[1].size === 0) orgs.delete(first[0]);
  }
  return {
    find(org_id, key, now_ms) {
      const entry = orgs.get(org_id)?.get(key);
      return entry === undefined || entry.until_ms <= now_ms ? null : entry.endpoint_id;
    },
    keep(org_id, key, entry) {
      const entries = orgs.get(org_id) ?? new Map<string, AffinityEntry>();
      orgs.delete(org_id);
      if (entries.delete(key)) size--;
      makeRoom(entries);
      entries.set(key, entry);
      orgs.set(org_id, entries);
      size++;
    },
    get size() {
      return size;
    },
  };
}

/** What rules the affinity of `input`: the request, its policy, else the prefix where a provider would cache it. */
function affinityKind(input: SettledInput): RouteAffinity['kind'] {
  const { affinity } = input.preferences;
  if (affinity !== undefined) return affinity;
  const cached =
    input.affinity?.cache_hints === true || input.features.input_tokens_bound >= CACHED_FROM_TOKENS;
  return cached ? 'prefix' : 'off';
}

/** How long an endpoint is remembered: the policy's time, else the life of the cache that the request asks for. */
function ttlMs({ preferences, affinity }: SettledInput): number {
  if (preferences.affinity_ttl_s !== undefined) return preferences.affinity_ttl_s * 1_000;
  return Math.min(TTL_MAX_MS, Math.max(TTL_MS, affinity?.cache_ttl_ms ?? 0));
}

/** The affinity of a call before its endpoints are known: what it is remembered under, and the endpoint that was. */
export interface Wanted {
  readonly kind: RouteAffinity['kind'];
  readonly key: string | null;
  readonly ttl_ms: number;
  readonly endpoint_id: string | null;
}

/** Of a call that is kept with nothing. */
export const OFF: Wanted = { kind: 'off', key: null, ttl_ms: 0, endpoint_id: null };

/**
 * What `input` is to be kept with. The key is a digest over kind, model and value: no word of a prompt stays in memory,
 * and two gateways come to the same one.
 */
export function wantedAffinity(input: SettledInput): Wanted {
  const kind = affinityKind(input);
  if (kind === 'off') return OFF;
  const source = input.affinity;
  const value = source?.value(kind) ?? null;
  if (source === undefined || value === null) return { ...OFF, kind };
  // Each arm of an experiment has a memory of its own: else calls of one would follow those of the other.
  const arm = input.arm === undefined ? '' : ` ${input.arm}`;
  const digest = hmacSha256(source.org_id, `${kind} ${input.environment} ${input.model}${arm} ${value}`);
  const key = digest.toString('base64url', 0, 18);
  const endpoint_id = source.memory.find(source.org_id, key, input.now_ms);
  return { kind, key, ttl_ms: ttlMs(input), endpoint_id };
}
