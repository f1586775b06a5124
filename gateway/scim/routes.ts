// The address that directories provision people at (docs/organizations/directory.md). It speaks SCIM, also in its errors.
import { answerScim, faultBody, ScimFault, verifyScimToken } from '@svc/core/identity/index.ts';
import { now, type RequestId, type ScimCaller, ServiceError } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  addAnswerHooks,
  addressOf,
  bearerOf,
  errorHeaders,
  type HttpParts,
  parseBody,
  refusalOf,
  takeTurn,
} from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const SCIM_TYPE = 'application/scim+json; charset=utf-8';
const BODY_MAX = 1_048_576;
/** Objects, lists and members: a group of 5,000 users has five for each of them. */
const ITEMS_MAX = 60_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const callers = new WeakMap<FastifyRequest, ScimCaller>();

/** @throws ScimFault 401. */
function tokenOf(request: FastifyRequest): string | null {
  try {
    return bearerOf(request.raw);
  } catch (error) {
    if (error instanceof ServiceError) throw new ScimFault(401, null, error.message);
    throw error;
  }
}

/** The parts of the path behind the address. @throws ScimFault 404 for what cannot be decoded. */
function pathOf(request: FastifyRequest): string[] {
  const rest = (request.params as { '*': string })['*'];
  return rest.split('/').filter((part) => part !== '');
}

function send(reply: FastifyReply, status: number, body: object | null): FastifyReply {
  reply.code(status).header('cache-control', 'no-store');
  return body === null ? reply.send() : reply.type(SCIM_TYPE).send(JSON.stringify(body));
}

function contextOf({ pool, log, services }: HttpParts, request: FastifyRequest, caller: ScimCaller) {
  return createContext({
    ...{ request_id: request.id as RequestId, caller, pool, log, services },
    client_ip: addressOf(services.sign_in, request),
    requestHeader(name) {
      const value = request.headers[name];
      return typeof value === 'string' ? value : null;
    },
  });
}

async function answer(parts: HttpParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const context = contextOf(parts, request, callers.get(request) as ScimCaller);
  const { status, body, location, etag } = await answerScim(context, {
    method: request.method,
    path: pathOf(request),
    query: request.query as Record<string, unknown>,
    body: () => (Buffer.isBuffer(request.body) ? parseBody(request.body, ITEMS_MAX) : undefined),
  });
  if (location !== undefined) reply.header('location', location);
  if (etag !== undefined) reply.header('etag', etag);
  return send(reply, status, body);
}

/** Binds the address of directories. Whoever has no token learns nothing of what is behind it. */
export function bindScim(app: FastifyInstance, parts: HttpParts): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer', bodyLimit: BODY_MAX },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    addAnswerHooks(scope, parts.metrics);
    scope.setErrorHandler((error, request, reply) => {
      if (error instanceof ScimFault)
        return send(reply, error.status, faultBody(error.status, error.scim_type, error.message));
      const refusal = refusalOf(error, request.id, parts.log);
      reply.headers(errorHeaders(refusal));
      return send(reply, refusal.status, faultBody(refusal.status, null, refusal.message));
    });
    scope.route({
      method: [...METHODS],
      url: '/scim/v2/*',
      async onRequest(request, reply) {
        const caller = await verifyScimToken({ db: parts.pool, now }, tokenOf(request));
        await takeTurn(parts, request, reply, caller);
        callers.set(request, caller);
      },
      handler: (request, reply) => answer(parts, request, reply),
    });
  });
}
