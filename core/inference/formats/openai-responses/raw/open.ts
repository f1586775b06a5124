// What a raw stream keeps of the answer, so that a limit of ours can end it in order: the items that are done, and
// the text of what is open.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { callItem, messageItem, phaseOf } from '../caller/items.ts';
import { type Piece, type TextKind, TextStream } from '../caller/text-stream.ts';
import { callPart, isCall } from '../words/parts.ts';

export interface DeltaForm {
  kind: TextKind;
  /** Member with the index within the item, or null. */
  place: string | null;
}

/** Deltas of texts. */
export const DELTAS: Readonly<Record<string, DeltaForm>> = {
  'response.output_text.delta': { kind: 'text', place: 'content_index' },
  'response.refusal.delta': { kind: 'refusal', place: 'content_index' },
  'response.reasoning_summary_text.delta': { kind: 'summary', place: 'summary_index' },
  'response.reasoning_text.delta': { kind: 'reasoning', place: 'content_index' },
  'response.function_call_arguments.delta': { kind: 'arguments', place: null },
  'response.custom_tool_call_input.delta': { kind: 'input', place: null },
};

/** Kind of text by the part that is added for it. */
const PARTS: Readonly<Record<string, TextKind>> = {
  output_text: 'text',
  refusal: 'refusal',
  summary_text: 'summary',
  reasoning_text: 'reasoning',
};

/** The text that begins with an added part: its kind and index; null for an unknown part. */
export function addedText(event: JsonObject): { kind: TextKind; at: number } | null {
  const type = isObject(event['part']) ? event['part']['type'] : undefined;
  const kind = typeof type === 'string' && Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
  if (kind === undefined) return null;
  const at = event[kind === 'summary' ? 'summary_index' : 'content_index'];
  return { kind, at: typeof at === 'number' ? at : 0 };
}

/** Member with the whole text, in events that end a text. */
export const DONES: Readonly<Record<string, string>> = {
  'response.output_text.done': 'text',
  'response.refusal.done': 'refusal',
  'response.reasoning_summary_text.done': 'text',
  'response.reasoning_text.done': 'text',
  'response.function_call_arguments.done': 'arguments',
  'response.custom_tool_call_input.done': 'input',
};

/** Limit of what is kept; an answer that exceeds it and is then cut ends without the items beyond. */
export const KEPT_MAX = 8 * 1024 * 1024;

/** Text as it is in JSON, appended to without an allocation per piece. */
export class Grown {
  #bytes = Buffer.allocUnsafeSlow(256);
  #full = false;
  length = 0;

  append(from: Buffer, at: number, to: number): void {
    const size = to - at;
    // Once a piece is missing, none may follow it.
    this.#full ||= this.length + size > KEPT_MAX;
    if (this.#full) return;
    if (this.length + size > this.#bytes.length) {
      const more = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.length + size));
      this.#bytes.copy(more, 0, 0, this.length);
      this.#bytes = more;
    }
    from.copy(this.#bytes, this.length, at, to);
    this.length += size;
  }

  get text(): string {
    const json = this.#bytes.toString('utf8', 0, this.length);
    try {
      return JSON.parse(`"${json}"`) as string;
    } catch {
      // Copied deltas are not parsed; one that is not JSON must not prevent the answer from ending.
      return json;
    }
  }
}

interface OpenText {
  kind: TextKind;
  at: number;
  text: Grown;
  /** Annotations as JSON texts. */
  notes: string[];
  /** Its own done event has arrived; that of the part has not. */
  ended: boolean;
}

/** An item that was added and is not done. */
export class OpenItem {
  readonly index: number;
  readonly id: string;
  readonly wire: JsonObject;
  /** Bytes of text so far. */
  sent = 0;
  /** Parts that are done, as JSON texts. */
  readonly #parts: string[] = [];
  #open: OpenText | null = null;

  constructor(index: number, wire: JsonObject) {
    this.index = index;
    this.id = typeof wire['id'] === 'string' ? wire['id'] : '';
    this.wire = wire;
  }

  /** The text of `kind` at index `at`, opened if necessary. */
  textOf(kind: TextKind, at: number): Grown {
    if (this.#open?.kind !== kind || this.#open.at !== at) {
      this.#open = { kind, at, text: new Grown(), notes: [], ended: false };
    }
    return this.#open.text;
  }

  /** The open text has an annotation. */
  note(annotation: unknown): void {
    this.#open?.notes.push(JSON.stringify(annotation));
  }

  /** The open text is complete: `text`, which may arrive only now. */
  textDone(text: unknown): void {
    const open = this.#open;
    if (open === null) return;
    open.ended = true;
    if (open.text.length > 0 || typeof text !== 'string') return;
    const json = Buffer.from(JSON.stringify(text));
    open.text.append(json, 1, json.length - 1);
  }

  /** A part of a message is done; a server that does not repeat its text has sent it in deltas. */
  partDone(part: unknown): void {
    const text = isObject(part) ? JSON.stringify(part) : this.#stream()?.whole();
    if (text !== undefined) this.#parts.push(text);
    this.#open = null;
  }

  /** The done events of what is open, and what there is of the item. */
  cut(): { pieces: Piece[]; item: string } {
    const stream = this.#stream();
    const item = this.#item(stream);
    const pieces = stream?.done().slice(this.#open?.ended === true ? 1 : 0) ?? [];
    const done: Piece = ['response.output_item.done', `"output_index":${this.index},"item":${item}`];
    return { pieces: [...pieces, done], item };
  }

  #item(stream: TextStream | null): string {
    const { id, wire } = this;
    const parts = [...this.#parts];
    if (stream !== null && !isCall(wire)) parts.push(stream.whole());
    if (wire['type'] === 'message') {
      const phase = phaseOf({ type: 'text', text: '', ext: { phase: wire['phase'] } });
      return messageItem(id, 'incomplete', parts, phase);
    }
    if (wire['type'] === 'reasoning') {
      const of = (type: string) => parts.filter((part) => part.startsWith(`{"type":"${type}"`)).join(',');
      const aloud = of('reasoning_text');
      const content = aloud === '' ? '' : `,"content":[${aloud}]`;
      return `{"id":${JSON.stringify(id)},"type":"reasoning","summary":[${of('summary_text')}]${content}}`;
    }
    const part = isCall(wire) ? callPart(wire) : null;
    // An item of a provider's own tool is kept unchanged.
    if (part === null) {
      return JSON.stringify(wire['status'] === 'in_progress' ? { ...wire, status: 'incomplete' } : wire);
    }
    const { name } = part;
    const { namespace } = wire;
    const meta = typeof namespace === 'string' ? { namespaces: { [name]: { namespace, name } } } : {};
    return callItem(part, { id, call_id: part.id, status: 'incomplete', text: stream?.text ?? '', meta });
  }

  #stream(): TextStream | null {
    if (this.#open === null) return null;
    const { kind, at, text, notes } = this.#open;
    const name = typeof this.wire['name'] === 'string' ? { name: this.wire['name'] } : {};
    const stream = new TextStream(kind, { id: this.id, index: this.index, at, ...name });
    stream.text = text.text;
    for (const note of notes) stream.note(note);
    return stream;
  }
}
