// What the simulated rail-b shows: objects with parts of them expanded, and lists by pages, newest first, of a time.
import type { RailStore } from './store.ts';

interface Listed {
  readonly id: string;
  readonly created: number;
}

const PAGE_MAX = 100;

/** What a call wants to see whole. */
export function pathsOf(query: URLSearchParams): string[] {
  return [...query].filter(([name]) => name.startsWith('expand')).map(([, value]) => value);
}

/** A copy of an object, with the objects at `paths` in place of their ids. */
export function expanded(store: RailStore, object: object, paths: readonly string[]): object {
  const copy = structuredClone(object) as Record<string, unknown>;
  for (const path of paths) {
    let at: Record<string, unknown> = copy;
    for (const name of path.split('.')) {
      const value = at[name];
      if (typeof value === 'string') at[name] = structuredClone(store.object(value));
      const inner = at[name];
      if (typeof inner !== 'object' || inner === null) break;
      at = inner as Record<string, unknown>;
    }
  }
  return copy;
}

/** What a list shows, oldest first; null for a list that this rail has not. */
function rowsOf(store: RailStore, resource: string, query: URLSearchParams): Listed[] | null {
  const { refunds, disputes, intents, balances, paying } = store;
  const asked = (name: string, value: string | null) => query.get(name) === null || query.get(name) === value;
  switch (resource) {
    case 'refunds':
      return [...refunds.values()].filter((row) => asked('payment_intent', row.payment_intent));
    case 'disputes':
      return [...disputes.values()];
    case 'payment_intents':
      return [...intents.values()].filter((row) => asked('customer', row.customer));
    case 'balance_transactions':
      return [...balances.values()].filter((row) => asked('payout', row.payout));
    case 'payouts':
      return [...paying.all.values()];
    default:
      return null;
  }
}

/** One page of a list; null where there is no such list. */
export function listOf(store: RailStore, resource: string, query: URLSearchParams): object | null {
  const rows = rowsOf(store, resource, query);
  if (rows === null) return null;
  const bound = (name: string, otherwise: number) => Number(query.get(`created[${name}]`) ?? otherwise);
  const [from, to] = [bound('gte', 0), bound('lt', Number.POSITIVE_INFINITY)];
  const found = rows.filter(({ created }) => created >= from && created < to).reverse();
  const after = query.get('starting_after');
  const start = after === null ? 0 : found.findIndex(({ id }) => id === after) + 1;
  const limit = Math.min(Number(query.get('limit') ?? 10), PAGE_MAX);
  const paths = pathsOf(query).map((path) => path.replace(/^data\./, ''));
  const data = found.slice(start, start + limit).map((row) => expanded(store, row, paths));
  return { object: 'list', url: `/v1/${resource}`, has_more: start + limit < found.length, data };
}
