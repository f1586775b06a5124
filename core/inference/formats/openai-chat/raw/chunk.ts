// Rewrites one chunk of a provider with the caller's dialect: our id and model, usage as the caller asked for it, and
// the order of the grammar when a compatible server strays from it. Everything else keeps its bytes.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { heldBack } from '../../../wire/private.ts';
import {
  changeMembers,
  duplicated,
  type Edit,
  memberOf,
  scanArray,
  scanObject,
  splice,
  type TopLevel,
} from '../../../wire/scan.ts';
import { chatFinish } from '../caller/pieces.ts';
import type { CallStep } from '../words/calls.ts';
import { callDelta } from '../words/parts.ts';
import { choiceOf, inOrder, type RawChoice, stepDeltas } from './steps.ts';
import type { Hole } from './template.ts';
import { REASONING_MEMBERS, WITHOUT_REASONING } from './whole.ts';

/**
 * Members that every chunk has, or that are rewritten; anything else in a chunk without choices is added to the next
 * one.
 */
const STANDARD = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'svc', 'system_fingerprint', 'service_tier'],
  'obfuscation',
]);

/** Members of a text delta that may be learnt as a template. */
const TEXTS = new Set(['content', 'reasoning_content', 'reasoning', 'refusal']);

/** What is ours in every chunk, as JSON text. */
export interface Ours {
  /** Word for a chunk; absent: that of chats. */
  object?: string;
  id: string;
  model: string;
  include_usage: boolean;
  /** That of the first chunk. */
  created: number;
  /** Members of the endpoint's chunks that no caller gets. */
  hide?: readonly string[] | undefined;
}

/** A chunk: its bytes, and where its members are in them. */
export class Chunk {
  readonly value: JsonObject;
  readonly bytes: Buffer;
  readonly top: TopLevel;
  readonly edits: Edit[];
  readonly choices: { from: number; to: number }[];
  readonly #left: Readonly<Record<string, null>>;

  /** `carry` are members waiting for a chunk with choices. */
  constructor(value: JsonObject, bytes: Buffer, ours: Ours, carry: ReadonlyMap<string, string>) {
    let top = scanObject(bytes);
    this.value = value;
    this.bytes = bytes;
    if (top === null || duplicated(top) !== null) {
      // The scan is not certain, or a key occurs twice: the parsed value is written, as every reader would see it.
      this.bytes = Buffer.from(JSON.stringify(value));
      top = scanObject(this.bytes) as TopLevel;
    }
    this.top = top;
    this.#left = heldBack(Object.keys(value), ours.hide);
    const changes: Record<string, string | null> = {
      ...this.#left,
      id: ours.id,
      model: ours.model,
      svc: null,
      usage: ours.include_usage ? 'null' : null,
    };
    if (value['created'] !== ours.created) changes['created'] = String(ours.created);
    const { object = 'chat.completion.chunk' } = ours;
    if (value['object'] !== object) changes['object'] = JSON.stringify(object);
    for (const [name, text] of carry) if (!(name in value)) changes[name] = text;
    this.edits = changeMembers(top, changes);
    const choices = memberOf(top, 'choices');
    this.choices = (choices === undefined ? null : scanArray(this.bytes, choices.from)) ?? [];
  }

  /** The chunk as a line with its blank line, with `edits` applied within the choices. */
  line(edits: readonly Edit[]): string {
    return `data: ${splice(this.bytes, [...this.edits, ...edits]).toString('utf8')}\n\n`;
  }

  /** The chunk with `text` instead of all its choices. */
  withChoice(text: string): string {
    const choices = memberOf(this.top, 'choices');
    if (choices === undefined) return this.line([]);
    return this.line([{ from: choices.from, to: choices.to, text: `[${text}]` }]);
  }

  /** A chunk without choices, with `text` as its usage. */
  withUsage(text: string): string {
    const usage = memberOf(this.top, 'usage');
    const edits = this.edits.filter((edit) => edit.from !== usage?.from);
    if (usage !== undefined) edits.push({ from: usage.from, to: usage.to, text });
    return `data: ${splice(this.bytes, edits).toString('utf8')}\n\n`;
  }

  /** JSON text of the top-level member `name`, or null when it is absent or null. */
  memberText(name: string): string | null {
    const member = memberOf(this.top, name);
    const text = member === undefined ? 'null' : this.bytes.toString('utf8', member.from, member.to);
    return text === 'null' ? null : text;
  }

  /** Members of a chunk without choices for which the grammar has no place: they are added to the next chunk. */
  strays(): [string, string][] {
    const strays: [string, string][] = [];
    for (const { name, from, to } of this.top.members) {
      if (!STANDARD.has(name) && !(name in this.#left))
        strays.push([name, this.bytes.toString('utf8', from, to)]);
    }
    return strays;
  }
}

/** Whether a member of a delta has a value. */
function says(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}

/** Whether `delta` has anything besides its role. */
function hasPayload(delta: JsonObject): boolean {
  return Object.entries(delta).some(([name, value]) => name !== 'role' && says(value));
}

const SEMANTIC = [
  'content',
  'refusal',
  ...REASONING_MEMBERS,
  'tool_calls',
  'function_call',
  'images',
  'audio',
  'annotations',
];

/** Whether `delta` has a part of the answer (docs/streams.md#when-the-status-goes-out). */
export function isSemantic(delta: JsonObject): boolean {
  return SEMANTIC.some((name) => says(delta[name]));
}

/** A chunk in which only one text is new. */
interface Learnable {
  edits: Edit[];
  hole: Hole;
  /** The tool call whose arguments the text is, or null. */
  call: number | null;
}

/** The result of rewriting one choice of one chunk. */
interface Rewritten {
  text: string;
  finished: boolean;
  /** The chunk was forwarded with these edits and one text, so it can be learnt. */
  learn: Learnable | null;
}

/** Rewrites choice `at` of `chunk`; `choice` is null when this chunk is its first. */
export function rewriteChoice(
  chunk: Chunk,
  at: number,
  choice: RawChoice,
  how: { first: boolean; exclude: boolean; request_id: string },
): Rewritten {
  const span = chunk.choices[at]!;
  const outer = scanObject(chunk.bytes, span.from) as TopLevel;
  const value = (chunk.value['choices'] as JsonObject[])[at] as JsonObject;
  const delta = value['delta'] as JsonObject;
  const delta_from = memberOf(outer, 'delta')!.from;
  const inner = scanObject(chunk.bytes, delta_from) as TopLevel;
  const raw = value['finish_reason'];
  const finish = typeof raw === 'string' && raw !== '' ? raw : null;
  const shown = how.exclude ? withoutReasoning(delta) : delta;
  const payload = hasPayload(shown);
  const one = new OneChoice(chunk, outer, inner, span, choice);
  let text = '';
  if (how.first) {
    if (!payload && finish === null) {
      return { text: one.roleChunk(delta, how.exclude), finished: false, learn: null };
    }
    text += one.synthRole();
  }
  const removed: Record<string, string | null> = {};
  if ('role' in delta) removed['role'] = null;
  if (how.exclude) Object.assign(removed, WITHOUT_REASONING);
  const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'] : [];
  if (calls.length === 0 && payload && choice.calls.waiting)
    text += one.steps(choice.calls.flush(), how.request_id);
  let learn: Learnable | null = null;
  if (calls.length > 0) {
    const written = one.callChunks(calls, shown, removed, finish, how.request_id);
    text += written.text;
    learn = written.learn;
  } else if (payload) {
    const edits = one.edits(removed, finish === null ? {} : { finish_reason: 'null' });
    text += chunk.line(edits);
    if (finish === null) learn = one.learnable(shown, value, edits);
  } else if (finish === null && !(how.exclude && hasPayload(delta))) {
    text += chunk.line(one.edits(removed, {}));
  }
  if (finish === null) return { text, finished: false, learn };
  text += one.steps(choice.calls.flush(), how.request_id);
  const word = chatFinish(finish, { refusal: choice.refusal, calls: choice.called });
  const said = word === finish ? {} : { finish_reason: JSON.stringify(word) };
  choice.held = chunk.line(one.edits(removed, payload ? { delta: '{}', ...said } : said));
  return { text, finished: true, learn: null };
}

function withoutReasoning(delta: JsonObject): JsonObject {
  const shown = { ...delta };
  for (const name of REASONING_MEMBERS) delete shown[name];
  return shown;
}

/** The choice that is being rewritten, with the positions of its members. */
class OneChoice {
  readonly #chunk: Chunk;
  readonly #outer: TopLevel;
  readonly #inner: TopLevel;
  readonly #span: { from: number; to: number };
  readonly #choice: RawChoice;

  constructor(
    chunk: Chunk,
    outer: TopLevel,
    inner: TopLevel,
    span: { from: number; to: number },
    choice: RawChoice,
  ) {
    this.#chunk = chunk;
    this.#outer = outer;
    this.#inner = inner;
    this.#span = span;
    this.#choice = choice;
  }

  /** Edits for changed members of the delta and of the choice, and for the other choices to go. */
  edits(delta: Record<string, string | null>, choice: Record<string, string | null>): Edit[] {
    const others = this.#others();
    const outer: Record<string, string | null> = { ...choice };
    if (!this.#outer.members.some(({ name }) => name === 'index'))
      outer['index'] = String(this.#choice.index);
    const own = changeMembers(this.#outer, outer);
    return 'delta' in choice
      ? [...own, ...others]
      : [...own, ...changeMembers(this.#inner, delta), ...others];
  }

  /** A chunk gets one choice: the others of this one get chunks of their own. */
  #others(): Edit[] {
    const { choices, top } = this.#chunk;
    if (choices.length === 1) return [];
    const whole = memberOf(top, 'choices')!;
    return [
      { from: whole.from + 1, to: this.#span.from, text: '' },
      { from: this.#span.to, to: whole.to - 1, text: '' },
    ];
  }

  /** The provider's own role chunk, completed if it lacks something. */
  roleChunk(delta: JsonObject, exclude: boolean): string {
    const changes: Record<string, string | null> = exclude ? { ...WITHOUT_REASONING } : {};
    if (delta['role'] !== 'assistant') changes['role'] = '"assistant"';
    if (!('content' in delta)) changes['content'] = '""';
    return this.#chunk.line(this.edits(changes, {}));
  }

  synthRole(): string {
    return this.#plain('"role":"assistant","content":""');
  }

  #plain(delta: string): string {
    return this.#chunk.withChoice(choiceOf(this.#choice.index, delta));
  }

  /** Tool-call deltas: unchanged when they follow the grammar, otherwise one by one. */
  callChunks(
    entries: readonly unknown[],
    delta: JsonObject,
    removed: Record<string, string | null>,
    finish: string | null,
    request_id: string,
  ): { text: string; learn: Learnable | null } {
    const { calls } = this.#choice;
    const { tool_calls: _calls, ...rest } = delta;
    const beside = hasPayload(rest);
    const taken = entries.map((entry) => ({ entry, steps: calls.take(callDelta(entry)), slot: calls.taken }));
    const steps = taken.flatMap((one) => one.steps);
    const change = finish === null ? {} : { finish_reason: 'null' };
    const [entry] = entries;
    if (entries.length === 1 && !beside && isObject(entry) && inOrder(entry, steps)) {
      const edits = this.edits(removed, change);
      return { text: this.#chunk.line(edits), learn: this.#learnableCall(steps, edits) };
    }
    for (const one of taken) this.#keepExtras(one.entry, one.slot);
    const text = beside ? this.#chunk.line(this.edits({ ...removed, tool_calls: null }, change)) : '';
    return { text: text + this.steps(steps, request_id), learn: null };
  }

  /** Unknown members of a call are added to the next chunk written for it. */
  #keepExtras(entry: unknown, slot: number): void {
    if (!isObject(entry)) return;
    const { index: _index, id: _id, type: _type, function: _function, custom: _custom, ...rest } = entry;
    const text = Object.entries(rest).map(
      ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    if (text.length > 0) this.#choice.extras.set(slot, text.join(''));
  }

  steps(steps: readonly CallStep[], request_id: string): string {
    return stepDeltas(this.#choice, steps, request_id)
      .map((delta) => this.#plain(delta))
      .join('');
  }

  /** What can be learnt of a chunk with one text and nothing else that changes. */
  learnable(delta: JsonObject, value: JsonObject, edits: Edit[]): Learnable | null {
    const names = Object.keys(delta).filter((name) => name !== 'role' && delta[name] !== null);
    const [name] = names;
    if (names.length !== 1 || name === undefined || !TEXTS.has(name) || typeof delta[name] !== 'string')
      return null;
    if (this.#chunk.choices.length !== 1 || (value['logprobs'] ?? null) !== null) return null;
    const member = memberOf(this.#inner, name)!;
    return { edits, hole: { from: member.from + 1, to: member.to - 1 }, call: null };
  }

  /** The same for a chunk that continues the arguments of one call. */
  #learnableCall(steps: readonly CallStep[], edits: Edit[]): Learnable | null {
    const { bytes, choices } = this.#chunk;
    const [step] = steps;
    const list = memberOf(this.#inner, 'tool_calls')!;
    if (step?.step !== 'text' || choices.length !== 1 || this.#inner.members.length !== 1) return null;
    const [span] = scanArray(bytes, list.from) ?? [];
    const entry = span === undefined ? null : scanObject(bytes, span.from);
    const body = entry === null ? undefined : memberOf(entry, step.call.kind);
    const inner = body === undefined ? null : scanObject(bytes, body.from);
    const text =
      inner === null ? undefined : memberOf(inner, step.call.kind === 'custom' ? 'input' : 'arguments');
    if (text === undefined) return null;
    return { edits, hole: { from: text.from + 1, to: text.to - 1 }, call: step.call.slot };
  }
}
