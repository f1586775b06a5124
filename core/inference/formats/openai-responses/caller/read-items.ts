// Reads `input` of a responses request into canonical messages. The items of one turn of the model (reasoning, text,
// calls) become one assistant message, as in every other format.
import { eachInSteps, type JsonObject, type Steps } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalChoice,
  optionalString,
  present,
  requireObject,
  requireString,
  restOf,
  unsupported,
} from '../../../caller/read.ts';
import { orderToolResults } from '../../../caller/tool-results.ts';
import { isWrapped, RESPONSES_FORMAT, unwrapState } from '../../../canonical/reasoning.ts';
import type { Namespaces } from '../../../canonical/tools/namespaces.ts';
import type { Message, Part, ReasoningPart, RoleName, ToolCallPart } from '../../../canonical/types.ts';
import { FAMILY, readContent } from './read-content.ts';

const ROLES = ['user', 'assistant', 'system', 'developer'] as const;
const PHASES = ['commentary', 'final_answer'] as const;
const MESSAGE = new Set(['type', 'id', 'role', 'content', 'status', 'phase']);
const CALL = new Set(['type', 'id', 'call_id', 'name', 'namespace', 'arguments', 'input', 'status']);
const RESULT = new Set(['type', 'id', 'call_id', 'name', 'output', 'status']);
const REASONING = new Set(['type', 'id', 'summary', 'content', 'encrypted_content', 'status']);

type Signed = Pick<ReasoningPart, 'signature' | 'format'>;

/** The messages read so far; remembers where in `input` each one began. */
class Turns {
  readonly spaces: Namespaces;
  readonly messages: Message[] = [];
  readonly paths: string[] = [];
  /** Signatures of calls by call id; they are carried in reasoning items without text. */
  readonly signatures = new Map<string, Signed>();
  #answer: Message | null = null;
  /** The turn has a message, of this phase. */
  #said = false;
  #phase: string | undefined;

  constructor(spaces: Namespaces) {
    this.spaces = spaces;
  }

  add(message: Message, path: string): void {
    this.#answer = null;
    this.messages.push(message);
    this.paths.push(path);
  }

  /** Adds to the turn of the model that is being read, or begins one. */
  say(parts: readonly Part[], path: string): void {
    this.#append(this.#answer ?? this.#begin(path), parts);
  }

  /** The same for a message: two in a row are two turns, and so are two of different phases. */
  sayMessage(parts: readonly Part[], path: string, phase: string | undefined): void {
    const last = this.#answer?.content.at(-1);
    const again = last?.type === 'text' || last?.type === 'refusal';
    const begins = this.#answer === null || again || (this.#said && this.#phase !== phase);
    const answer = begins ? this.#begin(path) : (this.#answer as Message);
    this.#said = true;
    this.#phase = phase;
    this.#append(answer, parts);
  }

  // One by one: passed as arguments of a single call, the parts of a long message would overflow the stack.
  #append({ content }: Message, parts: readonly Part[]): void {
    for (const part of parts) content.push(part);
  }

  #begin(path: string): Message {
    const answer: Message = { role: 'assistant', content: [] };
    this.add(answer, path);
    this.#answer = answer;
    this.#said = false;
    return answer;
  }
}

/**
 * The canonical messages of `input`, behind `before`, with the path of the item that each begins with. @throws ServiceError invalid_request with the path of the faulty
 * item, unsupported_parameter for a reference to what only a stateful service has.
 */
export function* readInput(
  input: unknown,
  before: readonly Message[],
  spaces: Namespaces,
): Steps<{ messages: Message[]; paths: string[] }> {
  const turns = new Turns(spaces);
  for (const message of before) turns.add(message, 'instructions');
  if (typeof input === 'string') {
    turns.add({ role: 'user', content: [{ type: 'text', text: input }] }, 'input');
    return turns;
  }
  if (!present(input)) fail('input', "'input' is required.");
  if (!Array.isArray(input)) fail('input', "'input' must be a string or an array of items.");
  if (input.length === 0) fail('input', "'input' must not be empty.");
  yield* eachInSteps(input, (item, i) => {
    readItem(requireObject(item, `input[${i}]`), `input[${i}]`, turns);
  });
  link(turns);
  yield;
  const pathOf = (index: number) => turns.paths[index] ?? 'input';
  const order: number[] = [];
  const messages = orderToolResults(turns.messages, pathOf, order);
  return { messages, paths: order.map(pathOf) };
}

/** Reasoning of which nothing is known any more. */
const THOUGHT: ReasoningPart = { type: 'reasoning', text: '', kind: 'summary', format: 'unknown' };

/** Whether `id` is one of a reasoning item: a conversation goes on without, unlike without any other item. */
export function isThought(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith('rs_');
}

function readItem(item: JsonObject, path: string, turns: Turns): void {
  const type = optionalString(item['type'], `${path}.type`) ?? (present(item['role']) ? 'message' : null);
  switch (type) {
    case 'message':
      return readMessage(item, path, turns);
    case 'reasoning':
      return readReasoning(item, path, turns);
    case 'function_call':
    case 'custom_tool_call':
      return turns.say([readCall(item, type, { path, spaces: turns.spaces })], path);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return turns.add({ role: 'tool', content: [readResult(item, path)] }, path);
    case 'item_reference':
    case null:
      if (type === null && !present(item['id'])) fail(`${path}.type`, `'${path}.type' is required.`);
      if (isThought(item['id'])) return turns.say([{ ...THOUGHT }], path);
      return unsupported(path, 'Nothing is stored here to refer to; send the items themselves.', {
        reason: 'stateless',
      });
    default: {
      // Only for its own family. Calls belong to the model's turn, their results to the caller's.
      const part: Part = { type: 'server_tool', family: FAMILY, name: type, payload: item };
      if (/_(?:output|response)$/.test(type)) turns.add({ role: 'user', content: [part] }, path);
      else turns.say([part], path);
    }
  }
}

function readMessage(item: JsonObject, path: string, turns: Turns): void {
  const role =
    optionalChoice(item['role'], `${path}.role`, ROLES) ??
    fail(`${path}.role`, `'${path}.role' is required.`);
  if (!present(item['content'])) fail(`${path}.content`, `'${path}.content' is required.`);
  const content = readContent(item['content'], `${path}.content`);
  const phase = optionalChoice(item['phase'], `${path}.phase`, PHASES);
  const { ext } = restOf(item, MESSAGE);
  if (role === 'assistant') {
    for (const part of content) {
      if (phase !== undefined || ext !== undefined) {
        part.ext = { ...part.ext, ...ext, ...(phase === undefined ? {} : { phase }) };
      }
    }
    return turns.sayMessage(content, path, phase);
  }
  const canonical: RoleName = role === 'developer' ? 'system' : role;
  const own: JsonObject = role === 'developer' ? { role, ...ext } : { ...ext };
  const message: Message = { role: canonical, content };
  if (Object.keys(own).length > 0) message.ext = own;
  turns.add(message, path);
}

function readCall(
  item: JsonObject,
  type: string,
  { path, spaces }: { path: string; spaces: Namespaces },
): ToolCallPart {
  const custom = type === 'custom_tool_call';
  const text = custom ? 'input' : 'arguments';
  return {
    type: 'tool_call',
    id: requireString(item['call_id'], `${path}.call_id`),
    name: spaces.nameOf(requireString(item['name'], `${path}.name`), item['namespace']),
    arguments: requireString(item[text], `${path}.${text}`),
    kind: custom ? 'custom' : 'function',
    ...restOf(item, CALL),
  };
}

function readResult(item: JsonObject, path: string): Part {
  const tool_call_id = requireString(item['call_id'], `${path}.call_id`);
  if (!present(item['output'])) fail(`${path}.output`, `'${path}.output' is required.`);
  const content = readContent(item['output'], `${path}.output`);
  return { type: 'tool_result', tool_call_id, content, ...restOf(item, RESULT) };
}

function textsOf(value: unknown, path: string): string[] {
  return (optionalArray(value, path) ?? []).map((item, i) => {
    const at = `${path}[${i}]`;
    return requireString(requireObject(item, at)['text'], `${at}.text`);
  });
}

function readReasoning(item: JsonObject, path: string, turns: Turns): void {
  const summary = textsOf(item['summary'], `${path}.summary`);
  const raw = textsOf(item['content'], `${path}.content`);
  const sealed = optionalString(item['encrypted_content'], `${path}.encrypted_content`) ?? '';
  const id = optionalString(item['id'], `${path}.id`);
  const text = raw.length > 0 ? raw.join('') : summary.join('\n\n');
  const base = { type: 'reasoning' as const, text, ...restOf(item, REASONING) };
  const kind = raw.length > 0 ? 'full' : 'summary';
  if (!isWrapped(sealed)) {
    if (sealed === '') return turns.say([{ ...base, kind, format: 'unknown' }], path);
    const named = id === undefined ? {} : { id };
    const own = text === '' ? 'encrypted' : kind;
    return turns.say([{ ...base, kind: own, data: sealed, ...named, format: RESPONSES_FORMAT }], path);
  }
  const state = unwrapState(sealed);
  if (state?.t !== undefined && state.s !== undefined) {
    turns.signatures.set(state.t, { signature: state.s, format: state.f });
    if (text === '') return;
  }
  const part: ReasoningPart = { ...base, kind: 'full', format: state?.f ?? 'unknown' };
  if (state !== null && state.t === undefined) {
    if (state.s !== undefined) part.signature = state.s;
    if (state.d !== undefined) part.data = state.d;
    if (state.i !== undefined) part.id = state.i;
    if (state.d !== undefined && text === '') part.kind = 'encrypted';
  }
  turns.say([part], path);
}

// Results get the names of their calls, because some families require them, and signatures get to the calls they
// belong to.
function link({ messages, signatures }: Turns): void {
  const names = new Map<string, string>();
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === 'tool_call') {
        names.set(part.id, part.name);
        const signed = signatures.get(part.id);
        if (signed !== undefined) Object.assign(part, signed);
      } else if (part.type === 'tool_result') {
        const name = names.get(part.tool_call_id);
        if (name !== undefined) part.name = name;
      }
    }
  }
}
