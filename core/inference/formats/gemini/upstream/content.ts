// Writes canonical messages as the family's `systemInstruction` and `contents`, as JSON text, so that arguments keep
// their bytes.
import { isObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import type {
  DocumentPart,
  MediaSource,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/types.ts';

export const FORMAT = 'google-gemini-v1';

/**
 * Google's own placeholder for a call that another model made: newer models refuse a call in the current turn without
 * a signature, and accept this one unchecked.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const FOREIGN_CALL = 'skip_thought_signature_validator';

export interface ContentContext {
  readonly target: Target;
  /** Name of each call by its id, which its response must repeat. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether the model requires a signature on the first call of a turn. */
  readonly wants_signature: boolean;
}

/** Names of the calls of `messages` by their ids. */
export function callNames(messages: readonly Message[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool_call') names.set(part.id, part.name);
  }
  return names;
}

/** Whether `url` is a video page that the provider fetches by itself. */
export function isVideoPage(url: string): boolean {
  return /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/(?:watch\?|shorts\/)|youtu\.be\/)/.test(url);
}

/**
 * Whether the endpoint accepts this document: text always, PDF when it lists it; what is at an address is judged once
 * fetched.
 */
export function takesDocument(src: MediaSource, target: Target): boolean {
  if ('text' in src || ('base64' in src && src.media_type.startsWith('text/'))) return true;
  if ('file_id' in src) return src.family === 'gemini';
  return target.capabilities.pdf && (!('base64' in src) || src.media_type === 'application/pdf');
}

/** Arguments as an object: a value that is not an object is put under the key `arguments`. */
export function objectText(json: string): string {
  if (json.trim() === '') return '{}';
  try {
    if (isObject(JSON.parse(json))) return json;
  } catch {
    // Not JSON: the model wrote it, and the next turn must still show what it wrote.
  }
  return `{"arguments":${JSON.stringify(json)}}`;
}

function textPart(text: string): string {
  return `{"text":${JSON.stringify(text)}}`;
}

function mediaPart(src: MediaSource, fallback: string): string | null {
  if ('base64' in src) {
    return `{"inlineData":{"mimeType":${JSON.stringify(src.media_type)},"data":${JSON.stringify(src.base64)}}}`;
  }
  if ('url' in src) {
    const type = src.media_type === undefined ? '' : `,"mimeType":${JSON.stringify(src.media_type)}`;
    return `{"fileData":{"fileUri":${JSON.stringify(src.url)}${type}}}`;
  }
  if ('file_id' in src) {
    if (src.family !== 'gemini') return null;
    return `{"fileData":{"fileUri":${JSON.stringify(src.file_id)},"mimeType":"${fallback}"}}`;
  }
  return textPart(src.text);
}

function documentParts(part: DocumentPart, target: Target): string[] {
  const { src } = part;
  const notes = [part.title ?? part.name, part.context].filter((note) => note !== undefined);
  const header = notes.length === 0 ? '[document]' : `[document: ${notes.join('; ')}]`;
  if (!takesDocument(src, target)) return [];
  if ('text' in src) return [textPart(`${header}\n${src.text}`)];
  if ('base64' in src && src.media_type.startsWith('text/')) {
    return [textPart(`${header}\n${Buffer.from(src.base64, 'base64').toString('utf8')}`)];
  }
  const file = mediaPart(src, 'application/pdf');
  if (file === null) return [];
  return notes.length === 0 ? [file] : [textPart(header), file];
}

/** The parts for anything in a user's turn; one canonical part may need several, or none. */
function plainParts(part: Part, context: ContentContext): string[] {
  const { target } = context;
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [textPart(part.text)];
    case 'image':
      return target.capabilities.vision ? one(mediaPart(part.src, 'image/jpeg')) : [];
    case 'audio':
      return target.capabilities.audio ? one(mediaPart(part.src, 'audio/wav')) : [];
    case 'video':
      return one(mediaPart(part.src, 'video/mp4'));
    case 'document':
      return documentParts(part, target);
    case 'search_result': {
      const head = textPart(`[search result: ${part.title} (${part.source})]`);
      return [head, ...part.content.flatMap((inner) => plainParts(inner, context))];
    }
    case 'server_tool':
      return part.family === 'gemini' ? [JSON.stringify(part.payload)] : [];
    case 'reasoning':
    case 'tool_call':
    case 'tool_result':
      return [];
  }
}

/** One by one: passed as arguments of a single call, the parts of a long message would overflow the stack. */
function append(all: string[], texts: readonly string[]): void {
  for (const text of texts) all.push(text);
}

function one(text: string | null): string[] {
  return text === null ? [] : [text];
}

function signed(signature: string | null | undefined): string {
  return signature === null || signature === undefined
    ? ''
    : `,"thoughtSignature":${JSON.stringify(signature)}`;
}

function callPart(part: ToolCallPart, signature: string | null): string {
  const args =
    part.kind === 'custom' ? `{"input":${JSON.stringify(part.arguments)}}` : objectText(part.arguments);
  const id = part.id === '' ? '' : `"id":${JSON.stringify(part.id)},`;
  return `{"functionCall":{${id}"name":${JSON.stringify(part.name)},"args":${args}}${signed(signature)}}`;
}

/** The parts of an assistant's turn; signatures are sent back where they came from. */
function modelParts(message: Message, context: ContentContext): string[] {
  const out: string[] = [];
  /** Signature of a text, written beside it; it came as an empty thought (candidate.ts). */
  let pending: string | null = null;
  let calls = 0;
  const flush = () => {
    if (pending !== null) out.push(`{"text":""${signed(pending)}}`);
    pending = null;
  };
  for (const part of message.content) {
    if (part.type === 'reasoning') {
      if (part.format !== FORMAT) continue;
      if (part.text === '' && part.signature !== undefined) {
        flush();
        pending = part.signature;
      } else if (part.text !== '') {
        out.push(`{"text":${JSON.stringify(part.text)},"thought":true${signed(part.signature)}}`);
      }
    } else if (part.type === 'text' && part.text !== '') {
      out.push(`{"text":${JSON.stringify(part.text)}${signed(pending)}}`);
      pending = null;
    } else if (part.type === 'tool_call') {
      flush();
      const own = part.format === FORMAT ? part.signature : undefined;
      const needed = calls++ === 0 && context.wants_signature ? FOREIGN_CALL : null;
      out.push(callPart(part, own ?? needed));
    } else {
      append(out, plainParts(part, context));
    }
  }
  flush();
  return out;
}

/** The response to a call; `media` receives what it cannot contain on this endpoint. */
function responsePart(part: ToolResultPart, context: ContentContext, media: string[]): string {
  const inner = context.target.capabilities.parameters.includes('function_response_parts');
  const texts: string[] = [];
  const held: string[] = [];
  for (const item of part.content) {
    for (const piece of plainParts(item, context)) {
      if (piece.startsWith('{"text":')) texts.push((JSON.parse(piece) as { text: string }).text);
      else (inner ? held : media).push(piece);
    }
  }
  const name = part.name ?? context.names.get(part.tool_call_id) ?? part.tool_call_id;
  const id = JSON.stringify(part.tool_call_id);
  const key = part.is_error === true ? 'error' : 'output';
  const parts = held.length === 0 ? '' : `,"parts":[${held.join(',')}]`;
  const response = `{"${key}":${JSON.stringify(texts.join('\n'))}}`;
  return `{"functionResponse":{"id":${id},"name":${JSON.stringify(name)},"response":${response}${parts}}}`;
}

interface Turn {
  role: 'user' | 'model';
  /** Responses come at the beginning of their turn, as many as there were calls. */
  responses: string[];
  parts: string[];
}

function addUser(message: Message, alone: boolean, turn: Turn, context: ContentContext): void {
  for (const part of message.content) {
    if (part.type === 'tool_result') turn.responses.push(responsePart(part, context, turn.parts));
    // A later instruction joins the user's turn, marked as an instruction.
    else if (message.role === 'system' && !alone && part.type === 'text') {
      turn.parts.push(textPart(`[system]\n${part.text}`));
    } else append(turn.parts, plainParts(part, context));
  }
}

/** JSON texts of `contents`: adjacent turns of one role are merged, turns without parts left out. */
export function writeContents(rest: readonly Message[], context: ContentContext): string[] {
  const turns: Turn[] = [];
  for (const message of rest) {
    const role = message.role === 'assistant' ? 'model' : 'user';
    let turn = turns.at(-1);
    if (turn === undefined || turn.role !== role) {
      turn = { role, responses: [], parts: [] };
      turns.push(turn);
    }
    if (role === 'model') append(turn.parts, modelParts(message, context));
    else addUser(message, rest.length === 1, turn, context);
    if (turn.responses.length + turn.parts.length === 0) turns.pop();
  }
  return turns.map(
    ({ role, responses, parts }) => `{"role":"${role}","parts":[${[...responses, ...parts].join(',')}]}`,
  );
}

/** JSON text of `systemInstruction`; null when there is none. */
export function writeSystem(system: readonly Message[]): string | null {
  const texts: string[] = [];
  for (const { content } of system) {
    for (const part of content) if (part.type === 'text' && part.text !== '') texts.push(textPart(part.text));
  }
  return texts.length === 0 ? null : `{"parts":[${texts.join(',')}]}`;
}
