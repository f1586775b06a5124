// A GraphQL endpoint for programs (docs/graphql.md), run by mercurius. Mercurius's own HTTP routes are not used: they
// would execute subscriptions, accept parsed trees instead of text and know only one media type.
import { type Log, ServiceError } from '@svc/core/kernel/index.ts';
import { addAnswerHooks, errorHeaders, type Metrics, parseBody, refusalOf } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import mercurius from 'mercurius';
import { refusalError, shownError, withExtensions } from '../errors.ts';
import { type Cost, costOf, documentLimits, isKind, limits, operationOf, withTimeLimit } from '../limits.ts';
import type { Runner } from '../run.ts';
import { answerType, paramsInUrl, readParams } from './params.ts';

/** Number of parsed documents that are cached; a document has at most 256 KiB. */
const CACHE = 64;

interface HasRunner {
  readonly runner: Runner;
}

interface MercuriusOptions<C extends HasRunner> {
  readonly schema: GraphQLSchema;
  readonly path: string;
  readonly log: Log;
  readonly metrics: Metrics | undefined;
  /** Time limit of a query; 15 s unless given. */
  readonly timeout_ms?: number;
  /** Identifies the caller and makes the context of their resolvers. @throws ServiceError. */
  open(request: FastifyRequest, reply: FastifyReply): Promise<C>;
}

/** What a hook of mercurius knows about one execution. */
type Running = HasRunner & { operation_name: string | null; by_get: boolean; cost: Cost | null };

/** The errors of a faulty document; mercurius reports them inside one error. Null for any other error. */
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

/** Masks the errors of an execution before mercurius turns them into plain objects. */
function maskErrors({ data, errors = [] }: ExecutionResult, context: unknown) {
  const { request } = (context as Running).runner;
  const shown = errors.map((error) => shownError(error, request.request_id, request.explain));
  return { statusCode: 200, response: { data: data ?? null, errors: shown } };
}

/** Sends an answer for whatever was thrown before or instead of an execution. */
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
  if (refusal.code === 'method_not_allowed') reply.header('allow', 'POST');
  return send(reply, refusal.status, { errors: [refusalError(refusal, request_id)] });
}

async function run(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  context: HasRunner,
  timeout_ms: number,
): Promise<FastifyReply> {
  if (answerType(request.headers.accept) === null) {
    throw new ServiceError('unsupported_media_type', 'Accept application/json.', { status: 406 });
  }
  const by_get = request.method !== 'POST';
  const params = readParams(by_get ? paramsInUrl(request.query as Record<string, unknown>) : request.body);
  const running: Running = { ...context, operation_name: params.operationName, by_get, cost: null };
  const { query, variables, operationName } = params;
  const work = app.graphql(query, running as never, variables, operationName ?? undefined);
  const result = (await withTimeLimit(work, timeout_ms)) as ExecutionResult;
  const { data, errors } = result;
  const { cost } = running;
  return send(reply, 200, {
    ...(data === undefined ? {} : { data }),
    ...(errors === undefined ? {} : { errors }),
    ...(cost === null ? {} : { extensions: { cost } }),
  });
}

/** `schema` without its streams, which are not served here. */
function withoutStreams(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const types = config.types.filter((type) => type !== config.subscription);
  return new GraphQLSchema({ ...config, types, subscription: null });
}

/**
 * Adds `path` to `app`: POST, and GET for queries. A request is authorized by its header alone, so that no page can make a
 * browser send one.
 */
export function bindMercurius<C extends HasRunner>(app: FastifyInstance, options: MercuriusOptions<C>): void {
  const { path, timeout_ms = limits.timeout_ms } = options;
  for (const method of ['GET', 'POST']) app.known_paths.add(method, path, false);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer', bodyLimit: limits.body_bytes },
      async (_request: FastifyRequest, body: Buffer) => parseBody(body),
    );
    await scope.register(mercurius, {
      schema: withoutStreams(options.schema),
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
        throw new ServiceError(
          'session_required',
          'Subscriptions need a session and are served at the address of the console.',
        );
      }
      if (running.by_get && isKind(operation, 'mutation')) throw queriesOnly();
      running.cost = costOf(schema, document, operation, variables ?? {});
    });
    const contexts = new WeakMap<FastifyRequest, C>();
    scope.setErrorHandler((error, request, reply) =>
      sendThrown(reply, error, (thrown) => refusalOf(thrown, request.id, options.log)),
    );
    addAnswerHooks(scope, options.metrics);
    scope.route({
      method: ['GET', 'POST'],
      url: path,
      bodyLimit: limits.body_bytes,
      async onRequest(request, reply) {
        contexts.set(request, await options.open(request, reply));
      },
      handler: (request, reply) => run(scope, request, reply, contexts.get(request) as C, timeout_ms),
    });
  });
}

function noOperation(name: string | null): GraphQLError {
  const message =
    name === null ? 'Name one of the operations.' : `There is no operation ${name.slice(0, 64)}.`;
  return withExtensions(new GraphQLError(message), { code: 'GRAPHQL_VALIDATION_FAILED' });
}

function queriesOnly(): ServiceError {
  return new ServiceError('method_not_allowed', 'Send mutations by POST.');
}
