// A web search that the provider runs and bills. There is one canonical request for it, which each format that
// supports it reads and writes in its own form (`formats/*/words/search.ts`). An endpoint runs searches when its
// catalog entry lists them, which the catalog allows only together with a price.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { Target } from './contract.ts';
import type { CanonicalRequest, Family, Loss, SearchPreferences, Tool } from './types.ts';

/** The entry in `capabilities.server_tools` of an endpoint, also used in routing policies. */
export const WEB_SEARCH = 'web_search';
/** Searches that are held for, and allowed, when the caller gives no number. */
export const SEARCHES_USUAL = 5;

/** Whether `target` runs web searches. */
export function runsSearch({ capabilities }: Target): boolean {
  return capabilities.server_tools.includes(WEB_SEARCH) || capabilities.server_tools.includes('*');
}

/**
 * Whether `tool` is a search in another wire format than that of `family`, which therefore has to write it in its
 * own.
 */
export function isForeignSearch(tool: Tool, family: Family): boolean {
  return tool.search !== undefined && tool.family !== family;
}

/** Path at which the caller asked for `tool`, which is item `i` of the request's tools. */
export function toolPath(tool: Tool, i: number): string {
  return tool.member ?? tool.path ?? `tools[${i}]`;
}

/** An option of a search. */
export type SearchOption = keyof SearchPreferences;

/** Restrictions to domains are part of what was asked; how thorough the search is, is not. */
const ESSENTIAL: ReadonlySet<SearchOption> = new Set(['allowed_domains', 'blocked_domains']);

/** Losses of a search from another family: the options that are not in `carried`, those which the family supports. */
export function optionLosses(tool: Tool, path: string, carried: readonly SearchOption[]): Loss[] {
  const lost = (Object.keys(tool.search ?? {}) as SearchOption[]).filter((name) => !carried.includes(name));
  return lost.map((name) => ({
    ...(ESSENTIAL.has(name)
      ? { class: 'content', code: 'search_domains_unsupported' }
      : { class: 'behaviour', code: 'search_option_dropped' }),
    param: `${path}.${placeOf(name, tool.payload)}`,
    message: 'The web search of this endpoint has no such option.',
  }));
}

const WORDS: Readonly<Partial<Record<SearchOption, string>>> = {
  location: 'user_location',
  context: 'search_context_size',
};

/**
 * Path of option `name` within the tool that the caller sent: one of its members, or a member of an object among
 * them.
 */
function placeOf(name: SearchOption, payload: JsonObject = {}): string {
  const word = WORDS[name] ?? name;
  if (word in payload) return word;
  const group = Object.keys(payload).find((key) => {
    const value = payload[key];
    return isObject(value) && word in value;
  });
  return group === undefined ? word : `${group}.${word}`;
}

/** Number of searches that `request` may make and that are held for; 0 when it asks for none. */
export function searchesOf({ tools = [] }: CanonicalRequest): number {
  let searches = 0;
  for (const { search } of tools) if (search !== undefined) searches += search.max_uses ?? SEARCHES_USUAL;
  return searches;
}
