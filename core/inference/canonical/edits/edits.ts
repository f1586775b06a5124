// Edits of a long conversation that the caller leaves to its provider: what was thought and what tools said in earlier
// turns need not be read again. Where the family cannot do them the gateway does, by the rules that the messages API
// documents, with four bytes for a token as in the estimates that it tells of.
// @see https://platform.claude.com/docs/en/build-with-claude/context-editing

import type { CanonicalRequest, Loss, Message, Part, ToolCallPart, ToolResultPart } from '../types.ts';
import type { AppliedEdit, ClearThinking, ClearToolUses, ContextEdit } from './edit.ts';

/** What stands where the result of a tool stood. */
export const CLEARED = '[This tool result was cleared to save context.]';

const BYTES_PER_TOKEN = 4;

/** Tokens of `text` by the estimate. */
function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

interface Edited {
  readonly messages: readonly Message[];
  readonly cleared: AppliedEdit | null;
}

/**
 * `messages` after `edits`, in their order, and what each has cleared; `input_tokens` is the estimate of the whole
 * prompt. Messages that no edit touches are the same objects.
 */
export function editMessages(
  messages: readonly Message[],
  edits: readonly ContextEdit[],
  input_tokens: number,
): { messages: readonly Message[]; applied: AppliedEdit[] } {
  const applied: AppliedEdit[] = [];
  let left = input_tokens;
  let now = messages;
  for (const edit of edits) {
    if (edit.edit === 'unknown') continue;
    const { messages: after, cleared } =
      edit.edit === 'thinking' ? clearThinking(now, edit.keep, edit.type) : clearToolUses(now, edit, left);
    now = after;
    if (cleared === null) continue;
    left -= cleared.cleared_input_tokens;
    applied.push(cleared);
  }
  return { messages: now, applied };
}

/** Places of the messages of the model, a list for each turn that has reasoning; what tools answer ends no turn. */
function thinkingTurns(messages: readonly Message[]): number[][] {
  const turns: number[][] = [];
  let turn: number[] | null = null;
  messages.forEach(({ role, content }, i) => {
    if (role === 'user') turn = null;
    if (role !== 'assistant' || !content.some(isReasoning)) return;
    if (turn === null) {
      turn = [];
      turns.push(turn);
    }
    turn.push(i);
  });
  return turns;
}

function isReasoning(part: Part): boolean {
  return part.type === 'reasoning';
}

function clearThinking(messages: readonly Message[], keep: ClearThinking['keep'], type: string): Edited {
  const turns = thinkingTurns(messages);
  const old = keep === 'all' ? [] : turns.slice(0, Math.max(0, turns.length - keep));
  if (old.length === 0) return { messages, cleared: null };
  const places = new Set(old.flat());
  let tokens = 0;
  const after = messages.map((message, i) => {
    if (!places.has(i)) return message;
    for (const part of message.content) {
      if (part.type === 'reasoning') tokens += tokensOf(part.text) + tokensOf(part.data ?? '');
    }
    return { ...message, content: message.content.filter((part) => !isReasoning(part)) };
  });
  return {
    // A turn of nothing but reasoning has nothing left to say.
    messages: after.filter(({ content }, i) => content.length > 0 || !places.has(i)),
    cleared: { type, cleared_thinking_turns: old.length, cleared_input_tokens: tokens },
  };
}

/** A use of a tool: its answer, and the call where the history has it. */
interface ToolUse {
  readonly result: ToolResultPart;
  readonly call: ToolCallPart | undefined;
}

function toolUses(messages: readonly Message[]): ToolUse[] {
  const calls = new Map<string, ToolCallPart>();
  const uses: ToolUse[] = [];
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === 'tool_call') calls.set(part.id, part);
      else if (part.type === 'tool_result') uses.push({ result: part, call: calls.get(part.tool_call_id) });
    }
  }
  return uses;
}

function isDue(edit: ClearToolUses, uses: number, input_tokens: number): boolean {
  return (edit.trigger.of === 'tool_uses' ? uses : input_tokens) > edit.trigger.value;
}

function clearToolUses(messages: readonly Message[], edit: ClearToolUses, input_tokens: number): Edited {
  const uses = toolUses(messages);
  if (!isDue(edit, uses.length, input_tokens)) return { messages, cleared: null };
  const changed = new Map<Part, Part>();
  let cleared = 0;
  let tokens = 0;
  for (const { result, call } of uses.slice(0, Math.max(0, uses.length - edit.keep))) {
    const name = call?.name ?? result.name ?? '';
    if (edit.exclude.includes(name)) continue;
    cleared++;
    tokens += textTokens(result.content) - tokensOf(CLEARED);
    changed.set(result, { ...result, content: [{ type: 'text', text: CLEARED }] });
    const whole = edit.inputs === true || (edit.inputs !== false && edit.inputs.includes(name));
    if (call === undefined || !whole) continue;
    tokens += tokensOf(call.arguments);
    changed.set(call, { ...call, arguments: call.kind === 'custom' ? '' : '{}' });
  }
  if (cleared === 0 || tokens < edit.clear_at_least) return { messages, cleared: null };
  const after = messages.map((message) =>
    message.content.some((part) => changed.has(part))
      ? { ...message, content: message.content.map((part) => changed.get(part) ?? part) }
      : message,
  );
  return {
    messages: after,
    cleared: {
      ...{ type: edit.type, cleared_tool_uses: cleared },
      cleared_input_tokens: Math.max(0, tokens),
    },
  };
}

/** Tokens of the texts among `parts`; of media nobody knows what they come to. */
function textTokens(parts: readonly Part[]): number {
  let tokens = 0;
  for (const part of parts) if (part.type === 'text') tokens += tokensOf(part.text);
  return tokens;
}

/** Losses of the edits where the family does none: those that remove are done here, those that keep all ask for nothing. */
export function editLosses({ context_edits = [] }: CanonicalRequest): Loss[] {
  return context_edits.flatMap((edit, i): Loss[] => {
    const param = `context_management.edits[${i}]`;
    if (edit.edit === 'unknown') {
      const message = `Edit '${edit.type}' cannot be carried to this endpoint.`;
      return [{ class: 'content', code: 'unsupported_parameter', param, message }];
    }
    if (edit.edit !== 'thinking' || edit.keep !== 'all') return [];
    const message = 'Nothing is removed; what it reads of earlier reasoning is for this provider to say.';
    return [{ class: 'hint', code: 'context_edit_dropped', param, message }];
  });
}
