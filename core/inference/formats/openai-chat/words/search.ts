// Web search in this format: a member of the body, not a tool.
import { compact, type JsonObject } from '../../../../kernel/index.ts';
import { readLocation } from '../../../caller/location.ts';
import { optionalObject, optionalString } from '../../../caller/read.ts';
import type { SearchPreferences, Tool } from '../../../canonical/types.ts';
import { type SearchOption, WEB_SEARCH } from '../../../canonical/web-search.ts';

/** Options that this format supports; its models search once per answer, which is within any `max_uses`. */
export const SEARCH_OPTIONS: readonly SearchOption[] = ['max_uses', 'context', 'location'];

/** The tool that the body's `member` asks for; undefined without it. @throws ServiceError invalid_request */
export function readSearchOptions(value: unknown, member: string): Tool | undefined {
  const options = optionalObject(value, member);
  if (options === undefined) return undefined;
  const where = optionalObject(options['user_location'], `${member}.user_location`);
  const search: SearchPreferences = compact({
    context: optionalString(options['search_context_size'], `${member}.search_context_size`),
    location: readLocation(where?.['approximate'], `${member}.user_location.approximate`),
  });
  return { kind: 'server', name: WEB_SEARCH, family: 'openai_chat', member, search };
}

/** The web search as the value of that member. */
export function searchOptions({ context, location }: SearchPreferences): JsonObject {
  return {
    ...(context === undefined ? {} : { search_context_size: context }),
    ...(location === undefined ? {} : { user_location: { type: 'approximate', approximate: location } }),
  };
}
