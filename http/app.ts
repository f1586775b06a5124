// The Fastify instance under all routes of a listener: request ids, errors, unknown paths and wrong methods.
import { type IncomingMessage, maxHeaderSize, STATUS_CODES } from 'node:http';
import { type Log, newRequestId, ServiceError } from '@svc/core/kernel/index.ts';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type EnvelopeAt, errorBody, errorHeaders, refusalOf } from './errors.ts';
import {
  answerHeaders,
  consoleHeaders,
  consolePreflightHeaders,
  crossOriginHeaders,
  preflightHeaders,
} from './headers.ts';
import { PathTable } from './paths.ts';
import { dropRest } from './rest.ts';

const BODY_MAX = 1_048_576;

declare module 'fastify' {
  interface FastifyInstance {
    /** Public address of the gateway. */
    readonly base_url: string;
    /** Paths and methods that exist, for 405 and preflights. */
    readonly known_paths: PathTable;
    /** Origins that may call with a session cookie; filled by `bindOperations`. */
    readonly console_origins: Set<string>;
    readonly answer_headers: (request_id: string) => Record<string, string>;
    /** Error formats by path. */
    readonly envelope_at: EnvelopeAt;
  }
}

interface AppOptions {
  readonly log: Log;
  /** Public address of the gateway, shown in errors. An https address adds HSTS headers. */
  readonly base_url: string;
  /** Wire formats whose paths get their own error format; absent: every error has ours. */
  readonly formats?: { readonly envelopeAt: EnvelopeAt };
}

/** The public address under which whoever sent `request` knows us. */
function addressOf(app: FastifyInstance, request: FastifyRequest): string {
  return request.storefront?.address ?? app.base_url;
}

/** Sends a refusal with all its headers. */
function sendRefusal(app: FastifyInstance, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { request } = reply;
  return reply
    .code(error.status)
    .headers({
      ...app.answer_headers(request.id),
      ...errorHeaders(error),
      'content-type': 'application/json; charset=utf-8',
    })
    .send(
      errorBody(
        error,
        { request_id: request.id, base_url: addressOf(app, request) },
        app.envelope_at(request.url),
      ),
    );
}

/** `/v1/models/vendor%2Fmodel` means `/v1/models/vendor/model`: official clients encode the slash in a model id. */
export function rewriteModelPath(url: string): string {
  if (!url.startsWith('/v1/models/')) return url;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.replace(/%2f/i, '/') + url.slice(path.length);
}

/** Responses are not stored, so nothing below their route can be fetched, deleted, cancelled or listed. */
function unknownRoute(known: PathTable, path: string): ServiceError {
  if (path === '/') {
    const message = 'This is an API: its documents are at /docs, its routes begin with /v1.';
    return new ServiceError('route_not_found', message);
  }
  if (known.find(`/v1${path}`) !== null) {
    const message = `There is no such route. Did you mean /v1${path}? Base URLs of OpenAI clients end with /v1.`;
    return new ServiceError('route_not_found', message);
  }
  if (!path.startsWith('/v1/responses/')) {
    return new ServiceError('route_not_found', 'There is no such route. See /docs.');
  }
  const message = 'Responses are not stored; send the items of earlier turns with the next request.';
  return new ServiceError('route_not_found', message, { details: { reason: 'stateless' } });
}

function unknownPath(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] as string;
  const known = app.known_paths.find(path);
  if (known === null) {
    return sendRefusal(app, reply, unknownRoute(app.known_paths, path));
  }
  reply.header('allow', known.methods.join(', '));
  const cross_origin = known.cross_origin && request.headers.origin !== undefined;
  const { origin } = request.headers;
  const from_console = known.by_session && origin !== undefined && app.console_origins.has(origin);
  if (request.method === 'OPTIONS') {
    reply.headers(app.answer_headers(request.id)).code(204);
    if (from_console) reply.headers(consolePreflightHeaders(origin, known.methods));
    else if (cross_origin) {
      const asked = request.headers['access-control-request-headers'];
      reply.headers(preflightHeaders(known.methods, asked));
    }
    return reply.send();
  }
  if (from_console) reply.headers(consoleHeaders(origin));
  else if (cross_origin) reply.headers(crossOriginHeaders);
  return sendRefusal(app, reply, wrongMethod(known.methods));
}

function wrongMethod(methods: readonly string[]): ServiceError {
  return new ServiceError('method_not_allowed', `This path takes ${methods.join(', ')}.`);
}

/**
 * What RFC 9112 has a server refuse and Node serves: the two ends of a proxy may take such a request for different ones.
 * null: nothing.
 */
function framingFault({ httpVersion, rawHeaders, headers }: IncomingMessage): string | null {
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    return 'HTTP/1.0 has no transfer-encoding.';
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1 ? 'The request has more than one Host.' : null;
}

/**
 * Long enough for the largest body on a slow connection, but a client that sends a byte now and then cannot hold a
 * connection for ever.
 */
const REQUEST_MS = 300_000;
/** Answers to requests that Node's parser rejects, by error code. */
const unread: ReadonlyMap<string | undefined, readonly [status: number, message: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, `The headers are larger than ${maxHeaderSize / 1024} KiB.`]],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, `The request did not arrive completely within ${REQUEST_MS / 1000} s.`]],
]);

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ (\/[^ ?]*)\S* HTTP\/1\.[01]\r?\n/;

/** The answer to a request that Node's parser rejects; a method that it does not know is refused like other wrong ones. */
function refusalOfUnread(
  known: PathTable,
  { code, rawPacket }: { readonly code: string; readonly rawPacket?: unknown },
): { readonly status: number; readonly refusal: ServiceError; readonly allow: string } {
  const sent =
    code === 'HPE_INVALID_METHOD' && Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 8_192) : '';
  const path = REQUEST_LINE.exec(sent);
  if (path !== null) {
    const found = known.find(path[1] as string);
    const refusal = found === null ? unknownRoute(known, path[1] as string) : wrongMethod(found.methods);
    const allow = found === null ? '' : `allow: ${found.methods.join(', ')}\r\n`;
    return { status: refusal.status, refusal, allow };
  }
  const [status, message] = unread.get(code) ?? [400, 'The request is not HTTP.'];
  return { status, refusal: new ServiceError('invalid_request', message), allow: '' };
}

/** An instance without routes; `bindOperations` and `bindInference` add theirs. */
export function createApp(options: AppOptions): FastifyInstance {
  const { log, base_url, formats } = options;
  const is_https = base_url.startsWith('https:');
  const app = Fastify({
    logger: false,
    genReqId: () => newRequestId(),
    requestIdHeader: false,
    bodyLimit: BODY_MAX,
    forceCloseConnections: 'idle',
    // Clients and load balancers keep idle connections for a minute. Ours must last longer, or a client reuses one
    // that is being closed.
    keepAliveTimeout: 72_000,
    requestTimeout: REQUEST_MS,
    routerOptions: { maxParamLength: 512 },
    rewriteUrl: (request) => rewriteModelPath(request.url ?? '/'),
    frameworkErrors(error, request, reply) {
      sendRefusal(app, reply as FastifyReply, refusalOf(error, request.id, log));
    },
    clientErrorHandler(error, socket) {
      if (!socket.writable) return;
      const { status, refusal, allow } = refusalOfUnread(app.known_paths, error);
      const body = errorBody(refusal, { request_id: newRequestId(), base_url });
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nconnection: close\r\n` +
          `${allow}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    },
  });
  // Unknown paths and wrong methods are answered whatever the body is; each scope adds its own body parser.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.decorateRequest('storefront', null);
  app.decorate('base_url', base_url);
  app.decorate('known_paths', new PathTable());
  app.decorate('envelope_at', (path: string) => formats?.envelopeAt(path) ?? null);
  app.decorate('console_origins', new Set<string>());
  app.decorate('answer_headers', (request_id: string) => answerHeaders(request_id, is_https));
  app.addHook('onRequest', (request, reply, done) => {
    // Fastify would look for a body first.
    if (request.raw.method === 'QUERY') {
      unknownPath(app, request, reply);
      return;
    }
    const fault = framingFault(request.raw);
    if (fault === null) return done();
    reply.header('connection', 'close');
    sendRefusal(app, reply, new ServiceError('invalid_request', fault));
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    // Fastify would close the connection under a client that still sends.
    if (reply.statusCode === 413 && !request.raw.complete) {
      reply.removeHeader('connection');
      dropRest(request.raw);
    }
    done();
  });
  app.setErrorHandler((error, request, reply) => sendRefusal(app, reply, refusalOf(error, request.id, log)));
  app.setNotFoundHandler((request, reply) => unknownPath(app, request, reply));
  return app;
}
