// Writes canonical messages as Converse's `system` and `messages`, as JSON text, so that arguments keep their bytes.
import type { Target } from '../../../canonical/contract.ts';
import { inputText } from '../../../canonical/custom-tools.ts';
import { isInstruction, keepsRole, splitSystem, takesSystemRole } from '../../../canonical/instructions.ts';
import { fitToolCallId } from '../../../canonical/reasoning.ts';
import type {
  CacheHint,
  DocumentPart,
  Message,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/types.ts';
import { writeCitation } from './citations.ts';
import { DocumentNames, formatAndSource, takesMedia } from './media.ts';
import { formatOf } from './model.ts';

export { keepsRole, splitSystem };

/** Most cache points of one request. */
export const CACHE_POINTS_MAX = 4;

export interface ContentContext {
  readonly target: Target;
  readonly names: DocumentNames;
  /** How many of the first cache points to leave out: the last ones cover the longest prefixes. */
  skip: number;
}

/** What must be remembered while the messages of one request are written. */
export function contentContext(target: Target, cache_points: number): ContentContext {
  return { target, names: new DocumentNames(), skip: Math.max(0, cache_points - CACHE_POINTS_MAX) };
}

/** JSON text of the block that ends a cached prefix; null when none is wanted or it is one too many. */
export function cachePoint(hint: CacheHint | undefined, context: ContentContext): string | null {
  if (hint === undefined || !context.target.capabilities.cache) return null;
  if (context.skip > 0) {
    context.skip--;
    return null;
  }
  // 30 minutes and more get the longer of the two lifetimes.
  const ttl = hint.ttl === undefined ? '' : `,"ttl":"${hint.ttl === '5m' ? '5m' : '1h'}"`;
  return `{"cachePoint":{"type":"default"${ttl}}}`;
}

/**
 * Whether `part` can be sent back: signed or encrypted reasoning to models of the same format, unsigned reasoning to
 * endpoints that list `reasoning_content_in`.
 */
export function replayable(part: ReasoningPart, target: Target): boolean {
  const format = formatOf(target);
  if (part.kind === 'encrypted') return part.format === format && (part.data ?? '') !== '';
  if (format === 'anthropic-claude-v1') return part.format === format && (part.signature ?? '') !== '';
  return part.text !== '' && target.capabilities.parameters.includes('reasoning_content_in');
}

function reasoning(part: ReasoningPart, { target }: ContentContext): string | null {
  if (!replayable(part, target)) return null;
  if (part.kind === 'encrypted') {
    return `{"reasoningContent":{"redactedContent":${JSON.stringify(part.data)}}}`;
  }
  const signed = part.format === formatOf(target) && part.signature !== undefined;
  const signature = signed ? `,"signature":${JSON.stringify(part.signature)}` : '';
  return `{"reasoningContent":{"reasoningText":{"text":${JSON.stringify(part.text)}${signature}}}}`;
}

function text(part: TextPart): string | null {
  // The API refuses text without a visible character.
  if (part.text.trim() === '') return null;
  const citations = part.citations ?? [];
  const json = JSON.stringify(part.text);
  if (citations.length === 0) return `{"text":${json}}`;
  return `{"citationsContent":{"content":[{"text":${json}}],"citations":${JSON.stringify(citations.map(writeCitation))}}}`;
}

function document(part: DocumentPart, context: ContentContext): string | null {
  const source = formatAndSource(part);
  if (source === null) return null;
  const note = part.context === undefined ? '' : `,"context":${JSON.stringify(part.context)}`;
  const cited = part.citations === undefined ? '' : `,"citations":{"enabled":${part.citations}}`;
  return `{"document":{"name":${JSON.stringify(context.names.next(part))},${source}${note}${cited}}}`;
}

function media(part: Part, context: ContentContext): string | null {
  if (!('src' in part) || !takesMedia(part, context.target)) return null;
  if (part.type === 'document') return document(part, context);
  const source = formatAndSource(part);
  return source === null ? null : `{"${part.type}":{${source}}}`;
}

function toolCall(part: ToolCallPart): string {
  const id = JSON.stringify(fitToolCallId(part.id, 'anthropic'));
  const input =
    part.kind === 'custom' ? `{"input":${JSON.stringify(part.arguments)}}` : inputText(part.arguments);
  return `{"toolUse":{"toolUseId":${id},"name":${JSON.stringify(part.name)},"input":${input}}}`;
}

function toolResult(part: ToolResultPart, context: ContentContext): string {
  const blocks = part.content.map((inner) => writeBlock(inner, context)).filter((block) => block !== null);
  const status = part.is_error === true ? ',"status":"error"' : '';
  const id = JSON.stringify(fitToolCallId(part.tool_call_id, 'anthropic'));
  return `{"toolResult":{"toolUseId":${id},"content":[${blocks.join(',')}]${status}}}`;
}

/** JSON text of the block for `part`; null when the family cannot represent it (`losses` reports that). */
export function writeBlock(part: Part, context: ContentContext): string | null {
  switch (part.type) {
    case 'text':
      return text(part);
    case 'refusal':
      return text({ type: 'text', text: part.text });
    case 'image':
    case 'audio':
    case 'video':
    case 'document':
      return media(part, context);
    case 'search_result': {
      const content = part.content
        .map((inner) => (inner.type === 'text' && inner.text.trim() !== '' ? { text: inner.text } : null))
        .filter((inner) => inner !== null);
      const citations = part.citations === undefined ? {} : { citations: { enabled: part.citations } };
      const { source, title } = part;
      return JSON.stringify({ searchResult: { source, title, content, ...citations } });
    }
    case 'reasoning':
      return reasoning(part, context);
    case 'tool_call':
      return toolCall(part);
    case 'tool_result':
      return toolResult(part, context);
    case 'server_tool':
      return part.family === 'bedrock_converse' ? JSON.stringify(part.payload) : null;
  }
}

/** JSON texts of the `system` blocks. */
export function writeSystem(system: readonly Message[], context: ContentContext): string[] {
  const blocks: string[] = [];
  for (const message of system) {
    for (const part of message.content) {
      if (part.type !== 'text' || part.text.trim() === '') continue;
      blocks.push(`{"text":${JSON.stringify(part.text)}}`);
      const point = cachePoint(part.cache, context);
      if (point !== null) blocks.push(point);
    }
  }
  return blocks;
}

interface Turn {
  role: 'user' | 'assistant' | 'system';
  /** Tool results: they belong to the calls of the previous turn and come first. */
  results: string[];
  blocks: string[];
  has_document: boolean;
  has_text: boolean;
}

/** Whether `part` is media, which only the user can show. */
export function isUsersOwn(part: Part): boolean {
  return 'src' in part || part.type === 'search_result';
}

// On an endpoint without that role, a later instruction joins the user's turn, marked as an instruction.
function folded(message: Message): Part[] {
  return message.content.map((part) =>
    part.type === 'text' ? { ...part, text: `[system]\n${part.text}` } : part,
  );
}

function addPart(turn: Turn, part: Part, context: ContentContext): void {
  if (turn.role === 'assistant' && isUsersOwn(part)) return;
  const block = writeBlock(part, context);
  if (block === null) return;
  const list = part.type === 'tool_result' ? turn.results : turn.blocks;
  list.push(block);
  if (part.type === 'document') turn.has_document = true;
  if (part.type === 'text') turn.has_text = true;
  const inner =
    part.type === 'tool_result' ? part.content.findLast(({ cache }) => cache !== undefined) : undefined;
  // A cache point can be neither inside a result nor after reasoning.
  const point = part.type === 'reasoning' ? null : cachePoint(part.cache ?? inner?.cache, context);
  if (point !== null) list.push(point);
}

function turnText({ role, results, blocks, has_document, has_text }: Turn): string {
  // The API requires text beside a document.
  const words = has_document && !has_text ? ['{"text":"[document]"}'] : [];
  return `{"role":"${role}","content":[${[...results, ...words, ...blocks].join(',')}]}`;
}

/**
 * JSON texts of `messages`: adjacent turns of one role are merged, tool results come first in theirs, empty text is
 * left out. `last` marks the end of the whole prompt as a cached prefix.
 */
export function writeMessages(
  rest: readonly Message[],
  context: ContentContext,
  last: CacheHint | undefined,
): string[] {
  const turns: Turn[] = [];
  const systemRole = takesSystemRole(context.target) && rest.some((message) => message.role !== 'system');
  rest.forEach((message, i) => {
    const system = message.role === 'system';
    const asked = message.role === 'assistant' ? 'assistant' : 'user';
    const role = systemRole && isInstruction(message) ? 'system' : asked;
    let turn = turns.at(-1);
    if (turn === undefined || turn.role !== role || role === 'system') {
      turn = { role, results: [], blocks: [], has_document: false, has_text: false };
      turns.push(turn);
    }
    const prefill = role === 'assistant' && i === rest.length - 1;
    const alone = system && rest.length === 1;
    for (const part of system && role === 'user' && !alone ? folded(message) : message.content) {
      addPart(turn, prefill ? trimmed(part, message) : part, context);
    }
    if (turn.results.length + turn.blocks.length === 0) turns.pop();
  });
  const point = cachePoint(last, context);
  const end = turns.at(-1);
  if (point !== null && end !== undefined) (end.blocks.length > 0 ? end.blocks : end.results).push(point);
  return turns.map(turnText);
}

// An answer that the caller has begun may not end in white space.
function trimmed(part: Part, message: Message): Part {
  return part.type === 'text' && part === message.content.at(-1)
    ? { ...part, text: part.text.trimEnd() }
    : part;
}
