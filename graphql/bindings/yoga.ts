// A GraphQL endpoint of yoga behind a Fastify route. The caller is identified before yoga runs, documents are
// limited, and errors are masked.
import { Readable } from 'node:stream';
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations';
import { type Log, ServiceError } from '@svc/core/kernel/index.ts';
import { errorHeaders, refusalOf } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { refusalError, shownError, withExtensions, withoutValues } from '../errors.ts';
import {
  type Cost,
  costOf,
  documentLimits,
  limits,
  operationOf,
  refuseNesting,
  withTimeLimit,
} from '../limits.ts';
import type { SurfaceRequest } from '../run.ts';

/** What the route knows about a request and yoga passes on to resolvers. */
export interface Exchange<C> {
  readonly context: C;
  readonly surface: SurfaceRequest;
  /** Aborted when the connection ends. */
  readonly ended: AbortController;
  /** Registers a stream that has opened. @throws ServiceError when there are too many. */
  openStream(): void;
}

interface ServerContext<C> {
  readonly exchange: Exchange<C>;
}

interface EndpointOptions<C> {
  readonly schema: GraphQLSchema;
  readonly log: Log;
  /** Persisted documents by SHA-256 in hex; null where there are none. */
  readonly persisted: ReadonlyMap<string, string> | null;
  /** Whether documents that are not persisted are refused. */
  readonly persisted_only: boolean;
  /** Time limit of a query; 15 s unless given. */
  readonly timeout_ms?: number;
  /** Whether the schema can be introspected; true unless given. */
  readonly introspection?: boolean;
  /** Identifies the caller and makes their context. @throws ServiceError. */
  open(request: FastifyRequest, reply: FastifyReply): Promise<Exchange<C>>;
}

interface Executed {
  readonly errors?: readonly GraphQLError[];
  readonly extensions?: Record<string, unknown>;
}

/** Errors that are already in their final form: the masking at the end leaves them unchanged. */
const settled = new WeakSet<object>();

function settle(error: GraphQLError): GraphQLError {
  settled.add(error);
  return error;
}

/** The result with its cost, and with its errors masked. */
function finished<R extends Executed>(result: R, cost: Cost | null, surface: SurfaceRequest): R {
  return {
    ...result,
    ...(result.errors === undefined
      ? {}
      : {
          errors: result.errors.map((error) =>
            settle(shownError(error, surface.request_id, surface.explain)),
          ),
        }),
    ...(cost === null ? {} : { extensions: { ...result.extensions, cost } }),
  };
}

function refusedBefore(thrown: unknown, surface: SurfaceRequest): { errors: GraphQLError[] } {
  const error =
    thrown instanceof GraphQLError
      ? shownError(thrown, surface.request_id, surface.explain)
      : refusalError(surface.explain(thrown), surface.request_id);
  const status = thrown instanceof ServiceError ? thrown.status : 400;
  return { errors: [settle(withExtensions(error, { http: { status } }))] };
}

interface Args {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: unknown;
  readonly contextValue: unknown;
}

/** Limits the text and the structure of documents. */
function documentPlugin({ introspection }: { readonly introspection?: boolean }): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source: string, options: object) => {
        refuseNesting(source);
        return parse(source, { ...options, maxTokens: limits.tokens });
      });
    },
    onValidate({ addValidationRule }) {
      addValidationRule(documentLimits);
      if (introspection === false) addValidationRule(NoSchemaIntrospectionCustomRule);
      return ({ result }) => {
        // A faulty document is 400, whatever media type is requested.
        for (const error of result) {
          const { extensions } = error as { extensions: { http?: object } };
          extensions.http = { status: 400, ...extensions.http, spec: false };
        }
      };
    },
  };
}

/** Limits the cost and the time of operations, and the number of streams; masks the errors of results. */
function executionPlugin<C>(options: EndpointOptions<C>): Plugin<ServerContext<C>> {
  const { schema, timeout_ms = limits.timeout_ms } = options;
  const exchangeOf = (args: Args) => (args.contextValue as { exchange: Exchange<C> }).exchange;
  const price = (args: Args): Cost | null => {
    const operation = operationOf(args.document, args.operationName ?? null);
    // When no operation is selected, the executor refuses by itself.
    if (operation === null) return null;
    return costOf(schema, args.document, operation, (args.variableValues ?? {}) as Record<string, unknown>);
  };
  return {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const { surface } = exchangeOf(args as Args);
      try {
        const cost = price(args as Args);
        setExecuteFn((given: Parameters<typeof executeFn>[0]) =>
          withTimeLimit(executeFn(given), timeout_ms).catch((error: unknown) =>
            refusedBefore(error, surface),
          ),
        );
        return {
          onExecuteDone({ result, setResult }) {
            setResult(finished(result as Executed, cost, surface) as never);
          },
        };
      } catch (error) {
        setResultAndStopExecution(refusedBefore(error, surface) as never);
        return undefined;
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const exchange = exchangeOf(args as Args);
      const { surface } = exchange;
      try {
        const cost = price(args as Args);
        exchange.openStream();
        return {
          onSubscribeResult({ result, setResult }) {
            if (Symbol.asyncIterator in (result as object)) {
              return {
                onNext({ result, setResult }) {
                  setResult(finished(result as Executed, cost, surface) as never);
                },
              };
            }
            setResult(finished(result as Executed, cost, surface) as never);
            return undefined;
          },
        };
      } catch (error) {
        setResultAndStopExecution(refusedBefore(error, surface) as never);
        return undefined;
      }
    },
  };
}

/** GET runs only persisted documents: the text of a document does not belong in a URL. */
function getIsForPersisted(): Plugin {
  return {
    onParams({ params, request }) {
      if (request.method === 'GET' && typeof params.query === 'string') {
        throw new GraphQLError('Send documents by POST.', {
          extensions: { code: 'GRAPHQL_BAD_REQUEST', http: { status: 405, headers: { allow: 'POST' } } },
        });
      }
    },
  };
}

/** An error of the document: 400 whatever media type is requested, with one code for syntax and validation errors. */
function ofDocument(error: GraphQLError): GraphQLError {
  const { code = '', http } = error.extensions as { code?: string; http?: object };
  const known = code !== '' && code !== 'GRAPHQL_PARSE_FAILED';
  return withExtensions(withoutValues(error), {
    code: known ? code : 'GRAPHQL_VALIDATION_FAILED',
    http: { status: 400, ...http, spec: false },
  });
}

function handler<C>(options: EndpointOptions<C>) {
  const { persisted, persisted_only, log } = options;
  return createYoga<ServerContext<C>>({
    schema: options.schema,
    graphqlEndpoint: '/graphql',
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    // Documents are parsed each time: a cache would keep what callers send.
    parserAndValidationCache: false,
    context: ({ exchange }) => ({ ...(exchange.context as object), exchange }),
    maskedErrors: {
      // Results are masked where their request is known. Errors that arrive here are of the document, or a defect of
      // ours.
      maskError(error) {
        if (error instanceof GraphQLError && settled.has(error)) return error;
        if (error instanceof GraphQLError && (error.originalError ?? null) === null) return ofDocument(error);
        log.error({ error }, 'defect');
        return new GraphQLError('Something went wrong on our side.', {
          extensions: { code: 'internal', http: { status: 500 } },
        });
      },
    },
    plugins: [
      getIsForPersisted(),
      ...(persisted === null && !persisted_only
        ? []
        : [
            usePersistedOperations({
              getPersistedOperation: (hash) => persisted?.get(hash) ?? null,
              allowArbitraryOperations: !persisted_only,
            }),
          ]),
      documentPlugin(options),
      executionPlugin<C>(options),
    ],
  });
}

function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}

/** Sends a refusal that was met before GraphQL ran, in the form of a GraphQL answer. */
function sendError(app: FastifyInstance, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { extensions, message } = refusalError(error, reply.request.id as never).toJSON();
  return reply
    .code(error.status)
    .headers({ ...app.answer_headers(reply.request.id), ...errorHeaders(error) })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

/** Adds POST and GET `/graphql` to `app`. */
export function bindYoga<C>(app: FastifyInstance, options: EndpointOptions<C>): void {
  const yoga = handler(options);
  for (const method of ['GET', 'POST']) app.known_paths.add(method, '/graphql', false);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer', bodyLimit: limits.body_bytes },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    scope.setErrorHandler((error, request, reply) => {
      return sendError(app, reply, refusalOf(error, request.id, options.log));
    });
    const opened = new WeakMap<FastifyRequest, Exchange<C>>();
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql',
      bodyLimit: limits.body_bytes,
      async onRequest(request, reply) {
        opened.set(request, await options.open(request, reply));
      },
      async handler(request, reply) {
        const exchange = opened.get(request) as Exchange<C>;
        // A connection that closed while its caller was looked up sends no further event.
        if (reply.raw.destroyed || request.raw.socket?.destroyed) exchange.ended.abort();
        else reply.raw.once('close', () => exchange.ended.abort());
        const response = await yoga.fetch(
          new Request(`http://localhost${request.url}`, {
            method: request.method,
            headers: headersOf(request),
            ...(request.method === 'POST' ? { body: new Uint8Array((request.body as Buffer) ?? []) } : {}),
            signal: exchange.ended.signal,
          }),
          { exchange },
        );
        reply.code(response.status).headers(app.answer_headers(request.id));
        for (const [name, value] of response.headers) reply.header(name, value);
        if (response.body === null) return reply.send('');
        return reply.send(Readable.from(response.body as never));
      },
    });
  });
}
