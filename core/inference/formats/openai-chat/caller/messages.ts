// Reads messages of the chat dialect into canonical messages.
import { isObject, type JsonObject, mapInSteps, type Steps } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalChoice,
  optionalObject,
  optionalString,
  present,
  requireArray,
  requireBase64,
  requireObject,
  requireString,
} from '../../../caller/read.ts';
import { orderToolResults } from '../../../caller/tool-results.ts';
import type { CacheHint, MediaSource, Message, Part, ReasoningPart } from '../../../canonical/types.ts';
import { reasoningDetails, sourceOf, thoughtSignature } from '../words/parts.ts';

export const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

/** Numbers the calls of the older function form, in which call and result share only a name. */
interface Legacy {
  calls: Map<string, number>;
  results: Map<string, number>;
  used: boolean;
}

/**
 * The canonical messages of `value`, and whether they used the older function form.
 * @throws ServiceError invalid_request with the path of the faulty field.
 */
export function* readMessages(value: unknown): Steps<{ messages: Message[]; legacy: boolean }> {
  const list = requireArray(value, 'messages');
  if (list.length === 0) fail('messages', "'messages' must not be empty.");
  const legacy: Legacy = { calls: new Map(), results: new Map(), used: false };
  const messages = yield* mapInSteps(list, (item, i) => readMessage(item, `messages[${i}]`, legacy));
  return { messages: orderToolResults(messages), legacy: legacy.used };
}

function readMessage(value: unknown, path: string, legacy: Legacy): Message {
  const item = requireObject(value, path);
  const role =
    optionalChoice(item['role'], `${path}.role`, ROLES) ??
    fail(`${path}.role`, `'${path}.role' is required.`);
  if (role === 'tool') return toolMessage(item, path);
  if (role === 'function') return functionMessage(item, path, legacy);
  const message: Message = { role: role === 'developer' ? 'system' : role, content: [] };
  const name = optionalString(item['name'], `${path}.name`);
  if (name !== undefined) message.name = name;
  const ext: JsonObject = role === 'developer' ? { role } : {};
  if (role === 'assistant') message.content = reasoningOf(item, path);
  if (present(item['content'])) {
    message.content = message.content.concat(contentOf(item['content'], `${path}.content`));
  } else if (role !== 'assistant') fail(`${path}.content`, `'${path}.content' is required.`);
  if (role === 'assistant') assistantParts(item, path, message, ext, legacy);
  const cache = cacheOf(item, path);
  const last = message.content.at(-1);
  if (cache !== undefined && last !== undefined) last.cache = cache;
  if (Object.keys(ext).length > 0) message.ext = ext;
  return message;
}

function assistantParts(
  item: JsonObject,
  path: string,
  message: Message,
  ext: JsonObject,
  legacy: Legacy,
): void {
  const refusal = optionalString(item['refusal'], `${path}.refusal`);
  if (refusal !== undefined) message.content.push({ type: 'refusal', text: refusal });
  const calls = optionalArray(item['tool_calls'], `${path}.tool_calls`) ?? [];
  calls.forEach((call, i) => {
    message.content.push(callOf(call, `${path}.tool_calls[${i}]`));
  });
  const single = optionalObject(item['function_call'], `${path}.function_call`);
  if (single !== undefined) {
    legacy.used = true;
    const name = requireString(single['name'], `${path}.function_call.name`);
    const text = optionalString(single['arguments'], `${path}.function_call.arguments`) ?? '';
    message.content.push({
      type: 'tool_call',
      id: legacyId(legacy.calls, name),
      name,
      arguments: text,
      kind: 'function',
    });
  }
  // Audio of an earlier turn is kept by the provider: only its own family can use the id.
  const audio = optionalObject(item['audio'], `${path}.audio`);
  if (audio !== undefined) ext['audio'] = audio;
}

function legacyId(seen: Map<string, number>, name: string): string {
  const n = seen.get(name) ?? 0;
  seen.set(name, n + 1);
  return `call_${name}_${n}`;
}

function callOf(value: unknown, path: string): Part {
  const call = requireObject(value, path);
  const id = requireString(call['id'], `${path}.id`);
  const custom = optionalObject(call['custom'], `${path}.custom`);
  if (custom !== undefined) {
    const name = requireString(custom['name'], `${path}.custom.name`);
    const input = optionalString(custom['input'], `${path}.custom.input`) ?? '';
    return { type: 'tool_call', id, name, arguments: input, kind: 'custom' };
  }
  const body = requireObject(call['function'], `${path}.function`);
  const name = requireString(body['name'], `${path}.function.name`);
  const text = optionalString(body['arguments'], `${path}.function.arguments`) ?? '';
  const signature = thoughtSignature(call);
  const part: Part = { type: 'tool_call', id, name, arguments: text, kind: 'function' };
  return signature === null ? part : { ...part, signature, format: 'google-gemini-v1' };
}

function toolMessage(item: JsonObject, path: string): Message {
  const tool_call_id = requireString(item['tool_call_id'], `${path}.tool_call_id`);
  const content = present(item['content']) ? contentOf(item['content'], `${path}.content`) : [];
  const part: Part = { type: 'tool_result', tool_call_id, content };
  const name = optionalString(item['name'], `${path}.name`);
  if (name !== undefined) part.name = name;
  const cache = cacheOf(item, path);
  if (cache !== undefined) part.cache = cache;
  return { role: 'tool', content: [part] };
}

function functionMessage(item: JsonObject, path: string, legacy: Legacy): Message {
  legacy.used = true;
  const name = requireString(item['name'], `${path}.name`);
  const content = present(item['content']) ? contentOf(item['content'], `${path}.content`) : [];
  const tool_call_id = legacyId(legacy.results, name);
  return { role: 'tool', content: [{ type: 'tool_result', tool_call_id, name, content }] };
}

/** Reasoning of an earlier turn: details carry signatures, so they take precedence over the plain text. */
function reasoningOf(item: JsonObject, path: string): Part[] {
  const listed = optionalArray(item['reasoning_details'], `${path}.reasoning_details`);
  for (const name of ['reasoning_content', 'reasoning']) optionalString(item[name], `${path}.${name}`);
  if (listed?.some((detail) => !isObject(detail))) {
    fail(`${path}.reasoning_details`, `'${path}.reasoning_details' must hold objects.`);
  }
  const parts: ReasoningPart[] = [];
  let key = '';
  for (const { kind, index, text, signature, part } of reasoningDetails(item)) {
    // The pieces of one block, which a client has collected from a stream, become one part again.
    const here = `${kind} ${index}`;
    const last = parts.at(-1);
    if (kind !== 'encrypted' && here === key && last !== undefined && last.signature === undefined) {
      last.text += text;
      if (signature !== null) last.signature = signature;
      continue;
    }
    key = here;
    part.text = text;
    if (signature !== null) part.signature = signature;
    parts.push(part);
  }
  return parts;
}

/** Content as a string or an array of parts. */
function contentOf(value: unknown, path: string): Part[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (!Array.isArray(value)) fail(path, `'${path}' must be a string or an array of parts.`);
  return value.map((item, i) => {
    const at = `${path}[${i}]`;
    const object = requireObject(item, at);
    const part = partOf(object, at);
    const cache = cacheOf(object, at);
    if (cache !== undefined) part.cache = cache;
    return part;
  });
}

function partOf(item: JsonObject, path: string): Part {
  const type = requireString(item['type'], `${path}.type`);
  switch (type) {
    case 'text':
      return { type: 'text', text: requireString(item['text'], `${path}.text`) };
    case 'refusal':
      return { type: 'refusal', text: requireString(item['refusal'], `${path}.refusal`) };
    case 'image_url': {
      const image = requireObject(item['image_url'], `${path}.image_url`);
      const src = mediaOf(image['url'], `${path}.image_url.url`);
      const detail = optionalChoice(image['detail'], `${path}.image_url.detail`, DETAILS);
      return detail === undefined ? { type: 'image', src } : { type: 'image', src, detail };
    }
    case 'video_url': {
      const video = requireObject(item['video_url'], `${path}.video_url`);
      return { type: 'video', src: mediaOf(video['url'], `${path}.video_url.url`) };
    }
    case 'input_audio': {
      const audio = requireObject(item['input_audio'], `${path}.input_audio`);
      const base64 = requireBase64(audio['data'], `${path}.input_audio.data`);
      const format = requireString(audio['format'], `${path}.input_audio.format`);
      return { type: 'audio', src: { base64, media_type: `audio/${format}` }, format };
    }
    case 'file':
      return fileOf(requireObject(item['file'], `${path}.file`), `${path}.file`);
    default:
      // An unknown kind is sent unchanged in the raw lane, and excludes every other family.
      return { type: 'server_tool', family: 'openai_chat', name: type, payload: item };
  }
}

export const DETAILS = ['auto', 'low', 'high', 'original'] as const;

function mediaOf(value: unknown, path: string): MediaSource {
  const url = requireString(value, path);
  const src = sourceOf(url);
  if ('base64' in src) return { ...src, base64: requireBase64(src.base64, path) };
  if (!url.startsWith('https://')) fail(path, `'${path}' must be an https address or a base64 data URL.`);
  return src;
}

function fileOf(file: JsonObject, path: string): Part {
  const name = optionalString(file['filename'], `${path}.filename`);
  const file_id = optionalString(file['file_id'], `${path}.file_id`);
  const named = name === undefined ? {} : { name };
  if (file_id !== undefined) {
    return { type: 'document', src: { file_id, family: 'openai_chat' }, ...named };
  }
  const data = requireString(file['file_data'], `${path}.file_data`);
  const at = `${path}.file_data`;
  const src = data.startsWith('data:')
    ? mediaOf(data, at)
    : { base64: requireBase64(data, at), media_type: 'application/pdf' };
  return { type: 'document', src, ...named };
}

export const TTLS = ['5m', '30m', '1h', '24h'] as const;

/** A cache breakpoint in either convention; OpenAI's names no ttl that other providers know. */
export function cacheOf(item: JsonObject, path: string): CacheHint | undefined {
  const control = optionalObject(item['cache_control'], `${path}.cache_control`);
  if (control !== undefined) {
    const ttl = optionalChoice(control['ttl'], `${path}.cache_control.ttl`, TTLS);
    return ttl === undefined ? {} : { ttl };
  }
  return optionalObject(item['prompt_cache_breakpoint'], `${path}.prompt_cache_breakpoint`) === undefined
    ? undefined
    : {};
}
