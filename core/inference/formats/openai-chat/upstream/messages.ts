// Writes canonical messages as OpenAI-type messages.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { fitToolCallId, type IdRule } from '../../../canonical/reasoning.ts';
import type {
  CacheHint,
  MediaSource,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/types.ts';
import { has, takes } from '../words/fields.ts';

/** Endpoints of Mistral's kind take ids of nine characters only; their flag says so. */
function idRule(target: Target): IdRule {
  return has(target, 'tool_id_9') ? 'mistral' : 'openai';
}

/** The `messages` array for `target`. */
export function encodeMessages(messages: readonly Message[], target: Target): JsonObject[] {
  const out: JsonObject[] = [];
  // Media of results follow the last result of their turn: nothing may come between calls and results.
  let media: JsonObject[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') out.push(assistant(message, target));
    else encodeOther(message, target, out, media);
    if (media.length === 0 || messages[at + 1]?.role === 'tool') continue;
    out.push({ role: 'user', content: contentOf(media) });
    media = [];
  }
  return out;
}

function named(role: string, message: Message, members: JsonObject, target: Target): JsonObject {
  const name = has(target, 'no_message_names') ? undefined : message.name;
  return name === undefined ? { role, ...members } : { role, name, ...members };
}

function encodeOther(message: Message, target: Target, out: JsonObject[], media: JsonObject[]): void {
  const results = message.content.filter((part) => part.type === 'tool_result');
  for (const result of results) out.push(toolResult(result, target, media));
  const rest = message.content.filter((part) => part.type !== 'tool_result');
  const parts = rest.flatMap((part) => contentPart(part, target));
  if (parts.length === 0 && results.length > 0) return;
  const developer = message.ext?.['role'] === 'developer' && !has(target, 'no_developer_role');
  let role: string = message.role === 'tool' ? 'user' : message.role;
  if (developer) role = 'developer';
  out.push(named(role, message, { content: contentOf(parts) }, target));
}

/** A single plain text is written as a string, which every server accepts; anything else as an array. */
function contentOf(parts: JsonObject[]): string | JsonObject[] {
  const [only] = parts;
  if (parts.length === 0) return '';
  if (parts.length === 1 && only?.['type'] === 'text' && Object.keys(only).length === 2)
    return only['text'] as string;
  return parts;
}

function toolResult(part: ToolResultPart, target: Target, media: JsonObject[]): JsonObject {
  const texts: JsonObject[] = [];
  for (const inner of part.content) {
    for (const piece of contentPart(inner, target)) (piece['type'] === 'text' ? texts : media).push(piece);
  }
  if (part.is_error === true) {
    const [first] = texts;
    if (first === undefined) texts.push({ type: 'text', text: 'Error: ' });
    else texts[0] = { ...first, text: `Error: ${first['text'] as string}` };
  }
  return {
    role: 'tool',
    tool_call_id: fitToolCallId(part.tool_call_id, idRule(target)),
    content: contentOf(texts),
  };
}

/** The endpoint's name for reasoning of earlier turns; null when it accepts none. */
export function reasoningMember(target: Target): 'reasoning' | 'reasoning_content' | null {
  if (has(target, 'no_reasoning_in')) return null;
  if (has(target, 'reasoning_in')) return 'reasoning';
  const listed = takes(target, 'reasoning_content_in') || has(target, 'reasoning_content_in');
  return listed ? 'reasoning_content' : null;
}

/**
 * Whether the endpoint can use the signature of `part`: Google's compatible servers sign calls, others refuse the
 * field.
 */
export function readsSignature(part: ToolCallPart, target: Target): boolean {
  return part.format === 'google-gemini-v1' && /gemini/i.test(target.upstream_model);
}

function assistant(message: Message, target: Target): JsonObject {
  const calls: JsonObject[] = [];
  const parts: JsonObject[] = [];
  let reasoning = '';
  for (const part of message.content) {
    if (part.type === 'tool_call') {
      const id = fitToolCallId(part.id, idRule(target));
      const call: JsonObject =
        part.kind === 'custom'
          ? { id, type: 'custom', custom: { name: part.name, input: part.arguments } }
          : { id, type: 'function', function: { name: part.name, arguments: part.arguments } };
      if (part.signature !== undefined && readsSignature(part, target)) {
        call['extra_content'] = { google: { thought_signature: part.signature } };
      }
      calls.push(call);
    } else if (part.type === 'reasoning') {
      reasoning += part.text;
    } else {
      for (const piece of contentPart(part, target)) parts.push(piece);
    }
  }
  const members: JsonObject = { content: parts.length === 0 && calls.length > 0 ? null : contentOf(parts) };
  const reasoningName = reasoningMember(target);
  if (reasoning !== '' && reasoningName !== null) members[reasoningName] = reasoning;
  if (calls.length > 0) members['tool_calls'] = calls;
  const audio = message.ext?.['audio'];
  if (audio !== undefined) members['audio'] = audio;
  return named('assistant', message, members, target);
}

function withCache(part: JsonObject, cache: CacheHint | undefined, target: Target): JsonObject {
  if (cache === undefined) return part;
  if (takes(target, 'prompt_cache_breakpoint'))
    return { ...part, prompt_cache_breakpoint: { mode: 'explicit' } };
  if (!takes(target, 'cache_control')) return part;
  const ttl = cache.ttl === undefined ? {} : { ttl: cache.ttl };
  return { ...part, cache_control: { type: 'ephemeral', ...ttl } };
}

/** The parts of a message's content; one canonical part may need several, or none. */
function contentPart(part: Part, target: Target): JsonObject[] {
  const wire = plainPart(part, target);
  const last = wire.at(-1);
  if (last !== undefined) wire[wire.length - 1] = withCache(last, part.cache, target);
  return wire;
}

function plainPart(part: Part, target: Target): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'refusal':
      return [{ type: 'refusal', refusal: part.text }];
    case 'image': {
      const image: JsonObject = { url: urlOf(part.src) };
      if (part.detail !== undefined) image['detail'] = part.detail;
      return [{ type: 'image_url', image_url: image }];
    }
    case 'audio':
      if (!('base64' in part.src)) return [];
      return [{ type: 'input_audio', input_audio: { data: part.src.base64, format: part.format ?? 'wav' } }];
    case 'video':
      return [{ type: 'video_url', video_url: { url: urlOf(part.src) } }];
    case 'document':
      return documentPart(part);
    case 'search_result': {
      const head: JsonObject = { type: 'text', text: `[search result: ${part.title} (${part.source})]` };
      return [head, ...part.content.flatMap((inner) => contentPart(inner, target))];
    }
    case 'server_tool':
      return part.family === 'openai_chat' ? [part.payload as JsonObject] : [];
    case 'reasoning':
    case 'tool_call':
    case 'tool_result':
      return [];
  }
}

function documentPart(part: Extract<Part, { type: 'document' }>): JsonObject[] {
  const { src } = part;
  const notes = [part.title ?? part.name, part.context].filter((note) => note !== undefined);
  if ('text' in src) {
    return [
      { type: 'text', text: `[document${notes.length > 0 ? `: ${notes.join('; ')}` : ''}]\n${src.text}` },
    ];
  }
  if ('file_id' in src) return [{ type: 'file', file: { file_id: src.file_id } }];
  const file: JsonObject = { filename: part.name ?? part.title ?? 'document.pdf', file_data: urlOf(src) };
  const head =
    part.title === undefined && part.context === undefined
      ? []
      : [{ type: 'text', text: `[document: ${notes.join('; ')}]` }];
  return [...head, { type: 'file', file }];
}

function urlOf(src: MediaSource): string {
  if ('base64' in src) return `data:${src.media_type};base64,${src.base64}`;
  if ('url' in src) return src.url;
  return 'text' in src ? `data:text/plain;base64,${Buffer.from(src.text).toString('base64')}` : src.file_id;
}
