// The stream of the raw lane: events are copied unchanged, including sequence numbers. Rewritten are events that
// contain the response (id, model, and `svc` in the last one, which is held back until the cost is settled) and
// reasoning items whose state the caller did not ask for. A delta is recognised by the bytes around its number and
// text, which costs two comparisons.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Relay, RelayState, Target } from '../../../canonical/contract.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { newRelayState } from '../../../canonical/relay-state.ts';
import type { ReplyEnd, ReplyMeta, StreamFault, Warning } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { eventEnd, Frames, hasLine, own } from '../../../wire/frames.ts';
import { shownOf } from '../../../wire/private.ts';
import { memberOf, scanObject, splice, startsWith, stringEnd } from '../../../wire/scan.ts';
import { isWholeEvent, readLines } from '../../../wire/sse-lines.ts';
import { textBytes } from '../../../wire/text-bytes.ts';
import {
  failureOf,
  fixedText,
  type ResponseState,
  responseStateOf,
  responseText,
  svcOf,
  usageText,
} from '../caller/response.ts';
import { ResponsesWriter } from '../caller/writer.ts';
import { faultIn, responseFault, TRUNCATED } from '../upstream/classify.ts';
import { isCall, isSearch, nonEmpty } from '../words/parts.ts';
import { responseOf, stopOf } from '../words/stop.ts';
import { readUsage } from '../words/usage.ts';
import { type Learnt, learn } from './learnt.ts';
import { Numbering } from './numbering.ts';
import { addedText, DELTAS, type DeltaForm, DONES, KEPT_MAX, OpenItem } from './open.ts';
import { indexOf, Places } from './place.ts';
import {
  byteLength,
  itemBytes,
  measure,
  type Ours,
  oursOf,
  responseEdits,
  unsealed,
  unsent,
} from './response.ts';
import { endMembers, ownUsage } from './whole.ts';

const LF = 10;
const EMPTY = Buffer.alloc(0);
const KEEP_ALIVE = ': svc keep-alive\n\n';
/** What may follow the text of a delta: empty log probabilities, and padding. */
const CLOSING_MAX = 256;
const OPEN_MAX = 512; // items at once: more than any answer has

export class ResponsesRelay implements Relay {
  readonly state: RelayState = newRelayState();
  #meta: ReplyMeta;
  readonly #target: Target;
  readonly #ours: Ours;
  readonly #frames = new Frames();
  #started = false;
  #over = false;
  #learnt: Learnt | null = null;
  readonly #places = new Places();
  readonly #open = new Map<number, OpenItem>();
  /** JSON texts of the items that are done, as the caller saw them. */
  readonly #items: string[] = [];
  #items_size = 0;
  #any_item = false;
  #searches = 0;
  readonly #numbering: Numbering;
  #last: { type: string; text: Buffer; sent_usage: unknown; more: Record<string, string> } | null = null;

  constructor(meta: ReplyMeta, target: Target) {
    this.#meta = meta;
    this.#target = target;
    this.#ours = oursOf(meta, target);
    this.#numbering = new Numbering(this.#ours.exclude);
  }

  push(bytes: Buffer): Buffer {
    if (this.#over || this.state.fault !== null || this.state.finished) return EMPTY;
    return this.#guard(() => {
      const b = this.#frames.take(bytes);
      return b === null ? EMPTY : this.#events(b);
    });
  }

  close(): Buffer {
    if (this.#over || this.state.fault !== null || this.state.finished) return EMPTY;
    return this.#guard(() => {
      // A server that omits the last blank line has still sent its last event, if that is complete.
      const tail = this.#frames.end();
      const out = tail !== null && isWholeEvent(tail) ? this.#events(tail) : EMPTY;
      if (!this.state.finished && this.state.fault === null) this.state.fault = { ...TRUNCATED };
      return out;
    });
  }

  end(end: ReplyEnd): Buffer {
    if (this.#over) return EMPTY;
    this.#over = true;
    if (!this.#started) return Buffer.from(new ResponsesWriter(this.#meta).end(end));
    const last = this.#last;
    if (last === null || end.stop !== undefined) return Buffer.from(this.#cut(end));
    const own = ownUsage(last.sent_usage, this.state.usage, { end, target: this.#target });
    const members = endMembers(this.#meta, { end, stop: this.state.stop, own });
    return this.#numbering.event(last.type, this.#withResponse(last.text, { ...last.more, ...members }));
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    if (this.#over) return '';
    this.#over = true;
    if (!this.#started) return new ResponsesWriter(this.#meta).fail(fault, end);
    // What is open stays open: it must not be reported as done.
    return this.#finalEvent(failureOf(fault), end, svcOf(this.#meta, end, [], fault));
  }

  keepAlive(): string {
    return this.#over ? '' : KEEP_ALIVE;
  }

  #guard(step: () => Buffer): Buffer {
    let out: Buffer = EMPTY;
    const read = () => {
      out = step();
    };
    guarded(read, (fault) => Object.assign(this.state, { fault }));
    return out;
  }

  /** Handles the events of `b`, all whole. */
  #events(b: Buffer): Buffer {
    const pieces: Buffer[] = [];
    let copied = 0;
    let at = 0;
    while (at < b.length && this.state.fault === null && !this.state.finished) {
      const known = this.#known(b, at);
      if (known > 0) {
        at = known;
        continue;
      }
      const to = eventEnd(b, at);
      const piece = this.#take(b, at, to);
      if (piece !== null) {
        if (at > copied) pieces.push(b.subarray(copied, at));
        if (piece.length > 0) pieces.push(piece);
        copied = to;
      }
      at = to;
    }
    if (copied === 0 && at === b.length) return b;
    if (at > copied) pieces.push(b.subarray(copied, at));
    if (pieces.length === 0) return EMPTY;
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** End of the event at `from` if it is a delta of the learnt form, which is counted and copied; else 0. */
  #known(b: Buffer, from: number): number {
    const learnt = this.#learnt;
    if (learnt === null || !startsWith(b, from, learnt.head)) return 0;
    let at = from + learnt.head.length;
    let number = 0;
    for (let digit = b[at]! - 48; digit >= 0 && digit <= 9; digit = b[++at]! - 48)
      number = number * 10 + digit;
    if (!startsWith(b, at, learnt.middle)) return 0;
    at += learnt.middle.length;
    const end = stringEnd(b, at);
    if (end < 0 || hasLine(b, at, end)) return 0;
    let to = end + 1;
    const near = Math.min(b.length - 1, to + CLOSING_MAX);
    while (to < near && b[to] !== LF) to++;
    if (b[to] !== LF || b[to + 1] !== LF) return 0;
    const bytes = textBytes(b, at, end);
    this.#numbering.next = number + 1;
    this.#count(bytes);
    learnt.item.sent += bytes;
    learnt.text.append(b, at, end);
    return to + 2;
  }

  /** Handles one event outside the fast path; returns its replacement, or null to copy it unchanged. */
  #take(b: Buffer, from: number, to: number): Buffer | null {
    const read = readLines(b.toString('utf8', from, to));
    if (read.data === null || read.data === '' || read.data === '[DONE]') return EMPTY;
    let data: unknown;
    try {
      data = JSON.parse(read.data);
    } catch {
      throw new ProtocolFault('an event is not JSON');
    }
    if (!isObject(data)) throw new ProtocolFault('an event is not an object');
    const type = nonEmpty(data['type']) ?? read.event ?? '';
    if (type === 'error' || (data['error'] ?? null) !== null) {
      this.state.fault = responseFault(data);
      return EMPTY;
    }
    if (!this.#started && type !== 'response.created' && type.startsWith('response.')) {
      throw new ProtocolFault(`${type} before response.created`);
    }
    const text = this.#rewritten(type, data, shownOf(read.data, data, this.#ours.hide));
    if (text === null) return EMPTY;
    if (!this.#ours.exclude && typeof data['sequence_number'] === 'number') {
      this.#numbering.next = data['sequence_number'] + 1;
    }
    const same = text === read.data && read.plain && read.event === type && !this.#ours.exclude;
    if (!same) return this.#numbering.event(type, Buffer.from(text));
    if (DELTAS[type] !== undefined) this.#learn(b, { from, to }, data, DELTAS[type]);
    return null;
  }

  /** The text of an event as the caller gets it; null: the caller does not get it. */
  #rewritten(type: string, data: JsonObject, sent: string): string | Buffer | null {
    const text = this.#places.fill(type, data, sent);
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#begun(data, text);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#terminal(type, data, text);
        return null;
      case 'response.output_item.added':
      case 'response.output_item.done':
        return this.#item(type, data, text);
      default:
        return this.#inside(type, data) ? text : null;
    }
  }

  #begun(data: JsonObject, text: string): Buffer {
    const response = data['response'];
    if (!isObject(response)) throw new ProtocolFault('an event without its response');
    this.#started = true;
    // What the gateway writes at the end belongs to the same response.
    const { created_at: created } = response;
    if (typeof created === 'number') this.#meta = { ...this.#meta, created };
    this.state.service_tier = nonEmpty(response['service_tier']) ?? this.state.service_tier;
    this.state.upstream_id ??= nonEmpty(response['id']);
    return this.#withResponse(Buffer.from(text), { svc: svcOf(this.#meta, null, []) });
  }

  /** The event `text` with the gateway's members in its response. */
  #withResponse(text: Buffer, members: Readonly<Record<string, string>>): Buffer {
    const top = scanObject(text);
    const member = top === null ? undefined : memberOf(top, 'response');
    const inner = member === undefined ? null : scanObject(text, member.from);
    if (inner === null) throw new ProtocolFault('an event without its response');
    return splice(text, responseEdits(text, inner, this.#ours, members));
  }

  #terminal(type: string, data: JsonObject, text: string): void {
    const response = responseOf(type, data);
    const { state } = this;
    state.fault = faultIn(response);
    if (state.fault !== null) return;
    const { bytes, calls, searches, refusal } = measure(response['output']);
    if (!this.#any_item) {
      // Some servers send everything only in the last event.
      this.#count(bytes);
      state.tool_calls += calls;
    }
    state.stop = stopOf(response, { refusal, calls: calls > 0 || state.tool_calls > 0 });
    state.usage = readUsage(response['usage'], this.#target.flags, Math.max(searches, this.#searches));
    const tier = nonEmpty(response['service_tier']);
    if (tier !== null && state.usage !== null) state.service_tier = tier;
    state.semantic = true;
    state.finished = true;
    // An event without its response cannot be passed on; at the end one is written here.
    if (!isObject(data['response'])) return;
    const more = unsent(data, response, this.#items);
    this.#last = { type, text: own(Buffer.from(text)), sent_usage: response['usage'], more };
  }

  #item(type: string, data: JsonObject, text: string): string | Buffer | null {
    const item = data['item'];
    if (!isObject(item)) throw new ProtocolFault('an item is not an object');
    const done = type === 'response.output_item.done';
    const place = indexOf(data);
    if (done && isSearch(item)) this.#searches++;
    this.#learnt = null;
    this.#any_item = true;
    const known = this.#open.get(place);
    if (known === undefined && !done) this.#opened(place, item);
    if (this.#ours.exclude && item['type'] === 'reasoning') {
      if (!done) this.#numbering.hide(place);
      else this.#count(known === undefined || known.sent === 0 ? itemBytes(item) : 0);
      this.#open.delete(place);
      return null;
    }
    const out = this.#ours.sealed || item['type'] !== 'reasoning' ? text : unsealed(text);
    if (done) this.#done(place, item, known, out);
    return out;
  }

  #opened(place: number, item: JsonObject): void {
    if (this.#open.size >= OPEN_MAX) throw new ProtocolFault(`more than ${OPEN_MAX} items are open`);
    const open = new OpenItem(this.#numbering.shown(place), item);
    this.#open.set(place, open);
    if (isCall(item)) open.textOf(item['type'] === 'custom_tool_call' ? 'input' : 'arguments', 0);
    const plain = item['type'] === 'message' || item['type'] === 'reasoning';
    if (!plain) this.state.semantic = true;
    if (isCall(item)) this.state.tool_calls++;
  }

  #done(place: number, item: JsonObject, known: OpenItem | undefined, text: string | Buffer): void {
    if (known === undefined && isCall(item)) this.state.tool_calls++;
    const sealed = nonEmpty(item['encrypted_content']) !== null;
    const bytes = known === undefined || known.sent === 0 ? itemBytes(item) : 0;
    this.#count(bytes);
    if (sealed || isCall(item)) this.state.semantic = true;
    this.#open.delete(place);
    const body = Buffer.from(text);
    const top = scanObject(body);
    const member = top === null ? undefined : memberOf(top, 'item');
    if (member === undefined || this.#items_size + member.to - member.from > KEPT_MAX) return;
    this.#items_size += member.to - member.from;
    this.#items.push(body.toString('utf8', member.from, member.to));
  }

  #count(bytes: number): void {
    if (bytes === 0) return;
    this.state.semantic = true;
    this.state.output_bytes += bytes;
    this.state.content_events++;
  }

  /** An event within an item, or an unknown one; whether the caller gets it. */
  #inside(type: string, data: JsonObject): boolean {
    if (data['output_index'] === undefined) return true;
    const place = indexOf(data);
    const item = this.#open.get(place);
    const form = DELTAS[type];
    if (form !== undefined) this.#delta(data, form, item);
    else if (item !== undefined) this.#step(type, data, item);
    return !this.#numbering.isHidden(place);
  }

  /** An event that is not a delta of an open item. */
  #step(type: string, data: JsonObject, item: OpenItem): void {
    const member = DONES[type];
    this.#learnt = null;
    if (member !== undefined) {
      const bytes = item.sent === 0 ? byteLength(data[member]) : 0;
      this.#count(bytes);
      item.sent += bytes;
      item.textDone(data[member]);
    } else if (type === 'response.content_part.added' || type === 'response.reasoning_summary_part.added') {
      const added = addedText(data);
      if (added !== null) item.textOf(added.kind, added.at);
    } else if (type === 'response.content_part.done' || type === 'response.reasoning_summary_part.done') {
      item.partDone(data['part']);
    } else if (type === 'response.output_text.annotation.added') {
      this.state.semantic = true;
      item.note(data['annotation']);
    }
  }

  #delta(data: JsonObject, { kind, place }: DeltaForm, item: OpenItem | undefined): void {
    const { delta } = data;
    if (typeof delta !== 'string' || delta === '') return;
    const bytes = Buffer.byteLength(delta);
    this.#count(bytes);
    if (item === undefined) return;
    item.sent += bytes;
    const at = place !== null && typeof data[place] === 'number' ? (data[place] as number) : 0;
    const json = Buffer.from(JSON.stringify(delta));
    item.textOf(kind, at).append(json, 1, json.length - 1);
  }

  #learn(b: Buffer, at: { from: number; to: number }, data: JsonObject, form: DeltaForm): void {
    const item = this.#open.get(indexOf(data));
    if (item !== undefined) this.#learnt = learn(b, at, data, { form, item }) ?? this.#learnt;
  }

  /** The end that a limit of ours causes: what is open is completed with what there is of it. */
  #cut(end: ReplyEnd): string {
    let out = '';
    for (const open of this.#open.values()) {
      const { pieces, item } = open.cut();
      for (const [type, members] of pieces) out += this.#numbering.own(type, members);
      this.#items.push(item);
    }
    const warnings: Warning[] = [];
    const outcome = responseStateOf(end.stop ?? this.state.stop, warnings);
    return out + this.#finalEvent(outcome, end, svcOf(this.#meta, end, warnings));
  }

  #finalEvent(outcome: ResponseState, end: ReplyEnd, svc: string): string {
    const response = responseText(fixedText(this.#meta), outcome, {
      output: this.#items.join(','),
      usage: usageText(end.usage),
      tier: this.state.service_tier,
      svc,
    });
    return this.#numbering.own(`response.${outcome.status}`, `"response":${response}`);
  }
}
