// The way from a program to its database, which a test cuts and mends: as when the server, or the network before it, is away.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atFileEnd } from '../support/ends.ts';

interface Wire {
  /** The address of the database over this wire. */
  readonly url: string;
  /** Breaks every connection, and refuses new ones. */
  cut(): void;
  mend(): void;
}

/** A wire to the database at `database_url`. */
export async function openWire(database_url: string): Promise<Wire> {
  const there = new URL(database_url);
  const open = new Set<Socket>();
  let is_cut = false;
  const server = createServer((near) => {
    if (is_cut) return void near.destroy();
    const far = connect(Number(there.port), there.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const end = () => {
    for (const socket of open) socket.destroy();
  };
  atFileEnd(async () => {
    end();
    await new Promise((done) => server.close(done));
  });
  const url = new URL(database_url);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut() {
      is_cut = true;
      end();
    },
    mend() {
      is_cut = false;
    },
  };
}
