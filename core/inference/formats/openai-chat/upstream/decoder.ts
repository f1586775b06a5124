// Turns OpenAI-type stream chunks into canonical events.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { StreamDecoder } from '../../../canonical/contract.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { reasoningFormat } from '../../../canonical/reasoning.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type { CanonicalEvent, Citation, Logprob, Part, UpstreamFault } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { type SseEvent, SseReader } from '../../../wire/sse.ts';
import { CallSequence, type CallStep } from '../words/calls.ts';
import { streamFault } from '../words/classify.ts';
import {
  callDelta,
  citationOf,
  contentChunk,
  type Detail,
  imageOf,
  legacyCall,
  logprobsOf,
  nonEmpty,
  reasoningDetails,
  thought,
} from '../words/parts.ts';
import { finishFault, stopOf } from '../words/stop.ts';
import { findUsage } from '../words/usage.ts';

interface OpenPart {
  /** Identifies what may be appended: deltas with another key open another part. */
  key: string;
  at: number;
}

/** State of one choice. */
class Choice {
  readonly index: number;
  readonly calls = new CallSequence();
  parts = 0;
  open: OpenPart | null = null;
  refusal = false;
  stopped = false;
  /** UTF-16 units of text before the open text part, and in total: citations count from the start of the message. */
  text_base = 0;
  text_length = 0;

  constructor(index: number) {
    this.index = index;
  }
}

export class ChatDecoder implements StreamDecoder {
  readonly #flags: readonly string[];
  readonly #reader = new SseReader();
  readonly #choices = new Map<number, Choice>();
  #events: CanonicalEvent[] = [];
  #upstream_id = '';
  readonly #searches: number;
  #started = false;
  #finished = false;
  #failed = false;
  #tier: string | undefined;

  constructor(flags: readonly string[], searches = 0) {
    this.#flags = flags;
    this.#searches = searches;
  }

  push(bytes: Buffer): CanonicalEvent[] {
    return this.#run(() => {
      for (const event of this.#reader.push(bytes)) this.#event(event, false);
    });
  }

  end(): CanonicalEvent[] {
    return this.#run(() => {
      for (const event of this.#reader.end()) this.#event(event, true);
      if (this.#finished || this.#failed) return;
      if (this.#choices.size > 0 && [...this.#choices.values()].every((choice) => choice.stopped)) return;
      for (const choice of this.#choices.values()) this.#close(choice);
      this.#fail(TRUNCATED);
    });
  }

  /** Events of a whole answer given as one chunk with `delta`s. */
  whole(chunk: JsonObject): CanonicalEvent[] {
    return this.#run(() => {
      this.#chunk(chunk);
      for (const choice of this.#choices.values()) this.#close(choice);
    });
  }

  #run(step: () => void): CanonicalEvent[] {
    this.#events = [];
    if (this.#failed || this.#finished) return this.#events;
    guarded(step, (fault) => this.#fail(fault));
    return this.#events;
  }

  #fail(fault: UpstreamFault): void {
    this.#failed = true;
    this.#events.push({ type: 'error', fault });
  }

  #event({ event, data }: SseEvent, last: boolean): void {
    if (this.#failed || this.#finished) return;
    if (data === '[DONE]') {
      this.#finished = true;
      for (const choice of this.#choices.values()) this.#close(choice);
      this.#events.push({ type: 'finish' });
      return;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      // Without its closing blank line the event was cut off; it is not malformed.
      if (!last) throw new ProtocolFault('a chunk is not JSON');
      return;
    }
    // llama.cpp begins a stream of several prompts this way.
    if (chunk === null) return;
    if (!isObject(chunk)) throw new ProtocolFault('a chunk is not an object');
    if (event === 'error' || (chunk['error'] !== undefined && chunk['error'] !== null)) {
      this.#fail(streamFault(chunk));
      return;
    }
    this.#chunk(chunk);
  }

  #chunk(chunk: JsonObject): void {
    this.#start(chunk);
    const choices = chunk['choices'];
    if (Array.isArray(choices)) {
      choices.forEach((choice, at) => {
        if (!this.#failed) this.#choice(choice, at);
      });
    }
    if (this.#failed) return;
    const usage = findUsage(chunk, this.#flags, this.#searches);
    if (usage === null) return;
    this.#events.push(
      this.#tier === undefined
        ? { type: 'usage', usage }
        : { type: 'usage', usage, service_tier: this.#tier },
    );
  }

  #start(chunk: JsonObject): void {
    const tier = nonEmpty(chunk['service_tier']);
    if (tier !== null) this.#tier = tier;
    if (this.#started) return;
    const start: Extract<CanonicalEvent, { type: 'start' }> = { type: 'start' };
    const model = nonEmpty(chunk['model']);
    const id = nonEmpty(chunk['id']);
    const { choices } = chunk;
    // Azure's first chunk holds filter results under an empty id.
    if (model === null && id === null && !(Array.isArray(choices) && choices.length > 0)) return;
    this.#started = true;
    if (model !== null) start.upstream_model = model;
    if (id !== null) {
      start.upstream_id = id;
      this.#upstream_id = id;
    }
    if (tier !== null) start.service_tier = tier;
    this.#events.push(start);
  }

  #choice(value: unknown, at: number): void {
    if (!isObject(value)) throw new ProtocolFault('a choice is not an object');
    const index = typeof value['index'] === 'number' ? value['index'] : at;
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      if (this.#choices.size >= 128) throw new ProtocolFault('too many choices');
      choice = new Choice(index);
      this.#choices.set(index, choice);
    }
    if (choice.stopped) return;
    // A whole message in a stream: some servers send this when they cannot stream.
    const delta = isObject(value['delta']) ? value['delta'] : value['message'];
    if (isObject(delta)) this.#delta(choice, delta, value['logprobs']);
    // From the completions path.
    else if (typeof value['text'] === 'string') {
      this.#delta(choice, { content: value['text'] }, value['logprobs']);
    }
    const finish = nonEmpty(value['finish_reason']);
    if (finish !== null) this.#finish(choice, finish);
  }

  #delta(choice: Choice, delta: JsonObject, logprobs: unknown): void {
    for (const detail of reasoningDetails(delta)) this.#reasoning(choice, detail);
    const content = nonEmpty(delta['content']);
    const probs = logprobsOf(logprobs);
    if (Array.isArray(delta['content'])) this.#chunks(choice, delta['content']);
    if (content !== null || probs !== null) this.#text(choice, content ?? '', probs);
    const refusal = nonEmpty(delta['refusal']);
    if (refusal !== null) {
      choice.refusal = true;
      const at = this.#part(choice, 'refusal', { type: 'refusal', text: '' });
      this.#events.push({ type: 'part_delta', candidate: choice.index, part: at, text: refusal });
    }
    const annotations = delta['annotations'];
    if (Array.isArray(annotations))
      for (const item of annotations) this.#annotation(choice, citationOf(item));
    const images = delta['images'];
    if (Array.isArray(images)) {
      for (const item of images) {
        const image = imageOf(item);
        if (image !== null) this.#whole(choice, image);
      }
    }
    if (isObject(delta['audio'])) this.#audio(choice, delta['audio']);
    const calls = delta['tool_calls'];
    if (Array.isArray(calls))
      for (const call of calls) this.#steps(choice, choice.calls.take(callDelta(call)));
    if (isObject(delta['function_call'])) {
      this.#steps(choice, choice.calls.take(legacyCall(delta['function_call'])));
    }
  }

  /** Content as a list of chunks: Mistral's form for answers with thinking. */
  #chunks(choice: Choice, chunks: unknown[]): void {
    for (const chunk of chunks) {
      const piece = contentChunk(chunk);
      if (piece === null) continue;
      if (piece.kind === 'text') this.#text(choice, piece.text, null);
      else this.#reasoning(choice, thought(piece.text));
    }
  }

  #text(choice: Choice, text: string, logprobs: Logprob[] | null): void {
    const fresh = choice.open?.key !== 'text';
    const at = this.#part(choice, 'text', { type: 'text', text: '' });
    if (fresh) choice.text_base = choice.text_length;
    choice.text_length += text.length;
    const delta = { type: 'part_delta', candidate: choice.index, part: at, text } as const;
    this.#events.push(logprobs === null ? delta : { ...delta, logprobs });
  }

  #annotation(choice: Choice, citation: Citation | null): void {
    if (citation === null) return;
    const fresh = choice.open?.key !== 'text';
    const at = this.#part(choice, 'text', { type: 'text', text: '' });
    if (fresh) choice.text_base = choice.text_length;
    if (citation.kind === 'url' && choice.text_base > 0) {
      if (citation.start !== undefined) citation.start = Math.max(0, citation.start - choice.text_base);
      if (citation.end !== undefined) citation.end = Math.max(0, citation.end - choice.text_base);
    }
    this.#events.push({ type: 'part_delta', candidate: choice.index, part: at, citation });
  }

  #reasoning(choice: Choice, detail: Detail): void {
    if (detail.kind === 'encrypted') {
      this.#whole(choice, detail.part);
      return;
    }
    const at = this.#part(choice, `reasoning ${detail.kind} ${detail.index}`, detail.part);
    const to = { type: 'part_delta', candidate: choice.index, part: at } as const;
    if (detail.text !== '') this.#events.push({ ...to, text: detail.text });
    if (detail.signature !== null) this.#events.push({ ...to, signature: detail.signature });
  }

  #audio(choice: Choice, audio: JsonObject): void {
    const ext: JsonObject = {};
    if (typeof audio['id'] === 'string') ext['id'] = audio['id'];
    const part: Part = { type: 'audio', src: { base64: '', media_type: 'audio/pcm' }, ext };
    const at = this.#part(choice, 'audio', part);
    const to = { type: 'part_delta', candidate: choice.index, part: at } as const;
    const data = nonEmpty(audio['data']);
    const transcript = nonEmpty(audio['transcript']);
    if (data !== null) this.#events.push({ ...to, data });
    if (transcript !== null) this.#events.push({ ...to, text: transcript });
  }

  /** The index of the open part for `key`; when another one is open, a new part is opened with `content`. */
  #part(choice: Choice, key: string, content: Part): number {
    if (choice.open?.key === key) return choice.open.at;
    this.#close(choice);
    const at = choice.parts++;
    choice.open = { key, at };
    this.#events.push({ type: 'part_start', candidate: choice.index, part: at, content });
    return at;
  }

  /** A part that arrives whole. */
  #whole(choice: Choice, content: Part): void {
    this.#close(choice);
    const to = { candidate: choice.index, part: choice.parts++ };
    this.#events.push({ type: 'part_start', ...to, content }, { type: 'part_stop', ...to });
  }

  #steps(choice: Choice, steps: CallStep[]): void {
    for (const step of steps) this.#step(choice, step);
  }

  #step(choice: Choice, step: CallStep): void {
    const { call } = step;
    const key = `call ${call.slot}`;
    const candidate = choice.index;
    if (step.step === 'open') {
      this.#stopOpen(choice);
      const at = choice.parts++;
      choice.open = { key, at };
      const id = call.id === '' ? this.#callId(candidate, call.slot) : call.id;
      const { name, kind } = call;
      const part: Part = { type: 'tool_call', id, name, arguments: '', kind };
      if (call.signature !== null) {
        part.signature = call.signature;
        part.format = reasoningFormat('google-gemini-v1');
      }
      this.#events.push({ type: 'part_start', candidate, part: at, content: part });
    } else if (step.step === 'text') {
      if (choice.open?.key !== key) throw new ProtocolFault('tool call arguments outside their call');
      this.#events.push({ type: 'part_delta', candidate, part: choice.open.at, arguments: step.text });
    } else {
      this.#stopOpen(choice);
    }
  }

  /** An id for a call that came without one: unique within the provider's answer, and the same for every reader. */
  #callId(candidate: number, slot: number): string {
    const stem = this.#upstream_id.replace(/[^a-zA-Z0-9]/g, '').slice(-40);
    return stem === '' ? '' : `call_${stem}_${candidate}_${slot}`;
  }

  #stopOpen(choice: Choice): void {
    if (choice.open === null) return;
    this.#events.push({ type: 'part_stop', candidate: choice.index, part: choice.open.at });
    choice.open = null;
  }

  /** Ends the open part; before that, open and waiting calls are emitted whole. */
  #close(choice: Choice): void {
    if (choice.open === null || choice.open.key.startsWith('call '))
      this.#steps(choice, choice.calls.flush());
    this.#stopOpen(choice);
  }

  #finish(choice: Choice, raw: string): void {
    const fault = finishFault(raw);
    if (fault !== null) {
      this.#fail(fault);
      return;
    }
    this.#close(choice);
    choice.stopped = true;
    const stop = stopOf(raw, { refusal: choice.refusal, calls: choice.calls.length > 0 });
    this.#events.push({ type: 'stop', candidate: choice.index, stop });
  }
}
