// A search of the web that the provider runs and bills: one request, which each format that knows it reads and writes in
// words of its own (`formats/*/words/search.ts`). An endpoint runs it where its catalog entry lists it, which the catalog
// lets stand only beside a price for its unit.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { Target } from './contract.ts';
import type { CanonicalRequest, Family, Loss, SearchPreferences, Tool } from './types.ts';

/** What an endpoint lists in `capabilities.server_tools`, and the word for it in routing. */
export const WEB_SEARCH = 'web_search';
/** Searches that are held for, and allowed, where the caller names no number. */
export const SEARCHES_USUAL = 5;

/** Whether `target` runs searches. */
export function runsSearch({ capabilities }: Target): boolean {
  return capabilities.server_tools.includes(WEB_SEARCH) || capabilities.server_tools.includes('*');
}

/** Whether `tool` asks for a search in another wire than that of `family`, which therefore writes it anew. */
export function isForeignSearch(tool: Tool, family: Family): boolean {
  return tool.search !== undefined && tool.family !== family;
}

/** Where the caller asked for `tool`, the item `i` of the request's tools. */
export function toolPath(tool: Tool, i: number): string {
  return tool.member ?? `tools[${i}]`;
}

/** An option of a search. */
export type SearchOption = keyof SearchPreferences;

/** Where a search may look is part of what was asked; how hard it looks is not. */
const ESSENTIAL: ReadonlySet<SearchOption> = new Set(['allowed_domains', 'blocked_domains']);

/**
 * Losses of a search of another family on `target`: all of it, or options other than those `carried`, which the family
 * has a word for or keeps by itself.
 */
export function searchLosses(
  tool: Tool,
  path: string,
  target: Target,
  carried: readonly SearchOption[],
): Loss[] {
  if (!runsSearch(target)) {
    const code = tool.member === undefined ? 'server_tool' : 'unsupported_parameter';
    const message = 'This endpoint lists no search of the web with a price.';
    return [{ class: 'content', code, param: path, message }];
  }
  const lost = (Object.keys(tool.search ?? {}) as SearchOption[]).filter((name) => !carried.includes(name));
  return lost.map((name) => ({
    ...(ESSENTIAL.has(name)
      ? { class: 'content', code: 'search_domains_unsupported' }
      : { class: 'behaviour', code: 'search_option_dropped' }),
    param: `${path}.${placeOf(name, tool.payload)}`,
    message: 'The search of this endpoint has no such option.',
  }));
}

const WORDS: Readonly<Partial<Record<SearchOption, string>>> = {
  location: 'user_location',
  context: 'search_context_size',
};

/** Where the tool that the caller sent has option `name`: among its members, or in an object that one of them is. */
function placeOf(name: SearchOption, payload: JsonObject = {}): string {
  const word = WORDS[name] ?? name;
  if (word in payload) return word;
  const group = Object.keys(payload).find((key) => {
    const value = payload[key];
    return isObject(value) && word in value;
  });
  return group === undefined ? word : `${group}.${word}`;
}

/** Searches that `request` may make, to be held for; 0 when it asks for none. */
export function searchesOf({ tools = [] }: CanonicalRequest): number {
  let searches = 0;
  for (const { search } of tools) if (search !== undefined) searches += search.max_uses ?? SEARCHES_USUAL;
  return searches;
}
