// Writes canonical messages as input items. Only reasoning items have ids: an id refers to something the provider
// stores, and nothing is stored.
import type { JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { fitToolCallId } from '../../../canonical/reasoning.ts';
import type {
  DocumentPart,
  MediaSource,
  Message,
  Part,
  ReasoningPart,
  ToolResultPart,
} from '../../../canonical/types.ts';
import { takes } from '../../openai-chat/words/fields.ts';
import { FORMAT } from '../words/parts.ts';

export interface Input {
  instructions: string | null;
  items: JsonObject[];
}

/** `instructions` and `input` for `messages`. */
export function encodeInput(messages: readonly Message[], target: Target): Input {
  const instructions = instructionsOf(messages, target);
  const rest = instructions === null ? messages : messages.slice(1);
  const custom = customCalls(messages);
  const items = rest.flatMap((message) =>
    message.role === 'assistant' ? assistantItems(message) : otherItems(message, target, custom),
  );
  return { instructions, items };
}

/** The first message if it is plain text of the system and something follows it, since input may not be empty. */
function instructionsOf(messages: readonly Message[], target: Target): string | null {
  const [first] = messages;
  if (first?.role !== 'system' || messages.length < 2) return null;
  const texts: string[] = [];
  for (const part of first.content) {
    // Only an item can have a breakpoint.
    if (part.type !== 'text' || (part.cache !== undefined && takesBreakpoint(target))) return null;
    texts.push(part.text);
  }
  return texts.join('\n\n');
}

/** Whether the endpoint lists OpenAI's cache breakpoints. */
export function takesBreakpoint(target: Target): boolean {
  return takes(target, 'prompt_cache_breakpoint');
}

/** Ids of calls of custom tools: their results are items of another kind. */
function customCalls(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool_call' && part.kind === 'custom') ids.add(part.id);
  }
  return ids;
}

/** OpenAI's phase of a message of the model: commentary, or the final answer. */
function phaseOf(part: Part): string | null {
  const phase = part.ext?.['phase'];
  return typeof phase === 'string' ? phase : null;
}

function assistantItems(message: Message): JsonObject[] {
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  let phase: string | null = null;
  const flush = (): void => {
    const shown = phase === null ? {} : { phase };
    if (content.length > 0) items.push({ type: 'message', role: 'assistant', content, ...shown });
    content = [];
  };
  for (let at = 0; at < message.content.length; at++) {
    const part = message.content[at] as Part;
    if (part.type === 'text' || part.type === 'refusal') {
      // Clients of chat send the empty text of a turn that only made calls; beside other items it means nothing.
      if (part.text === '' && message.content.length > 1) continue;
      if (phaseOf(part) !== phase) flush();
      phase = phaseOf(part);
      const { text } = part;
      content.push(part.type === 'text' ? { type: 'output_text', text } : { type: 'refusal', refusal: text });
      continue;
    }
    flush();
    if (part.type === 'reasoning') {
      const run = reasoningRun(message.content, at);
      at += run.length - 1;
      const item = reasoningItem(run);
      if (item !== null) items.push(item);
    } else if (part.type === 'tool_call') items.push(callItem(part));
    else if (part.type === 'server_tool' && part.family === 'openai_responses') {
      items.push(part.payload as JsonObject);
    }
  }
  flush();
  return items;
}

/** The parts from `at` on that were one item: other formats have summary and state of an item as two parts. */
function reasoningRun(content: readonly Part[], at: number): ReasoningPart[] {
  const first = content[at] as ReasoningPart;
  const run = [first];
  for (let i = at + 1; i < content.length; i++) {
    const part = content[i] as Part;
    const before = run.at(-1) as ReasoningPart;
    if (part.type !== 'reasoning' || part.format !== first.format || before.data !== undefined) break;
    if (part.id !== first.id) break;
    run.push(part);
  }
  return run;
}

/** The reasoning parts of `content`, grouped by item. */
export function reasoningRuns(content: readonly Part[]): ReasoningPart[][] {
  const runs: ReasoningPart[][] = [];
  for (let at = 0; at < content.length; at++) {
    if (content[at]?.type !== 'reasoning') continue;
    const run = reasoningRun(content, at);
    at += run.length - 1;
    runs.push(run);
  }
  return runs;
}

/** One reasoning item; null when its state is missing or another family's, because the provider could not read it. */
function reasoningItem(run: readonly ReasoningPart[]): JsonObject | null {
  const sealed = run.find(isReadable);
  if (sealed === undefined) return null;
  const summary = run
    .filter((part) => part.kind !== 'full' && part.text !== '')
    .map((part) => ({ type: 'summary_text', text: part.text }));
  return {
    type: 'reasoning',
    ...(sealed.id === undefined ? {} : { id: sealed.id }),
    summary,
    encrypted_content: sealed.data,
  };
}

/** Whether `part` contains state that this family made. */
export function isReadable(part: ReasoningPart): boolean {
  return part.format === FORMAT && part.data !== undefined && part.data !== '';
}

function callItem(part: Extract<Part, { type: 'tool_call' }>): JsonObject {
  const call_id = fitToolCallId(part.id, 'openai');
  const { name } = part;
  if (part.kind === 'custom') return { type: 'custom_tool_call', call_id, name, input: part.arguments };
  return { type: 'function_call', call_id, name, arguments: part.arguments };
}

function otherItems(message: Message, target: Target, custom: ReadonlySet<string>): JsonObject[] {
  const items: JsonObject[] = [];
  const content: JsonObject[] = [];
  for (const part of message.content) {
    if (part.type === 'tool_result') items.push(resultItem(part, target, custom));
    else if (part.type === 'server_tool') {
      if (part.family === 'openai_responses') items.push(part.payload as JsonObject);
    } else for (const piece of contentPart(part, target)) content.push(piece);
  }
  if (content.length === 0 && items.length > 0) return items;
  const role = message.role === 'system' ? 'developer' : 'user';
  items.push({ type: 'message', role, content: contentOf(content) });
  return items;
}

/** A single plain text is written as a string, which every server accepts; anything else as an array. */
function contentOf(parts: JsonObject[]): string | JsonObject[] {
  const [only] = parts;
  if (only === undefined) return '';
  const plain = parts.length === 1 && only['type'] === 'input_text' && Object.keys(only).length === 2;
  return plain ? (only['text'] as string) : parts;
}

function resultItem(part: ToolResultPart, target: Target, custom: ReadonlySet<string>): JsonObject {
  const output = part.content.flatMap((inner) => contentPart(inner, target));
  if (part.is_error === true) {
    const [first] = output;
    if (first?.['type'] === 'input_text') output[0] = { ...first, text: `Error: ${first['text'] as string}` };
    else output.unshift({ type: 'input_text', text: 'Error: ' });
  }
  return {
    type: custom.has(part.tool_call_id) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: fitToolCallId(part.tool_call_id, 'openai'),
    output: contentOf(output),
  };
}

/** The parts of an input message's content; one canonical part may need several, or none. */
function contentPart(part: Part, target: Target): JsonObject[] {
  const wire = plainPart(part, target);
  const last = wire.at(-1);
  if (last !== undefined && part.cache !== undefined && takesBreakpoint(target)) {
    wire[wire.length - 1] = { ...last, prompt_cache_breakpoint: { mode: 'explicit' } };
  }
  return wire;
}

function plainPart(part: Part, target: Target): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [text(part.text)];
    case 'image':
      return [{ type: 'input_image', ...imageSource(part.src), detail: part.detail ?? 'auto' }];
    case 'document':
      return documentParts(part);
    case 'search_result':
      return [
        text(`[search result: ${part.title} (${part.source})]`),
        ...part.content.flatMap((inner) => contentPart(inner, target)),
      ];
    default:
      return [];
  }
}

function text(words: string): JsonObject {
  return { type: 'input_text', text: words };
}

function imageSource(src: MediaSource): JsonObject {
  if ('file_id' in src) return { file_id: src.file_id };
  if ('base64' in src) return { image_url: dataUrl(src) };
  return { image_url: 'url' in src ? src.url : '' };
}

function dataUrl(src: { base64: string; media_type: string }): string {
  return `data:${src.media_type};base64,${src.base64}`;
}

function documentParts(part: DocumentPart): JsonObject[] {
  const { src } = part;
  const notes = [part.title ?? part.name, part.context].filter((note) => note !== undefined);
  if ('text' in src) {
    return [text(`[document${notes.length > 0 ? `: ${notes.join('; ')}` : ''}]\n${src.text}`)];
  }
  const titled = part.title !== undefined || part.context !== undefined;
  const head = titled ? [text(`[document: ${notes.join('; ')}]`)] : [];
  return [...head, { type: 'input_file', ...fileSource(part) }];
}

function fileSource({ src, name, title }: DocumentPart): JsonObject {
  if ('file_id' in src) return { file_id: src.file_id };
  if ('url' in src) return { file_url: src.url };
  return {
    filename: name ?? title ?? 'document.pdf',
    file_data: 'base64' in src ? dataUrl(src) : '',
  };
}
