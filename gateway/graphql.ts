// `POST /v1/graphql` for API keys: the tenant schema run by mercurius (docs/graphql.md). Its own HTTP routes are left
// out: they would execute subscriptions, take trees for text and know one media type.
import { refusalError, shownError, withExtensions } from '@svc/admin-graphql/shared/errors.ts';
import { answerType, readParams } from '@svc/admin-graphql/shared/http.ts';
import {
  type Cost,
  costOf,
  documentLimits,
  isKind,
  limits,
  operationOf,
  within,
} from '@svc/admin-graphql/shared/limits.ts';
import { createTenantContext, type TenantContext } from '@svc/admin-graphql/tenant/context.ts';
import { tenantSchema } from '@svc/admin-graphql/tenant/schema.ts';
import { ServiceError } from '@svc/core/kernel/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError } from 'graphql';
import mercurius from 'mercurius';
import {
  type BindOptions,
  callerOf,
  errorHeaders,
  operationSurface,
  refusalOf,
  servicesOf,
  takeTurn,
} from './rest/index.ts';
import { parseBody } from './rest/input.ts';

const PATH = '/v1/graphql';
/** Documents kept parsed; a text has at most 256 KiB. */
const CACHE = 64;

interface Exchange {
  readonly context: TenantContext;
}
/** What a hook of mercurius learns of one execution. */
type Running = TenantContext & { operation_name: string | null; cost: Cost | null };

/** A fault of the document, told by mercurius as an error with many. */
function documentErrors(thrown: unknown): readonly GraphQLError[] | null {
  if (thrown instanceof GraphQLError) return (thrown.originalError ?? null) === null ? [thrown] : null;
  const { errors, code } = thrown as { errors?: unknown; code?: unknown };
  if (code !== 'MER_ERR_GQL_VALIDATION' || !Array.isArray(errors)) return null;
  return errors.map((error) => (error instanceof GraphQLError ? error : new GraphQLError(String(error))));
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  const type = answerType(reply.request.headers.accept) ?? 'application/json; charset=utf-8';
  return reply.code(status).type(type).send(JSON.stringify(body));
}

/** Masks the errors of an execution before mercurius makes plain objects of them. */
function maskErrors({ data, errors = [] }: ExecutionResult, context: unknown) {
  const { request } = (context as Running).runner;
  const shown = errors.map((error) => shownError(error, request.request_id, request.explain));
  return { statusCode: 200, response: { data: data ?? null, errors: shown } };
}

/** An answer for whatever was thrown before or instead of an execution. */
function sendThrown(
  reply: FastifyReply,
  thrown: unknown,
  explain: (thrown: unknown) => ServiceError,
): FastifyReply {
  const request_id = reply.request.id as never;
  const errors = documentErrors(thrown);
  if (errors !== null) {
    const shown = errors.map((error) => shownError(error, request_id, explain));
    return send(reply, 400, { errors: shown });
  }
  const refusal = explain(thrown);
  reply.headers(errorHeaders(refusal));
  return send(reply, refusal.status, { errors: [refusalError(refusal, request_id)] });
}

async function run(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { context }: Exchange,
  timeout_ms: number,
): Promise<FastifyReply> {
  if (answerType(request.headers.accept) === null) {
    throw new ServiceError('unsupported_media_type', 'Accept application/json.', { status: 406 });
  }
  const params = readParams(request.body);
  const running: Running = { ...context, operation_name: params.operationName, cost: null };
  const { query, variables, operationName } = params;
  const work = app.graphql(query, running as never, variables, operationName ?? undefined);
  const result = (await within(work, timeout_ms)) as ExecutionResult;
  const { data, errors } = result;
  const { cost } = running;
  return send(reply, 200, {
    ...(data === undefined ? {} : { data }),
    ...(errors === undefined ? {} : { errors }),
    ...(cost === null ? {} : { extensions: { cost } }),
  });
}

/** Adds the route; a query may run for `timeout_ms`. */
export function bindGraphql(
  app: FastifyInstance,
  options: BindOptions,
  timeout_ms: number = limits.timeout_ms,
): void {
  const parts = { ...options, services: servicesOf(options) };
  app.known_paths.add('POST', PATH, false);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer', bodyLimit: limits.body_bytes },
      async (_request: FastifyRequest, body: Buffer) => parseBody(body),
    );
    await scope.register(mercurius, {
      schema: tenantSchema,
      routes: false,
      cache: CACHE,
      validationRules: [documentLimits],
      graphql: { parseOptions: { maxTokens: limits.tokens } },
      errorFormatter: maskErrors,
    } as never);
    scope.graphql.addHook('preExecution', async (schema, document, context, variables) => {
      const running = context as unknown as Running;
      const operation = operationOf(document, running.operation_name);
      if (operation === null) throw noOperation(running.operation_name);
      if (isKind(operation, 'subscription')) {
        throw new ServiceError('session_required', 'Streams are served to sessions, on the console address.');
      }
      running.cost = costOf(schema, document, operation, variables ?? {});
    });
    const exchanges = new WeakMap<FastifyRequest, Exchange>();
    scope.setErrorHandler((error, request, reply) =>
      sendThrown(reply, error, (thrown) => refusalOf(thrown, request.id, options.log)),
    );
    scope.route({
      method: 'POST',
      url: PATH,
      bodyLimit: limits.body_bytes,
      async onRequest(request, reply) {
        reply.headers(scope.answer_headers(request.id));
        const caller = await callerOf(parts, request);
        await takeTurn(parts, request, reply, caller);
        if (caller.kind !== 'key') {
          throw new ServiceError(
            'permission_denied',
            'Sessions ask at the console address; this is for keys.',
          );
        }
        const surface = operationSurface(parts, request, reply, caller);
        exchanges.set(request, { context: createTenantContext(surface, null) });
      },
      async onResponse(request, reply) {
        options.metrics?.observe({
          ...{ method: 'POST', route: PATH, status: reply.statusCode },
          seconds: reply.elapsedTime / 1000,
        });
        exchanges.delete(request);
      },
      handler: (request, reply) => run(scope, request, reply, exchanges.get(request) as Exchange, timeout_ms),
    });
  });
}

function noOperation(name: string | null): GraphQLError {
  const message =
    name === null ? 'Name one of the operations.' : `There is no operation ${name.slice(0, 64)}.`;
  return withExtensions(new GraphQLError(message), { code: 'GRAPHQL_VALIDATION_FAILED' });
}
