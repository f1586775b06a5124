// Reads the parts of a native message, field by field. Everything in a native answer can be sent back as it is;
// anything else is refused by its path, because this dialect is versioned instead of lenient.

import { compact, isObject, type JsonObject } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalBoolean,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalString,
  refuseUnknown,
  requireArray,
  requireObject,
  requireString,
  unsupported,
} from '../../../caller/read.ts';
import type {
  CacheHint,
  Citation,
  MediaSource,
  Part,
  ReasoningPart,
  RoleName,
  ServerToolPart,
  ToolCallPart,
} from '../../../canonical/types.ts';
import type { Wires } from './wires.ts';

const FORMATS = ['anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1', 'unknown'] as const;
const TTLS = ['5m', '30m', '1h', '24h'] as const;
const DETAILS = ['auto', 'low', 'high', 'original'] as const;
const REASONING_KINDS = ['full', 'summary', 'encrypted'] as const;
const CALL_KINDS = ['function', 'custom'] as const;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Which parts each role may have. */
const PARTS_OF: { readonly [R in RoleName]: ReadonlySet<string> } = {
  system: new Set(['text']),
  user: new Set(['text', 'image', 'audio', 'video', 'document', 'search_result']),
  assistant: new Set(['text', 'refusal', 'reasoning', 'tool_call', 'server_tool', 'image', 'audio']),
  tool: new Set(['tool_result']),
};
const PARTS_OF_RESULT = new Set(['text', 'image', 'audio', 'video', 'document', 'search_result']);
const TEXT_ALONE = new Set(['text']);

const KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'cache', 'text', 'citations', 'logprobs']),
  refusal: new Set(['type', 'cache', 'text']),
  image: new Set(['type', 'cache', 'src', 'detail']),
  audio: new Set(['type', 'cache', 'src', 'format', 'transcript']),
  video: new Set(['type', 'cache', 'src']),
  document: new Set(['type', 'cache', 'src', 'name', 'title', 'context', 'citations']),
  search_result: new Set(['type', 'cache', 'source', 'title', 'content', 'citations']),
  reasoning: new Set(['type', 'cache', 'text', 'kind', 'signature', 'data', 'id', 'format']),
  tool_call: new Set(['type', 'cache', 'id', 'name', 'arguments', 'kind', 'signature', 'format']),
  tool_result: new Set(['type', 'cache', 'tool_call_id', 'name', 'content', 'is_error']),
  server_tool: new Set(['type', 'cache', 'family', 'name', 'payload']),
};

/** The cache hint in `value`; undefined when there is none. @throws ServiceError invalid_request */
export function readCache(value: unknown, param: string): CacheHint | undefined {
  const object = optionalObject(value, param);
  if (object === undefined) return undefined;
  refuseUnknown(object, CACHE_KEYS, param);
  return compact({ ttl: optionalChoice(object['ttl'], `${param}.ttl`, TTLS) });
}

const CACHE_KEYS = new Set(['ttl']);

/**
 * Content of a message of `role`: parts, or a string as one text part.
 * @throws ServiceError invalid_request or unsupported_parameter with the path of the faulty field.
 */
export function readContent(value: unknown, param: string, role: RoleName, wires: Wires): Part[] {
  if (role === 'tool' && typeof value === 'string') fail(param, `'${param}' must hold tool_result parts.`);
  return readParts(value, param, PARTS_OF[role], wires);
}

function readParts(value: unknown, param: string, allowed: ReadonlySet<string>, wires: Wires): Part[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  return requireArray(value, param).map((item, i) => readPart(item, `${param}[${i}]`, allowed, wires));
}

function readPart(value: unknown, param: string, allowed: ReadonlySet<string>, wires: Wires): Part {
  const item = requireObject(value, param);
  const type = requireString(item['type'], `${param}.type`);
  const keys = Object.hasOwn(KEYS, type) ? KEYS[type] : undefined;
  if (keys === undefined) fail(`${param}.type`, `Unknown part type '${type}'.`);
  if (!allowed.has(type)) fail(`${param}.type`, `A part of type '${type}' cannot stand here.`);
  refuseUnknown(item, keys, param);
  const part = typedPart(type, item, param, wires);
  const cache = readCache(item['cache'], `${param}.cache`);
  if (cache !== undefined) part.cache = cache;
  return part;
}

function typedPart(type: string, item: JsonObject, param: string, wires: Wires): Part {
  switch (type) {
    case 'text': {
      // Probabilities of an earlier answer say nothing to a provider; they may be sent back with their part.
      optionalArray(item['logprobs'], `${param}.logprobs`);
      const citations = readCitations(item['citations'], `${param}.citations`);
      const text = requireString(item['text'], `${param}.text`);
      return citations === undefined ? { type, text } : { type, text, citations };
    }
    case 'refusal':
      return { type, text: requireString(item['text'], `${param}.text`) };
    case 'reasoning':
      return readReasoning(item, param);
    case 'tool_call':
      return readCall(item, param);
    case 'tool_result':
      return {
        type,
        tool_call_id: requireString(item['tool_call_id'], `${param}.tool_call_id`),
        content: readParts(item['content'] ?? [], `${param}.content`, PARTS_OF_RESULT, wires),
        ...compact({
          name: optionalString(item['name'], `${param}.name`),
          is_error: optionalBoolean(item['is_error'], `${param}.is_error`),
        }),
      };
    case 'search_result':
      return {
        type,
        source: requireString(item['source'], `${param}.source`),
        title: requireString(item['title'], `${param}.title`),
        content: readParts(item['content'], `${param}.content`, TEXT_ALONE, wires),
        ...compact({ citations: optionalBoolean(item['citations'], `${param}.citations`) }),
      };
    case 'server_tool':
      return readServerTool(item, param, wires);
    default:
      return readMedia(type as MediaType, item, param, wires);
  }
}

type MediaType = 'image' | 'audio' | 'video' | 'document';

function readMedia(type: MediaType, item: JsonObject, param: string, wires: Wires): Part {
  const src = readSource(item['src'], `${param}.src`, type, wires);
  switch (type) {
    case 'image':
      return {
        type,
        src,
        ...compact({ detail: optionalChoice(item['detail'], `${param}.detail`, DETAILS) }),
      };
    case 'audio': {
      const format = optionalString(item['format'], `${param}.format`) ?? formatOf(src);
      const transcript = optionalString(item['transcript'], `${param}.transcript`);
      return { type, src, ...compact({ format, transcript }) };
    }
    case 'video':
      return { type, src };
    case 'document':
      return {
        type,
        src,
        ...compact({
          name: optionalString(item['name'], `${param}.name`),
          title: optionalString(item['title'], `${param}.title`),
          context: optionalString(item['context'], `${param}.context`),
          citations: optionalBoolean(item['citations'], `${param}.citations`),
        }),
      };
  }
}

/** Providers name formats, media types name them too: `audio/mpeg` is mp3, `audio/x-wav` is wav. */
function formatOf(src: MediaSource): string | undefined {
  const type = 'media_type' in src ? src.media_type : undefined;
  const name = type?.startsWith('audio/') === true ? type.slice(6) : undefined;
  return name === 'mpeg' ? 'mp3' : name?.replace(/^x-/, '');
}

const FORMS = ['base64', 'url', 'file_id', 'text'] as const;
const SOURCE_KEYS: { readonly [F in (typeof FORMS)[number]]: ReadonlySet<string> } = {
  base64: new Set(['base64', 'media_type']),
  url: new Set(['url', 'media_type']),
  file_id: new Set(['file_id', 'family']),
  text: new Set(['text']),
};

/** The source of media of `type`. @throws ServiceError invalid_request with the path of the faulty field. */
export function readSource(value: unknown, param: string, type: MediaType, wires: Wires): MediaSource {
  const src = requireObject(value, param);
  const form = FORMS.find((name) => src[name] !== undefined && src[name] !== null);
  if (form === undefined)
    fail(param, `'${param}' needs one of base64, url, file_id${type === 'document' ? ', text' : ''}.`);
  refuseUnknown(src, SOURCE_KEYS[form], param);
  const said = requireString(src[form], `${param}.${form}`);
  switch (form) {
    case 'base64':
      if (!BASE64.test(said)) fail(`${param}.base64`, `'${param}.base64' is not base64.`);
      return { base64: said, media_type: requireString(src['media_type'], `${param}.media_type`) };
    case 'url':
      if (!said.startsWith('https://')) fail(`${param}.url`, `'${param}.url' must be an https address.`);
      return {
        url: said,
        ...compact({ media_type: optionalString(src['media_type'], `${param}.media_type`) }),
      };
    case 'file_id': {
      const family = optionalChoice(src['family'], `${param}.family`, wires.families);
      return { file_id: said, family: family ?? fail(`${param}.family`, `'${param}.family' is required.`) };
    }
    case 'text':
      if (type !== 'document') fail(`${param}.text`, `Only a document can have a text as its source.`);
      return { text: said };
  }
}

function readReasoning(item: JsonObject, param: string): ReasoningPart {
  return {
    type: 'reasoning',
    text: optionalString(item['text'], `${param}.text`) ?? '',
    kind: optionalChoice(item['kind'], `${param}.kind`, REASONING_KINDS) ?? 'full',
    format: optionalChoice(item['format'], `${param}.format`, FORMATS) ?? 'unknown',
    ...compact({
      signature: optionalString(item['signature'], `${param}.signature`),
      data: optionalString(item['data'], `${param}.data`),
      id: optionalString(item['id'], `${param}.id`),
    }),
  };
}

function readCall(item: JsonObject, param: string): ToolCallPart {
  return {
    type: 'tool_call',
    id: requireString(item['id'], `${param}.id`),
    name: requireString(item['name'], `${param}.name`),
    arguments: requireString(item['arguments'], `${param}.arguments`),
    kind: optionalChoice(item['kind'], `${param}.kind`, CALL_KINDS) ?? 'function',
    ...compact({
      signature: optionalString(item['signature'], `${param}.signature`),
      format: optionalChoice(item['format'], `${param}.format`, FORMATS),
    }),
  };
}

/**
 * Reads a block that a provider's own tool made. It is sent back to its family unchanged, so only kinds that cannot
 * refer to a file or an account of that family are accepted.
 */
function readServerTool(item: JsonObject, param: string, wires: Wires): ServerToolPart {
  const family = optionalChoice(item['family'], `${param}.family`, wires.families);
  const name = requireString(item['name'], `${param}.name`);
  const payload = requireObject(item['payload'], `${param}.payload`);
  const replayable = name === 'server_tool_use' || name.endsWith('_tool_result');
  if (family !== 'anthropic_messages' || !replayable || payload['type'] !== name) {
    unsupported(param, `A block '${name}' of a provider's tool cannot be sent back.`);
  }
  return { type: 'server_tool', family, name, payload };
}

const CITATION_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  url: new Set(['kind', 'url', 'title', 'start', 'end', 'cited_text', 'opaque']),
  char: new Set(['kind', 'document', 'title', 'start', 'end', 'cited_text', 'file_id']),
  search_result: new Set(['kind', 'index', 'source', 'title', 'start', 'end', 'cited_text']),
};
const CITATION_KINDS = ['url', 'char', 'page', 'block', 'search_result'] as const;

function readCitations(value: unknown, param: string): Citation[] | undefined {
  const list = optionalArray(value, param);
  if (list === undefined || list.length === 0) return undefined;
  return list.map((item, i) => readCitation(item, `${param}[${i}]`));
}

function readCitation(value: unknown, param: string): Citation {
  if (!isObject(value)) fail(param, `'${param}' must be an object.`);
  const kind = optionalChoice(value['kind'], `${param}.kind`, CITATION_KINDS);
  if (kind === undefined) fail(`${param}.kind`, `'${param}.kind' is required.`);
  const span = kind === 'url' || kind === 'search_result' ? kind : 'char';
  refuseUnknown(value, CITATION_KEYS[span] as ReadonlySet<string>, param);
  const text = (name: string) => optionalString(value[name], `${param}.${name}`);
  const count = (name: string) => optionalNumber(value[name], `${param}.${name}`, { min: 0, integer: true });
  const title = text('title');
  if (kind === 'url') {
    const url = requireString(value['url'], `${param}.url`);
    const more = { title, start: count('start'), end: count('end') };
    return { kind, url, ...compact({ ...more, cited_text: text('cited_text'), opaque: text('opaque') }) };
  }
  const cited = { start: count('start') ?? 0, end: count('end') ?? 0, cited_text: text('cited_text') ?? '' };
  if (kind === 'search_result') {
    const source = requireString(value['source'], `${param}.source`);
    return { kind, index: count('index') ?? 0, source, ...cited, ...compact({ title }) };
  }
  return {
    kind,
    document: count('document') ?? 0,
    ...cited,
    ...compact({ title, file_id: text('file_id') }),
  };
}
