// The port without TLS: it answers challenges of the authority (RFC 8555, 8.3) and sends browsers to https, and nothing else. It
// is a server of its own, so that nothing of the API is ever reached in the clear through it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { SellerHosts } from '@svc/core/identity/index.ts';
import type { Db, Log } from '@svc/core/kernel/index.ts';
import { findChallenge, hostKey, isOwnHost, type StorefrontSettings } from '@svc/core/storefronts/index.ts';

const CHALLENGE = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,200})$/;
const HEADERS_MAX = 8 * 1024;
const REQUEST_MS = 10_000;
const CONNECTIONS_MAX = 2_000;

interface DoorParts {
  readonly db: Db;
  readonly log: Log;
  readonly storefronts: StorefrontSettings;
  readonly seller_hosts: SellerHosts;
  /** The port of https as browsers see it: "", or a colon and a number. */
  readonly https_port: string;
}

function say(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    ...{ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    ...{ 'cache-control': 'no-store', ...headers },
  });
  response.end(text);
}

async function answerChallenge({ db }: DoorParts, key: string, token: string, response: ServerResponse) {
  const answer = await findChallenge(db, { domain: key, token });
  if (answer === null) say(response, 404, 'Nobody asked for this.\n');
  else say(response, 200, answer, { 'content-type': 'application/octet-stream' });
}

function redirect(parts: DoorParts, key: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '/' } = request;
  // A proxy that ends TLS and comes here would be sent back to itself for ever.
  if (/\bhttps\b/i.test(String(request.headers['x-forwarded-proto'] ?? '')))
    return say(response, 421, 'TLS ended before this port. Send this to the port of the gateway.\n');
  // What was sent in the clear is not asked for a second time.
  if (method !== 'GET' && method !== 'HEAD')
    return say(response, 403, `Use https://${key}: nothing is taken here.\n`, { connection: 'close' });
  const path = url.startsWith('/') ? url : '/';
  const location = `https://${key}${parts.https_port}${path}`;
  say(response, 308, `${location}\n`, { location });
}

async function answer(parts: DoorParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { storefronts, seller_hosts } = parts;
  const key = hostKey(request.headers.host ?? '');
  if (request.method === 'GET') {
    const challenge = CHALLENGE.exec(request.url ?? '');
    if (challenge !== null) return answerChallenge(parts, key, challenge[1] as string, response);
  }
  if (request.url === '/healthz') return say(response, 200, 'ok\n');
  const known =
    storefronts.own_hosts.includes(key) || (!isOwnHost(key, storefronts) && (await seller_hosts.at(key)));
  if (!known) return say(response, 421, 'Nobody is served at this host.\n');
  redirect(parts, key, request, response);
}

/** The server; it listens where it is told. */
export function createDoor(parts: DoorParts): Server {
  const server = createServer(
    {
      maxHeaderSize: HEADERS_MAX,
      requestTimeout: REQUEST_MS,
      headersTimeout: REQUEST_MS,
      keepAliveTimeout: 5_000,
    },
    (request, response) => {
      request.resume();
      answer(parts, request, response).catch((error: unknown) => {
        parts.log.warn({ error }, 'a request without TLS cannot be answered');
        if (!response.headersSent) say(response, 503, 'Try again.\n', { 'retry-after': '5' });
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}
