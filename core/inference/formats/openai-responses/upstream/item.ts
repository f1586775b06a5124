// One item of a response as canonical events: its parts are opened, filled and closed in order. Whatever the events
// of an item left out is taken from its last event: some servers send whole arguments, texts or annotations only at
// the end.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { CanonicalEvent, Part } from '../../../canonical/types.ts';
import { logprobsOf } from '../../openai-chat/words/parts.ts';
import {
  callPart,
  callText,
  citationOf,
  isCall,
  nonEmpty,
  objects,
  position,
  reasoningPart,
  serverPart,
  textPart,
} from '../words/parts.ts';
import type { Seen } from '../words/stop.ts';

type Delta = Extract<CanonicalEvent, { type: 'part_delta' }>;

/** Receives an item's events. */
export interface Emit {
  event(event: CanonicalEvent): void;
  /** Index of the next part. */
  next(): number;
  readonly seen: Seen;
}

/** Kinds of text in an item, by what may be appended to each other. */
type Channel = 'text' | 'refusal' | 'summary' | 'thought' | 'call';

interface Open {
  channel: Channel;
  /** Index of the content or summary of its channel that is being emitted. */
  index: number;
  part: number;
}

export class Item {
  /** Index among the items. */
  readonly index: number;
  wire: JsonObject;
  done = false;
  /** Its last text was reported as complete. */
  settled = false;
  readonly #emit: Emit;
  #open: Open | null = null;
  /** Characters emitted, by channel and index. */
  readonly #sent = new Map<string, number>();
  /** Annotations emitted, by index of content. */
  readonly #cited = new Map<number, number>();
  #server_sent = false;
  #sealed = false;

  constructor(index: number, wire: JsonObject, emit: Emit) {
    this.index = index;
    this.wire = wire;
    this.#emit = emit;
  }

  /** It is this item's turn: a call is named at once. */
  begin(): void {
    if (isCall(this.wire)) this.#beginCall();
  }

  take(type: string, event: JsonObject): void {
    switch (type) {
      case 'response.output_text.delta':
        return this.#delta('text', event, 'content_index', logprobsOf({ content: event['logprobs'] }));
      case 'response.reasoning_summary_text.delta':
        return this.#delta('summary', event, 'summary_index');
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#delta('call', event, 'content_index');
      case 'response.reasoning_text.delta':
        return this.#delta('thought', event, 'content_index');
      case 'response.refusal.delta':
        return this.#delta('refusal', event, 'content_index');
      case 'response.output_text.done':
        return this.#settle('text', event, 'content_index', event['text']);
      case 'response.refusal.done':
        return this.#settle('refusal', event, 'content_index', event['refusal']);
      case 'response.reasoning_summary_text.done':
        return this.#settle('summary', event, 'summary_index', event['text']);
      case 'response.reasoning_text.done':
        return this.#settle('thought', event, 'content_index', event['text']);
      case 'response.function_call_arguments.done':
        this.#named(event);
        return this.#settle('call', event, 'content_index', event['arguments']);
      case 'response.custom_tool_call_input.done':
        this.#named(event);
        return this.#settle('call', event, 'content_index', event['input']);
      case 'response.output_text.annotation.added':
        return this.#annotation(position(event['content_index']) ?? 0, event['annotation']);
      case 'response.output_item.done':
        this.done = true;
        if (isObject(event['item'])) this.#whole(event['item']);
        return;
      default:
        return;
    }
  }

  /** Ends what is open; an item that only its provider understands is emitted as a whole. */
  close(): void {
    const { type } = this.wire;
    const own = type === 'message' || type === 'reasoning' || type === undefined || isCall(this.wire);
    if (!own && !this.#server_sent) this.#part(serverPart(this.wire));
    this.#server_sent = true;
    this.#stop();
  }

  /** `item` as its provider reports it at the end. */
  #whole(item: JsonObject): void {
    this.wire = item;
    if (isCall(item)) {
      this.#beginCall();
      this.#fill('call', 0, callText(item));
    } else if (item['type'] === 'message') {
      objects(item['content']).forEach((content, i) => {
        this.#wholeContent(content, i);
      });
    } else if (item['type'] === 'reasoning') {
      this.#wholeReasoning(item);
    }
  }

  #wholeContent(content: JsonObject, i: number): void {
    if (content['type'] === 'refusal') return this.#fill('refusal', i, content['refusal']);
    if (content['type'] !== 'output_text') return;
    const fresh = !this.#sent.has(`text ${i}`);
    this.#fill('text', i, content['text'], fresh ? logprobsOf({ content: content['logprobs'] }) : null);
    const annotations = Array.isArray(content['annotations']) ? content['annotations'] : [];
    for (const annotation of annotations.slice(this.#cited.get(i) ?? 0)) this.#annotation(i, annotation);
  }

  #wholeReasoning(item: JsonObject): void {
    objects(item['summary']).forEach((summary, i) => {
      this.#fill('summary', i, summary['text']);
    });
    objects(item['content']).forEach((content, i) => {
      this.#fill('thought', i, content['text']);
    });
    const data = nonEmpty(item['encrypted_content']);
    if (data === null || this.#sealed) return;
    this.#sealed = true;
    if (this.#open?.channel !== 'summary') this.#part({ ...reasoningPart(item, 'encrypted'), data });
    else this.#push({ data });
  }

  #beginCall(): void {
    if (this.#open !== null || this.#sent.has('call 0')) return;
    const part = callPart(this.wire);
    if (part === null) return;
    this.#emit.seen.calls = true;
    this.#sent.set('call 0', 0);
    this.#openPart('call', 0, part);
  }

  /** A call that came without its name may get it with its last arguments. */
  #named(event: JsonObject): void {
    if (this.#sent.has('call 0')) return;
    const name = nonEmpty(event['name']);
    const call_id = nonEmpty(event['call_id']);
    this.wire = {
      ...this.wire,
      ...(name === null ? {} : { name }),
      ...(call_id === null ? {} : { call_id }),
    };
    this.#beginCall();
  }

  #delta(
    channel: Channel,
    event: JsonObject,
    place: string,
    logprobs: ReturnType<typeof logprobsOf> = null,
  ): void {
    const text = nonEmpty(event['delta']);
    if (text === null && logprobs === null) return;
    this.settled = false;
    // Arguments belong to a name; they wait until it arrives.
    if (channel === 'call' && !this.#sent.has('call 0')) return;
    this.#say(channel, channel === 'call' ? 0 : (position(event[place]) ?? 0), text ?? '', logprobs);
  }

  #settle(channel: Channel, event: JsonObject, place: string, text: unknown): void {
    this.#fill(channel, channel === 'call' ? 0 : (position(event[place]) ?? 0), text);
    this.settled = true;
  }

  /** The part of `text` that was not emitted yet. */
  #fill(
    channel: Channel,
    index: number,
    text: unknown,
    logprobs: ReturnType<typeof logprobsOf> = null,
  ): void {
    if (typeof text !== 'string') return;
    const sent = this.#sent.get(`${channel} ${index}`);
    if (channel === 'call' && sent === undefined) return;
    const from = sent ?? 0;
    if (text.length <= from) return;
    const here = this.#open?.channel === channel && this.#open.index === index;
    // Its part ended when another one began; what it lacks can no longer be added.
    if (from > 0 && !here) return;
    this.#say(channel, index, text.slice(from), logprobs);
  }

  #say(channel: Channel, index: number, text: string, logprobs: ReturnType<typeof logprobsOf>): void {
    const key = `${channel} ${index}`;
    const sent = this.#sent.get(key) ?? 0;
    const joined = this.#inPart(channel, index);
    this.#sent.set(key, sent + text.length);
    if (channel === 'call') return this.#push({ arguments: text });
    // Summaries of one item are paragraphs of one part.
    const said = joined ? `\n\n${text}` : text;
    this.#push(logprobs === null ? { text: said } : { text: said, logprobs });
  }

  /** Opens the part for `channel` and `index` where it is not open; whether another paragraph of an open one begins. */
  #inPart(channel: Channel, index: number): boolean {
    const open = this.#open;
    if (open?.channel === channel) {
      if (open.index === index) return false;
      if (channel === 'summary' || channel === 'thought') {
        open.index = index;
        return true;
      }
    }
    if (channel === 'call') return false;
    if (channel === 'refusal') this.#emit.seen.refusal = true;
    this.#openPart(channel, index, this.#partOf(channel));
    return false;
  }

  #partOf(channel: Exclude<Channel, 'call'>): Part {
    if (channel === 'text') return textPart(this.wire);
    if (channel === 'refusal') return { type: 'refusal', text: '' };
    return reasoningPart(this.wire, channel === 'summary' ? 'summary' : 'full');
  }

  #annotation(index: number, annotation: unknown): void {
    this.#cited.set(index, (this.#cited.get(index) ?? 0) + 1);
    const citation = citationOf(annotation);
    if (citation === null) return;
    this.#inPart('text', index);
    this.#push({ citation });
  }

  #openPart(channel: Channel, index: number, content: Part): void {
    this.#stop();
    const part = this.#emit.next();
    this.#open = { channel, index, part };
    this.#emit.event({ type: 'part_start', candidate: 0, part, content });
  }

  /** A part that arrives whole. */
  #part(content: Part): void {
    this.#stop();
    const to = { candidate: 0, part: this.#emit.next() };
    this.#emit.event({ type: 'part_start', ...to, content });
    this.#emit.event({ type: 'part_stop', ...to });
  }

  #push(delta: Omit<Delta, 'type' | 'candidate' | 'part'>): void {
    if (this.#open === null) return;
    this.#emit.event({ type: 'part_delta', candidate: 0, part: this.#open.part, ...delta });
  }

  #stop(): void {
    if (this.#open === null) return;
    this.#emit.event({ type: 'part_stop', candidate: 0, part: this.#open.part });
    this.#open = null;
  }
}
