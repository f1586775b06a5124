// The sandbox's own wire: what its adapter writes and its upstream reads, and the views of it that models need.
import type { JsonObject } from '../../../../kernel/index.ts';
import type {
  CacheHint,
  CanonicalRequest,
  Generation,
  MediaSource,
  Message,
  OutputPreferences,
  Part,
  ReasoningPreferences,
  Task,
  Tool,
  ToolChoice,
} from '../../../canonical/types.ts';
import { tokensOfBytes } from './tokens.ts';

/** Body of a sandbox call. `stream` is the last member: everything before it seeds the answer. */
export interface SandboxBody {
  model: string;
  /** Vectors or an order of documents, in place of an answer to messages. */
  task?: Task;
  messages: Message[];
  tools?: Tool[];
  tool_choice?: ToolChoice;
  parallel_tools?: boolean;
  generation: Generation;
  reasoning?: ReasoningPreferences;
  output?: OutputPreferences;
  cache_hint?: CacheHint;
  /** Bound of the output, in tokens of the sandbox per candidate. */
  max_tokens: number;
  options: JsonObject;
  stream: boolean;
}

/** JSON text of a sandbox call for `request`; `stream` comes last. */
export function bodyText(
  request: CanonicalRequest,
  fixed: { model: string; max_tokens: number; options: JsonObject; stream: boolean },
): string {
  const body: SandboxBody = {
    model: fixed.model,
    ...(request.task !== undefined && { task: request.task }),
    messages: request.messages,
    ...(request.tools !== undefined && { tools: request.tools }),
    ...(request.tool_choice !== undefined && { tool_choice: request.tool_choice }),
    ...(request.parallel_tools !== undefined && { parallel_tools: request.parallel_tools }),
    generation: request.generation,
    ...(request.reasoning !== undefined && { reasoning: request.reasoning }),
    ...(request.output !== undefined && { output: request.output }),
    ...(request.cache?.hint !== undefined && { cache_hint: request.cache.hint }),
    max_tokens: fixed.max_tokens,
    options: fixed.options,
    stream: fixed.stream,
  };
  return JSON.stringify(body);
}

const STREAM_MEMBER = Buffer.from(',"stream":');

/** The part of a body that decides the answer: a stream and a whole answer to one request are equal. */
export function seedBytes(body: Buffer): Buffer {
  return body.subarray(0, body.lastIndexOf(STREAM_MEMBER));
}

/** Text parts of the last user message, joined by line feeds; '' when there is none. */
export function lastUserText(messages: readonly Message[]): string {
  const message = messages.findLast(({ role }) => role === 'user');
  if (message === undefined) return '';
  return textOf(message.content);
}

/** Text of `parts`, joined by line feeds; parts that are not text are passed over. */
export function textOf(parts: readonly Part[]): string {
  const texts: string[] = [];
  for (const part of parts) if (part.type === 'text') texts.push(part.text);
  return texts.join('\n');
}

/** Texts of the tool results that the conversation ends with; null when it does not end with any. */
export function lastToolResults(messages: readonly Message[]): string[] | null {
  const last = messages.findLastIndex(({ content }) => !content.some(({ type }) => type === 'tool_result'));
  const results: string[] = [];
  for (const { content } of messages.slice(last + 1)) {
    for (const part of content) {
      if (part.type === 'tool_result') results.push((part.is_error ? 'Error: ' : '') + textOf(part.content));
    }
  }
  return results.length === 0 ? null : results;
}

/** A stretch of the prompt, in the order providers cache it: tools, then messages. */
interface Segment {
  text: string;
  media_tokens: number;
  cache?: CacheHint;
}

/** Every stretch of the prompt of `body`. */
export function* segments(body: Pick<SandboxBody, 'messages' | 'tools' | 'output'>): Generator<Segment> {
  for (const tool of body.tools ?? []) {
    const text = tool.name + (tool.description ?? '') + JSON.stringify(tool.schema ?? tool.payload ?? {});
    yield { text, media_tokens: 0, ...(tool.cache !== undefined && { cache: tool.cache }) };
  }
  const schema = body.output?.format?.schema;
  if (schema !== undefined) yield { text: JSON.stringify(schema), media_tokens: 0 };
  for (const message of body.messages) {
    for (const part of message.content) yield segmentOf(part);
  }
}

/** Prompt tokens of `body`: the bytes of all its text counted together, plus a fixed rate for media. */
export function promptTokens(body: Pick<SandboxBody, 'messages' | 'tools' | 'output'>): number {
  let bytes = 0;
  let media = 0;
  for (const { text, media_tokens } of segments(body)) {
    bytes += Buffer.byteLength(text);
    media += media_tokens;
  }
  return tokensOfBytes(bytes) + media;
}

function segmentOf(part: Part): Segment {
  const { text, media_tokens } = measured(part);
  return { text, media_tokens, ...(part.cache !== undefined && { cache: part.cache }) };
}

function measured(part: Part): { text: string; media_tokens: number } {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return { text: part.text, media_tokens: 0 };
    case 'tool_call':
      return { text: part.name + part.arguments, media_tokens: 0 };
    case 'tool_result':
      return together(part.content, '');
    case 'search_result':
      return together(part.content, part.title);
    case 'server_tool':
      return { text: JSON.stringify(part.payload ?? null), media_tokens: 0 };
    default:
      return {
        text: 'text' in part.src ? part.src.text : '',
        media_tokens: mediaTokens(part.type, part.src),
      };
  }
}

function together(parts: readonly Part[], start: string): { text: string; media_tokens: number } {
  let text = start;
  let media_tokens = 0;
  for (const part of parts) {
    const inner = measured(part);
    text += inner.text;
    media_tokens += inner.media_tokens;
  }
  return { text, media_tokens };
}

// Below the bounds that a hold reckons with (docs/money/pricing.md#holds: an image 100 at least, audio 40 a second).
function mediaTokens(type: 'image' | 'audio' | 'video' | 'document', src: MediaSource): number {
  if ('text' in src) return 0;
  if (type === 'image' || !('base64' in src)) return 100;
  return Math.ceil((src.base64.length * 3) / 4 / 1_000);
}
