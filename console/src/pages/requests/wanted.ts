// The filters of the request list: as the API takes them, and for calls that arrive. Pure.
import type {
  FeedRowFragment,
  RequestAddedSubscriptionVariables,
  RequestsQueryVariables,
} from '../../api/gen/graphql.ts';
import type { RequestsSearch } from '../../app/search.ts';
import { instantOf } from '../../ui/format/time.ts';

const SINCE_MS = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;

/** `opened_ms` is when the page was opened: how far back is counted from there, so that pages follow each other. */
export function filterOf(
  search: RequestsSearch,
  opened_ms: number,
): Omit<RequestsQueryVariables, 'environment' | 'first' | 'after'> {
  const { since } = search;
  const back = since === undefined ? null : new Date(opened_ms - SINCE_MS[since]).toISOString();
  return {
    status: search.status === undefined ? null : (search.status.toUpperCase() as 'OK'),
    model: search.model ?? null,
    provider: search.provider ?? null,
    keyId: search.key ?? null,
    fallbacksOnly: search.moved ?? null,
    q: search.id ?? null,
    projectId: search.project ?? null,
    app: search.app ?? null,
    user: search.user ?? null,
    session: search.session ?? null,
    tag: search.tag ?? null,
    tagValue: search.tag === undefined ? null : (search.tag_value ?? null),
    since: search.from === undefined ? back : new Date(search.from).toISOString(),
    until: search.to === undefined ? null : new Date(search.to).toISOString(),
  };
}

/** Which calls are sent as they arrive. */
export function arrivalsOf(search: RequestsSearch): Omit<RequestAddedSubscriptionVariables, 'environment'> {
  const { keyId, projectId, app, user, session, tag, tagValue } = filterOf(search, 0);
  return { keyId, projectId, app, user, session, tag, tagValue };
}

/** Whether a call that was sent with `arrivalsOf` belongs to what the other filters show. */
export function isWanted(row: FeedRowFragment, search: RequestsSearch): boolean {
  if (search.key !== undefined && row.keyId !== search.key) return false;
  if (search.status !== undefined && row.status.toLowerCase() !== search.status) return false;
  if (search.model !== undefined && row.model !== search.model) return false;
  if (search.provider !== undefined && row.provider !== search.provider) return false;
  if (search.id !== undefined && !row.id.startsWith(search.id)) return false;
  const at = instantOf(row.ts);
  if (search.from !== undefined && at < new Date(search.from)) return false;
  if (search.to !== undefined && at >= new Date(search.to)) return false;
  return !(search.moved && row.attempts < 2);
}
