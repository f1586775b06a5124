// What comes over TLS and is not of the API is of the console, which the admin program serves: it is handed on to it, as an ingress
// would. The address of the client goes with it, in place of whatever the client said of itself.
import { Agent, request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { ServiceError } from '@svc/core/kernel/index.ts';
import type { FastifyInstance } from 'fastify';
import { serverNameOf } from './listener.ts';

/** Paths of the gateway; everything else is the console's (docs/resellers/storefront.md#tls). */
const OURS = /^\/(?:v1|docs|openapi\.json|healthz|readyz)(?:[/?]|$)/;
/** Of one connection alone (RFC 9110, 7.6.1), or what only we say. */
const NOT_PASSED = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization', 'forwarded'],
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip'],
]);
const CONNECT_MS = 5_000;
const SOCKETS_MAX = 512;

type Headers = Record<string, string | string[]>;

function passed(headers: IncomingMessage['headers']): Headers {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/\s*,\s*/),
  );
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !NOT_PASSED.has(entry[0]) && !named.has(entry[0]),
    ),
  );
}

/** Hands one request on. `failed` is called where nothing was answered yet. */
function handOn(
  { agent, base }: { agent: Agent; base: URL },
  { raw, response }: { raw: IncomingMessage; response: ServerResponse },
  failed: () => void,
): void {
  const { 'transfer-encoding': chunked, 'content-length': length } = raw.headers;
  const has_body = chunked !== undefined || (length !== undefined && length !== '0');
  const upstream = ask({
    ...{
      agent,
      host: base.hostname,
      port: base.port === '' ? 80 : base.port,
      method: raw.method,
      path: raw.url,
    },
    headers: {
      ...passed(raw.headers),
      'x-forwarded-for': raw.socket.remoteAddress ?? '',
      'x-forwarded-proto': 'https',
      ...(chunked === undefined ? {} : { 'transfer-encoding': 'chunked' }),
    },
  });
  upstream.on('socket', (socket) => {
    if (!socket.connecting) return;
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('no connection')));
    socket.once('connect', () => socket.setTimeout(0));
  });
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, passed(answer.headers));
    response.flushHeaders();
    pipeline(answer, response, () => {});
  });
  upstream.on('error', () => {
    if (response.headersSent) response.destroy();
    else failed();
  });
  response.on('close', () => upstream.destroy());
  if (has_body) pipeline(raw, upstream, () => {});
  else upstream.end();
}

/** Hands what came over TLS and is not ours on to the admin program at `admin_url`; returns what closes its connections. */
export function bindConsole(app: FastifyInstance, admin_url: string): () => void {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
  const base = new URL(admin_url);
  app.addHook('onRequest', (request, reply, done) => {
    const name = serverNameOf(request.raw.socket as { servername?: string | false });
    if (name === null) return done();
    // A certificate was shown for one name: what is asked of another one came here by mistake.
    if (request.hostname.toLowerCase().replace(/\.$/, '') !== name)
      return done(new ServiceError('misdirected_request', 'This connection is for another host.'));
    if (OURS.test(request.url)) return done();
    reply.hijack();
    handOn({ agent, base }, { raw: request.raw, response: reply.raw }, () => {
      reply.raw.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' });
      reply.raw.end('The console cannot be reached. Try again.\n');
    });
  });
  return () => agent.destroy();
}
