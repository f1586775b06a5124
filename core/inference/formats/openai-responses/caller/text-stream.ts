// One text of an item as it is streamed: added, deltas, done. The text written is kept, because the done event
// repeats it.
import type { Logprob } from '../../../canonical/types.ts';
import { EMPTY_REFUSAL, EMPTY_TEXT, logprobTexts, refusalPart, textPart } from './items.ts';

/** Event type and the members beside `type` and `sequence_number`, as JSON text without braces. */
export type Piece = readonly [type: string, members: string];

export type TextKind = 'text' | 'refusal' | 'summary' | 'reasoning' | 'arguments' | 'input';

/** Event names, the member in which `done` repeats the text, and the parts around it. */
const WORDS: Readonly<
  Record<
    TextKind,
    { event: string; member: string; index: string | null; around: string | null; empty: string }
  >
> = {
  text: {
    event: 'response.output_text',
    member: 'text',
    index: 'content_index',
    around: 'response.content_part',
    empty: EMPTY_TEXT,
  },
  refusal: {
    event: 'response.refusal',
    member: 'refusal',
    index: 'content_index',
    around: 'response.content_part',
    empty: EMPTY_REFUSAL,
  },
  summary: {
    event: 'response.reasoning_summary_text',
    member: 'text',
    index: 'summary_index',
    around: 'response.reasoning_summary_part',
    empty: '{"type":"summary_text","text":""}',
  },
  reasoning: {
    event: 'response.reasoning_text',
    member: 'text',
    index: 'content_index',
    around: 'response.content_part',
    empty: '{"type":"reasoning_text","text":""}',
  },
  arguments: {
    event: 'response.function_call_arguments',
    member: 'arguments',
    index: null,
    around: null,
    empty: '',
  },
  input: { event: 'response.custom_tool_call_input', member: 'input', index: null, around: null, empty: '' },
};

/** Most pieces that are kept separately. */
const PIECES_MAX = 256;

/** A text that grows by pieces. Joined with `+` it would be a tree of pieces, a dozen times the size of the text. */
class LongText {
  #whole: string[] = [];
  #pieces: string[] = [];
  length = 0;

  add(text: string): void {
    this.length += text.length;
    if (this.#pieces.push(text) < PIECES_MAX) return;
    this.#whole.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  toString(): string {
    return [...this.#whole, ...this.#pieces].join('');
  }
}

export class TextStream {
  readonly kind: TextKind;
  readonly delta_type: string;
  /** `done` was written; nothing may follow. */
  over = false;
  #text = new LongText();
  readonly #name: string;
  readonly #where: string;
  readonly #notes: string[] = [];
  readonly #logprobs: string[] = [];

  constructor(kind: TextKind, place: { id: string; index: number; at: number; name?: string }) {
    this.kind = kind;
    this.delta_type = `${WORDS[kind].event}.delta`;
    this.#name = place.name === undefined ? '' : `,"name":${JSON.stringify(place.name)}`;
    const { index } = WORDS[kind];
    const at = index === null ? '' : `,"${index}":${place.at}`;
    this.#where = `"item_id":${JSON.stringify(place.id)},"output_index":${place.index}${at}`;
  }

  /** UTF-16 units so far. */
  get length(): number {
    return this.#text.length;
  }

  /** All of it so far, joined. */
  get text(): string {
    return this.#text.toString();
  }

  /** Sets a text that arrived whole. */
  set text(text: string) {
    this.#text = new LongText();
    this.#text.add(text);
  }

  added(): Piece[] {
    const { around, empty } = WORDS[this.kind];
    return around === null ? [] : [[`${around}.added`, `${this.#where},"part":${empty}`]];
  }

  /** Members of the event `delta_type` for further `text`. */
  delta(text: string, logprobs?: readonly Logprob[]): string {
    this.#text.add(text);
    if (this.kind !== 'text') return `${this.#where},"delta":${JSON.stringify(text)}`;
    if (logprobs === undefined) return `${this.#where},"delta":${JSON.stringify(text)},"logprobs":[]`;
    const tokens = logprobTexts(logprobs);
    this.#logprobs.push(...tokens);
    return `${this.#where},"delta":${JSON.stringify(text)},"logprobs":[${tokens.join(',')}]`;
  }

  /** An annotation, given as JSON text. */
  note(annotation: string): Piece[] {
    const at = this.#notes.push(annotation) - 1;
    const members = `${this.#where},"annotation_index":${at},"annotation":${annotation}`;
    return [['response.output_text.annotation.added', members]];
  }

  /** The part with everything that was written of it. */
  whole(): string {
    if (this.kind === 'text') return textPart(this.text, this.#notes, this.#logprobs);
    if (this.kind === 'refusal') return refusalPart(this.text);
    return `{"type":"${this.kind === 'summary' ? 'summary_text' : 'reasoning_text'}","text":${JSON.stringify(this.text)}}`;
  }

  done(): Piece[] {
    this.over = true;
    const { event, member, around } = WORDS[this.kind];
    const logprobs = this.kind === 'text' ? `,"logprobs":[${this.#logprobs.join(',')}]` : '';
    const name = this.kind === 'arguments' ? this.#name : '';
    const members = `${this.#where}${name},"${member}":${JSON.stringify(this.text)}${logprobs}`;
    const done: Piece = [`${event}.done`, members];
    return around === null ? [done] : [done, [`${around}.done`, `${this.#where},"part":${this.whole()}`]];
  }
}
