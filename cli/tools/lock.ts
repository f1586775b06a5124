// One at a time over all processes of a user: the lock is a name in the kernel's own list of sockets (Linux, names that
// begin with a zero byte), so it goes with its holder however that ends, and nobody has to judge a stale file.
import { createHash } from 'node:crypto';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

interface Held {
  release(): void;
}

/** Takes the lock, or null when another process has it. */
function tryLock(address: string): Promise<Held | null> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => waiting.delete(socket));
  });
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? done(null) : fail(error),
    );
    server.listen(address, () =>
      done({
        release() {
          server.close();
          for (const socket of waiting) socket.destroy();
        },
      }),
    );
  });
}

/** Resolves when the holder has let go (its end of the connection closes, or there is nobody to connect to), or on `signal`. */
function untilReleased(address: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const socket = createConnection(address);
    const leave = () => socket.destroy();
    socket.on('error', () => {});
    socket.on('close', () => {
      signal?.removeEventListener('abort', leave);
      done();
    });
    socket.resume();
    signal?.addEventListener('abort', leave);
  });
}

export interface Turn {
  /** Told once when another process has the lock. */
  onWait(): void;
  readonly signal?: AbortSignal | undefined;
}

/** Runs `work` while no other process runs it under the same `name`. @throws when `signal` ends the wait. */
export async function alone<T>(name: string, turn: Turn, work: () => Promise<T>): Promise<T> {
  const address = `\0svc-${createHash('sha256')
    .update(`${process.getuid?.() ?? 0} ${name}`)
    .digest('hex')}`;
  for (let announced = false; ; announced = true) {
    turn.signal?.throwIfAborted();
    const held = await tryLock(address);
    if (held !== null) {
      try {
        return await work();
      } finally {
        held.release();
      }
    }
    if (!announced) turn.onWait();
    await untilReleased(address, turn.signal);
  }
}
