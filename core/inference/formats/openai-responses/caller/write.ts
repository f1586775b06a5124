// Writes a canonical answer as the JSON text of a response.

import { droppedPart } from '../../../caller/dropped.ts';
import { callEnvelope, encryptedContent, itemId, RESPONSES_FORMAT } from '../../../canonical/reasoning.ts';
import { impliedRefusal } from '../../../canonical/refusal.ts';
import type { CanonicalAnswer, Part, ReplyEnd, ReplyMeta, Warning } from '../../../canonical/types.ts';
import {
  annotationText,
  CallIds,
  callItem,
  ItemIds,
  type ItemStatus,
  logprobTexts,
  messageItem,
  ownItem,
  phaseOf,
  reasoningItem,
  refusalPart,
  textPart,
} from './items.ts';
import { completedAt, fixedText, responseStateOf, responseText, svcOf, usageText } from './response.ts';
import { CITATION_DROPPED } from './warnings.ts';

type Message = { id: string; phase: string; parts: string[] };

/** Collects items; the last one is written when it is known how the answer stopped. */
class Output {
  readonly items: string[] = [];
  readonly warnings: Warning[] = [];
  readonly #meta: ReplyMeta;
  readonly #model: string;
  readonly #ids = new ItemIds();
  readonly #calls: CallIds;
  #last: ((status: ItemStatus) => string) | null = null;
  #message: Message | null = null;
  #thought: Extract<Part, { type: 'reasoning' }> | null = null;
  #lost_citation = false;
  /** Items so far, including the open one. */
  #count = 0;

  constructor(meta: ReplyMeta, model: string) {
    this.#meta = meta;
    this.#model = model;
    this.#calls = new CallIds(meta.request_id);
  }

  add(part: Part): void {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return this.#say(part);
      case 'reasoning':
        return this.#think(part);
      case 'tool_call':
        return this.#call(part);
      default: {
        const own = ownItem(part);
        if (own === null) {
          this.#close();
          this.warnings.push(droppedPart(part));
        } else {
          this.#id('item', own.id);
          this.items.push(own.text);
        }
      }
    }
  }

  end(status: ItemStatus): void {
    this.#close(status);
    if (this.#lost_citation) this.warnings.push(CITATION_DROPPED);
  }

  #close(status: ItemStatus = 'completed'): void {
    if (this.#last !== null) this.items.push(this.#last(status));
    this.#last = this.#message = this.#thought = null;
  }

  #id(kind: Parameters<typeof itemId>[0], wanted?: string | null): string {
    this.#close();
    return this.#ids.take(wanted, itemId(kind, this.#meta.request_id, this.#count++));
  }

  #say(part: Extract<Part, { type: 'text' | 'refusal' }>): void {
    const phase = phaseOf(part);
    if (this.#message === null || this.#message.phase !== phase) {
      const message: Message = { id: this.#id('msg'), phase, parts: [] };
      this.#message = message;
      this.#last = (status) => messageItem(message.id, status, message.parts, phase);
    }
    if (part.type === 'refusal') return void this.#message.parts.push(refusalPart(part.text));
    const notes: string[] = [];
    for (const citation of part.citations ?? []) {
      const text = annotationText(citation, part.text.length);
      if (text === null) this.#lost_citation = true;
      else notes.push(text);
    }
    this.#message.parts.push(textPart(part.text, notes, logprobTexts(part.logprobs ?? [])));
  }

  #think(part: Extract<Part, { type: 'reasoning' }>): void {
    const before = this.#thought;
    if (this.#meta.reasoning === 'exclude') return this.#close();
    if (before !== null && part.kind === 'encrypted' && part.id !== undefined && part.id === before.id) {
      before.data = (before.data ?? '') + (part.data ?? '');
      return;
    }
    const own = { ...part };
    const id = this.#id('rs', part.format === RESPONSES_FORMAT ? part.id : null);
    this.#thought = own;
    this.#last = () => {
      const encrypted = this.#encrypted ? encryptedContent(own, this.#model) : null;
      return reasoningItem(id, own.text, encrypted);
    };
  }

  #call(part: Extract<Part, { type: 'tool_call' }>): void {
    this.#close();
    const call_id = this.#calls.take(part);
    if (part.signature !== undefined && this.#encrypted) {
      const encrypted = callEnvelope(part, call_id, this.#model);
      this.items.push(reasoningItem(this.#id('rs'), '', encrypted));
    }
    const id = this.#id(part.kind === 'custom' ? 'ctc' : 'fc');
    const text = part.arguments === '' && part.kind === 'function' ? '{}' : part.arguments;
    this.#last = (status) => callItem(part, { id, call_id, status, text, meta: this.#meta });
  }

  get #encrypted(): boolean {
    return this.#meta.reasoning === 'include' && this.#meta.echo?.encrypted_reasoning === true;
  }
}

/** The whole response as JSON text; `end` has the cost, and the stop reason when a limit cut the answer. */
export function writeResponse(answer: CanonicalAnswer, meta: ReplyMeta, end: ReplyEnd): string {
  const candidate = answer.candidates[0];
  const output = new Output(meta, answer.upstream_model ?? meta.model);
  const content = candidate?.content ?? [];
  const refusal = impliedRefusal(
    candidate?.stop,
    content.some(({ type }) => type === 'refusal'),
  );
  for (const part of refusal === null ? content : [...content, refusal]) output.add(part);
  const warnings: Warning[] = [];
  const outcome = responseStateOf(end.stop ?? candidate?.stop ?? null, warnings);
  output.end(outcome.status === 'completed' ? 'completed' : 'incomplete');
  return responseText(fixedText(meta), outcome, {
    output: output.items.join(','),
    usage: usageText(end.usage),
    tier: answer.service_tier ?? null,
    svc: svcOf(meta, end, [...output.warnings, ...warnings]),
    completed_at: completedAt(meta, end),
  });
}
