// A connection pooler in transaction mode, as PgBouncer before 1.21 is one: a client has a connection of the server for
// one transaction, and a different one for the next. Whatever a session remembers (SET, LISTEN, prepared
// statements by name, advisory locks) is left on a connection that others use. Startup parameters that it does not
// know are refused.
import { randomInt } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';

export interface Pooler {
  /** The database's URL through the pooler. */
  readonly url: string;
  /** Transactions passed on so far. */
  readonly transactions: number;
  /** Closes every connection of clients and servers; new ones are accepted. */
  cut(): void;
  close(): Promise<void>;
}

/** What PgBouncer passes on of a startup message; all else is refused. */
const KNOWN = new Set([
  'user',
  'database',
  'application_name',
  'client_encoding',
  'datestyle',
  'timezone',
  'standard_conforming_strings',
]);
const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const PROTOCOL_3 = 3;

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);

function fatal(reason: string): Buffer {
  return message('E', text('SFATAL'), text('VFATAL'), text('C08P01'), text(`M${reason}`), Buffer.alloc(1));
}

/** Cuts a stream into messages: their type and all their bytes. */
function framed(each: (type: string, bytes: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5) {
      const length = rest.readInt32BE(1) + 1;
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      each(String.fromCharCode(bytes[0] as number), bytes);
    }
  };
}

/** A connection of the server, and who has it now. */
interface Backend {
  readonly stream: Socket;
  near: Near | null;
}

/** A client as the pooler sees it. */
interface Near {
  readonly socket: Socket;
  backend: Backend | null;
  /** The connection of its last transaction; for the next it gets a different one if there is any. */
  last: Backend | null;
  /** What it sent while it waited for a connection. */
  waiting: Buffer[];
  /** How many answers that end with ReadyForQuery are still expected. */
  pending: number;
}

class TransactionPooler implements Pooler {
  readonly url: string;
  transactions = 0;
  readonly #to: string;
  readonly #size: number;
  readonly #server: Server;
  readonly #nears = new Set<Near>();
  readonly #backends = new Set<Backend>();
  #idle: Backend[] = [];
  #queue: Near[] = [];
  #opening = 0;
  #closed = false;

  constructor(to: string, size: number, server: Server) {
    this.#to = to;
    this.#size = size;
    this.#server = server;
    const url = new URL(to);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as { port: number }).port);
    this.url = url.href;
    server.on('connection', (socket: Socket) => this.#greet(socket));
  }

  /** Reads the startup message, which has no type, and what follows it. */
  #greet(socket: Socket): void {
    socket.on('error', () => {});
    socket.setNoDelay(true);
    let start: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      start = Buffer.concat([start, chunk]);
      if (start.length < 8 || start.length < start.readInt32BE(0)) return;
      const length = start.readInt32BE(0);
      const code = start.readInt32BE(4);
      const body = start.subarray(8, length);
      start = start.subarray(length);
      if (code === SSL_REQUEST) return void socket.write('N');
      if (code === CANCEL_REQUEST || code >> 16 !== PROTOCOL_3) return void socket.destroy();
      socket.off('data', read);
      const names = body
        .toString()
        .split('\0')
        .filter((_, i) => i % 2 === 0);
      const unknown = names.find((name) => name !== '' && !KNOWN.has(name.toLowerCase()));
      if (unknown !== undefined) return void socket.end(fatal(`unsupported startup parameter: ${unknown}`));
      this.#welcome(socket);
    };
    socket.on('data', read);
  }

  #welcome(socket: Socket): void {
    const near: Near = { socket, backend: null, last: null, waiting: [], pending: 0 };
    this.#nears.add(near);
    socket.on(
      'data',
      framed((type, bytes) => this.#fromClient(near, type, bytes)),
    );
    socket.on('close', () => this.#leave(near));
    // The process id is made up, as it names no connection of the server.
    const key = message('K', int32(randomInt(2 ** 31)), int32(randomInt(2 ** 31)));
    socket.write(Buffer.concat([message('R', int32(0)), key, message('Z', Buffer.from('I'))]));
  }

  #fromClient(near: Near, type: string, bytes: Buffer): void {
    if (type === 'X') return void near.socket.end();
    if (type === 'Q' || type === 'S' || type === 'F') near.pending++;
    if (near.backend !== null) {
      near.backend.stream.write(bytes);
      return;
    }
    near.waiting.push(Buffer.from(bytes));
    if (!this.#queue.includes(near)) this.#queue.push(near);
    this.#serve();
  }

  /** Gives idle connections to waiting clients: to each the one that was idle longest and is not its last one. */
  #serve(): void {
    while (this.#queue.length > 0 && this.#idle.length > 0) {
      const near = this.#queue.shift() as Near;
      const another = this.#idle.findIndex((backend) => backend !== near.last);
      const [backend] = this.#idle.splice(Math.max(another, 0), 1) as [Backend];
      backend.near = near;
      near.backend = backend;
      near.last = backend;
      this.transactions++;
      for (const bytes of near.waiting) backend.stream.write(bytes);
      near.waiting = [];
    }
    // One more than is needed, so that a client can be given a different one.
    if (this.#backends.size + this.#opening >= this.#size || this.#closed) return;
    if (this.#queue.length > 0 || this.#backends.size + this.#opening < 2) void this.#open();
  }

  async #open(): Promise<void> {
    this.#opening++;
    const client = new pg.Client({ connectionString: this.#to, application_name: 'pooler' });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch {
      // The server is down, so the clients are disconnected, as PgBouncer does after its timeout.
      for (const near of this.#queue) near.socket.destroy();
      this.#queue = [];
      return;
    } finally {
      this.#opening--;
    }
    // The driver has made the connection and authenticated; from here on its bytes are the clients'.
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    stream.removeAllListeners();
    const backend: Backend = { stream, near: null };
    stream.on('error', () => {});
    stream.on(
      'data',
      framed((type, bytes) => this.#fromServer(backend, type, bytes)),
    );
    stream.on('close', () => this.#lose(backend));
    this.#backends.add(backend);
    this.#idle.push(backend);
    this.#serve();
  }

  #fromServer(backend: Backend, type: string, bytes: Buffer): void {
    const { near } = backend;
    // For no client: a notification to one that had the connection before.
    if (near === null) return;
    near.socket.write(bytes);
    if (type !== 'Z') return;
    near.pending--;
    if (bytes[5] !== 'I'.charCodeAt(0) || near.pending > 0) return;
    near.backend = null;
    backend.near = null;
    this.#idle.push(backend);
    this.#serve();
  }

  #leave(near: Near): void {
    this.#nears.delete(near);
    this.#queue = this.#queue.filter((one) => one !== near);
    // An open transaction that nobody will end: closing the connection makes the server roll it back.
    near.backend?.stream.destroy();
  }

  #lose(backend: Backend): void {
    this.#backends.delete(backend);
    this.#idle = this.#idle.filter((one) => one !== backend);
    backend.near?.socket.destroy();
    if (this.#queue.length > 0) this.#serve();
  }

  cut(): void {
    for (const { socket } of this.#nears) socket.destroy();
    for (const { stream } of this.#backends) stream.destroy();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.cut();
    await closed;
  }
}

/** A pooler on a free port of loopback, with at most `size` connections to the database at `to`. */
export async function startPooler(to: string, { size = 4 }: { size?: number } = {}): Promise<Pooler> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return new TransactionPooler(to, size, server);
}
