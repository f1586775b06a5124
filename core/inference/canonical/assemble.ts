// Converts events to a whole answer and back. The canonical lane always streams from the provider, even when the
// caller wants a whole answer, and a stored answer can be replayed as a stream (docs/idempotency.md#calls).
import type { Candidate, CanonicalAnswer, CanonicalEvent, Part, UpstreamFault } from './types.ts';

type Delta = Extract<CanonicalEvent, { type: 'part_delta' }>;

/** Collects events into an answer as they arrive. Parts of a candidate do not interleave; candidates may. */
export class Assembler {
  readonly #candidates = new Map<number, Candidate>();
  readonly #answer: CanonicalAnswer = { candidates: [], usage: null };
  /** The first fault; what came before it is kept. */
  fault: UpstreamFault | null = null;

  /** Adds one event. After a fault, events are ignored. */
  add(event: CanonicalEvent): void {
    if (this.fault !== null) return;
    switch (event.type) {
      case 'start':
        if (event.upstream_model !== undefined) this.#answer.upstream_model = event.upstream_model;
        if (event.upstream_id !== undefined) this.#answer.upstream_id = event.upstream_id;
        if (event.service_tier !== undefined) this.#answer.service_tier = event.service_tier;
        break;
      case 'part_start':
        this.#candidate(event.candidate).content[event.part] = copyOf(event.content);
        break;
      case 'part_delta': {
        const part = this.#candidate(event.candidate).content[event.part];
        if (part !== undefined) append(part, event);
        break;
      }
      case 'stop':
        this.#candidate(event.candidate).stop = event.stop;
        break;
      case 'usage':
        this.#answer.usage = event.usage;
        if (event.service_tier !== undefined) this.#answer.service_tier = event.service_tier;
        break;
      case 'error':
        this.fault = event.fault;
        break;
      case 'part_stop':
      case 'finish':
        break;
    }
  }

  /** The answer so far, candidates ordered by index. */
  answer(): CanonicalAnswer {
    this.#answer.candidates = [...this.#candidates.values()].sort((a, b) => a.index - b.index);
    return this.#answer;
  }

  #candidate(index: number): Candidate {
    let candidate = this.#candidates.get(index);
    if (candidate === undefined) {
      candidate = { index, content: [], stop: null };
      this.#candidates.set(index, candidate);
    }
    return candidate;
  }
}

/**
 * A copy of `part` that owns everything `append` changes. Not a deep copy: a payload may hold objects that one would
 * not preserve (exact numbers).
 */
function copyOf(part: Part): Part {
  const copy = { ...part };
  if ('src' in copy) copy.src = { ...copy.src };
  if (copy.type !== 'text') return copy;
  if (copy.citations !== undefined) copy.citations = [...copy.citations];
  if (copy.logprobs !== undefined) copy.logprobs = [...copy.logprobs];
  return copy;
}

function append(part: Part, delta: Delta): void {
  if (delta.text !== undefined) {
    if (part.type === 'audio') part.transcript = (part.transcript ?? '') + delta.text;
    else if (part.type === 'text' || part.type === 'refusal' || part.type === 'reasoning')
      part.text += delta.text;
  }
  if (delta.arguments !== undefined && part.type === 'tool_call') part.arguments += delta.arguments;
  if (delta.signature !== undefined && (part.type === 'reasoning' || part.type === 'tool_call')) {
    part.signature = (part.signature ?? '') + delta.signature;
  }
  if (delta.data !== undefined) {
    if (part.type === 'reasoning') part.data = (part.data ?? '') + delta.data;
    else if ('src' in part && 'base64' in part.src) part.src.base64 += delta.data;
  }
  if (part.type !== 'text') return;
  // Appended in place: an answer may have as many citations as tokens, so copying the list each time would be
  // quadratic.
  if (delta.citation !== undefined) {
    part.citations ??= [];
    part.citations.push(delta.citation);
  }
  if (delta.logprobs !== undefined) {
    part.logprobs ??= [];
    for (const logprob of delta.logprobs) part.logprobs.push(logprob);
  }
}

/** The answer that `events` add up to, and the first fault among them or null. */
export function foldEvents(events: Iterable<CanonicalEvent>): {
  answer: CanonicalAnswer;
  fault: UpstreamFault | null;
} {
  const assembler = new Assembler();
  for (const event of events) assembler.add(event);
  return { answer: assembler.answer(), fault: assembler.fault };
}

/** The answer that `events` add up to. The caller has already checked for a fault. */
export function assemble(events: Iterable<CanonicalEvent>): CanonicalAnswer {
  return foldEvents(events).answer;
}

/** The events of a whole answer, one delta per part. */
export function unfoldAnswer(answer: CanonicalAnswer): CanonicalEvent[] {
  const start: Extract<CanonicalEvent, { type: 'start' }> = { type: 'start' };
  if (answer.upstream_model !== undefined) start.upstream_model = answer.upstream_model;
  if (answer.upstream_id !== undefined) start.upstream_id = answer.upstream_id;
  if (answer.service_tier !== undefined) start.service_tier = answer.service_tier;
  const events: CanonicalEvent[] = [start];
  for (const { index, content, stop } of answer.candidates) {
    content.forEach((part, at) => {
      events.push(...unfoldPart(part, index, at));
    });
    if (stop !== null) events.push({ type: 'stop', candidate: index, stop });
  }
  if (answer.usage !== null) events.push({ type: 'usage', usage: answer.usage });
  events.push({ type: 'finish' });
  return events;
}

function unfoldPart(part: Part, candidate: number, at: number): CanonicalEvent[] {
  const to = { candidate, part: at };
  const stop: CanonicalEvent = { type: 'part_stop', ...to };
  const delta = (members: Omit<Delta, 'type' | 'candidate' | 'part'>): CanonicalEvent => ({
    type: 'part_delta',
    ...to,
    ...members,
  });
  const start = (content: Part): CanonicalEvent => ({ type: 'part_start', ...to, content });
  switch (part.type) {
    case 'text': {
      const { citations, logprobs, ...rest } = part;
      const text = delta(logprobs === undefined ? { text: part.text } : { text: part.text, logprobs });
      const cited = (citations ?? []).map((citation) => delta({ citation }));
      const body = part.text === '' && logprobs === undefined ? [] : [text];
      return [start({ ...rest, text: '' }), ...body, ...cited, stop];
    }
    case 'refusal':
      return [start({ ...part, text: '' }), delta({ text: part.text }), stop];
    case 'tool_call':
      return [start({ ...part, arguments: '' }), delta({ arguments: part.arguments }), stop];
    case 'reasoning': {
      if (part.kind === 'encrypted') return [start(part), stop];
      const { signature, data, ...rest } = part;
      const text = part.text === '' ? [] : [delta({ text: part.text })];
      const signed = signature === undefined ? [] : [delta({ signature })];
      // In the provider's order: the encrypted data comes after the text that it belongs to.
      const sealed = data === undefined ? [] : [delta({ data })];
      return [start({ ...rest, text: '' }), ...text, ...signed, ...sealed, stop];
    }
    default:
      return [start(part), stop];
  }
}
