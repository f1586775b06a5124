// A resolver that answers as a test tells it to (RFC 1035, RFC 8659): over UDP, and over TCP where its answer was cut. It follows
// names to where they lead (CNAME), as resolvers do.
import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:net';
import { atFileEnd } from '../support/ends.ts';

const numbers = { A: 1, NS: 2, CNAME: 5, TXT: 16, AAAA: 28, CAA: 257 } as const;
type Kind = keyof typeof numbers;
const kinds = new Map<number, Kind>(Object.entries(numbers).map(([kind, number]) => [number, kind as Kind]));
const NOERROR = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;
const REFUSED = 5;
const CHAIN_MAX = 5;

/**
 * Records of a name and type. Of a TXT a line break ends a string of the record; a CAA is `issue authority`. A function is asked
 * each time; null answers nothing at all.
 */
type Answer = readonly string[] | null | 'fails' | 'refuses' | 'garbles' | (() => readonly string[]);

export interface NameServer {
  /** As `SVC_DNS_SERVERS` names it. */
  readonly address: string;
  /** Questions so far, `A name`, `AAAA name` or `TXT name`. */
  readonly asked: string[];
  /** Records by type and name, as `A acme.example`. */
  readonly zone: Map<string, Answer>;
  /** Questions whose answer over UDP is cut, so that they are asked again over TCP. */
  readonly cut: Set<string>;
  /** How many questions came over TCP. */
  readonly over_tcp: number;
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

function bytesOfName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function bytesOfAddress(address: string): Buffer {
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
  const strings: Buffer[] = [];
  for (const line of text.split('\n')) {
    const bytes = Buffer.from(line);
    for (let at = 0; at < bytes.length || at === 0; at += 255) {
      const piece = bytes.subarray(at, at + 255);
      strings.push(Buffer.from([piece.length]), piece);
    }
  }
  return Buffer.concat(strings);
}

function dataOf(kind: Kind, value: string): Buffer {
  if (kind === 'TXT') return stringsOf(value);
  if (kind === 'NS' || kind === 'CNAME') return bytesOfName(value);
  if (kind !== 'CAA') return bytesOfAddress(value);
  const [tag = '', ...rest] = value.split(' ');
  return Buffer.concat([Buffer.from([0, tag.length]), Buffer.from(tag + rest.join(' '))]);
}

interface OneRecord {
  readonly name: string;
  readonly kind: Kind;
  readonly value: string;
}

function recordBytes({ name, kind, value }: OneRecord): Buffer {
  const data = dataOf(kind, value);
  // Kept for no time: the next look-up asks again.
  const rest = Buffer.alloc(10);
  rest.writeUInt16BE(numbers[kind], 0);
  rest.writeUInt16BE(1, 2);
  rest.writeUInt16BE(data.length, 8);
  return Buffer.concat([bytesOfName(name), rest, data]);
}

function message(
  question: Buffer,
  end: number,
  { code, records, is_cut = false }: { code: number; records: readonly OneRecord[]; is_cut?: boolean },
): Buffer {
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8180 | (is_cut ? 0x0200 : 0) | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, question.subarray(12, end + 4), ...records.map(recordBytes)]);
}

/** What `zone` says to a question; null: nothing at all. */
function find(zone: NameServer['zone'], kind: Kind | undefined, asked: string): Found | null {
  const records: OneRecord[] = [];
  let name = asked;
  for (let steps = 0; steps < CHAIN_MAX; steps++) {
    const known = zone.get(`${kind} ${name}`);
    if (known === null) return null;
    if (known === 'garbles') return { code: NOERROR, records: [], is_garbled: true };
    if (known === 'fails') return { code: SERVFAIL, records: [] };
    if (known === 'refuses') return { code: REFUSED, records: [] };
    const values = typeof known === 'function' ? known() : known;
    if (values !== undefined)
      return {
        code: NOERROR,
        records: [...records, ...values.map((value) => ({ name, kind: kind!, value }))],
      };
    const leads = zone.get(`CNAME ${name}`);
    if (!Array.isArray(leads) || leads[0] === undefined) break;
    records.push({ name, kind: 'CNAME', value: leads[0] });
    name = leads[0];
  }
  // A name is there as soon as anything is below it (RFC 8020).
  const ends = ` ${name}`;
  const has_name = [...zone.keys()].some((key) => key.endsWith(ends) || key.endsWith(`.${name}`));
  return { code: has_name ? NOERROR : NXDOMAIN, records };
}

interface Found {
  readonly code: number;
  readonly records: readonly OneRecord[];
  readonly is_garbled?: true;
}

interface State extends Pick<NameServer, 'asked' | 'zone' | 'cut'> {
  over_tcp: number;
}

/** The answer to `question`; null: none is sent. */
function answer({ asked, zone, cut }: State, question: Buffer, by_udp: boolean): Buffer | null {
  const { name, end } = nameIn(question);
  const type = question.readUInt16BE(end);
  const kind = kinds.get(type);
  const key = `${kind ?? type} ${name}`;
  asked.push(key);
  const found = find(zone, kind, name);
  if (found === null) return null;
  if (found.is_garbled === true)
    return Buffer.concat([message(question, end, { code: 0, records: [] }).subarray(0, 13)]);
  if (by_udp && cut.has(key)) return message(question, end, { code: NOERROR, records: [], is_cut: true });
  return message(question, end, found);
}

/** Each message over TCP has its length before it (RFC 1035, 4.2.2). */
function serveTcp(state: State): Server {
  return createServer((socket) => {
    let waiting = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      while (waiting.length >= 2 && waiting.length >= waiting.readUInt16BE(0) + 2) {
        const length = waiting.readUInt16BE(0);
        state.over_tcp++;
        const said = answer(state, waiting.subarray(2, length + 2), false);
        waiting = waiting.subarray(length + 2);
        if (said === null) continue;
        const size = Buffer.alloc(2);
        size.writeUInt16BE(said.length);
        socket.write(Buffer.concat([size, said]));
      }
    });
  });
}

/** Both on the same free port of 127.0.0.1. */
async function listenOnBoth(socket: Socket, server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise<void>((done, fail) => {
    socket.once('error', fail);
    socket.bind(port, '127.0.0.1', done);
  });
  return port;
}

/** Starts a resolver on 127.0.0.1; names not in its zone do not exist. */
export async function startNameServer(): Promise<NameServer> {
  const state: State = { asked: [], zone: new Map(), cut: new Set(), over_tcp: 0 };
  const socket = createSocket('udp4');
  const server = serveTcp(state);
  socket.on('message', (question, from) => {
    const said = answer(state, question, true);
    if (said !== null) socket.send(said, from.port, from.address);
  });
  const port = await listenOnBoth(socket, server);
  atFileEnd(async () => {
    socket.close();
    server.close();
  });
  return {
    ...{ address: `127.0.0.1:${port}`, asked: state.asked, zone: state.zone, cut: state.cut },
    get over_tcp() {
      return state.over_tcp;
    },
  };
}
