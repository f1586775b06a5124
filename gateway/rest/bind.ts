// Routes of the registry: authenticate, admit, read the input, run, answer. In this order (P17.2): a denied caller
// learns neither whether its body was valid nor whether the target exists.
import type { RequestLog } from '@svc/core/analytics/index.ts';
import type { Catalog } from '@svc/core/catalog/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import {
  type Caller,
  FileAnswer,
  type Log,
  type Operation,
  type RequestId,
  type Services,
} from '@svc/core/kernel/index.ts';
import type { KeyRing } from '@svc/core/keys/index.ts';
import { admitKey, createContext, inferenceRoutes, operations, runOnce } from '@svc/core/operations/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics.ts';
import { credentialOf } from './authenticate.ts';
import { bindDocs } from './docs.ts';
import { errorBody } from './errors.ts';
import { crossOriginHeaders } from './headers.ts';
import { bindHealth, type Check } from './health.ts';
import { type InputReader, inputReader, parseBody, type RawInput } from './input.ts';

export interface BindOptions {
  readonly pool: Pool;
  readonly keys: KeyRing;
  readonly catalog: { current(): Catalog };
  readonly request_log: RequestLog;
  /** `loadRootKey` of the key ring file; the same in every process. */
  readonly root_key: Uint8Array;
  readonly log: Log;
  /** Public address, as shown in the OpenAPI document. */
  readonly base_url: string;
  readonly metrics?: Metrics;
  /** Asked by /readyz beside the database. */
  readonly checks?: readonly Check[];
  /** True once the process is stopping: /readyz then refuses. */
  readonly draining?: () => boolean;
}

type Bound = BindOptions & { readonly services: Services };

const JSON_TYPE = 'application/json; charset=utf-8';
const callers = new WeakMap<FastifyRequest, Caller>();

async function authenticate(options: Bound, operation: Operation, request: FastifyRequest): Promise<void> {
  const { audience } = operation;
  if (audience.kind === 'public') {
    callers.set(request, { kind: 'public' });
    return;
  }
  const secret = credentialOf(request.raw, audience.kind === 'key' && audience.x_api_key === true);
  const grant = await options.keys.verify(secret);
  admitKey(audience, grant.caller);
  callers.set(request, grant.caller);
}

function headerOf(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

async function answer(
  options: Bound,
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
  const context = createContext({
    request_id: request.id as RequestId,
    caller: callers.get(request) as Caller,
    pool: options.pool,
    log: options.log,
    services: options.services,
    header: (name, value) => void reply.header(name, value),
    requestHeader: (name) => headerOf(request, name),
  });
  const idempotency_key = operation.idempotent === true ? headerOf(request, 'idempotency-key') : null;
  if (idempotency_key !== null) {
    const done = await runOnce(context, operation, {
      idempotency_key,
      path: request.url.split('?', 1)[0] as string,
      input,
      refusalBody: (error) => errorBody(error, request.id, 'chat'),
    });
    if (done.replay) reply.header('x-svc-idempotent-replay', 'true');
    return reply.code(done.status).type(JSON_TYPE).send(done.body);
  }
  const output: unknown = await operation.run(context, input as never);
  if (output instanceof FileAnswer) {
    return reply
      .type(output.content_type)
      .header('content-disposition', `attachment; filename="${output.filename}"`)
      .send(output.body);
  }
  const status = operation.status ?? 200;
  if (status === 204) return reply.code(204).send();
  return reply.code(status).type(JSON_TYPE).send(JSON.stringify(output));
}

function bindOne(scope: FastifyInstance, options: Bound, operation: Operation): void {
  const read = inputReader(operation);
  const cross_origin = operation.cross_origin === true || operation.audience.kind === 'public';
  scope.known_paths.add(operation.method, operation.path, cross_origin);
  scope.route({
    method: operation.method,
    url: operation.path,
    async onRequest(request, reply) {
      if (cross_origin && request.headers.origin !== undefined) reply.headers(crossOriginHeaders);
      await authenticate(options, operation, request);
    },
    handler: (request, reply) => answer(options, operation, read, request, reply),
  });
}

/**
 * Binds every operation of the registry, and the routes around them: health, OpenAPI, documentation. The inference
 * routes are only made known here (405, preflight); whoever serves them adds them to `app`.
 */
export function bindOperations(app: FastifyInstance, options: BindOptions): void {
  const { catalog, request_log, root_key } = options;
  const services: Services = {
    catalog: () => catalog.current(),
    key_ring: options.keys,
    request_log,
    root_key,
  };
  const bound: Bound = { ...options, services };
  for (const route of inferenceRoutes) app.known_paths.add(route.method, route.path, true);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer' },
      async (_request: FastifyRequest, body: Buffer) => parseBody(body),
    );
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(scope.answer_headers(request.id));
    });
    const { metrics } = options;
    if (metrics !== undefined) {
      scope.addHook('onResponse', async (request, reply) => {
        metrics.observe({
          method: request.method,
          route: request.routeOptions.url ?? '',
          status: reply.statusCode,
          seconds: reply.elapsedTime / 1000,
        });
      });
    }
    for (const operation of operations) {
      if (operation.audience.kind !== 'staff') bindOne(scope, bound, operation);
    }
    bindHealth(scope, options);
    await bindDocs(scope, options.base_url);
  });
}
