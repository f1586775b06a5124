// The raw lane of a chat stream: upstream bytes to caller bytes with as little touched as the grammar allows. Text
// chunks go through a learnt template, all others are parsed and spliced; both say the same to the meter.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import type { Relay, Target } from '../../../canonical/contract.ts';
import { newRelayState } from '../../../canonical/relay-state.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type {
  CanonicalRequest,
  ReplyEnd,
  ReplyMeta,
  Stop,
  StreamFault,
  UpstreamFault,
} from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { finishReason } from '../caller/pieces.ts';
import { usageText } from '../caller/usage.ts';
import { DONE, failText, KEEP_ALIVE } from '../caller/writer.ts';
import { streamFault } from '../words/classify.ts';
import { searchesSold } from '../words/fields.ts';
import { plainContent } from '../words/parts.ts';
import { finishFault, stopOf } from '../words/stop.ts';
import { findUsage } from '../words/usage.ts';
import {
  Chunk,
  choiceOf,
  isSemantic,
  type Ours,
  RawChoice,
  type Rewritten,
  rewriteChoice,
  stepDeltas,
} from './chunk.ts';
import { DATA, type LineSink, RawLines } from './lines.ts';
import { Output, Template } from './template.ts';
import { keepsUsage, outputBytes } from './whole.ts';

const EMPTY = Buffer.alloc(0);
const NONE: ReadonlyMap<string, string> = new Map();
/** Forms of chunk kept: text, reasoning, refusal, and one for a change of fingerprint. */
const TEMPLATES_MAX = 4;

interface Learnt {
  template: Template;
  /** Hole that holds the text; others (obfuscation) are not output. */
  hole: number;
  /** The tool call whose arguments the text is, or null. */
  call: number | null;
  choice: RawChoice;
}

export class RawChatRelay implements Relay, LineSink {
  readonly state = newRelayState();
  readonly #meta: ReplyMeta;
  readonly #target: Target;
  readonly #expected: number;
  readonly #searches: number;
  readonly #choices = new Map<number, RawChoice>();
  readonly #carry = new Map<string, string>();
  #learnt: Learnt[] = [];
  readonly #lines: RawLines = new RawLines(this);
  readonly #ours: Ours;
  #created: number | null = null;
  #last_stop: Stop | null = null;
  /** The upstream's usage chunk, rewritten, and the text of its usage object wherever it stood. */
  #usage_chunk: Chunk | null = null;
  #usage_value: string | null = null;

  constructor(meta: ReplyMeta, request: CanonicalRequest, target: Target) {
    this.#meta = meta;
    const { request_id, model, created, include_usage } = meta;
    this.#ours = { id: JSON.stringify(request_id), model: JSON.stringify(model), include_usage, created };
    this.#target = target;
    this.#expected = request.generation.candidates ?? 1;
    this.#searches = searchesSold(request, target);
  }

  get done(): boolean {
    return this.state.fault !== null || this.state.finished;
  }

  push(bytes: Buffer): Buffer {
    if (this.done || bytes.length === 0) return EMPTY;
    const out = new Output(bytes.length + 512);
    try {
      this.#lines.push(bytes, out);
    } catch (error) {
      this.#failed(error);
    }
    return out.bytes;
  }

  close(): Buffer {
    if (this.done) return EMPTY;
    const out = new Output(512);
    try {
      this.#lines.close(out);
      if (!this.done && this.state.stop === null) this.#fail(TRUNCATED);
    } catch (error) {
      this.#failed(error);
    }
    return out.bytes;
  }

  end(end: ReplyEnd): string {
    const { include_usage, legacy_functions } = this.#meta;
    const chunks: string[] = [];
    if (this.#choices.size === 0) {
      this.#choices.set(0, new RawChoice(0));
      chunks.push(this.#plain(choiceOf(0, '"role":"assistant","content":""')));
    }
    for (const choice of this.#choices.values()) {
      const reason = finishReason(end.stop ?? null, legacy_functions);
      const own = end.stop !== undefined || choice.held === null;
      chunks.push(
        own ? this.#plain(choiceOf(choice.index, '', JSON.stringify(reason))) : (choice.held as string),
      );
    }
    if (include_usage) chunks.push(this.#usageChunk(end));
    let tail = '';
    for (const [name, text] of this.#carry) tail += `,${JSON.stringify(name)}:${text}`;
    const last = chunks.pop() as string;
    chunks.push(`${last.slice(0, -3)}${tail},"svc":${svcText(this.#meta, end)}}\n\n`, DONE);
    return chunks.join('');
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    return failText(this.#meta, fault, end);
  }

  keepAlive(): string {
    return KEEP_ALIVE;
  }

  #failed(error: unknown): void {
    if (!(error instanceof ProtocolFault)) throw error;
    this.#fail({ class: 'protocol', status: 200, message: error.message });
  }

  #fail(fault: UpstreamFault): void {
    this.state.fault = fault;
  }

  copy(b: Buffer, from: number, to: number, out: Output): boolean {
    if (this.#carry.size > 0) return false;
    for (const { template, hole, call, choice } of this.#learnt) {
      if (choice.held !== null || choice.calls.waiting || !template.matches(b, from, to)) continue;
      const bytes = template.textBytes(b, hole);
      if (bytes < 0) throw new ProtocolFault('a chunk is not JSON');
      if (call !== null && !choice.calls.more(call, template.text(b, hole) ?? '')) return false;
      if (bytes > 0) {
        this.state.semantic = true;
        this.state.output_bytes += bytes;
      }
      template.write(b, out);
      return true;
    }
    return false;
  }

  data(data: Buffer, event: string | null, out: Output, last: boolean): void {
    const text = data.toString('utf8');
    if (text === '[DONE]') return this.#done(out);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Without its closing blank line the event is cut, not malformed.
      if (!last) throw new ProtocolFault('a chunk is not JSON');
      return;
    }
    if (!isObject(value)) throw new ProtocolFault('a chunk is not an object');
    if (event === 'error' || (value['error'] !== undefined && value['error'] !== null)) {
      return this.#fail(streamFault(value));
    }
    this.#chunk(value, data, out);
  }

  #done(out: Output): void {
    this.state.finished = true;
    if (this.state.stop === null && [...this.#choices.values()].every((choice) => choice.held !== null)) {
      this.state.stop = this.#last_stop;
    }
    for (const choice of this.#choices.values()) {
      if (choice.held !== null) continue;
      for (const delta of stepDeltas(choice, choice.calls.flush(), this.#meta.request_id)) {
        out.text(this.#plain(choiceOf(choice.index, delta)));
      }
    }
  }

  #chunk(value: JsonObject, data: Buffer, out: Output): void {
    if (this.#created === null) {
      this.#created = typeof value['created'] === 'number' ? value['created'] : this.#meta.created;
      this.#ours.created = this.#created;
    }
    const tier = value['service_tier'];
    if (typeof tier === 'string') this.state.service_tier = tier;
    const usage = findUsage(value, this.#target.flags, this.#searches);
    if (usage !== null) this.state.usage = usage;
    const choices = value['choices'];
    if (!Array.isArray(choices) || choices.length === 0) return this.#aside(value, data);
    if (!choices.every(isPlain)) {
      const whole = { ...value, choices: choices.map(asDelta) };
      return this.#choicesOf(whole, Buffer.from(JSON.stringify(whole)), out);
    }
    this.#choicesOf(value, data, out);
  }

  /** A chunk without choices: usage is held, anything else rides on the next chunk. */
  #aside(value: JsonObject, data: Buffer): void {
    const chunk = new Chunk(value, Buffer.from(data), this.#ours, NONE);
    const usage = chunk.memberText('usage');
    if (usage === null) {
      for (const [name, text] of chunk.strays()) this.#carry.set(name, text);
      return;
    }
    this.#usage_value = usage;
    if (Array.isArray(value['choices'])) this.#usage_chunk = chunk;
  }

  #choicesOf(value: JsonObject, data: Buffer, out: Output): void {
    const chunk = new Chunk(value, data, this.#ours, this.#carry);
    this.#usage_value = chunk.memberText('usage') ?? this.#usage_value;
    const carried = this.#carry.size > 0;
    this.#carry.clear();
    const choices = value['choices'] as JsonObject[];
    for (let at = 0; at < choices.length && this.state.fault === null; at++) {
      const { index } = choices[at]!;
      this.#choice(chunk, at, typeof index === 'number' ? index : at, { out, plain: !carried });
    }
  }

  #choice(chunk: Chunk, at: number, index: number, { out, plain }: { out: Output; plain: boolean }): void {
    const value = (chunk.value['choices'] as JsonObject[])[at]!;
    const delta = value['delta'] as JsonObject;
    let choice = this.#choices.get(index);
    const first = choice === undefined;
    if (choice === undefined) {
      if (this.#choices.size >= 128) throw new ProtocolFault('too many choices');
      choice = new RawChoice(index);
      this.#choices.set(index, choice);
    }
    if (choice.held !== null) return;
    if (isObject(delta['function_call']) && !choice.legacy_call) {
      choice.legacy_call = true;
      this.state.tool_calls++;
    }
    if (typeof delta['refusal'] === 'string' && delta['refusal'] !== '') choice.refusal = true;
    const fault = typeof value['finish_reason'] === 'string' ? finishFault(value['finish_reason']) : null;
    if (fault !== null) return this.#fail(fault);
    const exclude = this.#meta.reasoning === 'exclude';
    const calls = choice.calls.length;
    const result = rewriteChoice(chunk, at, choice, { first, exclude, request_id: this.#meta.request_id });
    this.state.tool_calls += choice.calls.length - calls;
    out.text(result.text);
    if (isSemantic(delta)) {
      this.state.semantic = true;
      this.state.output_bytes += outputBytes(delta);
    }
    if (result.finished) this.#finished(choice, value['finish_reason'] as string);
    else if (first) this.state.stop = null;
    if (plain && result.learn !== null) this.#learn(chunk, result.learn, choice);
  }

  #finished(choice: RawChoice, raw: string): void {
    this.state.semantic = true;
    this.#last_stop = stopOf(raw, { refusal: choice.refusal, calls: choice.called });
    const all = [...this.#choices.values()];
    // One of several answers is not the end: the others may not even have begun.
    const whole = all.length >= this.#expected && all.every(({ held }) => held !== null);
    this.state.stop = whole ? this.#last_stop : null;
  }

  #learn(chunk: Chunk, learn: NonNullable<Rewritten['learn']>, choice: RawChoice): void {
    const usage = chunk.value['usage'];
    if (usage !== undefined && usage !== null) return;
    const shift = DATA.length;
    const moved = (edit: { from: number; to: number }): { from: number; to: number } => ({
      from: edit.from + shift,
      to: edit.to + shift,
    });
    const holes = [moved(learn.hole)];
    const padding = chunk.top.members.find(({ name }) => name === 'obfuscation');
    if (padding !== undefined && chunk.bytes[padding.from] === 0x22) {
      holes.push(moved({ from: padding.from + 1, to: padding.to - 1 }));
    }
    const edits = [...chunk.edits, ...learn.edits].map((edit) => ({ ...moved(edit), text: edit.text }));
    const template = new Template(Buffer.concat([DATA, chunk.bytes]), edits, holes);
    const hole = holes.length === 1 || holes[0]!.from < holes[1]!.from ? 0 : 1;
    const form: Learnt = { template, hole, call: learn.call, choice };
    this.#learnt = [form, ...this.#learnt].slice(0, TEMPLATES_MAX);
  }

  /** A chunk of ours around `choice`. */
  #plain(choice: string): string {
    return `${this.#head()}[${choice}]${this.#meta.include_usage ? ',"usage":null' : ''}}\n\n`;
  }

  #head(): string {
    const { id, model, created } = this.#ours;
    return `data: {"id":${id},"object":"chat.completion.chunk","created":${created},"model":${model},"choices":`;
  }

  #usageChunk(end: ReplyEnd): string {
    const keep = keepsUsage(this.state.usage, end, this.#target) && this.#usage_value !== null;
    const text = keep ? (this.#usage_value as string) : usageText(end.usage);
    if (this.#usage_chunk === null) return `${this.#head()}[],"usage":${text}}\n\n`;
    return this.#usage_chunk.withUsage(text);
  }
}

/** Whether a choice of a chunk is what clients expect: a delta whose content is no list. */
function isPlain(choice: unknown): boolean {
  if (!isObject(choice) || !isObject(choice['delta'])) return false;
  return !Array.isArray(choice['delta']['content']);
}

/** A choice as a delta, also where it carries a whole message instead. */
function asDelta(value: unknown): unknown {
  if (!isObject(value)) throw new ProtocolFault('a choice is not an object');
  if (isObject(value['delta'])) return { ...value, delta: plainContent(value['delta']) };
  const { message, ...rest } = value;
  return { ...rest, delta: isObject(message) ? plainContent(message) : {} };
}
