// Reads HTTP/1.1 answers from a keep-alive connection, piece by piece, with as little work as checking them allows.

const LF = 10;

/** What a whole answer came to. */
export interface Reply {
  readonly status: number;
  readonly body_bytes: number;
  /** Reads that brought body bytes: the number of times the sender wrote, at most. */
  readonly reads: number;
  /** The last characters of the body: a stream that was cut lacks its ending. */
  readonly tail: string;
  /** `performance.now()` of the first body byte. */
  readonly first_at: number;
}

const TAIL = 96;

/** Calls `done` for each complete answer; `fault` once when the bytes are no HTTP answer. */
export class ReplyReader {
  #state: 'head' | 'length' | 'size' | 'data' | 'data_end' | 'trailer' = 'head';
  #line = '';
  #head = '';
  #left = 0;
  #status = 0;
  #bytes = 0;
  #reads = 0;
  #tail = '';
  #firstAt = 0;
  readonly #done: (reply: Reply) => void;

  constructor(done: (reply: Reply) => void) {
    this.#done = done;
  }

  /** @throws Error when the bytes are no HTTP answer. */
  push(piece: Buffer): void {
    const before = this.#bytes;
    let at = 0;
    while (at < piece.length) {
      if (this.#state === 'length' || this.#state === 'data') {
        at = this.#body(piece, at);
        continue;
      }
      const end = piece.indexOf(LF, at);
      if (end < 0) {
        this.#line += piece.toString('latin1', at);
        break;
      }
      const line = (this.#line + piece.toString('latin1', at, end)).trimEnd();
      this.#line = '';
      at = end + 1;
      this.#onLine(line);
    }
    if (this.#bytes > before) this.#reads++;
  }

  #body(piece: Buffer, at: number): number {
    const end = Math.min(piece.length, at + this.#left);
    if (this.#bytes === 0) this.#firstAt = performance.now();
    this.#bytes += end - at;
    this.#left -= end - at;
    this.#tail = (this.#tail + piece.toString('latin1', Math.max(at, end - TAIL), end)).slice(-TAIL);
    if (this.#left === 0) {
      if (this.#state === 'length') this.#finish();
      else this.#state = 'data_end';
    }
    return end;
  }

  #onLine(line: string): void {
    if (this.#state === 'head') {
      if (line !== '') {
        this.#head += `${line}\n`;
        return;
      }
      this.#onHead();
      return;
    }
    if (this.#state === 'data_end') {
      this.#state = 'size';
      return;
    }
    if (this.#state === 'size') {
      this.#left = Number.parseInt(line, 16);
      if (Number.isNaN(this.#left)) throw new Error(`no chunk size: ${line.slice(0, 40)}`);
      this.#state = this.#left === 0 ? 'trailer' : 'data';
      return;
    }
    if (line === '') this.#finish();
  }

  #onHead(): void {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(this.#head);
    if (status === null) throw new Error(`no HTTP answer: ${this.#head.slice(0, 80)}`);
    this.#status = Number(status[1]);
    const length = /\ncontent-length: *(\d+)/i.exec(this.#head);
    if (/\ntransfer-encoding: *chunked/i.test(this.#head)) {
      this.#state = 'size';
      return;
    }
    this.#left = Number(length?.[1] ?? 0);
    this.#state = 'length';
    if (this.#left === 0) this.#finish();
  }

  #finish(): void {
    const reply: Reply = {
      status: this.#status,
      body_bytes: this.#bytes,
      reads: this.#reads + 1,
      tail: this.#tail,
      first_at: this.#firstAt,
    };
    this.#state = 'head';
    this.#head = '';
    this.#bytes = 0;
    this.#reads = 0;
    this.#tail = '';
    this.#done(reply);
  }
}
