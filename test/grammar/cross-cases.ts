// What the tests of both cross cells do to a request: write it for a family, and list what the family loses of it.
import type { Adapter, EncodeOptions, Target } from '../../core/inference/canonical/contract.ts';
import type { CanonicalRequest } from '../../core/inference/canonical/types.ts';

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
export type Wire = any;

const options: EncodeOptions = { stream: true, max_tokens: 2_048, user: null, cache_key: null, extra: {} };

/** The body that `adapter` sends for `request`. */
export function encode(adapter: Adapter, request: CanonicalRequest, to: Target): Wire {
  return JSON.parse(adapter.encode(request, to, options).body.toString('utf8'));
}

/** `class:code` of what `adapter` loses of `request`. */
export function losses(adapter: Adapter, request: CanonicalRequest, to: Target): string[] {
  return adapter.losses(request, to).map((loss) => `${loss.class}:${loss.code}`);
}

export const png = 'iVBORw0KGgo=';
