// The raw lane of a chat stream: what a choice of a chat chunk contains (`chunk-relay.ts` has the stream itself).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Relay, Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, ReplyMeta, Stop } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { finishReason } from '../caller/pieces.ts';
import { searchesSold } from '../words/fields.ts';
import { plainContent } from '../words/parts.ts';
import { finishFault, stopOf } from '../words/stop.ts';
import { type Chunk, isSemantic, rewriteChoice } from './chunk.ts';
import { type ChunkForm, ChunkRelay, type Learnt } from './chunk-relay.ts';
import { choiceOf, RawChoice, stepDeltas } from './steps.ts';
import type { Output } from './template.ts';
import { outputOf } from './whole.ts';

type ChatRelay = ChunkRelay<RawChoice>;

class ChatChunks implements ChunkForm<RawChoice> {
  readonly object = 'chat.completion.chunk';
  /** Text, reasoning, refusal, and one for a change of fingerprint. */
  readonly templates_max = 4;
  readonly expected: number;
  readonly searches: number;
  readonly #meta: ReplyMeta;

  constructor(meta: ReplyMeta, request: CanonicalRequest, target: Target) {
    this.#meta = meta;
    this.expected = request.generation.candidates ?? 1;
    this.searches = searchesSold(request, target);
  }

  begin(index: number): RawChoice {
    return new RawChoice(index);
  }

  isPlain(choice: RawChoice): boolean {
    return !choice.calls.waiting;
  }

  copied({ state }: ChatRelay, learnt: Learnt<RawChoice>, b: Buffer, bytes: number): boolean {
    const { template, hole, call, choice } = learnt;
    if (call !== null && !choice.calls.more(call, template.text(b, hole) ?? '')) return false;
    if (bytes > 0) {
      state.semantic = true;
      state.output_bytes += bytes;
      state.content_events++;
    }
    return true;
  }

  shaped(value: JsonObject, data: Buffer): readonly [JsonObject, Buffer] {
    const choices = value['choices'] as unknown[];
    if (choices.every(isPlain)) return [value, data];
    const whole = { ...value, choices: choices.map(asDelta) };
    return [whole, Buffer.from(JSON.stringify(whole))];
  }

  choices(relay: ChatRelay, chunk: Chunk, clean: boolean, out: Output): void {
    const choices = chunk.value['choices'] as JsonObject[];
    for (let at = 0; at < choices.length && relay.state.fault === null; at++) {
      this.#choice(relay, chunk, at, { out, clean });
    }
  }

  #choice(relay: ChatRelay, chunk: Chunk, at: number, { out, clean }: { out: Output; clean: boolean }): void {
    const { state } = relay;
    const value = (chunk.value['choices'] as JsonObject[])[at]!;
    const delta = value['delta'] as JsonObject;
    const { choice, first } = relay.choice(typeof value['index'] === 'number' ? value['index'] : at);
    if (choice.held !== null) return;
    if (isObject(delta['function_call']) && !choice.legacy_call) {
      choice.legacy_call = true;
      state.tool_calls++;
    }
    if (typeof delta['refusal'] === 'string' && delta['refusal'] !== '') choice.refusal = true;
    const fault = typeof value['finish_reason'] === 'string' ? finishFault(value['finish_reason']) : null;
    if (fault !== null) return relay.fault(fault);
    const { request_id, reasoning } = this.#meta;
    const calls = choice.calls.length;
    const exclude = reasoning === 'exclude';
    const result = rewriteChoice(chunk, at, choice, { first, exclude, request_id });
    state.tool_calls += choice.calls.length - calls;
    out.text(result.text);
    if (isSemantic(delta)) {
      state.semantic = true;
      const { bytes, pieces } = outputOf(delta);
      state.output_bytes += bytes;
      state.content_events += pieces;
    }
    if (result.finished) {
      const said = { refusal: choice.refusal, calls: choice.called };
      relay.finished(stopOf(value['finish_reason'] as string, said));
    }
    const { learn } = result;
    if (clean && learn !== null) relay.learn(chunk, learn.hole, learn.edits, { call: learn.call, choice });
  }

  flush(relay: ChatRelay, choice: RawChoice, out: Output): void {
    for (const delta of stepDeltas(choice, choice.calls.flush(), this.#meta.request_id)) {
      out.text(relay.chunkOf(choiceOf(choice.index, delta)));
    }
  }

  opening(): string {
    return choiceOf(0, '"role":"assistant","content":""');
  }

  ending(index: number, stop: Stop | null): string {
    return choiceOf(index, '', JSON.stringify(finishReason(stop, this.#meta.legacy_functions)));
  }
}

/** A relay of the caller's own wire for `request` at `target`. */
export function rawChatRelay(meta: ReplyMeta, request: CanonicalRequest, target: Target): Relay {
  return new ChunkRelay(new ChatChunks(meta, request, target), meta, target);
}

/** Whether a choice of a chunk is as clients expect it: a delta whose content is not a list. */
function isPlain(choice: unknown): boolean {
  if (!isObject(choice) || !isObject(choice['delta'])) return false;
  return !Array.isArray(choice['delta']['content']);
}

/** A choice as a delta, even when it carries a whole message instead. */
function asDelta(value: unknown): unknown {
  if (!isObject(value)) throw new ProtocolFault('a choice is not an object');
  if (isObject(value['delta'])) return { ...value, delta: plainContent(value['delta']) };
  const { message, ...rest } = value;
  return { ...rest, delta: isObject(message) ? plainContent(message) : {} };
}
