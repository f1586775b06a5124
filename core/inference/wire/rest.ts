// The bytes of an unfinished event, in memory of their own: a view would pin the whole read that they came from. They
// grow by doubling, so that an event that comes byte by byte costs what one in large reads costs, time and memory.

const NONE = Buffer.alloc(0);
const LF = 10;
const BLANK_LINE = Buffer.from('\n\n');

export class Rest {
  #buffer: Buffer = NONE;
  #length = 0;

  /** Bytes kept. */
  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#buffer.length) {
      const size = this.#length === 0 ? needed : Math.max(needed, this.#buffer.length * 2);
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  /** What was kept, followed by `bytes`; nothing is kept any more. */
  take(bytes: Buffer = NONE): Buffer {
    if (this.#length === 0) return bytes;
    if (bytes.length > 0) this.add(bytes);
    const all = this.#buffer.subarray(0, this.#length);
    this.#buffer = NONE;
    this.#length = 0;
    return all;
  }

  /** Whether a blank line ends within what was kept, itself without one, and `bytes`: asked before they are joined. */
  blankLineWith(bytes: Buffer): boolean {
    if (bytes[0] === LF && this.#length > 0 && this.#buffer[this.#length - 1] === LF) return true;
    return bytes.indexOf(BLANK_LINE) >= 0;
  }
}
