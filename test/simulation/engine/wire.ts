// Messages of PostgreSQL's protocol, as far as the simulated server has to tell them apart.

/** One message: its type, and all its bytes. */
export interface Message {
  readonly type: string;
  readonly bytes: Buffer;
}

export function message(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Whole messages at the start of `bytes`, and what is left. */
export function cut(bytes: Buffer): { readonly messages: Message[]; readonly rest: Buffer } {
  const messages: Message[] = [];
  let at = 0;
  while (bytes.length - at >= 5) {
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (end > bytes.length) break;
    messages.push({ type: String.fromCharCode(bytes[at] as number), bytes: bytes.subarray(at, end) });
    at = end;
  }
  return { messages, rest: bytes.subarray(at) };
}

/** What a server says to a new connection. */
export const WELCOME = Buffer.concat([
  message('R', Buffer.from([0, 0, 0, 0])),
  message('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])),
  message('Z', Buffer.from('I')),
]);

/** Parses nothing, and says so: stands in for the parsing of a statement that the server knows by its name. */
const NOTHING = message('P', Buffer.from('\0\0\0\0', 'latin1'));

/** Up to the first zero byte from `at`. */
function textAt(bytes: Buffer, at: number): string {
  return bytes.toString('utf8', at, bytes.indexOf(0, at));
}

/** The name of what a message prepares, or its text; '' for the other types. */
export function saidBy({ type, bytes }: Message): string {
  if (type === 'Q') return textAt(bytes, 5).replaceAll(/\s+/g, ' ').slice(0, 60);
  if (type === 'B') return textAt(bytes, bytes.indexOf(0, 5) + 1);
  return '';
}

/** Statements that the one session of the server has prepared for all connections: a name stands for one text. */
export class Prepared {
  readonly #known = new Map<string, string>();

  /** `messages` as they are sent on; `done` is told the answers, since of a batch that failed only a part was prepared. */
  passed(messages: readonly Message[]): {
    readonly bytes: Buffer;
    readonly done: (answers: readonly Message[]) => void;
  } {
    const parsed: (readonly [string, string])[] = [];
    const all = messages.map((one) => {
      if (one.type !== 'P') return one.bytes;
      const name = textAt(one.bytes, 5);
      const text = one.bytes.toString('latin1', 5);
      const is_known = this.#known.get(name) === text;
      parsed.push(is_known ? ['', ''] : [name, text]);
      if (is_known) return NOTHING;
      if (name === '' || !this.#known.has(name)) return one.bytes;
      return Buffer.concat([message('C', Buffer.from(`S${name}\0`)), one.bytes]);
    });
    return {
      bytes: Buffer.concat(all),
      done: (answers) => {
        const count = answers.filter(({ type }) => type === '1').length;
        for (const [name, text] of parsed.slice(0, count)) if (name !== '') this.#known.set(name, text);
      },
    };
  }
}
