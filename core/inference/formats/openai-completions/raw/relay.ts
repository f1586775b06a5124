// The raw lane of a stream of text completions: upstream bytes to caller bytes with as little touched as the grammar
// allows. Chunks of several choices are split, finish chunks are held to the end, everything else keeps its bytes. Text
// chunks go through a learnt template, all others are parsed and spliced, as in the raw lane of chats.
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
import { changeMembers, type Edit, memberOf, scanObject, type TopLevel } from '../../../wire/scan.ts';
import { usageText } from '../../openai-chat/caller/usage.ts';
import { DONE, failText, KEEP_ALIVE } from '../../openai-chat/caller/writer.ts';
import { Chunk, type Ours } from '../../openai-chat/raw/chunk.ts';
import { DATA, type LineSink, RawLines } from '../../openai-chat/raw/lines.ts';
import { Output, Template } from '../../openai-chat/raw/template.ts';
import { keepsUsage } from '../../openai-chat/raw/whole.ts';
import { streamFault } from '../../openai-chat/words/classify.ts';
import { finishFault, stopOf } from '../../openai-chat/words/stop.ts';
import { findUsage } from '../../openai-chat/words/usage.ts';
import { finishText } from '../caller/text.ts';
import { choicesOf, echoedBytes, finishWord, PLAIN, textOf } from './text.ts';

const EMPTY = Buffer.alloc(0);
/** Forms of chunk kept: choices of a call, and one for a change of what is around them. */
const TEMPLATES_MAX = 9;
const NONE: ReadonlyMap<string, string> = new Map();
/** More than a call can ask for; an upstream that begins more is broken. */
const CHOICES_MAX = 128;
/** Members of a choice that a finish chunk of its own repeats; others went out with the text. */
const OF_FINISH: ReadonlySet<string> = new Set(['index', 'text', 'logprobs', 'finish_reason', 'stop_reason']);

interface Choice {
  readonly index: number;
  /** Bytes still to come that repeat the prompt. */
  echoed: number;
  /** The finish chunk, held to the end. */
  held: string | null;
}

interface Learnt {
  readonly template: Template;
  /** Hole that holds the text; others (obfuscation) are not output. */
  readonly hole: number;
  readonly choice: Choice;
}

export class RawCompletionsRelay implements Relay, LineSink {
  readonly state = newRelayState();
  readonly #meta: ReplyMeta;
  readonly #target: Target;
  /** Without its prompt. */
  readonly #asked: Pick<CanonicalRequest, 'generation' | 'completion'>;
  readonly #ours: Ours;
  readonly #lines: RawLines = new RawLines(this);
  #learnt: Learnt[] = [];
  readonly #choices = new Map<number, Choice>();
  /** Members of chunks without choices, for the next chunk that has any. */
  readonly #carry = new Map<string, string>();
  #created: number | null = null;
  #last_stop: Stop | null = null;
  /** The upstream's usage chunk, rewritten, and the text of its usage object wherever it stood. */
  #usage_chunk: Chunk | null = null;
  #usage_value: string | null = null;

  constructor(meta: ReplyMeta, { generation, completion }: CanonicalRequest, target: Target) {
    this.#meta = meta;
    this.#target = target;
    this.#asked = completion === undefined ? { generation } : { generation, completion };
    const { request_id, model, created, include_usage } = meta;
    const id = JSON.stringify(request_id);
    this.#ours = { object: 'text_completion', id, model: JSON.stringify(model), include_usage, created };
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
    } catch (error) {
      this.#failed(error);
    }
    if (!this.done && this.state.stop === null) this.#fail(TRUNCATED);
    return out.bytes;
  }

  end(end: ReplyEnd): string {
    if (this.#choices.size === 0) this.#choices.set(0, { index: 0, echoed: 0, held: null });
    const chunks: string[] = [];
    for (const { index, held } of this.#choices.values()) {
      const own = end.stop !== undefined || held === null;
      chunks.push(own ? this.#finish(index, finishText(end.stop ?? null)) : held);
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

  #failed(error: unknown): void {
    if (!(error instanceof ProtocolFault)) throw error;
    this.#fail({ class: 'protocol', status: 200, message: error.message });
  }

  #fail(fault: UpstreamFault): void {
    this.state.fault = fault;
  }

  copy(b: Buffer, from: number, to: number, out: Output): boolean {
    if (this.#carry.size > 0) return false;
    for (const { template, hole, choice } of this.#learnt) {
      if (choice.held !== null || !template.matches(b, from, to)) continue;
      const bytes = template.textBytes(b, hole);
      if (bytes < 0) throw new ProtocolFault('a chunk is not JSON');
      this.#count(choice, bytes);
      template.write(b, out);
      return true;
    }
    return false;
  }

  data(data: Buffer, event: string | null, out: Output, last: boolean): void {
    const text = data.toString('utf8');
    if (text === '[DONE]') {
      this.state.finished = true;
      const all = [...this.#choices.values()];
      if (this.state.stop === null && all.every(({ held }) => held !== null))
        this.state.stop = this.#last_stop;
      return;
    }
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
    out.text(this.#chunk(value, data));
  }

  #chunk(value: JsonObject, data: Buffer): string {
    if (this.#created === null) {
      this.#created = typeof value['created'] === 'number' ? value['created'] : this.#meta.created;
      this.#ours.created = this.#created;
    }
    const tier = value['service_tier'];
    if (typeof tier === 'string') this.state.service_tier = tier;
    const usage = findUsage(value, this.#target.flags);
    if (usage !== null) this.state.usage = usage;
    const choices = value['choices'];
    if (!Array.isArray(choices) || choices.length === 0) {
      this.#aside(value, data);
      return '';
    }
    const chunk = new Chunk(value, data, this.#ours, this.#carry);
    const plain = this.#carry.size === 0 && choices.length === 1;
    this.#usage_value = chunk.memberText('usage') ?? this.#usage_value;
    this.#carry.clear();
    let out = '';
    for (let at = 0; at < choices.length && this.state.fault === null; at++) {
      const choice: unknown = choices[at];
      if (!isObject(choice)) throw new ProtocolFault('a choice is not an object');
      out += this.#choice(chunk, at, choice, plain);
    }
    return out;
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

  /** `plain`: the chunk holds this choice alone, and nothing but the upstream's own members. */
  #choice(chunk: Chunk, at: number, value: JsonObject, plain: boolean): string {
    const index = typeof value['index'] === 'number' ? value['index'] : at;
    const choice = this.#begin(index);
    if (choice.held !== null) return '';
    const text = textOf(value);
    const raw = value['finish_reason'];
    const finish = typeof raw === 'string' && raw !== '' ? raw : null;
    const fault = finish === null ? null : finishFault(finish);
    if (fault !== null) {
      this.#fail(fault);
      return '';
    }
    this.#count(choice, Buffer.byteLength(text));
    const outer = scanObject(chunk.bytes, chunk.choices[at]!.from) as TopLevel;
    const completed = missing(value, index);
    const others = othersOf(chunk, at);
    const line = (changes: Record<string, string | null>): string =>
      chunk.line([...changeMembers(outer, { ...completed, ...changes }), ...others]);
    if (finish === null) {
      const changes = raw === null ? {} : { finish_reason: 'null' };
      const alike = plain && text !== '' && (value['logprobs'] ?? null) === null;
      if (alike) this.#learn(chunk, outer, changeMembers(outer, { ...completed, ...changes }), choice);
      return line(changes);
    }
    const word = finishWord(finish);
    const said = word === finish ? {} : { finish_reason: JSON.stringify(word) };
    const payload = text !== '' || (value['logprobs'] ?? null) !== null;
    choice.held = line(payload ? { ...withoutPayload(outer), ...said } : said);
    this.#finished(finish);
    return payload ? line({ finish_reason: 'null' }) : '';
  }

  #begin(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice !== undefined) return choice;
    if (this.#choices.size >= CHOICES_MAX) throw new ProtocolFault('too many choices');
    choice = { index, echoed: echoedBytes(this.#asked, index), held: null };
    this.#choices.set(index, choice);
    this.state.stop = null;
    return choice;
  }

  /** A chunk whose only news is its text: others like it need not be parsed. */
  #learn(chunk: Chunk, outer: TopLevel, inner: readonly Edit[], choice: Choice): void {
    const usage = chunk.value['usage'];
    const text = memberOf(outer, 'text');
    if ((usage !== undefined && usage !== null) || text === undefined) return;
    const shift = DATA.length;
    const inside = ({ from, to }: { from: number; to: number }) => ({
      from: from + 1 + shift,
      to: to - 1 + shift,
    });
    const holes = [inside(text)];
    const padding = memberOf(chunk.top, 'obfuscation');
    if (padding !== undefined && chunk.bytes[padding.from] === 0x22) holes.push(inside(padding));
    const edits = [...chunk.edits, ...inner].map((edit) => ({
      from: edit.from + shift,
      to: edit.to + shift,
      text: edit.text,
    }));
    const template = new Template(Buffer.concat([DATA, chunk.bytes]), edits, holes);
    const hole = holes.length === 1 || holes[0]!.from < holes[1]!.from ? 0 : 1;
    this.#learnt = [{ template, hole, choice }, ...this.#learnt].slice(0, TEMPLATES_MAX);
  }

  #count(choice: Choice, bytes: number): void {
    if (bytes === 0) return;
    const echoed = Math.min(bytes, choice.echoed);
    choice.echoed -= echoed;
    this.state.semantic = true;
    this.state.output_bytes += bytes - echoed;
  }

  #finished(raw: string): void {
    this.state.semantic = true;
    this.#last_stop = stopOf(raw, PLAIN);
    const all = [...this.#choices.values()];
    // One of several answers is not the end: the others may not even have begun.
    const whole = all.length >= choicesOf(this.#asked) && all.every(({ held }) => held !== null);
    this.state.stop = whole ? this.#last_stop : null;
  }

  #head(): string {
    const { id, model, created } = this.#ours;
    return `data: {"id":${id},"object":"text_completion","created":${created},"model":${model},"choices":[`;
  }

  /** A finish chunk of ours. */
  #finish(index: number, word: string): string {
    const usage = this.#meta.include_usage ? ',"usage":null' : '';
    return `${this.#head()}{"index":${index},"text":"","logprobs":null,"finish_reason":"${word}"}]${usage}}\n\n`;
  }

  #usageChunk(end: ReplyEnd): string {
    const keep = keepsUsage(this.state.usage, end, this.#target) && this.#usage_value !== null;
    const text = keep ? (this.#usage_value as string) : usageText(end.usage);
    if (this.#usage_chunk === null) return `${this.#head()}],"usage":${text}}\n\n`;
    return this.#usage_chunk.withUsage(text);
  }
}

/** Changes that give a choice what every one has to have. */
function missing(value: JsonObject, index: number): Record<string, string> {
  const changes: Record<string, string> = {};
  if (typeof value['index'] !== 'number') changes['index'] = String(index);
  if (typeof value['text'] !== 'string') changes['text'] = '""';
  if (!('logprobs' in value)) changes['logprobs'] = 'null';
  return changes;
}

/** Changes that leave a finish chunk of a choice whose text goes out before it. */
function withoutPayload(choice: TopLevel): Record<string, string | null> {
  const changes: Record<string, string | null> = { text: '""', logprobs: 'null' };
  for (const { name } of choice.members) if (!OF_FINISH.has(name)) changes[name] = null;
  return changes;
}

/** A chunk has one choice: the others of this one get their own. */
function othersOf({ choices, top }: Chunk, at: number): Edit[] {
  if (choices.length === 1) return [];
  const whole = memberOf(top, 'choices')!;
  const own = choices[at]!;
  return [
    { from: whole.from + 1, to: own.from, text: '' },
    { from: own.to, to: whole.to - 1, text: '' },
  ];
}
