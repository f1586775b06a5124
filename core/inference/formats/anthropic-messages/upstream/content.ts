// Writes canonical messages as the family's `system` and `messages`, as JSON text, so that arguments keep their
// bytes.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Target } from '../../../canonical/contract.ts';
import { inputText } from '../../../canonical/custom-tools.ts';
import { isInstruction, takesSystemRole } from '../../../canonical/instructions.ts';
import { fitToolCallId } from '../../../canonical/reasoning.ts';
import type {
  CacheHint,
  DocumentPart,
  MediaSource,
  Message,
  Part,
  ReasoningPart,
  ToolResultPart,
} from '../../../canonical/types.ts';
import { writeCitationParam } from '../words/citations.ts';
import { FORMAT } from '../words/reasoning.ts';

/** Most cache breakpoints of one request. */
export const BREAKPOINTS_MAX = 4;

export interface ContentContext {
  readonly target: Target;
  /** The request came in this family's own dialect, so its `ext` members belong here. */
  readonly own: boolean;
  /** How many of the first breakpoints to leave out: the last ones cover the longest prefixes. */
  skip_breakpoints: number;
}

/** JSON text `,"cache_control":…` for `hint`; '' when there is none or it is one too many. */
export function cacheControl(hint: CacheHint | undefined, context: ContentContext): string {
  if (hint === undefined || !context.target.capabilities.cache) return '';
  if (context.skip_breakpoints > 0) {
    context.skip_breakpoints--;
    return '';
  }
  return `,"cache_control":${cacheControlObject(hint)}`;
}

/** The cache_control of a hint; 30 minutes and more get the longer of the two lifetimes. */
export function cacheControlObject(hint: CacheHint): string {
  if (hint.ttl === undefined) return '{"type":"ephemeral"}';
  return hint.ttl === '5m' ? '{"type":"ephemeral","ttl":"5m"}' : '{"type":"ephemeral","ttl":"1h"}';
}

function extra(ext: JsonObject | undefined, context: ContentContext): string {
  if (ext === undefined || !context.own) return '';
  let text = '';
  for (const [name, value] of Object.entries(ext))
    text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return text;
}

// Members that any block may end with.
function tail(part: Pick<Part, 'cache' | 'ext'>, context: ContentContext): string {
  return cacheControl(part.cache, context) + extra(part.ext, context);
}

function source(src: MediaSource): string | null {
  if ('base64' in src) {
    // Text from the caller, possibly not base64: it is quoted, since it could otherwise add members to this body.
    return `{"type":"base64","media_type":${JSON.stringify(src.media_type)},"data":${JSON.stringify(src.base64)}}`;
  }
  if ('url' in src) return `{"type":"url","url":${JSON.stringify(src.url)}}`;
  if ('file_id' in src) {
    return src.family === 'anthropic_messages'
      ? `{"type":"file","file_id":${JSON.stringify(src.file_id)}}`
      : null;
  }
  return `{"type":"text","media_type":"text/plain","data":${JSON.stringify(src.text)}}`;
}

/**
 * Whether the endpoint accepts this document: text always, PDF (also by address or as its own file) if it reads PDF.
 */
export function takesDocument(src: MediaSource, target: Target): boolean {
  if ('text' in src) return true;
  if ('base64' in src && src.media_type.startsWith('text/')) return true;
  if (!target.capabilities.pdf) return false;
  if ('base64' in src) return src.media_type === 'application/pdf';
  return 'url' in src || src.family === 'anthropic_messages';
}

function document(part: DocumentPart, context: ContentContext): string | null {
  if (!takesDocument(part.src, context.target)) return null;
  let src = part.src;
  if ('base64' in src && src.media_type.startsWith('text/')) {
    src = { text: Buffer.from(src.base64, 'base64').toString('utf8') };
  }
  const { source: blocks, ...ext } = part.ext ?? {};
  const from = context.own && isObject(blocks) ? JSON.stringify(blocks) : source(src);
  const title = part.title ?? part.name;
  return (
    `{"type":"document","source":${from}` +
    (title === undefined ? '' : `,"title":${JSON.stringify(title)}`) +
    (part.context === undefined ? '' : `,"context":${JSON.stringify(part.context)}`) +
    (part.citations === undefined ? '' : `,"citations":{"enabled":${part.citations}}`) +
    `${cacheControl(part.cache, context)}${extra(ext, context)}}`
  );
}

/** Whether `part` can be sent back: only this family's reasoning, signed or encrypted. */
export function replayable(part: ReasoningPart): boolean {
  if (part.format !== FORMAT) return false;
  return part.kind === 'encrypted' ? (part.data ?? '') !== '' : (part.signature ?? '') !== '';
}

function reasoning(part: ReasoningPart): string | null {
  if (!replayable(part)) return null;
  if (part.kind === 'encrypted') return `{"type":"redacted_thinking","data":${JSON.stringify(part.data)}}`;
  const signature = JSON.stringify(part.signature);
  return `{"type":"thinking","thinking":${JSON.stringify(part.text)},"signature":${signature}}`;
}

function text(value: string, part: Part, context: ContentContext): string | null {
  // The family refuses text blocks without a visible character.
  if (value.trim() === '') return null;
  const cited =
    part.type === 'text' ? (part.citations ?? []).map(writeCitationParam).filter((c) => c !== null) : [];
  const citations = cited.length > 0 ? `,"citations":${JSON.stringify(cited)}` : '';
  return `{"type":"text","text":${JSON.stringify(value)}${citations}${tail(part, context)}}`;
}

function toolResult(part: ToolResultPart, context: ContentContext): string {
  const blocks = part.content.map((item) => writeBlock(item, context)).filter((block) => block !== null);
  const content = blocks.length > 0 ? `,"content":[${blocks.join(',')}]` : '';
  const error = part.is_error === true ? ',"is_error":true' : '';
  const id = JSON.stringify(fitToolCallId(part.tool_call_id, 'anthropic'));
  return `{"type":"tool_result","tool_use_id":${id}${content}${error}${tail(part, context)}}`;
}

/** JSON text of the block for `part`; null when the family cannot represent it (`losses` reports that). */
export function writeBlock(part: Part, context: ContentContext): string | null {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return text(part.text, part, context);
    case 'image': {
      const src = context.target.capabilities.vision && !('text' in part.src) ? source(part.src) : null;
      if (src === null) return null;
      return `{"type":"image","source":${src}${tail(part, context)}}`;
    }
    case 'document':
      return document(part, context);
    case 'search_result': {
      const content = part.content.map((item) => writeBlock(item, context)).filter((block) => block !== null);
      const cited = part.citations === undefined ? '' : `,"citations":{"enabled":${part.citations}}`;
      return (
        `{"type":"search_result","source":${JSON.stringify(part.source)},"title":${JSON.stringify(part.title)}` +
        `,"content":[${content.join(',')}]${cited}${tail(part, context)}}`
      );
    }
    case 'reasoning':
      return reasoning(part);
    case 'tool_call': {
      const id = JSON.stringify(fitToolCallId(part.id, 'anthropic'));
      const input =
        part.kind === 'custom' ? `{"input":${JSON.stringify(part.arguments)}}` : inputText(part.arguments);
      return (
        `{"type":"tool_use","id":${id},"name":${JSON.stringify(part.name)},"input":${input}` +
        `${tail(part, context)}}`
      );
    }
    case 'tool_result':
      return toolResult(part, context);
    case 'server_tool':
      return part.family === 'anthropic_messages' ? JSON.stringify(part.payload) : null;
    default:
      return null;
  }
}

interface Turn {
  role: 'user' | 'assistant' | 'system';
  /** Tool results: the family wants them at the beginning of the turn. */
  results: string[];
  blocks: string[];
}

/** JSON texts of the `system` blocks. */
export function writeSystem(system: readonly Message[], context: ContentContext): string[] {
  return system
    .flatMap((message) => message.content)
    .map((part) => (part.type === 'text' ? writeBlock(part, context) : null))
    .filter((block) => block !== null);
}

// On an endpoint without that role, a later instruction joins the user's turn, marked as an instruction.
function folded(message: Message): Part[] {
  return message.content.map((part) =>
    part.type === 'text' ? { ...part, text: `[system]\n${part.text}` } : part,
  );
}

/** JSON texts of `messages`: adjacent turns of one role merged, tool results first in theirs. */
export function writeMessages(rest: readonly Message[], context: ContentContext): string[] {
  const turns: Turn[] = [];
  const systemRole = takesSystemRole(context.target) && rest.some((message) => message.role !== 'system');
  rest.forEach((message, i) => {
    const system = message.role === 'system';
    const asked = message.role === 'assistant' ? 'assistant' : 'user';
    const role = systemRole && isInstruction(message) ? 'system' : asked;
    let turn = turns.at(-1);
    if (turn === undefined || turn.role !== role || role === 'system') {
      turn = { role, results: [], blocks: [] };
      turns.push(turn);
    }
    const prefill = role === 'assistant' && i === rest.length - 1;
    const alone = system && rest.length === 1;
    for (const part of system && role === 'user' && !alone ? folded(message) : message.content) {
      // Only the user can show an image.
      if (role === 'assistant' && part.type === 'image') continue;
      const block = writeBlock(prefill ? trimmed(part, message) : part, context);
      if (block !== null) (part.type === 'tool_result' ? turn.results : turn.blocks).push(block);
    }
    if (turn.results.length + turn.blocks.length === 0) turns.pop();
  });
  return turns.map(
    ({ role, results, blocks }) => `{"role":"${role}","content":[${[...results, ...blocks].join(',')}]}`,
  );
}

// An answer that the caller has begun may not end in white space.
function trimmed(part: Part, message: Message): Part {
  return part.type === 'text' && part === message.content.at(-1)
    ? { ...part, text: part.text.trimEnd() }
    : part;
}
