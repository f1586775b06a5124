// Affinity: requests of one session, or with the same beginning, go to the endpoint that answered the last of them,
// where the prompt cache is warm (docs/policies.md#affinity). Only a digest of the beginning is remembered.
import type { AffinityKind, AffinitySource } from '../../../routing/index.ts';
import type { CacheHint, CanonicalRequest, Part, Tool } from '../../canonical/types.ts';
import type { CallDeps, Incoming } from '../types.ts';

/**
 * Number of characters that identify a prompt's prefix: about the 1,024 tokens from which providers cache. A longer
 * prefix would separate calls that share cached text, a shorter one would join calls that do not.
 */
const PREFIX_MAX = 4_096;
const MEDIA_MAX = 512;

const ttlMs: { readonly [K in NonNullable<CacheHint['ttl']>]: number } = {
  '5m': 300_000,
  '30m': 1_800_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
};

function longer(a: number | null, hint: CacheHint | undefined): number | null {
  if (hint?.ttl === undefined) return a;
  return Math.max(a ?? 0, ttlMs[hint.ttl]);
}

/** The longest cache lifetime that a cache hint of `request` asks for, in ms; null when no hint names one. */
function cacheTtlMs(request: CanonicalRequest): number | null {
  let longest = longer(null, request.cache?.hint);
  for (const tool of request.tools ?? []) longest = longer(longest, tool.cache);
  for (const { content } of request.messages)
    for (const part of content) longest = longer(longest, part.cache);
  return longest;
}

function textOf(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return part.text;
    case 'tool_call':
      return `${part.name} ${part.arguments}`;
    case 'tool_result':
    case 'search_result':
      return part.content.map(textOf).join('\n');
    case 'server_tool':
      return part.name;
    default: {
      const { src } = part;
      if ('base64' in src) return `${src.base64.length} ${src.base64.slice(0, MEDIA_MAX)}`;
      return Object.values(src).join(' ');
    }
  }
}

function toolText({ name, description, schema, payload }: Tool): string {
  return `${name} ${description ?? ''} ${JSON.stringify(schema ?? payload ?? null)}`;
}

/** The beginning of what a provider caches, in its order: tools, system, conversation; '' when there is none. */
function promptPrefix({ tools, messages }: CanonicalRequest): string {
  let prefix = '';
  for (const tool of tools ?? []) {
    prefix += `${toolText(tool)}\n`;
    if (prefix.length >= PREFIX_MAX) return prefix.slice(0, PREFIX_MAX);
  }
  for (const { role, content } of messages) {
    for (const part of content) {
      // Cut first: to join a long text with anything would copy all of it.
      prefix += `${role} ${textOf(part).slice(0, PREFIX_MAX)}\n`;
      if (prefix.length >= PREFIX_MAX) return prefix.slice(0, PREFIX_MAX);
    }
  }
  return prefix;
}

/**
 * The keys under which `request` finds related calls. Used only for the routing decision, because it refers to the
 * prompt.
 */
export function affinityOf(
  deps: Pick<CallDeps, 'affinity'>,
  { grant }: Pick<Incoming, 'grant'>,
  request: CanonicalRequest,
  cache_hints: boolean,
): AffinitySource {
  const value = (kind: AffinityKind): string | null => {
    switch (kind) {
      case 'key':
        // All keys of a rotation chain have the same number.
        return String(grant.subject.key_no);
      case 'user':
        return request.user ?? null;
      case 'session':
        return request.svc.session ?? null;
      case 'prefix':
        return request.cache?.key ?? (promptPrefix(request) || null);
    }
  };
  return {
    memory: deps.affinity,
    org_id: grant.org_id,
    cache_hints,
    cache_ttl_ms: cache_hints ? cacheTtlMs(request) : null,
    value,
  };
}
