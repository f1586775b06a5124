// Reads the family's event stream into canonical events. Lenient where servers of this format are known to be sloppy
// (no event lines, deltas without a block start, input given whole), strict where money or order depends on it.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { StreamDecoder } from '../../../canonical/contract.ts';
import { customInput, emulatedTools } from '../../../canonical/custom-tools.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type { CanonicalEvent, CanonicalRequest, Part } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { HELD_BYTES_MAX, SseReader } from '../../../wire/sse.ts';
import { readCitation } from '../words/citations.ts';
import { FORMAT } from '../words/reasoning.ts';
import { readStop } from '../words/stop.ts';
import { mergeWireUsage, readEarlyUsage, readUsage } from '../words/usage.ts';
import { classifyEvent } from './classify.ts';
import { callPart, serverPart, thinkingPart } from './decode.ts';

interface OpenBlock {
  index: number;
  part: number;
  /** `whole`: a server block whose input is streamed; it becomes one part when it is complete. */
  kind: 'text' | 'thinking' | 'redacted' | 'call' | 'custom' | 'whole';
  /** Arguments so far: all of them for `custom` and `whole`, otherwise only whether there were any. */
  json: string;
  block: JsonObject;
}

export class AnthropicDecoder implements StreamDecoder {
  readonly #sse = new SseReader();
  readonly #custom: ReadonlySet<string>;
  #parts = 0;
  #open: OpenBlock | null = null;
  #usage: JsonObject | null = null;
  /** A stop reason or the end mark was seen: nothing of the answer is missing any more. */
  #ended = false;
  #over = false;

  constructor(request: CanonicalRequest) {
    this.#custom = emulatedTools(request);
  }

  push(bytes: Buffer): CanonicalEvent[] {
    return this.#guard((out) => {
      for (const event of this.#sse.push(bytes)) this.#event(event.data, out);
    });
  }

  end(): CanonicalEvent[] {
    return this.#guard((out) => {
      // Bytes after the last blank line count only when they are a whole event; one that is cut off says nothing.
      for (const event of this.#sse.end()) if (isWhole(event.data)) this.#event(event.data, out);
      if (this.#over) return;
      this.#over = true;
      this.#close(out);
      if (!this.#ended) out.push({ type: 'error', fault: { ...TRUNCATED } });
    });
  }

  #guard(read: (out: CanonicalEvent[]) => void): CanonicalEvent[] {
    const out: CanonicalEvent[] = [];
    if (this.#over) return out;
    guarded(
      () => read(out),
      (fault) => {
        this.#over = true;
        out.push({ type: 'error', fault });
      },
    );
    return out;
  }

  #event(text: string, out: CanonicalEvent[]): void {
    if (this.#over || text === '') return;
    const data = parse(text);
    if (!isObject(data)) return;
    switch (data['type']) {
      case 'content_block_delta':
        return this.#delta(data, out);
      case 'content_block_start':
        return this.#blockStart(data, out);
      case 'content_block_stop':
        return this.#close(out);
      case 'message_start':
        return this.#messageStart(data, out);
      case 'message_delta':
        return this.#messageDelta(data, out);
      case 'message_stop':
        this.#close(out);
        this.#ended = true;
        out.push({ type: 'finish' });
        return;
      case 'error':
        this.#close(out);
        this.#over = true;
        out.push({ type: 'error', fault: classifyEvent(data) });
        return;
      default:
        return;
    }
  }

  #messageStart(data: JsonObject, out: CanonicalEvent[]): void {
    const message = isObject(data['message']) ? data['message'] : {};
    const usage = message['usage'];
    const early = readEarlyUsage(usage);
    if (isObject(usage)) this.#usage = mergeWireUsage(null, usage);
    out.push({
      type: 'start',
      ...(typeof message['model'] === 'string' ? { upstream_model: message['model'] } : {}),
      ...(typeof message['id'] === 'string' ? { upstream_id: message['id'] } : {}),
      ...(early !== null ? { usage: early } : {}),
      ...this.#tier(),
    });
  }

  #tier(): { service_tier?: string } {
    const tier = this.#usage?.['service_tier'];
    return typeof tier === 'string' ? { service_tier: tier } : {};
  }

  #messageDelta(data: JsonObject, out: CanonicalEvent[]): void {
    const stop = isObject(data['delta']) ? readStop(data['delta']) : null;
    if (stop !== null) {
      this.#close(out);
      this.#ended = true;
      out.push({ type: 'stop', candidate: 0, stop });
    }
    if (!isObject(data['usage'])) return;
    // Usage is final only with an output count of its own: what message_start guesses is not billed.
    this.#usage = mergeWireUsage(this.#usage, data['usage']);
    const usage = typeof data['usage']['output_tokens'] === 'number' ? readUsage(this.#usage) : null;
    if (usage !== null) out.push({ type: 'usage', usage, ...this.#tier() });
  }

  #blockStart(data: JsonObject, out: CanonicalEvent[]): void {
    this.#close(out);
    const block = isObject(data['content_block']) ? data['content_block'] : {};
    const index = typeof data['index'] === 'number' ? data['index'] : this.#parts;
    switch (block['type']) {
      case 'text':
        this.#begin(index, 'text', block, { type: 'text', text: '' }, out);
        if (typeof block['text'] === 'string' && block['text'] !== '') this.#text(block['text'], out);
        return;
      case 'thinking': {
        const { signature, text, ...start } = thinkingPart(block);
        this.#begin(index, 'thinking', block, { ...start, text: '' }, out);
        if (text !== '') this.#text(text, out);
        if (signature !== undefined) this.#push({ signature }, out);
        return;
      }
      case 'redacted_thinking': {
        const part: Part = { type: 'reasoning', text: '', kind: 'encrypted', format: FORMAT };
        part.data = typeof block['data'] === 'string' ? block['data'] : '';
        this.#begin(index, 'redacted', block, part, out);
        return;
      }
      case 'tool_use': {
        const part = callPart(block, '', this.#custom);
        this.#begin(index, part.kind === 'custom' ? 'custom' : 'call', block, part, out);
        return;
      }
      default:
        this.#open = { index, part: this.#parts++, kind: 'whole', json: '', block };
    }
  }

  #begin(
    index: number,
    kind: OpenBlock['kind'],
    block: JsonObject,
    content: Part,
    out: CanonicalEvent[],
  ): void {
    this.#open = { index, part: this.#parts++, kind, json: '', block };
    out.push({ type: 'part_start', candidate: 0, part: this.#open.part, content });
  }

  #push(
    delta: Omit<Extract<CanonicalEvent, { type: 'part_delta' }>, 'type' | 'candidate' | 'part'>,
    out: CanonicalEvent[],
  ): void {
    out.push({ type: 'part_delta', candidate: 0, part: this.#open?.part ?? 0, ...delta });
  }

  #text(text: string, out: CanonicalEvent[]): void {
    out.push({ type: 'part_delta', candidate: 0, part: this.#open?.part ?? 0, text });
  }

  #delta(data: JsonObject, out: CanonicalEvent[]): void {
    const delta = data['delta'];
    if (!isObject(delta)) return;
    if (this.#open === null) this.#infer(data, delta, out);
    const open = this.#open;
    if (open === null) return;
    if (open.kind === 'whole') return growWhole(open, delta);
    switch (delta['type']) {
      case 'text_delta':
        if (typeof delta['text'] === 'string' && delta['text'] !== '') this.#text(delta['text'], out);
        return;
      case 'thinking_delta':
        if (typeof delta['thinking'] === 'string' && delta['thinking'] !== '')
          this.#text(delta['thinking'], out);
        return;
      case 'signature_delta':
        if (typeof delta['signature'] === 'string') this.#push({ signature: delta['signature'] }, out);
        return;
      case 'input_json_delta':
        return this.#arguments(open, delta['partial_json'], out);
      case 'citations_delta': {
        const citation = readCitation(delta['citation']);
        if (citation !== null) this.#push({ citation }, out);
        return;
      }
      default:
        return;
    }
  }

  #arguments(open: OpenBlock, json: unknown, out: CanonicalEvent[]): void {
    if (typeof json !== 'string' || json === '') return;
    if (open.kind === 'custom') return holdBack(open, json);
    open.json = '.';
    this.#push({ arguments: json }, out);
  }

  // Text and thinking may come without a start; a call may not, because the start has its name and id.
  #infer(data: JsonObject, delta: JsonObject, out: CanonicalEvent[]): void {
    const type = delta['type'];
    if (type === 'text_delta')
      this.#blockStart({ index: data['index'], content_block: { type: 'text' } }, out);
    else if (type === 'thinking_delta') {
      this.#blockStart({ index: data['index'], content_block: { type: 'thinking' } }, out);
    }
  }

  #close(out: CanonicalEvent[]): void {
    const open = this.#open;
    if (open === null) return;
    if (open.kind === 'whole') {
      out.push({ type: 'part_start', candidate: 0, part: open.part, content: serverPart(wholeBlock(open)) });
    } else if (open.kind === 'custom') {
      this.#push({ arguments: customInput(open.json) }, out);
    } else if (open.kind === 'call' && open.json === '') {
      // No delta came: the input is in the block start, `{}` for a tool without arguments.
      this.#push({ arguments: JSON.stringify(open.block['input'] ?? {}) }, out);
    }
    out.push({ type: 'part_stop', candidate: 0, part: open.part });
    this.#open = null;
  }
}

function holdBack(open: OpenBlock, json: string): void {
  open.json += json;
  if (open.json.length > HELD_BYTES_MAX) throw new ProtocolFault('the input of a tool call is too long');
}

function growWhole(open: OpenBlock, delta: JsonObject): void {
  if (delta['type'] === 'input_json_delta') {
    if (typeof delta['partial_json'] === 'string') holdBack(open, delta['partial_json']);
    return;
  }
  const { type: _type, ...fields } = delta;
  open.block = { ...open.block, ...fields };
}

function wholeBlock(open: OpenBlock): JsonObject {
  if (open.json === '') return open.block;
  let input: unknown;
  try {
    input = JSON.parse(open.json);
  } catch {
    input = {};
  }
  return { ...open.block, input };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProtocolFault('the data of an event is not JSON');
  }
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
