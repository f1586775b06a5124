import { createServer, type Socket } from 'node:net';

/** A provider that takes connections and never answers their TLS greeting, so that no request can be sent to it. */
export interface Hung {
  readonly port: number;
  /** Connections that wait now. */
  waiting(): number;
  close(): void;
}

export async function startHung(): Promise<Hung> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as { port: number }).port,
    waiting: () => sockets.size,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
