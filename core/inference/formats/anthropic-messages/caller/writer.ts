// Writes canonical events as the dialect's event stream (docs/streams.md#messages): a state machine that cannot leave
// the grammar. Every event is a template around one JSON.stringify; the finish is held back until usage is final.

import { droppedPart } from '../../../caller/dropped.ts';
import { svcText } from '../../../caller/svc.ts';
import type { StreamWriter } from '../../../canonical/contract.ts';
import type {
  CanonicalEvent,
  Part,
  ReasoningPart,
  ReplyEnd,
  ReplyMeta,
  Stop,
  StreamFault,
  ToolCallPart,
  Usage,
  Warning,
} from '../../../canonical/types.ts';
import { writeCitation } from '../words/citations.ts';
import { writeStop } from '../words/stop.ts';
import { writeDeltaUsage, writeUsage } from '../words/usage.ts';
import { callSignature, sealedData, signatureOf, toolUse, withId } from './blocks.ts';
import { messagesError } from './error.ts';
import { appliedEdits, reportedStop } from './write.ts';

type Start = Extract<CanonicalEvent, { type: 'start' }>;
type Delta = Extract<CanonicalEvent, { type: 'part_delta' }>;

export const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
export const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/** The dialect's error event, which ends the stream. */
export function errorEvent(fault: StreamFault, meta: ReplyMeta, end: ReplyEnd): string {
  const envelope = JSON.stringify(messagesError(fault, meta));
  return `event: error\ndata: ${envelope.slice(0, -1)},"svc":${svcText(meta, end)}}\n\n`;
}

/** A `message_delta` that the gateway makes. */
export function messageDelta(stop: Stop, usage: Usage, svc: string, applied = ''): string {
  return (
    `event: message_delta\ndata: {"type":"message_delta","delta":{${writeStop(stop)},"container":null}` +
    `,"usage":${writeDeltaUsage(usage)}${applied},"svc":${svc}}\n\n`
  );
}

/** `content_block_stop` of block `index`. */
export function blockStop(index: number): string {
  return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`;
}

/**
 * Usage of `message_start`: the provider's early report, otherwise the estimate. Never all zero, because clients
 * divide by it.
 */
export function startUsage(early: Partial<Usage> | undefined, meta: ReplyMeta): Usage {
  const usage: Usage = {
    input_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    source: 'estimate',
    ...early,
    output_tokens: 1,
    reasoning_tokens: 0,
  };
  if (usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens === 0) {
    usage.input_tokens = Math.max(1, meta.input_estimate);
  }
  return usage;
}

/**
 * What is being written: a block, something that is not shown (`silent`), or a part whose block is written at its
 * end.
 */
type Open =
  | { kind: 'text' | 'thinking' | 'call' | 'custom'; part: Part; arguments: boolean }
  | { kind: 'sealed'; part: ReasoningPart }
  | { kind: 'silent'; part: Part };

export class MessagesWriter implements StreamWriter {
  readonly #meta: ReplyMeta;
  #started = false;
  #model: string;
  #tier: string | undefined;
  #next = 0;
  #calls = 0;
  #open: Open | null = null;
  /** Head of the open block's deltas, made once per block. */
  #head = '';
  #stop: Stop | null = null;
  #refused = false;
  #over = false;
  readonly #warnings: Warning[] = [];

  constructor(meta: ReplyMeta) {
    this.#meta = meta;
    this.#model = meta.model;
  }

  write(event: CanonicalEvent): string {
    if (this.#over) return '';
    switch (event.type) {
      case 'part_delta':
        return event.candidate === 0 ? this.#delta(event) : '';
      case 'part_start':
        return event.candidate === 0 ? this.#start() + this.#close() + this.#begin(event.content) : '';
      case 'part_stop':
        return event.candidate === 0 ? this.#close() : '';
      case 'start':
        return this.#start(event);
      case 'stop':
        if (event.candidate !== 0) return '';
        this.#stop = event.stop;
        return this.#close();
      default:
        return '';
    }
  }

  end(end: ReplyEnd): string {
    if (this.#over) return '';
    const head = this.#start() + this.#close();
    this.#over = true;
    const stop = reportedStop(this.#stop, end, this.#refused, this.#warnings);
    const svc = svcText(this.#meta, end, this.#warnings);
    return head + messageDelta(stop, end.usage, svc, appliedEdits(this.#meta)) + MESSAGE_STOP;
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    if (this.#over) return '';
    this.#over = true;
    return errorEvent(fault, this.#meta, end);
  }

  keepAlive(): string {
    return this.#over ? '' : PING;
  }

  #start(event?: Start): string {
    if (this.#started) return '';
    this.#started = true;
    const meta = this.#meta;
    this.#model = event?.upstream_model ?? meta.model;
    this.#tier = event?.service_tier;
    return (
      'event: message_start\ndata: {"type":"message_start","message":' +
      `{"id":"${meta.request_id}","type":"message","role":"assistant","model":${JSON.stringify(meta.model)}` +
      `,"content":[],${writeStop(null)},"container":null,"diagnostics":null,"usage":${writeUsage(startUsage(event?.usage, meta), this.#tier)}` +
      `,"svc":${svcText(meta, null)}}}\n\n${PING}`
    );
  }

  /** Opens block `next`, which starts with `block`. */
  #block(block: string): string {
    const index = this.#next++;
    const delta = 'event: content_block_delta\ndata: {"type":"content_block_delta"';
    this.#head = `${delta},"index":${index},"delta":{"type":"`;
    const start = 'event: content_block_start\ndata: {"type":"content_block_start"';
    return `${start},"index":${index},"content_block":${block}}\n\n`;
  }

  /** Writes a block that arrives whole. */
  #whole(block: string): string {
    const index = this.#next;
    return this.#block(block) + blockStop(index);
  }

  #begin(part: Part): string {
    switch (part.type) {
      case 'text':
      case 'refusal': {
        if (part.type === 'refusal') this.#refused = true;
        this.#open = { kind: 'text', part: { ...part }, arguments: false };
        const start = this.#block('{"type":"text","text":"","citations":null}');
        return part.text === '' ? start : start + this.#text('text', part.text);
      }
      case 'reasoning':
        return this.#beginReasoning(part);
      case 'tool_call':
        return this.#beginCall(part);
      case 'server_tool':
        this.#open = { kind: 'silent', part };
        if (part.family === 'anthropic_messages') return this.#whole(JSON.stringify(part.payload));
        break;
      default:
        this.#open = { kind: 'silent', part };
    }
    this.#warnings.push(droppedPart(part));
    return '';
  }

  #beginReasoning(part: ReasoningPart): string {
    if (this.#meta.reasoning === 'exclude') {
      this.#open = { kind: 'silent', part };
      return '';
    }
    const own = { ...part };
    if (part.kind === 'encrypted') {
      this.#open = { kind: 'sealed', part: own };
      return '';
    }
    this.#open = { kind: 'thinking', part: own, arguments: false };
    const start = this.#block('{"type":"thinking","thinking":"","signature":""}');
    return part.text === '' ? start : start + this.#text('thinking', part.text);
  }

  #beginCall(part: ToolCallPart): string {
    const own = { ...withId(part, this.#meta.request_id, this.#calls++) };
    let head = '';
    if (own.signature !== undefined) {
      head = this.#signed(callSignature(own, own.signature, this.#model));
      // The signature has been written; one that comes with a delta is a different one.
      delete own.signature;
    }
    this.#open = { kind: part.kind === 'custom' ? 'custom' : 'call', part: own, arguments: false };
    head += this.#block(toolUse(own, '{}'));
    return part.arguments === '' ? head : head + this.#arguments(this.#open, part.arguments);
  }

  /** Writes an empty thinking block that only carries `signature`. */
  #signed(signature: string): string {
    const index = this.#next;
    return (
      this.#block('{"type":"thinking","thinking":"","signature":""}') +
      `${this.#head}signature_delta","signature":${JSON.stringify(signature)}}}\n\n` +
      blockStop(index)
    );
  }

  #text(kind: 'text' | 'thinking', text: string): string {
    return `${this.#head}${kind}_delta","${kind}":${JSON.stringify(text)}}}\n\n`;
  }

  #arguments(open: Extract<Open, { arguments: boolean }>, text: string): string {
    let json = text;
    if (open.kind === 'custom') {
      const inner = JSON.stringify(text).slice(1, -1);
      json = open.arguments ? inner : `{"input":"${inner}`;
    }
    open.arguments = true;
    return `${this.#head}input_json_delta","partial_json":${JSON.stringify(json)}}}\n\n`;
  }

  #delta(event: Delta): string {
    const open = this.#open;
    if (open === null || open.kind === 'silent') return '';
    if (open.kind === 'sealed') {
      if (event.data !== undefined) open.part.data = (open.part.data ?? '') + event.data;
      if (event.signature !== undefined) open.part.signature = (open.part.signature ?? '') + event.signature;
      return '';
    }
    const { part } = open;
    let out = '';
    if (event.text !== undefined && event.text !== '' && open.kind === 'text')
      out = this.#text('text', event.text);
    else if (event.text !== undefined && event.text !== '' && open.kind === 'thinking') {
      out = this.#text('thinking', event.text);
    }
    if (event.arguments !== undefined && event.arguments !== '' && part.type === 'tool_call') {
      out += this.#arguments(open, event.arguments);
    }
    if (event.citation !== undefined && open.kind === 'text') {
      const citation = JSON.stringify(writeCitation(event.citation));
      out += `${this.#head}citations_delta","citation":${citation}}}\n\n`;
    }
    if (part.type === 'reasoning' || part.type === 'tool_call') gather(part, event);
    return out;
  }

  #close(): string {
    const open = this.#open;
    if (open === null) return '';
    this.#open = null;
    if (open.kind === 'silent') return '';
    if (open.kind === 'sealed') {
      return this.#whole(
        `{"type":"redacted_thinking","data":${JSON.stringify(sealedData(open.part, this.#model))}}`,
      );
    }
    const stop = blockStop(this.#next - 1);
    const { part } = open;
    if (part.type === 'reasoning') {
      const signature = signatureOf(part, this.#model);
      if (signature === '') return stop;
      return `${this.#head}signature_delta","signature":${JSON.stringify(signature)}}}\n\n${stop}`;
    }
    if (part.type !== 'tool_call') return stop;
    let out = '';
    if (open.kind === 'custom') {
      const tail = open.arguments ? '"}' : '{"input":""}';
      out = `${this.#head}input_json_delta","partial_json":${JSON.stringify(tail)}}}\n\n`;
    } else if (!open.arguments) {
      // Clients parse the arguments only after a delta, even if it is empty.
      out = `${this.#head}input_json_delta","partial_json":""}}\n\n`;
    }
    out += stop;
    if (part.signature !== undefined) out += this.#signed(callSignature(part, part.signature, this.#model));
    return out;
  }
}

// Signatures and opaque state are written whole and once, because clients overwrite what they have.
function gather(part: ReasoningPart | ToolCallPart, event: Delta): void {
  if (event.signature !== undefined) part.signature = (part.signature ?? '') + event.signature;
  if (event.data !== undefined && part.type === 'reasoning') part.data = (part.data ?? '') + event.data;
}
