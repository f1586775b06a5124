// Reads content parts of a responses request into canonical parts.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalChoice,
  optionalObject,
  optionalString,
  present,
  requireBase64,
  requireObject,
  requireString,
  restOf,
} from '../../../caller/read.ts';
import type { CacheHint, Citation, MediaSource, Part } from '../../../canonical/types.ts';

export const FAMILY = 'openai_responses';

const DETAILS = ['auto', 'low', 'high', 'original'] as const;
const TEXT = new Set(['type', 'text', 'annotations', 'logprobs', 'prompt_cache_breakpoint']);
const REFUSAL = new Set(['type', 'refusal']);
const IMAGE = new Set(['type', 'image_url', 'file_id', 'detail', 'prompt_cache_breakpoint']);
const FILE = new Set(['type', 'file_data', 'file_id', 'file_url', 'filename', 'prompt_cache_breakpoint']);
const AUDIO = new Set(['type', 'input_audio']);

/** Content given as a string or an array of parts. @throws ServiceError invalid_request with the part's path. */
export function readContent(value: unknown, path: string): Part[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (!Array.isArray(value)) fail(path, `'${path}' must be a string or an array of parts.`);
  return value.map((item, i) => {
    const at = `${path}[${i}]`;
    return readPart(requireObject(item, at), at);
  });
}

function readPart(item: JsonObject, path: string): Part {
  switch (requireString(item['type'], `${path}.type`)) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return {
        type: 'text',
        text: requireString(item['text'], `${path}.text`),
        ...citationsOf(item, path),
        ...cacheOf(item, path),
        ...restOf(item, TEXT),
      };
    case 'refusal':
      return {
        type: 'refusal',
        text: requireString(item['refusal'], `${path}.refusal`),
        ...restOf(item, REFUSAL),
      };
    case 'input_image':
      return imageOf(item, path);
    case 'input_file':
      return fileOf(item, path);
    case 'input_audio': {
      const audio = requireObject(item['input_audio'], `${path}.input_audio`);
      const base64 = requireBase64(audio['data'], `${path}.input_audio.data`);
      const format = requireString(audio['format'], `${path}.input_audio.format`);
      return {
        type: 'audio',
        src: { base64, media_type: `audio/${format}` },
        format,
        ...restOf(item, AUDIO),
      };
    }
    default:
      // An unknown kind is sent unchanged in the raw lane, and excludes every other family.
      return { type: 'server_tool', family: FAMILY, name: String(item['type']), payload: item };
  }
}

/** OpenAI's breakpoint names no lifetime that other providers know. */
function cacheOf(item: JsonObject, path: string): { cache?: CacheHint } {
  const mark = optionalObject(item['prompt_cache_breakpoint'], `${path}.prompt_cache_breakpoint`);
  return mark === undefined ? {} : { cache: {} };
}

function citationsOf(item: JsonObject, path: string): { citations?: Citation[] } {
  const citations: Citation[] = [];
  for (const note of optionalArray(item['annotations'], `${path}.annotations`) ?? []) {
    if (!isObject(note) || note['type'] !== 'url_citation' || typeof note['url'] !== 'string') continue;
    const citation: Citation = { kind: 'url', url: note['url'] };
    if (typeof note['title'] === 'string') citation.title = note['title'];
    if (typeof note['start_index'] === 'number') citation.start = note['start_index'];
    if (typeof note['end_index'] === 'number') citation.end = note['end_index'];
    citations.push(citation);
  }
  return citations.length === 0 ? {} : { citations };
}

function imageOf(item: JsonObject, path: string): Part {
  const detail = optionalChoice(item['detail'], `${path}.detail`, DETAILS);
  return {
    type: 'image',
    src:
      stored(item, path) ??
      mediaOf(requireString(item['image_url'], `${path}.image_url`), `${path}.image_url`),
    ...(detail === undefined ? {} : { detail }),
    ...cacheOf(item, path),
    ...restOf(item, IMAGE),
  };
}

function fileOf(item: JsonObject, path: string): Part {
  const name = optionalString(item['filename'], `${path}.filename`);
  return {
    type: 'document',
    src: stored(item, path) ?? fileSource(item, path),
    ...(name === undefined ? {} : { name }),
    ...cacheOf(item, path),
    ...restOf(item, FILE),
  };
}

function fileSource(item: JsonObject, path: string): MediaSource {
  const url = optionalString(item['file_url'], `${path}.file_url`);
  if (url !== undefined) return mediaOf(url, `${path}.file_url`);
  if (!present(item['file_data'])) {
    fail(path, `'${path}' needs one of file_data, file_url, file_id.`);
  }
  const data = requireString(item['file_data'], `${path}.file_data`);
  return data.startsWith('data:')
    ? mediaOf(data, `${path}.file_data`)
    : { base64: requireBase64(data, `${path}.file_data`), media_type: 'application/pdf' };
}

/** A file stored at the provider; whether it may be used is decided where keys are known. */
function stored(item: JsonObject, path: string): MediaSource | null {
  const file_id = optionalString(item['file_id'], `${path}.file_id`);
  return file_id === undefined ? null : { file_id, family: FAMILY };
}

function mediaOf(url: string, path: string): MediaSource {
  if (url.startsWith('https://')) return { url };
  const match = /^data:([^;,]*)(?:;[^,]*)?;base64,/.exec(url.slice(0, 256));
  if (match === null) fail(path, `'${path}' must be an https address or a base64 data URL.`);
  return {
    base64: requireBase64(url.slice(match[0].length), path),
    media_type: match[1] === '' ? 'text/plain' : (match[1] as string),
  };
}
