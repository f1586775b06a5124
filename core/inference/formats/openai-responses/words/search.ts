// Web search in this format.
import { compact, type JsonObject } from '../../../../kernel/index.ts';
import { readLocation } from '../../../caller/location.ts';
import { optionalObject, optionalString, optionalStrings } from '../../../caller/read.ts';
import type { SearchPreferences } from '../../../canonical/types.ts';
import { type SearchOption, WEB_SEARCH } from '../../../canonical/web-search.ts';

const TYPE = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** Options that this format supports. */
export const SEARCH_OPTIONS: readonly SearchOption[] = ['allowed_domains', 'context', 'location'];

/** What `tool` asks of a web search; undefined when it is another tool. @throws ServiceError invalid_request */
export function readSearchTool(tool: JsonObject, path: string): SearchPreferences | undefined {
  if (!TYPE.test(String(tool['type'] ?? ''))) return undefined;
  const filters = optionalObject(tool['filters'], `${path}.filters`) ?? {};
  return compact({
    allowed_domains: optionalStrings(filters['allowed_domains'], `${path}.filters.allowed_domains`),
    context: optionalString(tool['search_context_size'], `${path}.search_context_size`),
    location: readLocation(tool['user_location'], `${path}.user_location`),
  });
}

/** The web search as a tool. */
export function searchTool({ allowed_domains, context, location }: SearchPreferences): JsonObject {
  return {
    type: WEB_SEARCH,
    ...(allowed_domains === undefined ? {} : { filters: { allowed_domains } }),
    ...(context === undefined ? {} : { search_context_size: context }),
    ...(location === undefined ? {} : { user_location: { type: 'approximate', ...location } }),
  };
}
