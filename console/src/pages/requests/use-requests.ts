// What the list of calls shows: the calls that were read, older ones on demand, and those that arrive.
import { useCallback, useMemo, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import {
  type FeedRowFragment,
  RequestChoicesDocument,
  RequestsDocument,
  type RequestsQuery,
  type RequestsQueryVariables,
} from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import type { RequestsSearch } from '../../app/search.ts';
import { useFeed } from '../../ui/use-feed.ts';
import { arrivalsOf, filterOf, isWanted } from './wanted.ts';

const PAGE = 50;
/** Older ones are read in pages as large as the API gives. */
export const OLDER_PAGE = 100;

const NONE: readonly ReadRow[] = [];

export type ReadRow = NonNullable<RequestsQuery['requests']>['nodes'][number];

/** Reads older pages on demand; they are thrown away when the filters change. */
function useOlder(variables: RequestsQueryVariables, first_next: string | null) {
  const client = useClient();
  const key = JSON.stringify(variables);
  const [older, setOlder] = useState<{
    key: string;
    rows: readonly ReadRow[];
    next: string | null;
  } | null>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const mine = older?.key === key ? older : null;
  const next = mine === null ? first_next : mine.next;
  const load = async () => {
    if (next === null || busy) return;
    setBusy(true);
    setFault(null);
    const { data, error } = await client
      .query(RequestsDocument, { ...variables, first: OLDER_PAGE, after: next })
      .toPromise();
    setBusy(false);
    if (error) return setFault(faultOfQuery(error));
    const page = data?.requests;
    if (!page) return;
    const after = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? null) : null;
    setOlder({ key, rows: [...(mine?.rows ?? []), ...page.nodes], next: after });
  };
  return { rows: mine?.rows ?? NONE, has_more: next !== null, busy, fault, load };
}
export type Older = ReturnType<typeof useOlder>;

/** The calls that match `search`, newest first: those that were read, and those that arrive. */
export function useRequests(search: RequestsSearch, { held, onRow }: { held: boolean; onRow: () => void }) {
  const { environment } = useOrg();
  const [opened] = useState(() => Date.now());
  const variables: RequestsQueryVariables = { environment, first: PAGE, ...filterOf(search, opened) };
  const [{ data, error, fetching }, query] = useQuery({ query: RequestsDocument, variables });
  const again = () => query({ requestPolicy: 'network-only' });
  const first = data?.requests;
  const older = useOlder(variables, first?.pageInfo.hasNextPage ? (first.pageInfo.endCursor ?? null) : null);
  const wanted = useMemo(() => arrivalsOf(search), [search]);
  const matches = useCallback((row: FeedRowFragment) => isWanted(row, search), [search]);
  const read = useMemo(() => (first ? [...first.nodes, ...older.rows] : undefined), [first, older.rows]);
  const feed = useFeed({
    read,
    wanted,
    matches,
    held,
    off: first === undefined,
    onBack: again,
    onRow,
  });
  return { variables, error, fetching, again, first, older, read, feed };
}

/** What the filters offer: keys by id, and the models and providers of the last thirty days and of what is shown. */
export interface Choices {
  readonly keys: ReadonlyMap<string, string>;
  readonly models: readonly string[];
  readonly providers: readonly string[];
}

export function useChoices(search: RequestsSearch, read: readonly ReadRow[]): Choices {
  const { environment } = useOrg();
  const [{ data }] = useQuery({
    query: RequestChoicesDocument,
    variables: { environment },
    requestPolicy: 'cache-first',
  });
  const keys = new Map((data?.keys?.nodes ?? []).map(({ id, name }) => [id as string, name as string]));
  for (const { keyId, key } of read) if (key) keys.set(keyId, key.name);
  if (search.key !== undefined && !keys.has(search.key)) keys.set(search.key, search.key);
  const named = (
    used: { groups: readonly { key: string }[] } | null | undefined,
    shown: readonly string[],
    chosen: string | undefined,
  ) => {
    const names = new Set([...(used?.groups ?? []).map(({ key }) => key), ...shown]);
    if (chosen !== undefined) names.add(chosen);
    return [...names].filter((name) => name !== '' && !name.startsWith('__')).sort();
  };
  return {
    keys,
    models: named(
      data?.models,
      read.map(({ model }) => model),
      search.model,
    ),
    providers: named(
      data?.providers,
      read.map(({ provider }) => provider),
      search.provider,
    ),
  };
}
