// A server of an organization: verifies what it gets as the documentation says, and answers as a test tells it to.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { atFileEnd } from '../support/ends.ts';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Requests that have not been answered. */
  readonly open: number;
  /** Most that were open at once. */
  readonly open_max: number;
  /** How it answers from now on. */
  answer(how: (response: ServerResponse, request: Received) => void): void;
  /** The events received whose signature holds under `secret`, oldest first. @throws when one does not. */
  verified(secret: string): { id: string; type: string; data: Record<string, unknown> }[];
  /** Listens no more; connections are closed. */
  down(): Promise<void>;
  /** Listens again, at the same address. */
  up(): Promise<void>;
}

/** Answers with `status` and no body. */
export function withStatus(status: number, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => void response.writeHead(status, headers).end();
}

/** Starts a receiver on 127.0.0.1 that answers 204. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let how: (response: ServerResponse, request: Received) => void = withStatus(204);
  let open = 0;
  let open_max = 0;
  const server = createServer(async (request, response) => {
    open_max = Math.max(open_max, ++open);
    response.on('close', () => open--);
    request.setEncoding('utf8');
    let body = '';
    for await (const part of request) body += part;
    const seen = { path: request.url ?? '', headers: request.headers, body };
    received.push(seen);
    how(response, seen);
  });
  const listen = (port: number) =>
    new Promise<void>((done, fail) => {
      server.once('error', fail);
      server.listen(port, '127.0.0.1', done);
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const down = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  atFileEnd(down);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    get open() {
      return open;
    },
    get open_max() {
      return open_max;
    },
    answer(next) {
      how = next;
    },
    verified: (secret) =>
      received.map(({ body, headers }) => {
        const event = new Webhook(secret).verify(body, headers as Record<string, string>);
        return event as { id: string; type: string; data: Record<string, unknown> };
      }),
    down,
    up: () => listen(port),
  };
}
