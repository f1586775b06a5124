// Signing in over an organization's identity provider, in the browser: the way there and the way back. Both listeners
// have it: people begin at the console, the provider sends them back to the public address.
import { finishSignOn, isAdminOfAlias, startSignOn } from '@svc/core/identity/index.ts';
import { type Caller, ServiceError } from '@svc/core/kernel/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, requestContext } from '../caller.ts';
import { addAnswerHooks } from '../hooks.ts';
import type { HttpParts } from '../parts.ts';
import { takeTurn } from '../rate.ts';
import { escaped, frame } from './frame.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

interface SignOnRequest {
  readonly Params: { readonly alias: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}
type Request = FastifyRequest<SignOnRequest>;

/** Where the console is: at the public address, or at the first of its own. */
function consoleOrigin({ console_origins, base_url }: HttpParts['services']['sign_in']): string {
  const own = new URL(base_url).origin;
  return console_origins.includes(own) ? own : (console_origins[0] ?? own);
}

function refusedPage(error: ServiceError, at: { request_id: string; origin: string }): string {
  const { reason } = (error.details ?? {}) as { reason?: unknown };
  const code = typeof reason === 'string' ? `${error.code} (${reason})` : error.code;
  return frame(
    'Not signed in',
    `<h1>You are not signed in</h1>
<p>${escaped(error.message)}</p>
<dl>
<div><dt>Code</dt><dd>${escaped(code)}</dd></div>
<div><dt>Request</dt><dd>${escaped(at.request_id)}</dd></div>
</dl>
<a class="button" href="${escaped(at.origin)}/sign-in">Back to sign-in</a>`,
  );
}

async function answer(
  parts: HttpParts,
  request: Request,
  reply: FastifyReply,
  run: () => Promise<string>,
): Promise<FastifyReply> {
  await takeTurn(parts, request, reply, { kind: 'public' });
  try {
    const url = await run();
    return reply.code(303).header('cache-control', 'no-store').header('location', url).send();
  } catch (error) {
    if (!(error instanceof ServiceError) || (error.status !== 403 && error.status !== 404)) throw error;
    return reply
      .code(error.status)
      .header('content-security-policy', POLICY)
      .type('text/html; charset=utf-8')
      .send(
        refusedPage(error, {
          request_id: request.id,
          origin: consoleOrigin(parts.services.sign_in),
        }),
      );
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);

/** An admin who tries the connection out, by the session of the browser. @throws ServiceError not_found for others. */
async function adminOf(parts: HttpParts, request: Request): Promise<Caller> {
  const caller = await callerOf(parts, request);
  if (caller.kind === 'session' && (await isAdminOfAlias(parts.pool, caller, request.params.alias)))
    return caller;
  throw new ServiceError(
    'not_found',
    'There is no such connection. Sign in as an owner or admin to try it out.',
  );
}

/** Binds both addresses. */
export function bindSignOn(app: FastifyInstance, parts: HttpParts): void {
  const contextOf = (request: Request, reply: FastifyReply, caller: Caller = { kind: 'public' }) =>
    requestContext(parts, request, reply, caller);
  app.register(async (scope) => {
    addAnswerHooks(scope, parts.metrics);
    scope.known_paths.add('GET', '/v1/auth/sso/:alias/start', false);
    scope.known_paths.add('GET', '/v1/auth/sso/:alias/callback', false);
    scope.get<SignOnRequest>('/v1/auth/sso/:alias/start', (request, reply) =>
      answer(parts, request, reply, async () => {
        const { return_to, fresh, test } = request.query;
        const is_test = test === '1';
        const caller = is_test ? await adminOf(parts, request) : undefined;
        return startSignOn(contextOf(request, reply, caller), request.params.alias, {
          return_to: textOf(return_to),
          // Behind a proxy the scheme is not known here; the console's own list decides.
          hosts: [`https://${request.headers.host}`, `http://${request.headers.host}`],
          fresh: fresh === '1',
          test: is_test,
        });
      }),
    );
    scope.get<SignOnRequest>('/v1/auth/sso/:alias/callback', (request, reply) =>
      answer(parts, request, reply, () => {
        const search = new URL(request.url, 'http://callback.invalid').searchParams;
        return finishSignOn(contextOf(request, reply), request.params.alias, { search });
      }),
    );
  });
}
