// What a wire format is to the rest of the program. A format says all of this itself; nobody else knows its name.
import type { JsonObject } from '../../kernel/index.ts';
import type { Adapter, Counted, Dialect, RawLane } from '../canonical/contract.ts';
import type { Warning } from '../canonical/types.ts';
import type { ProviderKind } from '../upstream/kind.ts';

/** A route that callers of the format are served at. */
export interface Route {
  readonly path: string;
  readonly dialect: Dialect;
}

/** A question about a call that is no call: how many tokens its prompt has, or what would become of it. */
export type Asked =
  | (Route & { readonly asks: 'count'; reply(counted: Counted): JsonObject })
  | (Route & { readonly asks: 'dry_run'; warnings(warnings: readonly Warning[]): unknown });

/** What callers speak; null members are sides that the format does not have. */
export interface Callers {
  readonly routes: readonly Route[];
  readonly questions: readonly Asked[];
  /** Bodies of the format that clients send to a route of another, which answers them in its own words. */
  readonly guests: readonly { readonly path: string; welcome(host: Dialect): Dialect }[];
}

export interface Format {
  /** null: nobody calls in this format. `adapters`: those of all formats, for a format that lets callers name them. */
  readonly callers: ((adapters: readonly Adapter[]) => Callers) | null;
  /** null: no provider is called in this format. */
  readonly upstream: Adapter | null;
  /** Kinds of providers that bring the format with them. */
  readonly kinds: readonly ProviderKind[];
  /** The lane of callers on endpoints of the same format; null: there is none. */
  readonly raw: RawLane | null;
}
