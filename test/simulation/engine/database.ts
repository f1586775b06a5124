// PostgreSQL in this process (PGlite), behind sockets that are events of the loop. PGlite has one session, so a connection
// has it for one transaction, as behind a pooler in transaction mode; who comes meanwhile waits. Where the product has a
// transaction open while another runs, they are on two servers: that of the installation, and that of the ledger. Each
// message that goes to a server or comes from it is an event, and may be the last of its connection.
import { EventEmitter } from 'node:events';
import net from 'node:net';
import type { PGlite } from '@electric-sql/pglite';
import { Actor, currentLoop, type Loop } from './loop.ts';
import { asServer } from './timers.ts';
import { cut, type Message, message, type Prepared, saidBy, WELCOME } from './wire.ts';

/** Where the product finds the servers: of the installation, and of the ledger that its organizations are in. */
export const DATABASE_URL = 'postgres://svc@database.sim:5432/svc';
export const LEDGER_URL = 'postgres://svc@ledger.sim:5432/svc';

/** How often, of 1, something happens to a message; and whether the server is away. */
export interface Weather {
  /** The connection ends before the message is read. */
  cut_before: number;
  /** The message is carried out, and its connection ends before the answer. */
  cut_after: number;
  /** The message or its answer takes up to `slow_ms` longer. */
  slow: number;
  slow_ms: number;
  away: boolean;
}

export const CALM: Readonly<Weather> = { cut_before: 0, cut_after: 0, slow: 0, slow_ms: 0, away: false };

const TRIP_MS_MAX = 1.5;
const ROLLBACK = message('Q', Buffer.from('rollback\0'));

/** A connection as the server sees it. */
interface Link {
  readonly no: number;
  readonly socket: SimSocket;
  readonly actor: Actor;
  started: boolean;
  /** What came and is no whole batch yet. */
  rest: Buffer;
  batch: Message[];
  /** The client has gone, or was cut off. */
  closed: boolean;
  /** When its last message arrives: messages keep their order. */
  arrives_ms: number;
}

/** A PGlite, whose one session serves one run after another. */
export interface Engine {
  readonly postgres: PGlite;
  readonly prepared: Prepared;
}

/** The server at one address, for one run. */
export class Server {
  readonly actor: Actor;
  weather: Weather = { ...CALM };
  readonly #postgres: PGlite;
  readonly #loop: Loop;
  readonly #prepared: Prepared;
  readonly #links = new Set<Link>();
  /** Whose transaction the session is in. */
  #holder: Link | null = null;
  #waiting: { readonly link: Link; readonly batch: readonly Message[] }[] = [];
  #serial = 0;
  batches = 0;

  constructor(name: string, { postgres, prepared }: Engine, loop: Loop) {
    this.actor = new Actor(name);
    this.#postgres = postgres;
    this.#prepared = prepared;
    this.#loop = loop;
  }

  #trip(): number {
    const { draw } = this.#loop;
    const { slow, slow_ms } = this.weather;
    const usual = 0.05 + draw.unit() * TRIP_MS_MAX;
    return slow > 0 && draw.unit() < slow ? usual + draw.unit() * slow_ms : usual;
  }

  connect(socket: SimSocket): void {
    const { actor } = this.#loop;
    this.#loop.later(
      'connects',
      this.#trip(),
      () => {
        if (socket.destroyed) return;
        if (this.weather.away) return socket.fail('ECONNREFUSED');
        const fresh = { no: ++this.#serial, socket, actor, started: false, rest: Buffer.alloc(0), batch: [] };
        const link: Link = { ...fresh, closed: false, arrives_ms: 0 };
        socket.link = link;
        this.#links.add(link);
        socket.emit('connect');
      },
      actor,
    );
  }

  /** Bytes of a client, which arrive once they are a batch that wants an answer. */
  receive(link: Link, bytes: Buffer): void {
    link.rest = link.rest.length === 0 ? bytes : Buffer.concat([link.rest, bytes]);
    if (!link.started) {
      if (link.rest.length < 4 || link.rest.length < link.rest.readInt32BE(0)) return;
      link.rest = link.rest.subarray(link.rest.readInt32BE(0));
      link.started = true;
      this.#answer(link, WELCOME);
    }
    const { messages, rest } = cut(link.rest);
    link.rest = rest;
    for (const one of messages) {
      if (one.type === 'X') return this.leave(link);
      link.batch.push(one);
      if (one.type !== 'S' && one.type !== 'Q') continue;
      this.#send(link, link.batch);
      link.batch = [];
    }
  }

  #send(link: Link, batch: readonly Message[]): void {
    const { now_ms, draw } = this.#loop;
    link.arrives_ms = Math.max(link.arrives_ms + 0.001, now_ms + this.#trip());
    const is_cut = draw.unit() < this.weather.cut_before;
    const names = batch.map(saidBy).filter((said) => said !== '');
    const what = `${link.actor.name}#${link.no} asks ${names.join(', ')}${is_cut ? ' (cut)' : ''}`;
    const arrive = () => (is_cut ? this.#cutOff(link) : this.#arrive(link, batch));
    this.#loop.later(what, link.arrives_ms - now_ms, arrive, this.actor);
  }

  #arrive(link: Link, batch: readonly Message[]): void {
    if (link.closed) return;
    if (this.#holder !== null && this.#holder !== link) this.#waiting.push({ link, batch });
    else this.#carryOut(link, batch);
  }

  #carryOut(link: Link, batch: readonly Message[]): void {
    const { bytes, done } = this.#prepared.passed(batch);
    this.batches++;
    const answer = this.#run(bytes);
    const { messages } = cut(answer);
    const fault = messages.find(({ type }) => type === 'E');
    done(messages);
    if (fault !== undefined)
      this.#loop.note(
        `${this.actor.name} refuses #${link.no}: ${fault.bytes.toString('utf8', 5).replaceAll('\0', ' ')}`,
      );
    const is_open = messages.at(-1)?.bytes[5] !== 'I'.charCodeAt(0);
    this.#holder = is_open ? link : null;
    const is_cut = this.#loop.draw.unit() < this.weather.cut_after;
    if (is_cut) this.#cutOff(link);
    else this.#answer(link, answer);
    this.#serve();
  }

  #run(bytes: Buffer): Buffer {
    return asServer(() => Buffer.from(this.#postgres.execProtocolRawSync(bytes)));
  }

  #answer(link: Link, bytes: Buffer): void {
    const arrive = () => {
      if (!link.closed) link.socket.emit('data', bytes);
    };
    this.#loop.later(`#${link.no} is answered`, this.#trip(), arrive, link.actor);
  }

  /** Who waits for the session gets it: a die says who is first. */
  #serve(): void {
    while (this.#holder === null && this.#waiting.length > 0) {
      const at = this.#loop.draw.int(0, this.#waiting.length - 1);
      const [next] = this.#waiting.splice(at, 1);
      if (next !== undefined && !next.link.closed) this.#carryOut(next.link, next.batch);
    }
  }

  /** The client goes: what it has sent is still read, or lost with it; then its transaction is rolled back. */
  leave(link: Link): void {
    if (link.closed || !this.#links.has(link)) return;
    const { now_ms, draw } = this.#loop;
    const delay = draw.unit() < 0.5 ? 0 : Math.max(0, link.arrives_ms + 0.001 - now_ms);
    this.#loop.later(`${link.actor.name}#${link.no} leaves`, delay, () => this.#end(link), this.actor);
  }

  #end(link: Link): void {
    if (link.closed) return;
    link.closed = true;
    this.#links.delete(link);
    this.#waiting = this.#waiting.filter((one) => one.link !== link);
    if (this.#holder !== link) return;
    this.#run(ROLLBACK);
    this.#holder = null;
    this.#serve();
  }

  #cutOff(link: Link): void {
    this.#loop.note(`${link.actor.name}#${link.no} is cut off`);
    this.#end(link);
    this.#loop.later('', 0.01, () => link.socket.fail('ECONNRESET'), link.actor);
  }

  /** Ends all connections, of `actor` alone where one is named. */
  cutAll(actor: Actor | null = null): void {
    for (const link of [...this.#links]) {
      if (actor === null) this.#cutOff(link);
      else if (link.actor === actor) this.leave(link);
    }
  }

  get connections(): number {
    return this.#links.size;
  }
}

/** What the product takes for a socket. Only the simulated server is at the other end of one. */
class SimSocket extends EventEmitter {
  link: Link | null = null;
  destroyed = false;
  writable = true;
  #server: Server | null = null;

  connect(_port: number, host: string): this {
    this.#server = listening.get(host) ?? null;
    if (this.#server === null) throw new Error(`a run opens no socket to ${host}`);
    this.#server.connect(this);
    return this;
  }
  write(bytes: Buffer | string, written?: () => void): boolean {
    if (this.link !== null && !this.destroyed) this.#server?.receive(this.link, Buffer.from(bytes as Buffer));
    if (written !== undefined) queueMicrotask(written);
    return true;
  }
  end(bytes?: Buffer): this {
    if (bytes !== undefined) this.write(bytes);
    return this.destroy();
  }
  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.writable = false;
    if (this.link !== null) this.#server?.leave(this.link);
    currentLoop()?.next('', () => {
      this.emit('end');
      this.emit('close');
    });
    return this;
  }
  /** The connection breaks, or is refused. */
  fail(code: string): void {
    if (this.destroyed) return;
    this.emit('error', Object.assign(new Error(`simulated ${code}`), { code }));
    this.destroy();
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  cork(): void {}
  uncork(): void {}
}

let listening: ReadonlyMap<string, Server> = new Map();

/** Lets new sockets lead to `servers`, by host. */
export function listenAs(servers: ReadonlyMap<string, Server>): void {
  listening = servers;
}

/** Puts simulated sockets in place of Node's, once: a run opens no real one. */
export function installSockets(): void {
  const Real = net.Socket;
  const Chosen = function (this: unknown, ...args: ConstructorParameters<typeof Real>) {
    return currentLoop() === null ? new Real(...args) : new SimSocket();
  };
  Object.assign(net, { Socket: Chosen });
}
