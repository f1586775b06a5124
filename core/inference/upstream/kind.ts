// What must be known of a kind of provider in order to call it: how a key authenticates, and how to test one.
import type { KindFacts } from '../../catalog/index.ts';
import type { Sign } from './sigv4.ts';

/** What authenticates a request: constant headers, or a signature per request. */
export interface Authentication {
  readonly headers: readonly string[];
  readonly sign?: Sign;
}

/** A request that costs nothing and whose answer shows whether a key is valid. */
export interface KeyProbe {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Headers that the provider requires in addition to the key. */
  readonly headers: readonly string[];
  /** Statuses other than 2xx that only a valid key receives. */
  readonly good: readonly number[];
  /** Whether this answer, with a status other than 401 and 403, means that the key is refused. */
  refuses(status: number, body: string): boolean;
}

export interface ProviderKind extends KindFacts {
  /** Its name in catalog files. */
  readonly kind: string;
  /** How `key` authenticates, or what is wrong with it in words that do not show it. */
  authenticate(key: string): Authentication | { readonly fault: string };
  /** Null: its providers accept no keys. */
  readonly probe: KeyProbe | null;
}

/** Kinds by name. */
export type ProviderKinds = ReadonlyMap<string, ProviderKind>;

/** The Authorization header that most providers use. */
export function bearer(key: string): Authentication {
  return { headers: ['authorization', `Bearer ${key}`] };
}

/** The list of models, which most providers return only for a valid key. */
export const listModels: KeyProbe = {
  method: 'GET',
  path: '/models',
  headers: [],
  good: [],
  refuses: () => false,
};
