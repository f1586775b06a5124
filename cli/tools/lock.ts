// A lock over all processes of a user. It is an abstract socket (Linux; its name begins with a zero byte), which the
// kernel removes when its holder ends for whatever reason, so there is never a stale lock file to judge.
import { createHash } from 'node:crypto';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

interface Held {
  release(): void;
}

/** Takes the lock; null when another process holds it. */
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

/**
 * Resolves when the holder has released the lock (its end of the connection closes, or nothing listens any more), or
 * on `signal`.
 */
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
  /** Called once when another process holds the lock. */
  onWait(): void;
  readonly signal?: AbortSignal | undefined;
}

/** Runs `work` while no other process runs under the same `name`. @throws when `signal` ends the wait. */
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
