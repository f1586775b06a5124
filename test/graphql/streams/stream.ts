// Streams of the console's listener, read event by event as a browser reads them.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { atFileEnd } from '../../support/ends.ts';
import type { Answer } from '../world.ts';

export interface Stream {
  readonly response: Response;
  /** The next event's data. */
  next(): Promise<Pick<Answer, 'data' | 'errors'> | null>;
  close(): void;
}

/** Lets `tenant` listen, and returns what opens a subscription there for the session of a token. */
export async function openStreams(
  tenant: FastifyInstance,
): Promise<(token: string, query: string, variables?: object) => Promise<Stream>> {
  await tenant.listen({ host: '127.0.0.1', port: 0 });
  const address = `http://127.0.0.1:${(tenant.server.address() as AddressInfo).port}/graphql`;
  return async function follow(token, query, variables = {}) {
    const ended = new AbortController();
    atFileEnd(async () => ended.abort());
    const response = await fetch(address, {
      method: 'POST',
      signal: ended.signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query, variables }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    return {
      response,
      async next() {
        for (;;) {
          const end = text.indexOf('\n\n');
          if (end >= 0) {
            const event = text.slice(0, end);
            text = text.slice(end + 2);
            if (event.startsWith('event: complete')) return null;
            const data = /^data: ?(.+)$/m.exec(event)?.[1];
            if (event.includes('event: next') && data !== undefined) return JSON.parse(data) as Answer;
            continue;
          }
          const { done, value } = await reader.read();
          if (done) return null;
          text += Buffer.from(value).toString();
        }
      },
      close: () => ended.abort(),
    };
  };
}
