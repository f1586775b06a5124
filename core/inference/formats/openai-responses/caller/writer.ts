// Writes canonical events as a responses stream (docs/streams.md#responses). It is a state machine that cannot write
// them in an illegal order: every item and part that was added is done before the next is added, and the last event
// closes what is open.
import { droppedPart } from '../../../caller/dropped.ts';
import type { StreamWriter } from '../../../canonical/contract.ts';
import { callEnvelope, encryptedContent, itemId, RESPONSES_FORMAT } from '../../../canonical/reasoning.ts';
import { impliedRefusal } from '../../../canonical/refusal.ts';
import type {
  CanonicalEvent,
  Part,
  ReasoningPart,
  ReplyEnd,
  ReplyMeta,
  Stop,
  StreamFault,
  ToolCallPart,
  Warning,
} from '../../../canonical/types.ts';
import {
  annotationText,
  CallIds,
  callItem,
  ItemIds,
  type ItemStatus,
  messageItem,
  ownItem,
  phaseOf,
  reasoningItem,
} from './items.ts';
import type { Open, OpenCall, OpenMessage, OpenThought, Place } from './open-items.ts';
import {
  completedAt,
  failureOf,
  fixedText,
  type ResponseState,
  responseStateOf,
  responseText,
  svcOf,
  usageText,
} from './response.ts';
import { TextStream } from './text-stream.ts';
import { CITATION_DROPPED } from './warnings.ts';

type PartDelta = Extract<CanonicalEvent, { type: 'part_delta' }>;
const KEEP_ALIVE = ': svc keep-alive\n\n';

export class ResponsesWriter implements StreamWriter {
  readonly #meta: ReplyMeta;
  readonly #fixed: string;
  readonly #encrypted: boolean;
  readonly #ids = new ItemIds();
  readonly #calls: CallIds;
  /** Items that are done; the last event repeats them. */
  readonly #items: string[] = [];
  readonly #warnings: Warning[] = [];
  #sequence = 0;
  #index = 0;
  #started = false;
  #over = false;
  #open: Open | null = null;
  #stop: Stop | null = null;
  #refused = false;
  #model: string;
  #tier: string | null = null;
  #lost_citation = false;

  constructor(meta: ReplyMeta) {
    this.#meta = meta;
    this.#fixed = fixedText(meta);
    this.#model = meta.model;
    this.#calls = new CallIds(meta.request_id);
    this.#encrypted = meta.reasoning === 'include' && meta.echo?.encrypted_reasoning === true;
  }

  write(event: CanonicalEvent): string {
    if (this.#over) return '';
    switch (event.type) {
      case 'part_delta':
        return event.candidate === 0 ? this.#delta(event) : '';
      case 'part_start':
        return event.candidate === 0 ? this.#start() + this.#begin(event.content) : '';
      case 'part_stop':
        return event.candidate === 0 ? this.#finish() : '';
      case 'start':
        this.#model = event.upstream_model ?? this.#model;
        this.#tier = event.service_tier ?? this.#tier;
        return this.#start();
      case 'stop':
        if (event.candidate !== 0) return '';
        this.#stop = event.stop;
        return (
          this.#start() +
          this.#imply(event.stop) +
          this.#close(this.#statusOf(responseStateOf(event.stop, [])))
        );
      case 'usage':
        this.#tier = event.service_tier ?? this.#tier;
        return '';
      default:
        return '';
    }
  }

  end(end: ReplyEnd): string {
    if (this.#over) return '';
    const warnings: Warning[] = [];
    const outcome = responseStateOf(end.stop ?? this.#stop, warnings);
    const before = this.#start() + this.#close(this.#statusOf(outcome));
    if (this.#lost_citation) this.#warnings.push(CITATION_DROPPED);
    const svc = svcOf(this.#meta, end, [...this.#warnings, ...warnings]);
    return before + this.#last(outcome, end, svc, this.#items);
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    if (this.#over) return '';
    const before = this.#start();
    // What is open stays open: it must not be reported as done. The response shows what there is of it.
    const partial = this.#partial();
    const items = partial === null ? this.#items : [...this.#items, partial];
    const svc = svcOf(this.#meta, end, this.#warnings, fault);
    return before + this.#last(failureOf(fault), end, svc, items);
  }

  keepAlive(): string {
    return this.#over ? '' : KEEP_ALIVE;
  }

  #event(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#sequence++},${members}}\n\n`;
  }

  #start(): string {
    if (this.#started) return '';
    this.#started = true;
    const response = responseText(
      this.#fixed,
      { status: 'in_progress' },
      { output: '', usage: 'null', tier: this.#tier, svc: svcOf(this.#meta, null, []) },
    );
    const members = `"response":${response}`;
    return this.#event('response.created', members) + this.#event('response.in_progress', members);
  }

  #last(outcome: ResponseState, end: ReplyEnd, svc: string, items: readonly string[]): string {
    this.#over = true;
    const usage = usageText(end.usage);
    const response = responseText(this.#fixed, outcome, {
      output: items.join(','),
      usage,
      tier: this.#tier,
      svc,
      completed_at: completedAt(this.#meta, end),
    });
    return this.#event(`response.${outcome.status}`, `"response":${response}`);
  }

  #statusOf({ status }: ResponseState): ItemStatus {
    return status === 'completed' ? 'completed' : 'incomplete';
  }

  #place(kind: Parameters<typeof itemId>[0], wanted?: string | null): Place {
    const index = this.#index++;
    return { index, id: this.#ids.take(wanted, itemId(kind, this.#meta.request_id, index)) };
  }

  #added({ index }: Place, item: string): string {
    return this.#event('response.output_item.added', `"output_index":${index},"item":${item}`);
  }

  #done({ index }: Place, item: string): string {
    this.#items.push(item);
    return this.#event('response.output_item.done', `"output_index":${index},"item":${item}`);
  }

  // ---- a part begins ----

  #begin(part: Part): string {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return this.#beginText(part);
      case 'reasoning':
        return this.#beginThought(part);
      case 'tool_call':
        return this.#close() + this.#beginCall(part);
      default: {
        const before = this.#close();
        this.#open = { kind: 'silent' };
        const own = ownItem(part);
        if (own === null) {
          this.#warnings.push(droppedPart(part));
          return before;
        }
        const place = this.#place('item', own.id);
        return before + this.#added(place, own.text) + this.#done(place, own.text);
      }
    }
  }

  /** A refusal that only the stop reason reports, as a part. */
  #imply(stop: Stop): string {
    const refusal = impliedRefusal(stop, this.#refused);
    return refusal === null ? '' : this.#beginText(refusal);
  }

  #beginText(part: Extract<Part, { type: 'text' | 'refusal' }>): string {
    if (part.type === 'refusal') this.#refused = true;
    const phase = phaseOf(part);
    const open = this.#open;
    let out = '';
    let message: OpenMessage;
    if (open?.kind === 'message' && open.phase === phase) {
      out = this.#finish();
      message = open;
    } else {
      out = this.#close();
      message = { kind: 'message', ...this.#place('msg'), phase, parts: [], part: null };
      this.#open = message;
      out += this.#added(message, messageItem(message.id, 'in_progress', [], phase));
    }
    message.part = new TextStream(part.type, { ...message, at: message.parts.length });
    out += this.#events(message.part.added());
    return part.text === '' ? out : out + this.#more(message.part, part.text);
  }

  #beginThought(part: ReasoningPart): string {
    const open = this.#open;
    if (this.#meta.reasoning === 'exclude') {
      const out = this.#close();
      this.#open = { kind: 'silent' };
      return out;
    }
    const again = open?.kind === 'reasoning' && part.kind === 'encrypted' && part.id !== undefined;
    if (again && open.part.id === part.id) {
      const out = this.#finish();
      open.part.data = (open.part.data ?? '') + (part.data ?? '');
      return out;
    }
    const before = this.#close();
    const place = this.#place('rs', part.format === RESPONSES_FORMAT ? part.id : null);
    const thought: OpenThought = {
      kind: 'reasoning',
      ...place,
      part: { ...part, text: '' },
      stream: null,
    };
    this.#open = thought;
    const item = reasoningItem(place.id, '', null);
    const out = before + this.#added(place, item);
    return part.text === '' ? out : out + this.#think(thought, part.text);
  }

  #beginCall(part: ToolCallPart): string {
    const own = { ...part };
    const call_id = this.#calls.take(part);
    let before = '';
    if (part.signature !== undefined) {
      before = this.#signed(part, call_id);
      // The signature has been written; one that comes with a delta is a different one.
      delete own.signature;
    }
    const place = this.#place(part.kind === 'custom' ? 'ctc' : 'fc');
    const stream = new TextStream(part.kind === 'custom' ? 'input' : 'arguments', {
      ...place,
      at: 0,
      name: part.name,
    });
    this.#open = { kind: 'call', ...place, part: own, call_id, stream };
    const empty = callItem(part, {
      id: place.id,
      call_id,
      status: 'in_progress',
      text: '',
      meta: this.#meta,
    });
    const out = before + this.#added(place, empty);
    return part.arguments === '' ? out : out + this.#more(stream, part.arguments);
  }

  /** A reasoning item that only carries the signature of a call. */
  #signed(part: ToolCallPart, call_id: string): string {
    if (!this.#encrypted) return '';
    const place = this.#place('rs');
    const encrypted = callEnvelope(part, call_id, this.#model);
    const empty = reasoningItem(place.id, '', null);
    return this.#added(place, empty) + this.#done(place, reasoningItem(place.id, '', encrypted));
  }

  // ---- it goes on ----

  #more(stream: TextStream, text: string, logprobs?: PartDelta['logprobs']): string {
    return this.#event(stream.delta_type, stream.delta(text, logprobs));
  }

  #events(pieces: readonly (readonly [type: string, members: string])[]): string {
    let out = '';
    for (const [type, members] of pieces) out += this.#event(type, members);
    return out;
  }

  #delta(event: PartDelta): string {
    const open = this.#open;
    if (open === null || open.kind === 'silent') return '';
    if (open.kind === 'message') return open.part === null ? '' : this.#text(open.part, event);
    if (open.kind === 'reasoning') {
      if (event.signature !== undefined) open.part.signature = (open.part.signature ?? '') + event.signature;
      if (event.data !== undefined) open.part.data = (open.part.data ?? '') + event.data;
      return event.text === undefined || event.text === '' ? '' : this.#think(open, event.text);
    }
    if (event.signature !== undefined) open.part.signature = (open.part.signature ?? '') + event.signature;
    const { arguments: text } = event;
    return open.stream.over || text === undefined || text === '' ? '' : this.#more(open.stream, text);
  }

  #text(part: TextStream, event: PartDelta): string {
    const { text = '', logprobs, citation } = event;
    let out = '';
    if (text !== '' || logprobs !== undefined) out = this.#more(part, text, logprobs);
    if (citation === undefined || part.kind !== 'text') return out;
    const note = annotationText(citation, part.length);
    if (note !== null) return out + this.#events(part.note(note));
    this.#lost_citation = true;
    return out;
  }

  #think(open: OpenThought, text: string): string {
    if (open.stream?.over === true) return '';
    let out = '';
    if (open.stream === null) {
      open.stream = new TextStream('summary', { ...open, at: 0 });
      out = this.#events(open.stream.added());
    }
    return out + this.#more(open.stream, text);
  }

  // ---- it ends ----

  /** Ends the open part; its item stays open until the next part or the stop reason shows how it ended. */
  #finish(): string {
    const open = this.#open;
    if (open === null || open.kind === 'silent') return '';
    if (open.kind === 'message') {
      const { part } = open;
      if (part === null) return '';
      open.part = null;
      open.parts.push(part.whole());
      return this.#events(part.done());
    }
    if (open.kind === 'reasoning') {
      const { stream } = open;
      // A later delta belongs to the same reasoning, which has only one text.
      if (stream === null || stream.over) return '';
      return this.#events(stream.done());
    }
    if (open.stream.over) return '';
    // A function without arguments still gets arguments: clients parse what they receive.
    const empty = open.part.kind === 'function' && open.stream.length === 0;
    const out = empty ? this.#more(open.stream, '{}') : '';
    return out + this.#events(open.stream.done());
  }

  #close(status: ItemStatus = 'completed'): string {
    const open = this.#open;
    if (open === null) return '';
    const finished = this.#finish();
    this.#open = null;
    if (open.kind === 'silent') return '';
    const item = this.#item(open, status);
    const out = finished + this.#done(open, item);
    const late = open.kind === 'call' && open.part.signature !== undefined;
    return late ? out + this.#signed(open.part, open.call_id) : out;
  }

  #item(open: OpenMessage | OpenThought | OpenCall, status: ItemStatus): string {
    switch (open.kind) {
      case 'message':
        return messageItem(open.id, status, open.parts, open.phase);
      case 'reasoning': {
        const encrypted = this.#encrypted ? encryptedContent(open.part, this.#model) : null;
        return reasoningItem(open.id, open.stream?.text ?? '', encrypted);
      }
      case 'call':
        return callItem(open.part, { ...open, status, text: open.stream.text, meta: this.#meta });
    }
  }

  /** What there is of the open item, or null. */
  #partial(): string | null {
    const open = this.#open;
    if (open === null || open.kind === 'silent') return null;
    if (open.kind === 'message' && open.part !== null) {
      return messageItem(open.id, 'incomplete', [...open.parts, open.part.whole()], open.phase);
    }
    return this.#item(open, 'incomplete');
  }
}
