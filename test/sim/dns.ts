// A name server that answers as a test tells it to (RFC 1035: questions of one name, A, AAAA and TXT).
import { createSocket } from 'node:dgram';
import { atFileEnd } from '../support/ends.ts';

const A = 1;
const TXT = 16;
const AAAA = 28;
const SERVFAIL = 2;
const NXDOMAIN = 3;
const kinds: Readonly<Record<number, string>> = { [A]: 'A', [TXT]: 'TXT', [AAAA]: 'AAAA' };

export interface NameServer {
  /** As `SVC_DNS_SERVERS` names it. */
  readonly address: string;
  /** Questions so far, `A name`, `AAAA name` or `TXT name`. */
  readonly asked: string[];
  /**
   * Addresses by `A name` and `AAAA name`, texts by `TXT name`; a function is asked each time; null answers nothing at
   * all, `fails` that the server cannot tell.
   */
  readonly zone: Map<string, readonly string[] | null | 'fails' | (() => readonly string[])>;
}

function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function bytesOf(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const front = groups(head);
  const back = groups(tail);
  const middle = address.includes('::') ? Array(8 - front.length - back.length).fill('0') : [];
  return Buffer.from([...front, ...middle, ...back].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** A text as the strings of one record, at most 255 bytes each. */
function stringsOf(text: string): Buffer {
  const bytes = Buffer.from(text);
  const strings: Buffer[] = [];
  for (let at = 0; at < bytes.length || at === 0; at += 255) {
    const piece = bytes.subarray(at, at + 255);
    strings.push(Buffer.from([piece.length]), piece);
  }
  return Buffer.concat(strings);
}

function failure(question: Buffer, end: number): Buffer {
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8180 | SERVFAIL, 2);
  head.writeUInt32BE(0, 6);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, question.subarray(12, end + 4)]);
}

function reply(question: Buffer, end: number, type: number, addresses: readonly string[] | null): Buffer {
  const head = Buffer.from(question.subarray(0, 12));
  const known = addresses !== null;
  head.writeUInt16BE(0x8180 | (known ? 0 : NXDOMAIN), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses?.length ?? 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const records = (addresses ?? []).map((address) => {
    const data = type === TXT ? stringsOf(address) : bytesOf(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    // No one may keep it: the next look-up asks again.
    record.writeUInt32BE(0, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, question.subarray(12, end + 4), ...records]);
}

/** Starts a name server on 127.0.0.1; names not in its zone do not exist. */
export async function startNameServer(): Promise<NameServer> {
  const asked: string[] = [];
  const zone: NameServer['zone'] = new Map();
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, end } = nameIn(question);
    const type = question.readUInt16BE(end);
    const key = `${kinds[type] ?? type} ${name}`;
    asked.push(key);
    const known = zone.get(key);
    if (known === null) return;
    const has_name = Object.values(kinds).some((kind) => zone.has(`${kind} ${name}`));
    const found = typeof known === 'function' ? known() : known;
    const answer =
      found === 'fails'
        ? failure(question, end)
        : reply(question, end, type, found ?? (has_name ? [] : null));
    socket.send(answer, from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  atFileEnd(async () => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked, zone };
}
