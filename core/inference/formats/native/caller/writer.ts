// Writes canonical events as a native stream (docs/streams.md#native). It is a state machine that cannot write them
// in an illegal order: `start` is first, parts of a candidate never overlap, stop reasons are held back until the
// end, `end` or `error` is last.

import { chatError } from '../../../caller/error.ts';
import type { StreamWriter } from '../../../canonical/contract.ts';
import type {
  CanonicalEvent,
  Part,
  ReplyEnd,
  ReplyMeta,
  Stop,
  StreamFault,
} from '../../../canonical/types.ts';
import { endMembers, providerMetaText, shownPart, stopText } from './pieces.ts';

type PartStart = Extract<CanonicalEvent, { type: 'part_start' }>;
type PartDelta = Extract<CanonicalEvent, { type: 'part_delta' }>;

const KEEP_ALIVE = ': svc keep-alive\n\n';

/** State of one candidate. */
class State {
  /** Members of every event of this candidate, between `seq` and the part's number. */
  readonly head: string;
  /** The open part; null between parts and within one that is not shown. */
  open: Part | null = null;
  /** The decoder's number for the open part. */
  source = -1;
  parts = 0;
  calls = 0;
  stop: Stop | null = null;

  constructor(index: number) {
    this.head = `,"candidate":${index}`;
  }
}

export class NativeWriter implements StreamWriter {
  readonly #meta: ReplyMeta;
  readonly #candidates = new Map<number, State>();
  #seq = 0;
  /**
   * Output that waits for the first content: until then another attempt may take over, and nothing of this one may be
   * seen. Null once it has been sent.
   */
  #held: string | null;
  #upstream_model: string | undefined;

  constructor(meta: ReplyMeta) {
    this.#meta = meta;
    this.#held = this.#begin();
  }

  write(event: CanonicalEvent): string {
    const text = this.#write(event);
    if (this.#held === null || text === '') return text;
    this.#held += text;
    if (event.type !== 'part_delta' && !isSemantic(event)) return '';
    const all = this.#held;
    this.#held = null;
    return all;
  }

  end(end: ReplyEnd): string {
    let text = this.#held ?? '';
    this.#held = null;
    if (this.#candidates.size === 0) this.#candidate(0);
    for (const state of this.#candidates.values()) text += this.#close(state);
    for (const state of this.#candidates.values()) {
      text += this.#event('stop', `${state.head},"stop":${stopText(state.stop ?? end.stop ?? null)}`);
    }
    return text + this.#event('end', `,${endMembers(this.#meta, end, this.#upstream_model)}`);
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    let opening = '';
    if (this.#held !== null) {
      this.#seq = 0;
      opening = this.#begin();
      this.#held = null;
    }
    const error = JSON.stringify(chatError(fault, this.#meta)['error']);
    const money = `"usage":${JSON.stringify(end.usage)},"cost":${JSON.stringify(end.cost)}`;
    return opening + this.#event('error', `,"error":${error},${money}`);
  }

  keepAlive(): string {
    return KEEP_ALIVE;
  }

  #event(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","seq":${this.#seq++}${members}}\n\n`;
  }

  #begin(): string {
    const { request_id, model, created } = this.#meta;
    const known = `"id":${JSON.stringify(request_id)},"model":${JSON.stringify(model)},"created":${created}`;
    return this.#event('start', `,${known},"provider_meta":${providerMetaText(this.#meta)}`);
  }

  #write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'start':
        this.#upstream_model = event.upstream_model;
        return '';
      case 'part_start':
        return this.#start(event);
      case 'part_delta':
        return this.#delta(event);
      case 'part_stop': {
        const state = this.#candidates.get(event.candidate);
        return state === undefined || state.source !== event.part ? '' : this.#close(state);
      }
      case 'stop':
        this.#candidate(event.candidate).stop = event.stop;
        return '';
      default:
        return '';
    }
  }

  #candidate(index: number): State {
    let state = this.#candidates.get(index);
    if (state === undefined) {
      state = new State(index);
      this.#candidates.set(index, state);
    }
    return state;
  }

  #close(state: State): string {
    state.source = -1;
    if (state.open === null) return '';
    state.open = null;
    return this.#event('part_stop', `${state.head},"part":${state.parts - 1}`);
  }

  #start({ candidate, part, content }: PartStart): string {
    const state = this.#candidate(candidate);
    const closing = this.#close(state);
    state.source = part;
    if (content.type === 'reasoning' && this.#meta.reasoning === 'exclude') return closing;
    const whole = shownPart(content, this.#meta.request_id, state.calls);
    if (whole.type === 'tool_call') state.calls++;
    state.open = whole;
    const { empty, deltas } = opened(whole);
    const place = `${state.head},"part":${state.parts++}`;
    let text = closing + this.#event('part_start', `${place},"content":${JSON.stringify(empty)}`);
    for (const delta of deltas) text += this.#event('part_delta', place + delta);
    return text;
  }

  #delta(event: PartDelta): string {
    const state = this.#candidates.get(event.candidate);
    if (state === undefined || state.open === null || state.source !== event.part) return '';
    const place = `${state.head},"part":${state.parts - 1}`;
    // Nearly always one member; a reader gets one of them in each event.
    let out = '';
    for (const name of taken(state.open)) {
      const said = event[name];
      if (said === undefined || said === '' || (Array.isArray(said) && said.length === 0)) continue;
      out += this.#event('part_delta', `${place},"${name}":${JSON.stringify(said)}`);
    }
    return out;
  }
}

/** A part without what is sent in deltas, and the deltas for what it already contains of that. */
function opened(part: Part): { empty: Part; deltas: string[] } {
  const deltas: string[] = [];
  const said = (name: string, value: unknown) => {
    deltas.push(`,"${name}":${JSON.stringify(value)}`);
  };
  switch (part.type) {
    case 'text': {
      const { citations = [], logprobs = [], ...rest } = part;
      if (part.text !== '') said('text', part.text);
      for (const citation of citations) said('citation', citation);
      if (logprobs.length > 0) said('logprobs', logprobs);
      return { empty: { ...rest, text: '' }, deltas };
    }
    case 'refusal':
      if (part.text !== '') said('text', part.text);
      return { empty: { ...part, text: '' }, deltas };
    case 'reasoning': {
      if (part.kind === 'encrypted') return { empty: part, deltas };
      const { signature, ...rest } = part;
      if (part.text !== '') said('text', part.text);
      if (signature !== undefined) said('signature', signature);
      return { empty: { ...rest, text: '' }, deltas };
    }
    case 'tool_call':
      if (part.arguments !== '') said('arguments', part.arguments);
      return { empty: { ...part, arguments: '' }, deltas };
    default:
      return { empty: part, deltas };
  }
}

type Member = 'text' | 'arguments' | 'data' | 'signature' | 'citation' | 'logprobs';

const OF_TEXT: readonly Member[] = ['text', 'citation', 'logprobs'];
const OF_REFUSAL: readonly Member[] = ['text'];
const OF_REASONING: readonly Member[] = ['text', 'data', 'signature'];
const OF_CALL: readonly Member[] = ['arguments', 'signature'];
const OF_AUDIO: readonly Member[] = ['text', 'data'];
const OF_MEDIA: readonly Member[] = ['data'];
const OF_OTHERS: readonly Member[] = [];

/** The members of a delta that add to `part`: the same that the assembler of whole answers adds. */
function taken(part: Part): readonly Member[] {
  switch (part.type) {
    case 'text':
      return OF_TEXT;
    case 'refusal':
      return OF_REFUSAL;
    case 'reasoning':
      return OF_REASONING;
    case 'tool_call':
      return OF_CALL;
    case 'audio':
      return 'base64' in part.src ? OF_AUDIO : OF_REFUSAL;
    default:
      return 'src' in part && 'base64' in part.src ? OF_MEDIA : OF_OTHERS;
  }
}

/** Content that commits the stream, by the same definition as the relay's (canonical/relay-state.ts). */
function isSemantic(event: CanonicalEvent): boolean {
  if (event.type !== 'part_start') return false;
  const { content } = event;
  if ('text' in content && content.text !== '') return true;
  if (content.type === 'reasoning') return content.data !== undefined;
  return content.type === 'tool_call' || content.type === 'image' || content.type === 'server_tool';
}
