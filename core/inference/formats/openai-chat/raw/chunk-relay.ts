// The raw lane of a stream of chunks, for chats and text completions: the provider's bytes are changed as little as
// the grammar allows. Chunks of a known form are copied through a learnt template; all others are parsed and spliced.
// Both report the same to metering. What a choice of a chunk contains depends on the form (`ChunkForm`).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import type { Relay, RelayState, Target } from '../../../canonical/contract.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { newRelayState } from '../../../canonical/relay-state.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type { ReplyEnd, ReplyMeta, Stop, StreamFault, UpstreamFault } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import type { Edit } from '../../../wire/scan.ts';
import { usageText } from '../caller/usage.ts';
import { DONE, failText, KEEP_ALIVE } from '../caller/writer.ts';
import { streamFault } from '../words/classify.ts';
import { findUsage } from '../words/usage.ts';
import { Chunk, type Ours } from './chunk.ts';
import { DATA, type LineSink, RawLines } from './lines.ts';
import { type Hole, Output, Template } from './template.ts';
import { keepsUsage } from './whole.ts';

const EMPTY = Buffer.alloc(0);
const NONE: ReadonlyMap<string, string> = new Map();
/** More than a call can ask for; a provider that begins more is broken. */
const CHOICES_MAX = 128;

/** State of one choice of the stream. */
export interface HeldChoice {
  readonly index: number;
  /** The finish chunk, held back until the end. */
  held: string | null;
}

/** A form of chunk in which only a text differs: other chunks like it need not be parsed. */
export interface Learnt<C> {
  readonly template: Template;
  /** The part of the template that holds the text; other varying parts (obfuscation) are not output. */
  readonly hole: number;
  /** The tool call whose arguments the text belongs to, or null. */
  readonly call: number | null;
  readonly choice: C;
}

/** What distinguishes a stream of chats from one of text completions. */
export interface ChunkForm<C extends HeldChoice> {
  /** Member `object` of every chunk. */
  readonly object: string;
  /** Number of chunk forms that are kept. */
  readonly templates_max: number;
  /** Number of choices that the call asked for. */
  readonly expected: number;
  /** Number of searches that the provider bills per answer. */
  readonly searches: number;
  begin(index: number): C;
  /** Whether a chunk of this choice may be copied unparsed now. */
  isPlain(choice: C): boolean;
  /** Counts a copied text of this many bytes; false when the chunk has to be parsed after all. */
  copied(relay: ChunkRelay<C>, learnt: Learnt<C>, b: Buffer, bytes: number): boolean;
  /** A chunk in the form that every client expects; the same object when it already is. */
  shaped(value: JsonObject, data: Buffer): readonly [value: JsonObject, data: Buffer];
  /** Writes the choices of `chunk`; `clean`: it contains only the provider's own members. */
  choices(relay: ChunkRelay<C>, chunk: Chunk, clean: boolean, out: Output): void;
  /** Writes what an unfinished choice still holds back when the provider's end mark arrives. */
  flush(relay: ChunkRelay<C>, choice: C, out: Output): void;
  /** JSON text of the first choice of an answer that had none; null when none is needed. */
  opening(): string | null;
  /** JSON text of choice `index` as it ends with `stop`. */
  ending(index: number, stop: Stop | null): string;
}

export class ChunkRelay<C extends HeldChoice> implements Relay, LineSink {
  readonly state: RelayState = newRelayState();
  readonly #form: ChunkForm<C>;
  readonly #meta: ReplyMeta;
  readonly #target: Target;
  readonly #ours: Ours;
  readonly #lines: RawLines = new RawLines(this);
  #learnt: Learnt<C>[] = [];
  readonly #choices = new Map<number, C>();
  /** Members of chunks without choices, to be added to the next chunk that has any. */
  readonly #carry = new Map<string, string>();
  #created: number | null = null;
  #last_stop: Stop | null = null;
  /** The provider's usage chunk, rewritten, and the text of its usage object, wherever it was. */
  #usage_chunk: Chunk | null = null;
  #usage_value: string | null = null;

  constructor(form: ChunkForm<C>, meta: ReplyMeta, target: Target) {
    this.#form = form;
    this.#meta = meta;
    this.#target = target;
    const { request_id, model, created, include_usage } = meta;
    const { object } = form;
    const id = JSON.stringify(request_id);
    const { hide } = target;
    this.#ours = { object, id, model: JSON.stringify(model), include_usage, created, hide };
  }

  get done(): boolean {
    return this.state.fault !== null || this.state.finished;
  }

  push(bytes: Buffer): Buffer {
    if (this.done || bytes.length === 0) return EMPTY;
    const out = new Output(bytes.length + 512);
    guarded(
      () => this.#lines.push(bytes, out),
      (fault) => this.fault(fault),
    );
    return out.bytes;
  }

  close(): Buffer {
    if (this.done) return EMPTY;
    const out = new Output(512);
    guarded(
      () => this.#lines.close(out),
      (fault) => this.fault(fault),
    );
    if (!this.done && this.state.stop === null) this.fault(TRUNCATED);
    return out.bytes;
  }

  end(end: ReplyEnd): string {
    const chunks: string[] = [];
    if (this.#choices.size === 0) {
      this.#choices.set(0, this.#form.begin(0));
      const opening = this.#form.opening();
      if (opening !== null) chunks.push(this.chunkOf(opening));
    }
    for (const { index, held } of this.#choices.values()) {
      const own = end.stop !== undefined || held === null;
      chunks.push(own ? this.chunkOf(this.#form.ending(index, end.stop ?? null)) : held);
    }
    if (this.#meta.include_usage) chunks.push(this.#usageChunk(end));
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

  /** The provider's fault; everything after it is ignored. */
  fault(fault: UpstreamFault): void {
    this.state.fault = fault;
  }

  copy(b: Buffer, from: number, to: number, out: Output): boolean {
    if (this.#carry.size > 0) return false;
    for (const learnt of this.#learnt) {
      const { template, hole, choice } = learnt;
      if (choice.held !== null || !this.#form.isPlain(choice) || !template.matches(b, from, to)) continue;
      const bytes = template.textBytes(b, hole);
      if (bytes < 0) throw new ProtocolFault('a chunk is not JSON');
      if (!this.#form.copied(this, learnt, b, bytes)) return false;
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
      // Without its closing blank line the event was cut off; it is not malformed.
      if (!last) throw new ProtocolFault('a chunk is not JSON');
      return;
    }
    // llama.cpp begins a stream of several prompts this way.
    if (value === null) return;
    if (!isObject(value)) throw new ProtocolFault('a chunk is not an object');
    if (event === 'error' || (value['error'] !== undefined && value['error'] !== null)) {
      return this.fault(streamFault(value));
    }
    this.#chunk(value, data, out);
  }

  #done(out: Output): void {
    this.state.finished = true;
    const all = [...this.#choices.values()];
    if (this.state.stop === null && all.every(({ held }) => held !== null)) this.state.stop = this.#last_stop;
    for (const choice of all) if (choice.held === null) this.#form.flush(this, choice, out);
  }

  #chunk(value: JsonObject, data: Buffer, out: Output): void {
    if (this.#created === null) {
      this.#created = typeof value['created'] === 'number' ? value['created'] : this.#meta.created;
      this.#ours.created = this.#created;
    }
    const { service_tier: tier, id } = value;
    if (typeof tier === 'string') this.state.service_tier = tier;
    if (typeof id === 'string' && id !== '') this.state.upstream_id ??= id;
    const usage = findUsage(value, this.#target.flags, this.#form.searches);
    if (usage !== null) this.state.usage = usage;
    const choices = value['choices'];
    if (!Array.isArray(choices) || choices.length === 0) return this.#aside(value, data);
    const chunk = new Chunk(...this.#form.shaped(value, data), this.#ours, this.#carry);
    this.#usage_value = chunk.memberText('usage') ?? this.#usage_value;
    const clean = this.#carry.size === 0;
    this.#carry.clear();
    this.#form.choices(this, chunk, clean, out);
  }

  /** A chunk without choices: usage is held back, anything else is added to the next chunk. */
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

  /** Choice `index`, created when it is new. @throws ProtocolFault for more choices than anybody asks for */
  choice(index: number): { readonly choice: C; readonly first: boolean } {
    const known = this.#choices.get(index);
    if (known !== undefined) return { choice: known, first: false };
    if (this.#choices.size >= CHOICES_MAX) throw new ProtocolFault('too many choices');
    const choice = this.#form.begin(index);
    this.#choices.set(index, choice);
    this.state.stop = null;
    return { choice, first: true };
  }

  /** A choice has ended with `stop`; its finish chunk is held back. */
  finished(stop: Stop): void {
    this.state.semantic = true;
    this.#last_stop = stop;
    const all = [...this.#choices.values()];
    // The end of one of several answers is not the end: the others may not even have begun.
    const whole = all.length >= this.#form.expected && all.every(({ held }) => held !== null);
    this.state.stop = whole ? stop : null;
  }

  /** Keeps the form of `chunk`, whose text is `text` and which `inner` rewrites inside its choice. */
  learn(chunk: Chunk, text: Hole, inner: readonly Edit[], of: Pick<Learnt<C>, 'call' | 'choice'>): void {
    const usage = chunk.value['usage'];
    if (usage !== undefined && usage !== null) return;
    const shift = DATA.length;
    const holes = [{ from: text.from + shift, to: text.to + shift }];
    const padding = chunk.top.members.find(({ name }) => name === 'obfuscation');
    if (padding !== undefined && chunk.bytes[padding.from] === 0x22) {
      holes.push({ from: padding.from + 1 + shift, to: padding.to - 1 + shift });
    }
    const edits = [...chunk.edits, ...inner].map((edit) => ({
      from: edit.from + shift,
      to: edit.to + shift,
      text: edit.text,
    }));
    const template = new Template(Buffer.concat([DATA, chunk.bytes]), edits, holes);
    const hole = holes.length === 1 || holes[0]!.from < holes[1]!.from ? 0 : 1;
    this.#learnt = [{ template, hole, ...of }, ...this.#learnt].slice(0, this.#form.templates_max);
  }

  /** A chunk made by the gateway around the JSON text `choice`. */
  chunkOf(choice: string): string {
    return `${this.#head()}[${choice}]${this.#meta.include_usage ? ',"usage":null' : ''}}\n\n`;
  }

  #head(): string {
    const { object, id, model, created } = this.#ours;
    return `data: {"id":${id},"object":"${object}","created":${created},"model":${model},"choices":`;
  }

  #usageChunk(end: ReplyEnd): string {
    const sent = this.#usage_value;
    const how = { end, target: this.#target };
    const keep = sent !== null && keepsUsage(JSON.parse(sent), this.state.usage, how);
    const text = keep ? sent : usageText(end.usage);
    if (this.#usage_chunk === null) return `${this.#head()}[],"usage":${text}}\n\n`;
    return this.#usage_chunk.withUsage(text);
  }
}
