// Reads Converse's binary event stream into canonical events. Text and reasoning come without a block start; the kind
// of a delta decides which part it opens.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { StreamDecoder, Target } from '../../../canonical/contract.ts';
import { customInput, emulatedTools } from '../../../canonical/custom-tools.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type { CanonicalEvent, CanonicalRequest, Part } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { HELD_BYTES_MAX } from '../../../wire/sse.ts';
import { readCitation } from './citations.ts';
import { streamFault } from './classify.ts';
import { callPart, imagePart, serverPart, text, tierIn } from './decode.ts';
import { type Frame, FrameReader } from './frames.ts';
import { formatOf } from './model.ts';
import { readStop } from './stop.ts';
import { readUsage } from './usage.ts';

type Kind = 'text' | 'thought' | 'sealed' | 'call' | 'custom' | 'image' | 'server';

interface OpenBlock {
  /** `contentBlockIndex` of the provider. */
  index: number;
  part: number;
  kind: Kind;
  /** Head of the block as the provider sent it. */
  head: JsonObject;
  /** Arguments of `custom` and `server`, bytes of `image` and `sealed`: they become one part at the end. */
  held: string[];
  held_size: number;
  /** Whether arguments have arrived for `call`. */
  any: boolean;
}

/** Parts that are emitted whole, when their block ends. */
const WHOLE: ReadonlySet<Kind> = new Set(['sealed', 'image', 'server']);

export class ConverseDecoder implements StreamDecoder {
  readonly #frames = new FrameReader();
  readonly #request: CanonicalRequest;
  readonly #target: Target;
  readonly #custom: ReadonlySet<string>;
  #events: CanonicalEvent[] = [];
  #parts = 0;
  #open: OpenBlock | null = null;
  #stopped = false;
  #over = false;

  constructor(request: CanonicalRequest, target: Target) {
    this.#request = request;
    this.#target = target;
    this.#custom = emulatedTools(request);
  }

  push(bytes: Buffer): CanonicalEvent[] {
    return this.#run(() => {
      for (const frame of this.#frames.push(bytes)) {
        this.#frame(frame);
        if (this.#over) return;
      }
    });
  }

  end(): CanonicalEvent[] {
    return this.#run(() => {
      this.#over = true;
      this.#close();
      // When the stream breaks after the stop, the usage is lost, but the answer is complete.
      if (!this.#stopped) this.#events.push({ type: 'error', fault: { ...TRUNCATED } });
    });
  }

  #run(step: () => void): CanonicalEvent[] {
    this.#events = [];
    if (this.#over) return this.#events;
    guarded(step, (fault) => {
      this.#over = true;
      this.#events.push({ type: 'error', fault });
    });
    return this.#events;
  }

  #frame({ type, name, message, payload }: Frame): void {
    if (type === 'error') return this.#fail(name, { message });
    if (type === 'exception') return this.#fail(name, jsonOf(payload));
    // Kinds of messages that are newer than this code carry nothing that it needs.
    if (type === 'event') this.#event(name, payload);
  }

  #fail(name: string, body: unknown): void {
    this.#over = true;
    this.#close();
    this.#events.push({ type: 'error', fault: streamFault(name, body) });
  }

  #event(name: string, payload: Buffer): void {
    // After the stop only the usage matters.
    if (this.#stopped && name !== 'metadata') return;
    switch (name) {
      case 'contentBlockDelta':
        return this.#delta(objectOf(payload));
      case 'contentBlockStart':
        return this.#start(objectOf(payload));
      case 'contentBlockStop':
        return this.#close();
      case 'messageStart':
        this.#events.push({ type: 'start' });
        return;
      case 'messageStop': {
        this.#close();
        const stop = readStop(objectOf(payload), this.#request);
        if (stop === null) return;
        this.#stopped = true;
        this.#events.push({ type: 'stop', candidate: 0, stop });
        return;
      }
      case 'metadata':
        return this.#metadata(objectOf(payload));
      default:
        return;
    }
  }

  #metadata(data: JsonObject): void {
    const usage = readUsage(data['usage']);
    if (usage !== null) this.#events.push({ type: 'usage', usage, ...tierIn(data) });
    // Nothing follows it. If no stop came before, the end of the connection shows that the answer was cut off.
    if (!this.#stopped) return;
    this.#over = true;
    this.#events.push({ type: 'finish' });
  }

  #start(data: JsonObject): void {
    this.#close();
    const start = isObject(data['start']) ? data['start'] : {};
    const index = indexOf(data);
    const { toolUse, image } = start;
    if (isObject(toolUse) && toolUse['type'] === undefined) {
      const part = callPart(toolUse, this.#custom);
      this.#begin(index, part.kind === 'custom' ? 'custom' : 'call', toolUse, part);
    } else if (isObject(image)) {
      this.#begin(index, 'image', image, null);
    } else if (Object.keys(start).length > 0) {
      this.#begin(index, 'server', start, null);
    }
  }

  #begin(index: number, kind: Kind, head: JsonObject, content: Part | null): OpenBlock {
    this.#open = { index, part: this.#parts++, kind, head, held: [], held_size: 0, any: false };
    if (content !== null) {
      this.#events.push({ type: 'part_start', candidate: 0, part: this.#open.part, content });
    }
    return this.#open;
  }

  /** The open part if it has `kind` and belongs to block `index`, otherwise a new one after it. */
  #part(index: number, kind: 'text' | 'thought' | 'sealed'): OpenBlock {
    const open = this.#open;
    if (open !== null && open.index === index && open.kind === kind) return open;
    this.#close();
    if (kind === 'sealed') return this.#begin(index, kind, {}, null);
    if (kind === 'text') return this.#begin(index, kind, {}, { type: 'text', text: '' });
    const format = formatOf(this.#target);
    return this.#begin(index, kind, {}, { type: 'reasoning', text: '', kind: 'full', format });
  }

  #push(part: number, delta: { text: string } | { arguments: string } | { signature: string }): void {
    this.#events.push({ type: 'part_delta', candidate: 0, part, ...delta });
  }

  #delta(data: JsonObject): void {
    const { delta } = data;
    if (!isObject(delta)) return;
    const index = indexOf(data);
    const open = this.#open;
    if (open?.kind === 'server' && open.index === index) {
      holdBack(open, JSON.stringify(delta));
      return;
    }
    if (typeof delta['text'] === 'string') {
      if (delta['text'] !== '') this.#push(this.#part(index, 'text').part, { text: delta['text'] });
      return;
    }
    const { toolUse, reasoningContent, citation, image } = delta;
    if (isObject(toolUse)) this.#arguments(index, text(toolUse['input']));
    else if (isObject(reasoningContent)) this.#thought(index, reasoningContent);
    else if (isObject(citation)) this.#citation(index, citation);
    else if (isObject(image) && open?.kind === 'image' && isObject(image['source'])) {
      holdBack(open, text(image['source']['bytes']));
    }
  }

  #arguments(index: number, json: string): void {
    const open = this.#open;
    if (open === null || open.index !== index || (open.kind !== 'call' && open.kind !== 'custom')) {
      throw new ProtocolFault('tool call arguments outside their call');
    }
    if (json === '') return;
    if (open.kind === 'custom') {
      holdBack(open, json);
      return;
    }
    open.any = true;
    this.#push(open.part, { arguments: json });
  }

  #thought(index: number, delta: JsonObject): void {
    const sealed = delta['redactedContent'];
    if (typeof sealed === 'string') {
      holdBack(this.#part(index, 'sealed'), sealed);
      return;
    }
    const said = text(delta['text']);
    const signature = text(delta['signature']);
    if (said !== '') this.#push(this.#part(index, 'thought').part, { text: said });
    if (signature !== '') this.#push(this.#part(index, 'thought').part, { signature });
  }

  #citation(index: number, wire: JsonObject): void {
    const citation = readCitation(wire);
    if (citation === null) return;
    const { part } = this.#part(index, 'text');
    this.#events.push({ type: 'part_delta', candidate: 0, part, citation });
  }

  #close(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    const to = { candidate: 0, part: open.part };
    if (WHOLE.has(open.kind)) {
      this.#events.push({ type: 'part_start', ...to, content: wholePart(open, this.#target) });
    } else if (open.kind === 'custom') {
      this.#push(open.part, { arguments: customInput(open.held.join('')) });
    } else if (open.kind === 'call' && !open.any) {
      // A call without arguments may come without a delta.
      this.#push(open.part, { arguments: '{}' });
    }
    this.#events.push({ type: 'part_stop', ...to });
  }
}

function holdBack(open: OpenBlock, piece: string): void {
  open.held_size += piece.length;
  if (open.held_size > HELD_BYTES_MAX) throw new ProtocolFault('a block of the answer is too long');
  open.held.push(piece);
}

/** Pieces of base64 as one. */
function joinBase64(pieces: readonly string[]): string {
  const [only = ''] = pieces;
  if (pieces.length <= 1) return only;
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64');
}

function wholePart(open: OpenBlock, target: Target): Part {
  if (open.kind === 'image') return imagePart(open.head, joinBase64(open.held));
  if (open.kind === 'sealed') {
    const data = joinBase64(open.held);
    return { type: 'reasoning', text: '', kind: 'encrypted', data, format: formatOf(target) };
  }
  return serverPart(serverBlock(open));
}

/** A server tool's block in the form that a whole answer has. */
function serverBlock({ head, held }: OpenBlock): JsonObject {
  const deltas = held.map((piece) => JSON.parse(piece) as JsonObject);
  if (isObject(head['toolUse'])) {
    const json = deltas.map(({ toolUse }) => (isObject(toolUse) ? text(toolUse['input']) : '')).join('');
    return { toolUse: { ...head['toolUse'], input: inputOf(json) } };
  }
  if (!isObject(head['toolResult'])) return head;
  const content = deltas.flatMap(({ toolResult }) => (Array.isArray(toolResult) ? toolResult : []));
  return { toolResult: { ...head['toolResult'], content } };
}

function inputOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

function indexOf(data: JsonObject): number {
  const index = data['contentBlockIndex'];
  return typeof index === 'number' ? index : 0;
}

function jsonOf(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    return null;
  }
}

function objectOf(payload: Buffer): JsonObject {
  const value = jsonOf(payload);
  if (!isObject(value)) throw new ProtocolFault('an event is not a JSON object');
  return value;
}
