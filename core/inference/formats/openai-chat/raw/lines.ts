// Splits the bytes of OpenAI's raw lanes (chats and text completions) into events. The common line (`data: {…}` and a
// blank one) is first offered as bytes, so that what is only copied never becomes a string.
import { ProtocolFault } from '../../../wire/fault.ts';
import { Rest } from '../../../wire/rest.ts';
import { startsWith } from '../../../wire/scan.ts';
import { EVENT_BYTES_MAX, type SseEvent, SseReader } from '../../../wire/sse.ts';
import type { Output } from './template.ts';

const LF = 10;
const CR = 13;
/** What every line of data begins with. */
export const DATA = Buffer.from('data: ');

/** Receives what was read. */
export interface LineSink {
  /** Nothing more is read. */
  readonly done: boolean;
  /** Writes the line [from, to) of `b`, which begins with `data: `, if it has a known form. */
  copy(b: Buffer, from: number, to: number, out: Output): boolean;
  data(data: Buffer, event: string | null, out: Output, last: boolean): void;
}

/** @throws ProtocolFault from every method where an event is without end, and what the sink throws */
export class RawLines {
  readonly #sink: LineSink;
  readonly #rest = new Rest();
  /** Set for good once a server ends a line in another way than by LF. */
  #reader: SseReader | null = null;

  constructor(sink: LineSink) {
    this.#sink = sink;
  }

  push(bytes: Buffer, out: Output): void {
    if (this.#reader === null && bytes.indexOf(CR) >= 0) this.#switch();
    if (this.#reader !== null) this.#events(this.#reader.push(bytes), out, false);
    else this.#lines(bytes, out);
  }

  close(out: Output): void {
    if (this.#reader === null) this.#switch();
    this.#events((this.#reader as SseReader).end(), out, true);
  }

  /** From here on the general reader reads the lines, beginning with what is waiting. */
  #switch(): void {
    this.#reader = new SseReader();
    // What is waiting contains no complete event, so it produces nothing yet.
    this.#reader.push(this.#rest.take());
  }

  #lines(bytes: Buffer, out: Output): void {
    if (this.#rest.length > 0 && !this.#rest.blankLineWith(bytes)) return this.#wait(bytes);
    const b = this.#rest.take(bytes);
    let at = 0;
    while (at < b.length && !this.#sink.done) {
      if (b[at] === LF) {
        at++;
        continue;
      }
      const line_end = b.indexOf(LF, at);
      if (line_end < 0 || line_end + 1 >= b.length) break;
      if (b[line_end + 1] === LF && at + DATA.length <= line_end && startsWith(b, at, DATA)) {
        if (!this.#sink.copy(b, at, line_end, out)) {
          this.#sink.data(b.subarray(at + DATA.length, line_end), null, out, false);
        }
        at = line_end + 2;
        continue;
      }
      // Several lines: comments, event names, data in pieces.
      const blank = b.indexOf('\n\n', line_end, 'latin1');
      if (blank < 0) break;
      this.#events(new SseReader().push(b.subarray(at, blank + 2)), out, false);
      at = blank + 2;
    }
    if (at < b.length && !this.#sink.done) this.#wait(b.subarray(at));
  }

  #wait(bytes: Buffer): void {
    if (this.#rest.length + bytes.length > EVENT_BYTES_MAX)
      throw new ProtocolFault(`an event passes ${EVENT_BYTES_MAX} bytes`);
    this.#rest.add(bytes);
  }

  #events(events: readonly SseEvent[], out: Output, last: boolean): void {
    for (const { event, data } of events) {
      if (this.#sink.done) return;
      // JSON in several lines is written as one: between its tokens a space is as good as a line end.
      this.#sink.data(Buffer.from(data.replaceAll('\n', ' ')), event, out, last);
    }
  }
}
