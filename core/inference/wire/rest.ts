// Keeps the bytes of an unfinished event in its own memory; a view would keep the whole read in memory. The memory
// doubles as it grows, so that an event that arrives byte by byte costs as much time and memory as one in large
// reads.

const NONE = Buffer.alloc(0);
const LF = 10;
const BLANK_LINE = Buffer.from('\n\n');

export class Rest {
  #buffer: Buffer = NONE;
  #length = 0;

  /** Number of bytes kept. */
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

  /** The bytes kept, followed by `bytes`; afterwards nothing is kept. */
  take(bytes: Buffer = NONE): Buffer {
    if (this.#length === 0) return bytes;
    if (bytes.length > 0) this.add(bytes);
    const all = this.#buffer.subarray(0, this.#length);
    this.#buffer = NONE;
    this.#length = 0;
    return all;
  }

  /**
   * Whether a blank line ends within the bytes kept followed by `bytes`. The bytes kept contain none. Checked before
   * joining the two.
   */
  blankLineWith(bytes: Buffer): boolean {
    if (bytes[0] === LF && this.#length > 0 && this.#buffer[this.#length - 1] === LF) return true;
    return bytes.indexOf(BLANK_LINE) >= 0;
  }
}
