// A search of the web that the provider runs and bills: one wish, asked for in four wires and run by four families.
// An endpoint runs it where its catalog entry lists it, which the catalog lets stand only beside a price for its unit.
import type { JsonObject } from '../../kernel/index.ts';
import { optionalNumber, optionalObject, optionalString, optionalStrings } from '../caller/read.ts';
import { compact } from '../caller/svc.ts';
import type { Target } from './contract.ts';
import type { CanonicalRequest, Family, Loss, SearchWish, Tool } from './types.ts';

/** What an endpoint lists in `capabilities.server_tools`, and the word for it in routing. */
export const WEB_SEARCH = 'web_search';
/** Searches that are held for, and allowed, where the caller names no number. */
export const SEARCHES_USUAL = 5;

const MESSAGES_TYPE = /^web_search_\d{8}$/;
const RESPONSES_TYPE = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;
const LOCATION = ['city', 'region', 'country', 'timezone'] as const;

/** The wish of a tool in the wire of `family`; undefined when it is another tool. @throws ServiceError invalid_request */
export function readSearchTool(tool: JsonObject, path: string, family: Family): SearchWish | undefined {
  const type = String(tool['type'] ?? '');
  if (family === 'anthropic_messages' && MESSAGES_TYPE.test(type)) {
    return compact({
      max_uses: optionalNumber(tool['max_uses'], `${path}.max_uses`, { min: 1, integer: true }),
      allowed_domains: optionalStrings(tool['allowed_domains'], `${path}.allowed_domains`),
      blocked_domains: optionalStrings(tool['blocked_domains'], `${path}.blocked_domains`),
      location: locationOf(tool['user_location'], `${path}.user_location`),
    });
  }
  if (family === 'gemini' && type === 'google_search') return {};
  if (family !== 'openai_responses' || !RESPONSES_TYPE.test(type)) return undefined;
  const filters = optionalObject(tool['filters'], `${path}.filters`) ?? {};
  return compact({
    allowed_domains: optionalStrings(filters['allowed_domains'], `${path}.filters.allowed_domains`),
    context: optionalString(tool['search_context_size'], `${path}.search_context_size`),
    location: locationOf(tool['user_location'], `${path}.user_location`),
  });
}

/** The tool that chat's member asks for; undefined without it. @throws ServiceError invalid_request */
export function readSearchOptions(value: unknown, member: string): Tool | undefined {
  const options = optionalObject(value, member);
  if (options === undefined) return undefined;
  const where = optionalObject(options['user_location'], `${member}.user_location`);
  const search: SearchWish = compact({
    context: optionalString(options['search_context_size'], `${member}.search_context_size`),
    location: locationOf(where?.['approximate'], `${member}.user_location.approximate`),
  });
  return { kind: 'server', name: WEB_SEARCH, family: 'openai_chat', member, search };
}

function locationOf(value: unknown, path: string): SearchWish['location'] {
  const object = optionalObject(value, path);
  if (object === undefined) return undefined;
  const location: Record<string, string> = {};
  for (const name of LOCATION) {
    const text = optionalString(object[name], `${path}.${name}`);
    if (text !== undefined) location[name] = text;
  }
  return Object.keys(location).length === 0 ? undefined : location;
}

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

type Option = keyof SearchWish;

/** What each family has a word for; a limit that is kept by itself counts as one. */
const carried: Readonly<Partial<Record<Family, readonly Option[]>>> = {
  anthropic_messages: ['max_uses', 'allowed_domains', 'blocked_domains', 'location'],
  openai_responses: ['allowed_domains', 'context', 'location'],
  // Its models search once for each answer.
  openai_chat: ['max_uses', 'context', 'location'],
  gemini: [],
};

/** Where a search may look is part of what was asked; how hard it looks is not. */
const ESSENTIAL: ReadonlySet<Option> = new Set(['allowed_domains', 'blocked_domains']);

/** Losses of a search of another family on `target`: all of it, or options that its family has no word for. */
export function searchLosses(tool: Tool, path: string, target: Target): Loss[] {
  if (!runsSearch(target)) {
    const code = tool.member === undefined ? 'server_tool' : 'unsupported_parameter';
    const message = 'This endpoint lists no search of the web with a price.';
    return [{ class: 'content', code, param: path, message }];
  }
  const known = carried[target.family] ?? [];
  const lost = (Object.keys(tool.search ?? {}) as Option[]).filter((name) => !known.includes(name));
  return lost.map((name) => ({
    ...(ESSENTIAL.has(name)
      ? { class: 'content', code: 'search_domains_unsupported' }
      : { class: 'behaviour', code: 'search_option_dropped' }),
    param: `${path}.${wordOf(name, tool.family)}`,
    message: 'The search of this endpoint has no such option.',
  }));
}

function wordOf(name: Option, family: Family | undefined): string {
  if (name === 'location') return 'user_location';
  if (name === 'context') return 'search_context_size';
  return name === 'allowed_domains' && family === 'openai_responses' ? 'filters.allowed_domains' : name;
}

function approximate({ location }: SearchWish): JsonObject {
  return location === undefined ? {} : { user_location: { type: 'approximate', ...location } };
}

/** The search as a tool of the messages wire. The number of searches is always named: it is what was held for. */
export function messagesSearch(search: SearchWish): JsonObject {
  const { max_uses = SEARCHES_USUAL, allowed_domains, blocked_domains } = search;
  const domains = compact({ allowed_domains, blocked_domains });
  return { type: 'web_search_20250305', name: WEB_SEARCH, max_uses, ...domains, ...approximate(search) };
}

/** The search as a tool of the responses wire. */
export function responsesSearch(search: SearchWish): JsonObject {
  const { allowed_domains, context } = search;
  return {
    type: WEB_SEARCH,
    ...(allowed_domains === undefined ? {} : { filters: { allowed_domains } }),
    ...(context === undefined ? {} : { search_context_size: context }),
    ...approximate(search),
  };
}

/** The search as the member of the chat wire. */
export function chatSearch({ context, location }: SearchWish): JsonObject {
  return {
    ...(context === undefined ? {} : { search_context_size: context }),
    ...(location === undefined ? {} : { user_location: { type: 'approximate', approximate: location } }),
  };
}

/** Searches that `request` may make, to be held for; 0 when it asks for none. */
export function searchesOf({ tools = [] }: CanonicalRequest): number {
  let searches = 0;
  for (const { search } of tools) if (search !== undefined) searches += search.max_uses ?? SEARCHES_USUAL;
  return searches;
}
