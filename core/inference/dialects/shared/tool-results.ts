// Every family wants the results of a turn's calls right behind it (decisions 4.7.2 "tool result order").
import type { Message, ToolResultPart } from '../../canonical/types.ts';
import { fail } from './read.ts';

interface Turn {
  /** Position of the assistant message. */
  at: number;
  waiting: Set<string>;
  results: { part: ToolResultPart; message: Message }[];
}

/**
 * `messages` with each tool result in a message of role `tool` directly behind the assistant message that made the
 * call, in the order given; other parts of a message that held results stay where they were. An id used in several
 * turns belongs to the latest one still waiting for it.
 * @throws ServiceError invalid_request for a result without a call and a call without a result; `path(i)` names
 * message i in the caller's words.
 */
export function orderToolResults(
  messages: readonly Message[],
  path: (index: number) => string = (index) => `messages[${index}]`,
): Message[] {
  if (!messages.some(hasToolPart)) return [...messages];
  const turns: Turn[] = [];
  const rest: (Message | null)[] = messages.map((message, at) => {
    const calls = message.content.filter((part) => part.type === 'tool_call');
    if (calls.length > 0) turns.push({ at, waiting: new Set(calls.map((call) => call.id)), results: [] });
    const others = message.content.filter((part) => part.type !== 'tool_result');
    if (others.length === message.content.length) return message;
    for (const part of message.content) {
      if (part.type === 'tool_result') place(part, message, turns, path(at));
    }
    return others.length === 0
      ? null
      : { ...message, role: message.role === 'tool' ? 'user' : message.role, content: others };
  });
  const ordered: Message[] = [];
  rest.forEach((message, at) => {
    if (message !== null) ordered.push(message);
    const turn = turns.find((candidate) => candidate.at === at);
    if (turn === undefined) return;
    const [missing] = turn.waiting;
    if (missing !== undefined) fail(path(at), `Tool call '${missing}' has no result.`);
    for (const { part, message: from } of turn.results) {
      const result: Message = { role: 'tool', content: [part] };
      if (from.ext !== undefined && from.role === 'tool') result.ext = from.ext;
      ordered.push(result);
    }
  });
  return ordered;
}

function hasToolPart(message: Message): boolean {
  return message.content.some((part) => part.type === 'tool_call' || part.type === 'tool_result');
}

function place(part: ToolResultPart, message: Message, turns: readonly Turn[], param: string): void {
  const turn = turns.findLast((candidate) => candidate.waiting.has(part.tool_call_id));
  if (turn === undefined) fail(param, `No tool call waits for the result '${part.tool_call_id}'.`);
  turn.waiting.delete(part.tool_call_id);
  turn.results.push({ part, message });
}
