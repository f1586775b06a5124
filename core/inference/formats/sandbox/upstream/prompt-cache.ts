// The prompt cache behind `sandbox/cache`: prefixes that a call marked, per organization, in memory of one
// process. Shows how cache writes and reads are metered and priced; it saves no work.
import { sha256Hex } from '../../../../kernel/index.ts';
import type { CacheHint } from '../../../canonical/types.ts';
import { type SandboxBody, segments } from './request.ts';
import { tokensOfBytes } from './tokens.ts';

/** Shorter prefixes are not cached (the minimum of the large providers). */
const PREFIX_TOKENS_MIN = 1_024;
const ENTRIES_MAX = 10_000;
const ttlMs = { '5m': 300_000, '30m': 1_800_000, '1h': 3_600_000, '24h': 86_400_000 } as const;

type Ttl = keyof typeof ttlMs;

/** How a prompt divides: disjoint, `read` and `write` in tokens. */
interface CacheUse {
  read: number;
  write: number;
  ttl: Ttl;
}

interface Prefix {
  key: string;
  tokens: number;
  ttl: Ttl;
}

export interface PromptCache {
  /** Looks the marked prefixes of `body` up for `org_id` at `now_ms`, and keeps the longest. */
  use(body: SandboxBody, org_id: string, now_ms: number): CacheUse;
}

/** An empty cache of at most 10,000 prefixes; the least recently used goes first. */
export function createPromptCache(): PromptCache {
  const expiry = new Map<string, number>();

  function keep(key: string, until_ms: number): void {
    expiry.delete(key);
    expiry.set(key, until_ms);
    if (expiry.size > ENTRIES_MAX) expiry.delete(expiry.keys().next().value as string);
  }

  return {
    use(body, org_id, now_ms) {
      const prefixes = markedPrefixes(body, org_id);
      const longest = prefixes.at(-1);
      if (longest === undefined) return { read: 0, write: 0, ttl: '5m' };
      const known = prefixes.findLast(({ key }) => (expiry.get(key) ?? 0) > now_ms);
      // A read renews the entry, as at the providers.
      if (known !== undefined) keep(known.key, now_ms + ttlMs[known.ttl]);
      keep(longest.key, now_ms + ttlMs[longest.ttl]);
      const read = known?.tokens ?? 0;
      return { read, write: longest.tokens - read, ttl: longest.ttl };
    },
  };
}

/** Prefixes that end at a cache hint and are long enough, shortest first. */
function markedPrefixes(body: SandboxBody, org_id: string): Prefix[] {
  const prefixes: Prefix[] = [];
  let key = sha256Hex(`${org_id} ${body.model}`);
  let bytes = 0;
  let media = 0;
  const mark = (hint: CacheHint): void => {
    const tokens = tokensOfBytes(bytes) + media;
    if (tokens >= PREFIX_TOKENS_MIN) prefixes.push({ key, tokens, ttl: hint.ttl ?? '5m' });
  };
  for (const segment of segments(body)) {
    key = sha256Hex(`${key} ${segment.media_tokens} ${segment.text}`);
    bytes += Buffer.byteLength(segment.text);
    media += segment.media_tokens;
    if (segment.cache !== undefined) mark(segment.cache);
  }
  if (body.cache_hint !== undefined) mark(body.cache_hint);
  return prefixes;
}
