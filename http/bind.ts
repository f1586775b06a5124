// Routes of the registry: authenticate, admit, read the input, run, answer. In this order: a denied caller
// learns neither whether its body was valid nor whether the target exists.
import type { RequestLog } from '@svc/core/analytics/index.ts';
import type { ByokCache } from '@svc/core/byok/index.ts';
import type { Catalog } from '@svc/core/catalog/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import type { Egress } from '@svc/core/egress/index.ts';
import type { SignInSettings } from '@svc/core/identity/index.ts';
import { providerKeys } from '@svc/core/inference/index.ts';
import {
  type Caller,
  FileAnswer,
  type Log,
  now,
  type Operation,
  ServiceError,
  type Services,
} from '@svc/core/kernel/index.ts';
import type { KeyRing } from '@svc/core/keys/index.ts';
import { admit, runOnce } from '@svc/core/operations/index.ts';
import type { PolicyCache } from '@svc/core/policies/index.ts';
import type { HealthView } from '@svc/core/routing/index.ts';
import type { MoneyIn } from '@svc/core/topups/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, headerOf, refuseForeignPage, requestContext, staffCallerOf } from './caller.ts';
import { errorBody } from './errors.ts';
import { consoleHeaders, crossOriginHeaders } from './headers.ts';
import type { Check } from './health.ts';
import { addAnswerHooks } from './hooks.ts';
import { type InputReader, inputReader, parseBody, type RawInput } from './input.ts';
import type { Metrics } from './metrics.ts';
import { type RateParts, takeTurn } from './rate.ts';

export interface BindOptions extends RateParts {
  readonly pool: Pool;
  readonly keys: KeyRing;
  readonly catalog: { current(): Catalog };
  readonly request_log: RequestLog;
  /** Snapshots of this process, dropped at once by a change made here; absent where no calls are routed. */
  readonly policies?: Pick<PolicyCache, 'forget'>;
  readonly byok?: Pick<ByokCache, 'forget'>;
  /** What this process has seen of endpoints, for dry runs. */
  readonly health?: HealthView;
  /** `loadRootKey` of the key ring file; the same in every process. */
  readonly root_key: Uint8Array;
  /** `signInSettings` of the program. */
  readonly sign_in: SignInSettings;
  /** Rails and rates; absent: quotes are given and nothing can be paid. */
  readonly money_in?: MoneyIn;
  /** Calls addresses that users gave; absent: public ones over https alone. */
  readonly egress?: Egress;
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

/** Public reads and the routes that say so: any origin may call, without credentials. */
function isCrossOrigin({ audience, cross_origin, method }: Operation): boolean {
  return cross_origin === true || (audience.kind === 'public' && method === 'GET');
}

/** Routes of people, sign-in among them: console pages may call with their cookie. */
function isForSessions({ audience, method }: Operation): boolean {
  if (audience.kind === 'public') return method !== 'GET';
  return audience.kind === 'session' || (audience.kind === 'key' && audience.session !== undefined);
}

async function authenticate(options: Bound, operation: Operation, request: FastifyRequest): Promise<Caller> {
  const { audience } = operation;
  switch (audience.kind) {
    case 'public':
      // Sign-in sets a cookie: not for a page of another origin.
      if (operation.cross_origin !== true && operation.method !== 'GET') {
        refuseForeignPage(options.sign_in.console_origins, request);
      }
      return { kind: 'public' };
    case 'signed':
      return { kind: 'public' };
    case 'staff':
      return staffCallerOf(options, request);
    default:
      return callerOf(options, request, {
        x_api_key: audience.kind === 'key' && audience.x_api_key === true,
        org_id: operation.path.startsWith('/v1/orgs/:id') ? (request.params as { id: string }).id : null,
      });
  }
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
  const context = requestContext(options, request, reply, callers.get(request) as Caller);
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

/** Compressed bodies are read on inference routes alone. @throws ServiceError unsupported_media_type. */
function refuseEncoding(request: FastifyRequest): void {
  const encoding = headerOf(request, 'content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() === 'identity') return;
  throw new ServiceError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.');
}

function bindOne(scope: FastifyInstance, options: Bound, operation: Operation): void {
  const read = inputReader(operation);
  const cross_origin = isCrossOrigin(operation);
  const by_session = isForSessions(operation);
  scope.known_paths.add(operation.method, operation.path, cross_origin, by_session);
  scope.route({
    method: operation.method,
    url: operation.path,
    async onRequest(request, reply) {
      const { origin } = request.headers;
      if (by_session && origin !== undefined && scope.console_origins.has(origin)) {
        reply.headers(consoleHeaders(origin));
      } else if (cross_origin && origin !== undefined) reply.headers(crossOriginHeaders);
      const caller = await authenticate(options, operation, request);
      // A rail that is told to wait would give up on its callbacks.
      if (operation.audience.kind !== 'signed') await takeTurn(options, request, reply, caller);
      admit(operation.audience, caller, now());
      callers.set(request, caller);
    },
    handler: (request, reply) => answer(options, operation, read, request, reply),
  });
}

/** What operations may ask for, from the parts of a process. */
export function servicesOf(
  options: Pick<
    BindOptions,
    | 'catalog'
    | 'keys'
    | 'request_log'
    | 'root_key'
    | 'sign_in'
    | 'policies'
    | 'byok'
    | 'health'
    | 'money_in'
    | 'egress'
    | 'rate'
  >,
): Services {
  const { catalog, keys, request_log, root_key, sign_in, policies, health, money_in, egress, rate } = options;
  return {
    ...{ catalog: () => catalog.current(), key_ring: keys, request_log, root_key, sign_in },
    ...(policies === undefined ? {} : { policies }),
    ...(options.byok === undefined ? {} : { byok: options.byok }),
    provider_keys: providerKeys,
    ...(health === undefined ? {} : { health }),
    ...(money_in === undefined ? {} : { money_in }),
    ...(egress === undefined ? {} : { egress }),
    ...(rate === undefined ? {} : { limits: rate.limits }),
  };
}

/** Binds `chosen` operations to `app`. */
export function bindOperations(
  app: FastifyInstance,
  options: BindOptions,
  chosen: readonly Operation[],
): void {
  const bound: Bound = { ...options, services: servicesOf(options) };
  for (const origin of options.sign_in.console_origins) app.console_origins.add(origin);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/(?:[\w.-]+\+)?json(?:$|\s*;)/,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        refuseEncoding(request);
        return parseBody(body);
      },
    );
    addAnswerHooks(scope, options.metrics);
    for (const operation of chosen) bindOne(scope, bound, operation);
  });
}
