// Parses server-sent events from bytes that arrive in pieces of any size (WHATWG HTML 9.2.6). The bytes of line ends
// never occur inside a UTF-8 sequence, so only whole lines are decoded, and a character that two reads split is
// joined first.
import { ProtocolFault } from './fault.ts';
import { Rest } from './rest.ts';

export interface SseEvent {
  event: string | null;
  data: string;
}

/** Limit of one event; a provider that exceeds it does not keep to the protocol. */
export const EVENT_BYTES_MAX = 8 * 1024 * 1024;
/**
 * Limit of what a decoder holds back until a part is complete (input of a custom tool, a block that is shown whole).
 */
export const HELD_BYTES_MAX = 32 * 1024 * 1024;

/** Minimum size of a `data` line without its value. */
const FIELD_BYTES = 6;
const LF = 10;
const CR = 13;

export class SseReader {
  /** The unfinished line. */
  readonly #rest = new Rest();
  /** The last line ended in CR; an LF at the start of the next read belongs to it. */
  #skip_lf = false;
  #first = true;
  #event: string | null = null;
  #data: string | null = null;
  #event_bytes = 0;

  /** Events that `bytes` complete. @throws ProtocolFault when one event exceeds 8 MiB. */
  push(bytes: Buffer): SseEvent[] {
    let from = 0;
    if (this.#skip_lf && bytes.length > 0) {
      if (bytes[0] === LF) from = 1;
      this.#skip_lf = false;
    }
    const last = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR));
    if (last < from) {
      this.#keep(bytes.subarray(from));
      return [];
    }
    const text =
      this.#rest.length === 0
        ? bytes.toString('utf8', from, last + 1)
        : this.#rest.take(bytes.subarray(from, last + 1)).toString('utf8');
    this.#skip_lf = last === bytes.length - 1 && bytes[last] === CR;
    const events = this.#lines(text);
    this.#keep(bytes.subarray(last + 1));
    return events;
  }

  /**
   * The event that was still open when the connection closed, if it had data: some servers omit the last blank line.
   * Its data may be cut off; a reader that cannot parse it treats the stream as cut off.
   */
  end(): SseEvent[] {
    return this.#lines(`${this.#rest.take().toString('utf8')}\n\n`);
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#rest.length + bytes.length + this.#event_bytes > EVENT_BYTES_MAX) throw tooLong();
    this.#rest.add(bytes);
  }

  #lines(read: string): SseEvent[] {
    let text = read;
    if (this.#first) {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (text.includes('\r')) text = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
    const events: SseEvent[] = [];
    let at = 0;
    while (at < text.length) {
      const end = text.indexOf('\n', at);
      if (end === at) {
        if (this.#data !== null) events.push({ event: this.#event, data: this.#data });
        this.#event = null;
        this.#data = null;
        this.#event_bytes = 0;
      } else {
        this.#field(text, at, end);
      }
      at = end + 1;
    }
    return events;
  }

  #field(text: string, from: number, to: number): void {
    if (text.startsWith('data:', from)) {
      this.#more(fieldValue(text, from + 5, to));
    } else if (text.startsWith('event:', from)) {
      this.#event = fieldValue(text, from + 6, to);
    } else if (to - from === 4 && text.startsWith('data', from)) {
      this.#more('');
    }
    // Comments, `id`, `retry` and unknown fields do not matter for an answer.
  }

  #more(value: string): void {
    this.#event_bytes += value.length + FIELD_BYTES;
    if (this.#event_bytes > EVENT_BYTES_MAX) throw tooLong();
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
  }
}

function fieldValue(text: string, from: number, to: number): string {
  return text.slice(text.charCodeAt(from) === 32 ? from + 1 : from, to);
}

function tooLong(): ProtocolFault {
  return new ProtocolFault(`a server-sent event passes ${EVENT_BYTES_MAX} bytes`);
}
