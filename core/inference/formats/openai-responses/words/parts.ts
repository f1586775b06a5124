// Reads pieces of response items into the canonical form.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Citation, Part, ReasoningPart, ToolCallPart } from '../../../canonical/types.ts';

export const FORMAT = 'openai-responses-v1';

/** A non-empty string, or null. */
export function nonEmpty(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A position, or null. */
export function position(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The objects in a list; empty when `value` is not a list. */
export function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** An annotation as a citation of a page, or of a file that the provider stores; null for others. */
export function citationOf(value: unknown): Citation | null {
  if (!isObject(value)) return null;
  const start = position(value['start_index']);
  const end = position(value['end_index']);
  if (value['type'] === 'url_citation' && typeof value['url'] === 'string') {
    const citation: Citation = { kind: 'url', url: value['url'] };
    const title = nonEmpty(value['title']);
    if (title !== null) citation.title = title;
    if (start !== null) citation.start = start;
    if (end !== null) citation.end = end;
    return citation;
  }
  const file_id = nonEmpty(value['file_id']);
  if (file_id === null) return null;
  // A file citation names one position, after the text that it supports.
  const at = position(value['index']) ?? 0;
  const title = nonEmpty(value['filename']);
  const named = title === null ? {} : { title };
  return {
    kind: 'char',
    document: 0,
    ...named,
    start: start ?? at,
    end: end ?? at,
    cited_text: '',
    file_id,
  };
}

/** The part that an item of text begins, still without text. */
export function textPart(item: JsonObject): Part {
  const phase = nonEmpty(item['phase']);
  return { type: 'text', text: '', ...(phase === null ? {} : { ext: { phase } }) };
}

/** The reasoning part of an item, still without text. Raw reasoning text has no state of its own. */
export function reasoningPart(item: JsonObject, kind: ReasoningPart['kind']): ReasoningPart {
  const id = nonEmpty(item['id']);
  const format = kind === 'full' ? 'unknown' : FORMAT;
  return { type: 'reasoning', text: '', kind, format, ...(id === null ? {} : { id }) };
}

/** The call of a `function_call` or `custom_tool_call` item, still without arguments; null while it has no name. */
export function callPart(item: JsonObject): ToolCallPart | null {
  const name = nonEmpty(item['name']);
  if (name === null) return null;
  const id = nonEmpty(item['call_id']) ?? nonEmpty(item['id']) ?? '';
  const kind = item['type'] === 'custom_tool_call' ? 'custom' : 'function';
  return { type: 'tool_call', id, name, arguments: '', kind };
}

/** Whether `item` is a call that the caller answers. */
export function isCall(item: JsonObject): boolean {
  return item['type'] === 'function_call' || item['type'] === 'custom_tool_call';
}

/** Whether `item` is a web search that was made; reading a page that it found is not billed as one. */
export function isSearch(item: unknown): boolean {
  if (!isObject(item) || item['type'] !== 'web_search_call' || item['status'] === 'failed') return false;
  const { action } = item;
  return !isObject(action) || action['type'] === undefined || action['type'] === 'search';
}

/** Number of web searches in an output. */
export function countSearches(output: unknown): number {
  return objects(output).filter(isSearch).length;
}

/** Number of calls in an output. */
export function countCalls(output: unknown): number {
  return objects(output).filter(isCall).length;
}

/** The input of a call: arguments of a function, free text of a custom tool. */
export function callText(item: JsonObject): string {
  const text = item['type'] === 'custom_tool_call' ? item['input'] : item['arguments'];
  if (typeof text === 'string') return text;
  // Some servers send the arguments as an object instead of as text.
  return isObject(text) ? JSON.stringify(text) : '';
}

/** An item that only this family can read again. */
export function serverPart(item: JsonObject): Part {
  const name = nonEmpty(item['type']) ?? 'item';
  return { type: 'server_tool', family: 'openai_responses', name, payload: item };
}
