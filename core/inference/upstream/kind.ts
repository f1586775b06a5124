// What has to be known of a kind of provider to call it: how a key authenticates, and how one is tried out.
import type { KindFacts } from '../../catalog/index.ts';
import type { Sign } from './sigv4.ts';

/** What authenticates a request: headers that are always the same, or a signature of each. */
export interface Authentication {
  readonly headers: readonly string[];
  readonly sign?: Sign;
}

/** A request that costs nothing and whose answer tells whether a key is good. */
export interface KeyProbe {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Headers that the provider asks for beside the key. */
  readonly headers: readonly string[];
  /** Statuses other than a success that only a good key gets. */
  readonly good: readonly number[];
  /** Whether this answer, of another status than 401 and 403, refuses the key. */
  refuses(status: number, body: string): boolean;
}

export interface ProviderKind extends KindFacts {
  /** Its word in catalog files. */
  readonly kind: string;
  /** What `key` authenticates with, or what is wrong with it, in words that do not show it. */
  authenticate(key: string): Authentication | { readonly fault: string };
  /** null: its providers take no keys. */
  readonly probe: KeyProbe | null;
}

/** Kinds by their word. */
export type ProviderKinds = ReadonlyMap<string, ProviderKind>;

/** The header of most providers. */
export function bearer(key: string): Authentication {
  return { headers: ['authorization', `Bearer ${key}`] };
}

/** The list of models, which most providers give to a good key alone. */
export const listModels: KeyProbe = {
  method: 'GET',
  path: '/models',
  headers: [],
  good: [],
  refuses: () => false,
};
