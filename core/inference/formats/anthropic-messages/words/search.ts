// Web search in this format.
import { compact, type JsonObject } from '../../../../kernel/index.ts';
import { readLocation } from '../../../caller/location.ts';
import { optionalNumber, optionalStrings } from '../../../caller/read.ts';
import type { SearchPreferences } from '../../../canonical/types.ts';
import { SEARCHES_USUAL, type SearchOption, WEB_SEARCH } from '../../../canonical/web-search.ts';

const TYPE = /^web_search_\d{8}$/;

/** Options that this format supports. */
export const SEARCH_OPTIONS: readonly SearchOption[] = [
  'max_uses',
  'allowed_domains',
  'blocked_domains',
  'location',
];

/** What `tool` asks of a web search; undefined when it is another tool. @throws ServiceError invalid_request */
export function readSearchTool(tool: JsonObject, path: string): SearchPreferences | undefined {
  if (!TYPE.test(String(tool['type'] ?? ''))) return undefined;
  return compact({
    max_uses: optionalNumber(tool['max_uses'], `${path}.max_uses`, { min: 1, integer: true }),
    allowed_domains: optionalStrings(tool['allowed_domains'], `${path}.allowed_domains`),
    blocked_domains: optionalStrings(tool['blocked_domains'], `${path}.blocked_domains`),
    location: readLocation(tool['user_location'], `${path}.user_location`),
  });
}

/** The web search as a tool. The number of searches is always given, because it is what was held for. */
export function searchTool(search: SearchPreferences): JsonObject {
  const { max_uses = SEARCHES_USUAL, allowed_domains, blocked_domains, location } = search;
  return {
    type: 'web_search_20250305',
    name: WEB_SEARCH,
    max_uses,
    ...compact({ allowed_domains, blocked_domains }),
    ...(location === undefined ? {} : { user_location: { type: 'approximate', ...location } }),
  };
}
