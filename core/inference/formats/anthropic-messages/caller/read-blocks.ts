// Reads content blocks of a messages request into canonical parts.

import type { JsonObject } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalBoolean,
  optionalChoice,
  optionalObject,
  optionalString,
  present,
  requireArray,
  requireBase64,
  requireObject,
  requireString,
  unsupported,
} from '../../../caller/read.ts';
import { isWrapped, unwrapState } from '../../../canonical/reasoning.ts';
import type { CacheHint, Citation, MediaSource, Part, ReasoningPart } from '../../../canonical/types.ts';
import { readCitation } from '../words/citations.ts';
import { FORMAT } from '../words/reasoning.ts';

const FAMILY = 'anthropic_messages';
/** Most cache breakpoints per request; the provider has the same limit. */
const BREAKPOINTS_MAX = 4;

/** What the blocks of one request share while they are read. */
export interface BlockReading {
  /** The request demands the caller's own provider key, so it may refer to files and containers of that account. */
  readonly own_key: boolean;
  breakpoints: number;
  /** Signatures of other families' tool calls by call id; they are carried in empty thinking blocks. */
  readonly signatures: Map<string, { signature: string; format: ReasoningPart['format'] }>;
}

/** The breakpoint of an item, counted. @throws ServiceError invalid_request for a malformed one or the fifth */
export function readCacheControl(
  value: unknown,
  param: string,
  reading: BlockReading,
): { cache?: CacheHint } {
  const object = optionalObject(value, param);
  if (object === undefined) return {};
  if (object['type'] !== 'ephemeral') fail(`${param}.type`, `'${param}.type' must be ephemeral.`);
  const ttl = optionalChoice(object['ttl'], `${param}.ttl`, ['5m', '1h'] as const);
  reading.breakpoints++;
  if (reading.breakpoints > BREAKPOINTS_MAX) {
    fail(param, `At most ${BREAKPOINTS_MAX} blocks may carry cache_control.`);
  }
  return { cache: ttl === undefined ? {} : { ttl } };
}

/** Members of `block` that are not in `known`, as `ext`; null values count as absent. */
export function extOf(block: JsonObject, known: readonly string[]): { ext?: JsonObject } {
  const rest = Object.entries(block).filter(([name, value]) => !known.includes(name) && present(value));
  return rest.length === 0 ? {} : { ext: Object.fromEntries(rest) };
}

/** @throws ServiceError unsupported_parameter unless the request demands the caller's own provider key. */
export function requireOwnKey(reading: { own_key: boolean }, param: string, what: string): void {
  if (reading.own_key) return;
  unsupported(param, `${what} needs your own provider key: set svc.route.byok to 'only'.`, {
    reason: 'own_provider_key',
  });
}

function readSource(value: unknown, param: string, reading: BlockReading): MediaSource {
  const source = requireObject(value, param);
  switch (source['type']) {
    case 'base64':
      return {
        base64: requireBase64(source['data'], `${param}.data`),
        media_type: requireString(source['media_type'], `${param}.media_type`),
      };
    case 'url':
      return { url: requireString(source['url'], `${param}.url`) };
    case 'text':
      return { text: requireString(source['data'], `${param}.data`) };
    case 'file':
      requireOwnKey(reading, `${param}.file_id`, 'A file');
      return { file_id: requireString(source['file_id'], `${param}.file_id`), family: FAMILY };
    default:
      return fail(`${param}.type`, `'${param}.type' must be one of base64, url, text, content, file.`);
  }
}

function readDocument(block: JsonObject, param: string, reading: BlockReading): Part {
  const citations = optionalObject(block['citations'], `${param}.citations`);
  const enabled = optionalBoolean(citations?.['enabled'], `${param}.citations.enabled`);
  const title = optionalString(block['title'], `${param}.title`);
  const context = optionalString(block['context'], `${param}.context`);
  const cache = readCacheControl(block['cache_control'], `${param}.cache_control`, reading);
  const base = {
    type: 'document' as const,
    ...(title === undefined ? {} : { title }),
    ...(context === undefined ? {} : { context }),
    ...(enabled === undefined ? {} : { citations: enabled }),
    ...cache,
  };
  const { ext } = extOf(block, ['type', 'source', 'citations', 'title', 'context', 'cache_control']);
  const source = requireObject(block['source'], `${param}.source`);
  if (source['type'] !== 'content') {
    return {
      ...base,
      src: readSource(source, `${param}.source`, reading),
      ...(ext === undefined ? {} : { ext }),
    };
  }
  // A source made of blocks: text means the same everywhere; with images, only this family can read it.
  const parts = readContent(source['content'], `${param}.source.content`, reading);
  if (parts.some((part) => part.type !== 'text')) return serverBlock(block, 'document');
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  return { ...base, src: { text }, ext: { ...ext, source } };
}

function serverBlock(block: JsonObject, name: string): Part {
  return { type: 'server_tool', family: FAMILY, name, payload: block };
}

function readThinking(block: JsonObject, param: string, reading: BlockReading): Part | null {
  const text = optionalString(block['thinking'], `${param}.thinking`) ?? '';
  const signature = optionalString(block['signature'], `${param}.signature`) ?? '';
  if (!isWrapped(signature)) {
    if (signature === '') return { type: 'reasoning', text, kind: 'full', format: 'unknown' };
    return { type: 'reasoning', text, kind: 'full', signature, format: FORMAT };
  }
  const state = unwrapState(signature);
  if (state?.t !== undefined && state.s !== undefined) {
    reading.signatures.set(state.t, { signature: state.s, format: state.f });
    if (text === '') return null;
  }
  const part: ReasoningPart = { type: 'reasoning', text, kind: 'full', format: state?.f ?? 'unknown' };
  if (state === null || state.t !== undefined) return part;
  if (state.f === 'openai-responses-v1') part.kind = 'summary';
  if (text === '' && state.d !== undefined) part.kind = 'encrypted';
  return { ...part, ...foreignMembers(state) };
}

function foreignMembers(state: { s?: string; d?: string; i?: string }): Partial<ReasoningPart> {
  return {
    ...(state.s === undefined ? {} : { signature: state.s }),
    ...(state.d === undefined ? {} : { data: state.d }),
    ...(state.i === undefined ? {} : { id: state.i }),
  };
}

function readRedacted(block: JsonObject, param: string): Part {
  const data = requireString(block['data'], `${param}.data`);
  if (!isWrapped(data)) return { type: 'reasoning', text: '', kind: 'encrypted', data, format: FORMAT };
  const state = unwrapState(data);
  const part: ReasoningPart = {
    type: 'reasoning',
    text: '',
    kind: 'encrypted',
    format: state?.f ?? 'unknown',
  };
  return state === null ? part : { ...part, ...foreignMembers(state) };
}

function readText(block: JsonObject, param: string, reading: BlockReading): Part {
  const citations = (optionalArray(block['citations'], `${param}.citations`) ?? [])
    .map(readCitation)
    .filter((item): item is Citation => item !== null);
  return {
    type: 'text',
    text: requireString(block['text'], `${param}.text`),
    ...(citations.length > 0 ? { citations } : {}),
    ...readCacheControl(block['cache_control'], `${param}.cache_control`, reading),
    ...extOf(block, ['type', 'text', 'citations', 'cache_control']),
  };
}

function readToolUse(block: JsonObject, param: string, reading: BlockReading): Part {
  const { ext } = extOf(block, ['type', 'id', 'name', 'input', 'cache_control']);
  const caller = optionalObject(ext?.['caller'], `${param}.caller`);
  if (ext !== undefined && caller?.['type'] === 'direct') delete ext['caller'];
  return {
    type: 'tool_call',
    id: requireString(block['id'], `${param}.id`),
    name: requireString(block['name'], `${param}.name`),
    arguments: JSON.stringify(optionalObject(block['input'], `${param}.input`) ?? {}),
    kind: 'function',
    ...readCacheControl(block['cache_control'], `${param}.cache_control`, reading),
    ...(ext === undefined || Object.keys(ext).length === 0 ? {} : { ext }),
  };
}

function readToolResult(block: JsonObject, param: string, reading: BlockReading): Part {
  const content = present(block['content']) ? readContent(block['content'], `${param}.content`, reading) : [];
  const is_error = optionalBoolean(block['is_error'], `${param}.is_error`);
  return {
    type: 'tool_result',
    tool_call_id: requireString(block['tool_use_id'], `${param}.tool_use_id`),
    content,
    ...(is_error === undefined ? {} : { is_error }),
    ...readCacheControl(block['cache_control'], `${param}.cache_control`, reading),
    ...extOf(block, ['type', 'tool_use_id', 'content', 'is_error', 'cache_control']),
  };
}

function readSearchResult(block: JsonObject, param: string, reading: BlockReading): Part {
  const citations = optionalObject(block['citations'], `${param}.citations`);
  const enabled = optionalBoolean(citations?.['enabled'], `${param}.citations.enabled`);
  return {
    type: 'search_result',
    source: requireString(block['source'], `${param}.source`),
    title: requireString(block['title'], `${param}.title`),
    content: readContent(block['content'], `${param}.content`, reading),
    ...(enabled === undefined ? {} : { citations: enabled }),
    ...readCacheControl(block['cache_control'], `${param}.cache_control`, reading),
    ...extOf(block, ['type', 'source', 'title', 'content', 'citations', 'cache_control']),
  };
}

/** The part of one block; null for a block that only carried another part's signature. */
function readBlock(value: unknown, param: string, reading: BlockReading): Part | null {
  const block = requireObject(value, param);
  const type = requireString(block['type'], `${param}.type`);
  switch (type) {
    case 'text':
      return readText(block, param, reading);
    case 'image': {
      const src = readSource(block['source'], `${param}.source`, reading);
      if ('text' in src) fail(`${param}.source.type`, `An image source must be one of base64, url, file.`);
      return {
        type: 'image',
        src,
        ...readCacheControl(block['cache_control'], `${param}.cache_control`, reading),
        ...extOf(block, ['type', 'source', 'cache_control']),
      };
    }
    case 'document':
      return readDocument(block, param, reading);
    case 'search_result':
      return readSearchResult(block, param, reading);
    case 'thinking':
      return readThinking(block, param, reading);
    case 'redacted_thinking':
      return readRedacted(block, param);
    case 'tool_use':
      return readToolUse(block, param, reading);
    case 'tool_result':
      return readToolResult(block, param, reading);
    default:
      if (type === 'container_upload') requireOwnKey(reading, `${param}.file_id`, 'A file');
      readCacheControl(block['cache_control'], `${param}.cache_control`, reading);
      return serverBlock(block, type);
  }
}

/**
 * Parts of `content`, a string or an array of blocks. @throws ServiceError invalid_request,
 * unsupported_parameter
 */
export function readContent(content: unknown, param: string, reading: BlockReading): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return requireArray(content, param)
    .map((block, i) => readBlock(block, `${param}[${i}]`, reading))
    .filter((part) => part !== null);
}
