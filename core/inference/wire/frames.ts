// Splits bytes, arriving in pieces of any size, into whole server-sent events, for a lane that copies them. All line
// ends become LF.
import { ProtocolFault } from './fault.ts';
import { Rest } from './rest.ts';
import { EVENT_BYTES_MAX } from './sse.ts';
import { BLANK_LINE } from './sse-lines.ts';

const LF = 10;
const CR = 13;

export class Frames {
  readonly #rest = new Rest();
  /** The last byte of the previous read was a CR. */
  #after_cr = false;

  /**
   * The whole events so far, each with its blank line; null when none is whole yet. @throws ProtocolFault past 8 MiB.
   */
  take(bytes: Buffer): Buffer | null {
    let b = this.#after_cr || bytes.includes(CR) ? this.#plainLines(bytes) : bytes;
    if (!this.#rest.blankLineWith(b)) {
      this.#keep(b);
      return null;
    }
    b = this.#rest.take(b);
    const blank = b.lastIndexOf(BLANK_LINE);
    const to = blank < 0 ? 0 : blank + BLANK_LINE.length;
    this.#keep(b.subarray(to));
    return to === 0 ? null : b.subarray(0, to);
  }

  /** The unfinished event when the connection closed, completed with a blank line; null when there is none. */
  end(): Buffer | null {
    return this.#rest.length === 0 ? null : this.#rest.take(BLANK_LINE);
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#rest.length + bytes.length > EVENT_BYTES_MAX) throw new ProtocolFault('an event passes 8 MiB');
    this.#rest.add(bytes);
  }

  /** `bytes` with every line end as LF; two reads may split a CR LF pair. */
  #plainLines(bytes: Buffer): Buffer {
    const out = Buffer.allocUnsafe(bytes.length);
    let n = 0;
    for (const byte of bytes) {
      if (byte !== LF || !this.#after_cr) out[n++] = byte === CR ? LF : byte;
      this.#after_cr = byte === CR;
    }
    return out.subarray(0, n);
  }
}

/** A copy in its own memory: what lives as long as a stream must not keep the whole read it came from in memory. */
export function own(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/**
 * Whether a line ends within [from, to). JSON escapes line ends, so a string that seems to contain one was cut off.
 */
export function hasLine(b: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (b[i] === LF) return true;
  return false;
}

/**
 * Index at which the event at `at` ends, including its blank line. Line ends alone at the end of `b` count as an
 * empty event.
 */
export function eventEnd(b: Buffer, at: number): number {
  const blank = b.indexOf(BLANK_LINE, at);
  return blank < 0 ? b.length : blank + BLANK_LINE.length;
}
