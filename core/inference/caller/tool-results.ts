// Every family requires the results of a turn's tool calls directly after it (docs/fidelity.md#the-canonical-form).
import type { Message, ToolResultPart } from '../canonical/types.ts';
import { fail } from './read.ts';

interface Turn {
  /** How many calls of each id still lack a result: some servers give parallel calls the same id. */
  waiting: Map<string, number>;
  /** Each entry holds the results from one message. */
  results: { parts: ToolResultPart[]; from: Message; at: number }[];
}

/** Turns whose calls lack a result, by call id, the latest last. A history may have hundreds of thousands. */
type Waiting = Map<string, Turn[]>;

/**
 * `messages` with each tool result in a message of role `tool` directly after the assistant message that made the
 * call, in the given order. Other parts of a message that contained results stay in place. An id used in several
 * turns refers to the latest one that still lacks a result.
 * @throws ServiceError invalid_request for a result without a call, and for a call without a result; `path(i)` is the
 * path of message i in the caller's body. `order` receives, for each message of the output, the index in `messages`
 * that it comes from.
 */
export function orderToolResults(
  messages: readonly Message[],
  path: (index: number) => string = (index) => `messages[${index}]`,
  order: number[] = [],
): Message[] {
  if (!messages.some(hasToolPart)) {
    messages.forEach((_, at) => {
      order.push(at);
    });
    return [...messages];
  }
  const turns = new Map<number, Turn>();
  const waiting: Waiting = new Map();
  const rest: (Message | null)[] = messages.map((message, at) => {
    const calls = message.content.filter((part) => part.type === 'tool_call');
    if (calls.length > 0) turns.set(at, turnOf(calls, waiting));
    const others = message.content.filter((part) => part.type !== 'tool_result');
    if (others.length === message.content.length) return message;
    for (const part of message.content) {
      if (part.type === 'tool_result') place(part, { message, at }, waiting, path);
    }
    return others.length === 0
      ? null
      : { ...message, role: message.role === 'tool' ? 'user' : message.role, content: others };
  });
  const ordered: Message[] = [];
  rest.forEach((message, at) => {
    if (message !== null) {
      ordered.push(message);
      order.push(at);
    }
    const turn = turns.get(at);
    if (turn === undefined) return;
    const [missing] = turn.waiting.keys();
    if (missing !== undefined) fail(path(at), `Tool call '${missing}' has no result.`);
    for (const { parts, from, at: stood } of turn.results) {
      const result: Message = { role: 'tool', content: parts };
      if (from.ext !== undefined && from.role === 'tool') result.ext = from.ext;
      ordered.push(result);
      order.push(stood);
    }
  });
  return ordered;
}

function hasToolPart(message: Message): boolean {
  return message.content.some((part) => part.type === 'tool_call' || part.type === 'tool_result');
}

function turnOf(calls: readonly { readonly id: string }[], waiting: Waiting): Turn {
  const turn: Turn = { waiting: new Map(), results: [] };
  for (const { id } of calls) {
    turn.waiting.set(id, (turn.waiting.get(id) ?? 0) + 1);
    const others = waiting.get(id);
    if (others === undefined) waiting.set(id, [turn]);
    else others.push(turn);
  }
  return turn;
}

function place(
  part: ToolResultPart,
  { message: from, at }: { message: Message; at: number },
  waiting: Waiting,
  path: (index: number) => string,
): void {
  const turn = waiting.get(part.tool_call_id)?.pop();
  if (turn === undefined) fail(path(at), `No tool call waits for the result '${part.tool_call_id}'.`);
  const left = (turn.waiting.get(part.tool_call_id) as number) - 1;
  if (left === 0) turn.waiting.delete(part.tool_call_id);
  else turn.waiting.set(part.tool_call_id, left);
  const last = turn.results.at(-1);
  if (last?.from === from) last.parts.push(part);
  else turn.results.push({ parts: [part], from, at });
}
