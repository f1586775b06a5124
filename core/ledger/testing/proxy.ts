// A TCP proxy before PostgreSQL for the fault tests: it can swallow the answer to a statement and cut the line, or
// stop passing anything on.
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Proxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** Cuts the connection in place of the answer to the next message that calls the ledger's function `name`. */
  cutAnswerTo(name: string): void;
  /** How many answers were cut. */
  readonly cuts: number;
  /** Nothing passes in either direction until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Nothing passes any more on the connections of now, and nobody is told; new ones work. */
  forget(): void;
  /** Ends every connection. */
  cut(): void;
  /** New connections lead to the server of `to` from now on. */
  moveTo(to: string): void;
  close(): void;
}

/** Keeps both ends of a connection in `sockets` until one of them closes, which closes the other. */
function keepBoth(ends: readonly [Socket, Socket], sockets: Set<Socket>): void {
  const end = () => {
    for (const socket of ends) {
      sockets.delete(socket);
      socket.destroy();
    }
  };
  for (const socket of ends) {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', end);
  }
}

/** A proxy on a free port of loopback before the database at `to`. */
export async function startProxy(to: string): Promise<Proxy> {
  let target = new URL(to);
  const sockets = new Set<Socket>();
  let armed: readonly string[] = [];
  let cuts = 0;
  let frozen = false;
  const server: Server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let isDoomed = false;
    keepBoth([near, far], sockets);
    if (frozen) for (const socket of [near, far]) socket.pause();
    near.on('data', (chunk) => {
      if (armed.some((text) => chunk.includes(text))) {
        armed = [];
        isDoomed = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      if (!isDoomed) {
        near.write(chunk);
        return;
      }
      // A small answer is sent when the transaction has ended, so it is committed now.
      cuts++;
      for (const socket of [near, far]) socket.destroy();
    });
  });
  const pause = () => sockets.forEach((socket) => void socket.pause());
  const cut = () => sockets.forEach((socket) => void socket.destroy());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = new URL(to);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    cutAnswerTo(name) {
      // What was prepared goes by its name, the rest by its text.
      armed = [`ledger.${name}\0`, `.${name}(`];
    },
    get cuts() {
      return cuts;
    },
    freeze() {
      frozen = true;
      pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) socket.resume();
    },
    forget: pause,
    cut,
    moveTo(next) {
      target = new URL(next);
    },
    close() {
      server.close();
      cut();
    },
  };
}
