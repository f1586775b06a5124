// Makes routes of operations: authenticate, admit, read the input, run, answer. The order matters: a caller who is
// denied does not learn whether the body was valid or the target exists.
import { Readable } from 'node:stream';
import {
  type Caller,
  EventAnswer,
  FileAnswer,
  now,
  type Operation,
  ServiceError,
} from '@svc/core/kernel/index.ts';
import { admit, admitOrNote, runOnce, runOperation } from '@svc/core/operations/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { keepable } from './answers/cached.ts';
import { sendEvents } from './answers/events.ts';
import {
  callerOf,
  consoleOrigins,
  headerOf,
  isProxyItself,
  refuseForeignPage,
  requestContext,
  staffCallerOf,
} from './caller.ts';
import { errorBody } from './errors.ts';
import { consoleHeaders, crossOriginHeaders } from './headers.ts';
import { addAnswerHooks } from './hooks.ts';
import { type InputReader, inputReader, parseBody, type RawInput } from './input.ts';
import type { HttpParts } from './parts.ts';
import { takeTurn } from './rate.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const callers = new WeakMap<FastifyRequest, Caller>();

/** Whether any origin may call, without credentials: public reads, and operations that declare it. */
function isCrossOrigin({ audience, cross_origin, method }: Operation): boolean {
  return cross_origin === true || (audience.kind === 'public' && method === 'GET');
}

/** Whether console pages may call with their cookie: operations for people, including sign-in. */
function isForSessions({ audience, method }: Operation): boolean {
  if (audience.kind === 'public') return method !== 'GET';
  return audience.kind === 'session' || (audience.kind === 'key' && audience.session !== undefined);
}

async function authenticate(
  parts: HttpParts,
  operation: Operation,
  request: FastifyRequest,
  passive?: true,
): Promise<Caller> {
  const { audience } = operation;
  switch (audience.kind) {
    case 'public':
      // Sign-in sets a cookie, so pages of other origins may not call it.
      if (operation.cross_origin !== true && operation.method !== 'GET') {
        refuseForeignPage(consoleOrigins(parts, request), request);
      }
      return { kind: 'public' };
    case 'signed':
      return { kind: 'public' };
    case 'staff':
      return staffCallerOf(parts, request);
    default:
      return callerOf(parts, request, {
        for_any: audience.kind === 'key' && audience.scopes === 'any',
        x_api_key: audience.kind === 'key' && audience.x_api_key === true,
        org_id: operation.path.startsWith('/v1/orgs/:id') ? (request.params as { id: string }).id : null,
        ...(passive === undefined ? {} : { passive }),
      });
  }
}

/** @throws ServiceError when whoever sent `request` may not send it again: a key was revoked, a person has left. */
async function stillAdmitted(parts: HttpParts, operation: Operation, request: FastifyRequest): Promise<void> {
  const caller = await authenticate(parts, operation, request, true);
  admit(operation, caller, now());
}

/** Pieces become a stream, which asks for the next one when the reader has taken the last. */
function bodyOf({ body }: FileAnswer): string | Buffer | Readable {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : Readable.from(body);
}

function sendFile(
  { cached }: Operation,
  at: { request: FastifyRequest; reply: FastifyReply },
  file: FileAnswer,
): FastifyReply {
  const { body, status = 200 } = file;
  // What is not there may be there soon.
  const kept = status === 200 ? cached : cached && { scope: cached.scope };
  if (kept !== undefined && (typeof body === 'string' || Buffer.isBuffer(body))) {
    if (keepable(at, kept, { body, output: null }) && status === 200) return at.reply.code(304).send();
  }
  const disposition = file.inline ? 'inline' : 'attachment';
  return at.reply
    .code(status)
    .type(file.content_type)
    .header('content-disposition', `${disposition}; filename="${file.filename}"`)
    .send(bodyOf(file));
}

async function answer(
  parts: HttpParts,
  operation: Operation,
  read: InputReader,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const input = read({
    params: request.params as RawInput['params'],
    query: request.query as RawInput['query'],
    body: request.body,
  });
  const context = requestContext(parts, request, reply, callers.get(request) as Caller);
  const idempotency_key = operation.idempotent === true ? headerOf(request, 'idempotency-key') : null;
  if (idempotency_key !== null) {
    const done = await runOnce(context, operation, {
      idempotency_key,
      path: request.url.split('?', 1)[0] as string,
      input,
      refusalBody: (error) =>
        errorBody(error, { request_id: request.id, base_url: request.storefront?.address ?? parts.base_url }),
    });
    if (done.replay) reply.header('x-svc-idempotent-replay', 'true');
    return reply.code(done.status).type(JSON_TYPE).send(done.body);
  }
  const output: unknown = await runOperation(context, operation, input);
  if (output instanceof EventAnswer) {
    return sendEvents(reply, output, {
      check: () => stillAdmitted(parts, operation, request),
      isStopping: () => parts.draining?.() === true,
    });
  }
  if (output instanceof FileAnswer) return sendFile(operation, { request, reply }, output);
  const isReplay = operation.isReplay?.(output as never) ?? false;
  const status = isReplay ? 200 : (operation.status ?? 200);
  if (status === 204) return reply.code(204).send();
  const body = JSON.stringify(output);
  const { cached } = operation;
  if (cached !== undefined && keepable({ request, reply }, cached, { body, output })) {
    return reply.code(304).send();
  }
  return reply.code(status).type(JSON_TYPE).send(body);
}

/** Only inference routes accept compressed bodies. @throws ServiceError unsupported_media_type. */
function refuseEncoding(request: FastifyRequest): void {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() === 'identity') return;
  throw new ServiceError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.');
}

function bindOne(scope: FastifyInstance, parts: HttpParts, operation: Operation): void {
  const read = inputReader(operation);
  const cross_origin = isCrossOrigin(operation);
  const by_session = isForSessions(operation);
  scope.known_paths.add(operation.method, operation.path, cross_origin, by_session);
  scope.route({
    method: operation.method,
    url: operation.path,
    ...(operation.body_limit === undefined ? {} : { bodyLimit: operation.body_limit.bytes }),
    config: { items_max: operation.body_limit?.items },
    async onRequest(request, reply) {
      const { origin } = request.headers;
      if (by_session && origin !== undefined && scope.console_origins.has(origin)) {
        reply.headers(consoleHeaders(origin));
      } else if (cross_origin && origin !== undefined) reply.headers(crossOriginHeaders);
      const caller = await authenticate(parts, operation, request);
      // Payment rails are not rate limited: one that is refused for its rate would give up on its callback.
      const is_free =
        operation.audience.kind === 'signed' ||
        (operation.asked_by_proxies === true && isProxyItself(parts.services.sign_in, request));
      if (!is_free) await takeTurn(parts, request, reply, caller);
      const open = () => requestContext(parts, request, reply, caller);
      await admitOrNote(operation, { caller, at: now(), open });
      callers.set(request, caller);
    },
    handler: (request, reply) => answer(parts, operation, read, request, reply),
  });
}

/** Binds the operations in `chosen` to `app`. */
export function bindOperations(app: FastifyInstance, parts: HttpParts, chosen: readonly Operation[]): void {
  for (const origin of parts.services.sign_in.console_origins) app.console_origins.add(origin);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        refuseEncoding(request);
        const { items_max } = request.routeOptions.config as { items_max?: number };
        return parseBody(body, items_max);
      },
    );
    addAnswerHooks(scope, parts.metrics);
    for (const operation of chosen) bindOne(scope, parts, operation);
  });
}
