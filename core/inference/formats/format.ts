// What a wire format provides to the rest of the program. No code outside a format knows its name.
import type { JsonObject } from '../../kernel/index.ts';
import type { Adapter, Counted, Dialect, RawLane } from '../canonical/contract.ts';
import type { Warning } from '../canonical/types.ts';
import type { ProviderKind } from '../upstream/kind.ts';

/** A route at which callers of the format are served. */
export interface Route {
  readonly path: string;
  readonly dialect: Dialect;
}

/**
 * A question about a call that is answered without making the call: how many tokens its prompt has, or what would
 * happen to it.
 */
export type Asked =
  | (Route & { readonly asks: 'count'; reply(counted: Counted): JsonObject })
  | (Route & { readonly asks: 'dry_run'; warnings(warnings: readonly Warning[]): unknown });

/** The callers' side of a format; a null member is something that the format does not have. */
export interface Callers {
  readonly routes: readonly Route[];
  readonly questions: readonly Asked[];
  /** Bodies of this format that clients send to a route of another format, which answers them in its own. */
  readonly guests: readonly { readonly path: string; welcome(host: Dialect): Dialect }[];
}

export interface Format {
  /** Null: no caller uses this format. `adapters`: those of all formats, for a format whose callers can name them. */
  readonly callers: ((adapters: readonly Adapter[]) => Callers) | null;
  /** Null: no provider is called in this format. */
  readonly upstream: Adapter | null;
  /** Kinds of providers that use the format. */
  readonly kinds: readonly ProviderKind[];
  /** The raw lane between callers and endpoints of this format; null: there is none. */
  readonly raw: RawLane | null;
}
