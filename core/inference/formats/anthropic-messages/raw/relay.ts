// The stream of the raw lane: one piece out for each read, with events copied unchanged. Only three are rewritten:
// `message_start` (id, model, svc), the last `message_delta` (svc, held back until the cost is settled) and
// `message_stop` (held back with it). A delta is recognised by a learnt prefix, which costs a comparison and a search
// for its closing quote.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { svcText } from '../../../caller/svc.ts';
import type { Relay, RelayState } from '../../../canonical/contract.ts';
import { newRelayState } from '../../../canonical/relay-state.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type { ReplyEnd, ReplyMeta, StreamFault } from '../../../canonical/types.ts';
import { isCharged } from '../../../canonical/usage.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { eventEnd, Frames, hasLine, own } from '../../../wire/frames.ts';
import { heldBack, shownOf } from '../../../wire/private.ts';
import {
  changeMembers,
  type Edit,
  memberOf,
  scanObject,
  splice,
  startsWith,
  stringEnd,
} from '../../../wire/scan.ts';
import { eventOf, isWholeEvent, readLines } from '../../../wire/sse-lines.ts';
import { textBytes } from '../../../wire/text-bytes.ts';
import {
  blockStop,
  errorEvent,
  MESSAGE_STOP,
  MessagesWriter,
  messageDelta,
  PING,
  startUsage,
} from '../caller/writer.ts';
import { classifyEvent } from '../upstream/classify.ts';
import { readStop } from '../words/stop.ts';
import {
  isSoundWire,
  mergeWireUsage,
  readEarlyUsage,
  readUsage,
  writeDeltaUsage,
  writeUsage,
} from '../words/usage.ts';
import { withMissing } from './missing.ts';

const LF = 10;
const EMPTY = Buffer.alloc(0);
/** `"}}`, followed by an index or padding that some providers add. */
const CLOSING_MAX = 64;
const DELTA_EVENT = Buffer.from('event: content_block_delta\n');
/** Events that no client can interpret before the message they belong to has started. */
const NEEDS_START: ReadonlySet<string> = new Set([
  ...['content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta'],
]);
/** Where the text of a delta begins, by kind of delta. */
const TEXT_STARTS = ['_delta","text":"', '_delta","thinking":"', '_delta","partial_json":"'].map((text) =>
  Buffer.from(text),
);

interface Block {
  index: unknown;
  /** A tool call for which no delta has brought arguments yet. */
  awaits_input: boolean;
  /** No delta has arrived yet. */
  untouched: boolean;
}

export class MessagesRelay implements Relay {
  readonly state: RelayState = newRelayState();
  readonly #meta: ReplyMeta;
  readonly #hide: readonly string[] | undefined;
  readonly #frames = new Frames();
  #started = false;
  #block: Block | null = null;
  #prefix: Buffer = EMPTY;
  #usage: JsonObject | null = null;
  #held: Buffer | null = null;
  #stop_event: Buffer | null = null;
  #over = false;

  /** `hide` are members of its events that the caller does not get. */
  constructor(meta: ReplyMeta, hide?: readonly string[]) {
    this.#meta = meta;
    this.#hide = hide;
  }

  push(bytes: Buffer): Buffer {
    if (this.#over || this.state.fault !== null || this.state.finished) return EMPTY;
    const b = this.#frames.take(bytes);
    return b === null ? EMPTY : this.#events(b);
  }

  close(): Buffer {
    if (this.#over || this.state.fault !== null) return EMPTY;
    let out: Buffer = EMPTY;
    // A server that omits the last blank line has still sent its last event, if that is complete.
    const tail = this.state.finished ? null : this.#frames.end();
    if (tail !== null && isWholeEvent(tail)) out = this.#events(tail);
    const { state } = this;
    if (state.stop === null && !state.finished && state.fault === null) {
      state.fault = { ...TRUNCATED };
    }
    return out;
  }

  end(end: ReplyEnd): Buffer {
    if (this.#over) return EMPTY;
    if (!this.#started) {
      this.#over = true;
      return Buffer.from(new MessagesWriter(this.#meta).end(end));
    }
    const svc = svcText(this.#meta, end);
    const last = this.#stop_event ?? Buffer.from(MESSAGE_STOP);
    const pieces: Buffer[] = [];
    if (this.#held !== null && end.stop === undefined) {
      pieces.push(this.#settled(this.#held, svc, end), last);
    } else {
      const stop = end.stop ?? this.state.stop ?? { reason: 'end_turn' };
      pieces.push(Buffer.from(this.#closeBlock() + messageDelta(stop, end.usage, svc)), last);
    }
    this.#over = true;
    return Buffer.concat(pieces);
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    if (this.#over) return '';
    this.#over = true;
    return errorEvent(fault, this.#meta, end);
  }

  keepAlive(): string {
    return this.#over ? '' : PING;
  }

  /** Handles the events of `b`, all whole. */
  #events(b: Buffer): Buffer {
    const pieces: Buffer[] = [];
    let copied = 0;
    let at = 0;
    for (;;) {
      if (at >= b.length || this.state.fault !== null || this.state.finished) break;
      const known = this.#known(b, at);
      if (known > 0) {
        at = known;
        continue;
      }
      const to = eventEnd(b, at);
      const piece = this.#event(b, at, to);
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

  /** End of the event at `from` if it is a delta with the learnt prefix, which is counted and copied; else 0. */
  #known(b: Buffer, from: number): number {
    const { length } = this.#prefix;
    if (length === 0 || !startsWith(b, from, this.#prefix)) return 0;
    const end = stringEnd(b, from + length);
    if (end < 0 || hasLine(b, from + length, end)) return 0;
    // A few closing marks follow the text; when more follows, the event is read in full.
    let to = end + 1;
    const near = Math.min(b.length - 1, to + CLOSING_MAX);
    while (to < near && b[to] !== LF) to++;
    if (b[to] !== LF || b[to + 1] !== LF) return 0;
    this.#produced(textBytes(b, from + length, end));
    if (end > from + length) (this.#block as Block).awaits_input = false;
    return to + 2;
  }

  /** Handles one event outside the fast path; returns its replacement, or null to copy it unchanged. */
  #event(b: Buffer, from: number, to: number): Buffer | null {
    const read = readLines(b.toString('utf8', from, to));
    if (read.data === null) return EMPTY;
    let data: unknown;
    try {
      data = JSON.parse(read.data);
    } catch {
      throw new ProtocolFault('the data of an event is not JSON');
    }
    if (!isObject(data) || typeof data['type'] !== 'string') return EMPTY;
    const { type } = data;
    // The official clients rely on the event line, so an event without one gets it.
    const text = shownOf(read.data, data, this.#hide);
    const same = read.plain && read.event === type && text === read.data;
    const plain = same ? null : eventOf(type, text);
    if (!this.#started && NEEDS_START.has(type)) throw new ProtocolFault(`${type} before message_start`);
    switch (type) {
      case 'message_start':
        return this.#start(data, text);
      case 'content_block_start':
        this.#blockStart(data);
        return this.#released(plain, b, from, to);
      case 'content_block_delta':
        this.#delta(data, plain === null ? b.subarray(from, to) : EMPTY);
        return this.#released(plain, b, from, to);
      case 'content_block_stop':
        this.#blockStop();
        return this.#released(plain, b, from, to);
      case 'message_delta':
        return this.#messageDelta(data, plain ?? own(b.subarray(from, to)));
      case 'message_stop':
        this.state.finished = true;
        this.#stop_event = plain ?? own(b.subarray(from, to));
        return EMPTY;
      case 'error':
        this.state.fault = classifyEvent(data);
        return EMPTY;
      default:
        return plain;
    }
  }

  /** Content follows a `message_delta`, so that was not the last one: it is sent as it came. */
  #released(plain: Buffer | null, b: Buffer, from: number, to: number): Buffer | null {
    const held = this.#held;
    if (held === null) return plain;
    this.#held = null;
    return Buffer.concat([held, plain ?? b.subarray(from, to)]);
  }

  #start(data: JsonObject, text: string): Buffer {
    if (this.#started) return EMPTY;
    this.#started = true;
    const message = data['message'];
    const usage = isObject(message) ? message['usage'] : undefined;
    if (isObject(message) && typeof message['id'] === 'string') this.state.upstream_id = message['id'];
    this.state.early_usage = readEarlyUsage(usage);
    if (isObject(usage)) {
      this.#usage = mergeWireUsage(null, usage);
      if (typeof usage['service_tier'] === 'string') this.state.service_tier = usage['service_tier'];
    }
    const body = Buffer.from(text);
    const top = scanObject(body);
    const member = top === null ? undefined : memberOf(top, 'message');
    const inner = member === undefined ? null : scanObject(body, member.from);
    if (inner === null) throw new ProtocolFault('message_start without a message');
    const changes: Record<string, string | null> = {
      ...heldBack(Object.keys(message as JsonObject), this.#hide),
      id: `"${this.#meta.request_id}"`,
      model: JSON.stringify(this.#meta.model),
      ...withMissing.message(inner),
      svc: svcText(this.#meta, null),
    };
    const counts = memberOf(inner, 'usage');
    const counted = counts === undefined ? null : scanObject(body, counts.from);
    const edits: Edit[] = [];
    if (counted === null || !isSoundWire(usage as JsonObject)) {
      // Clients read the counts in `message_start` without checking that they exist.
      changes['usage'] = writeUsage(startUsage(this.state.early_usage ?? undefined, this.#meta), undefined);
    } else {
      const missing: Record<string, string> = withMissing.usage(counted);
      const { input_tokens: input, output_tokens: output } = usage as JsonObject;
      if (isZero(usage)) missing['input_tokens'] = String(Math.max(1, this.#meta.input_estimate));
      else if (typeof input !== 'number') missing['input_tokens'] = '0';
      if (typeof output !== 'number') missing['output_tokens'] = '1';
      edits.push(...changeMembers(counted, missing));
    }
    edits.push(...changeMembers(inner, changes));
    return eventOf('message_start', splice(body, edits));
  }

  #blockStart(data: JsonObject): void {
    const block = isObject(data['content_block']) ? data['content_block'] : {};
    const { type } = block;
    this.#prefix = EMPTY;
    if (type === 'tool_use') this.state.tool_calls++;
    this.#block = { index: data['index'], awaits_input: type === 'tool_use', untouched: true };
    const first = type === 'thinking' || type === 'text' ? block[type] : '';
    if (typeof first === 'string' && first !== '') this.#count(first);
    if (type !== 'text' && type !== 'thinking') this.state.semantic = true;
  }

  #count(text: unknown): void {
    this.state.semantic = true;
    if (typeof text === 'string') this.#produced(Buffer.byteLength(text));
  }

  #produced(bytes: number): void {
    this.state.output_bytes += bytes;
    if (bytes > 0) this.state.content_events++;
  }

  /** `event` is empty where it is not copied as it came. */
  #delta(data: JsonObject, event: Buffer): void {
    const delta = isObject(data['delta']) ? data['delta'] : {};
    this.#block ??= { index: data['index'], awaits_input: false, untouched: true };
    this.#block.untouched = false;
    const text = delta['text'] ?? delta['thinking'] ?? delta['partial_json'];
    this.#count(text);
    if (delta['partial_json'] !== undefined && text !== '') this.#block.awaits_input = false;
    if (!startsWith(event, 0, DELTA_EVENT)) return;
    for (const needle of TEXT_STARTS) {
      const at = event.indexOf(needle);
      // The first text of the event: its data line begins with type and index, which contain no such characters.
      if (at >= 0) this.#prefix = own(event.subarray(0, at + needle.length));
      if (at >= 0) return;
    }
  }

  #blockStop(): void {
    // A call without arguments counts as `{}`, as in the canonical form.
    if (this.#block?.awaits_input === true) this.#produced(2);
    this.#block = null;
    this.#prefix = EMPTY;
  }

  #messageDelta(data: JsonObject, bytes: Buffer): Buffer {
    const released = this.#held ?? EMPTY;
    this.#held = bytes;
    const stop = isObject(data['delta']) ? readStop(data['delta']) : null;
    if (stop !== null) {
      this.state.stop = stop;
      this.state.semantic = true;
    }
    const { usage } = data;
    if (isObject(usage)) {
      this.#usage = mergeWireUsage(this.#usage, usage);
      if (typeof usage['output_tokens'] === 'number')
        this.state.usage = readUsage(this.#usage) ?? this.state.usage;
    }
    return released;
  }

  /** Ends the block that is open when the gateway cuts the answer; a call gets the delta that clients wait for. */
  #closeBlock(): string {
    const block = this.#block;
    if (block === null) return '';
    this.#block = null;
    const index = typeof block.index === 'number' ? block.index : 0;
    const empty =
      `{"type":"content_block_delta","index":${index}` +
      ',"delta":{"type":"input_json_delta","partial_json":""}}';
    const delta =
      block.awaits_input && block.untouched ? `event: content_block_delta\ndata: ${empty}\n\n` : '';
    return delta + blockStop(index);
  }

  /** The held `message_delta` with svc, every key, and the gateway's counts when the provider had none. */
  #settled(held: Buffer, svc: string, end: ReplyEnd): Buffer {
    const body = Buffer.from(readLines(held.toString('utf8')).data as string);
    const top = scanObject(body);
    if (top === null)
      return Buffer.from(messageDelta(this.state.stop ?? { reason: 'end_turn' }, end.usage, svc));
    const changes: Record<string, string> = { svc };
    const delta = memberOf(top, 'delta');
    const inner = delta === undefined ? null : scanObject(body, delta.from);
    const edits = inner === null ? [] : changeMembers(inner, withMissing.delta(inner));
    const usage = memberOf(top, 'usage');
    const counts = usage === undefined ? null : scanObject(body, usage.from);
    const kept = isCharged(this.state.usage, end) && this.#usage !== null && isSoundWire(this.#usage);
    if (!kept || counts === null) changes['usage'] = writeDeltaUsage(end.usage);
    else edits.push(...changeMembers(counts, withMissing.counts(counts, this.#usage)));
    edits.push(...changeMembers(top, changes));
    return eventOf('message_delta', splice(body, edits));
  }
}

function isZero(usage: unknown): boolean {
  if (!isObject(usage)) return true;
  const keys = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
  return keys.every((key) => typeof usage[key] !== 'number' || usage[key] === 0);
}
