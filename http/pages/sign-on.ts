// Signing in over an organization's identity provider, in the browser: the way there and the way back, and what a SAML
// provider reads of this service. Both listeners have it: people begin at the console, the provider sends them back to the
// public address.
import {
  consoleOf,
  describeServiceProvider,
  finishSignOn,
  isAdminOfAlias,
  signOutByProvider,
  startSignOn,
  takeSamlAnswer,
} from '@svc/core/identity/index.ts';
import { type Caller, type Context, ServiceError } from '@svc/core/kernel/index.ts';
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
          origin: request.storefront?.address ?? consoleOrigin(parts.services.sign_in),
        }),
      );
  }
}

const PUBLIC: Caller = { kind: 'public' };

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

/** Origins that a request may have come to: behind a proxy the scheme is not known here; the console's own list decides. */
const hostsOf = ({ headers }: Request) => [`https://${headers.host}`, `http://${headers.host}`];

/** The console that a person came from: of the storefront, or one of ours. */
const originOf = (context: Context, request: Request) =>
  request.storefront?.address ?? consoleOf(context, hostsOf(request));

/** The answer of a provider in base64, with the rest of its form. A larger one is refused before it is read. */
const FORM_MAX = 512 * 1_024;
const LOGOUT_MAX = 16 * 1_024;

function bindStart(scope: FastifyInstance, parts: HttpParts): void {
  scope.get<SignOnRequest>('/v1/auth/sso/:alias/start', (request, reply) =>
    answer(parts, request, reply, async () => {
      const { return_to, fresh, test } = request.query;
      const is_test = test === '1';
      const caller = is_test ? await adminOf(parts, request) : PUBLIC;
      const context = requestContext(parts, request, reply, caller);
      return startSignOn(context, request.params.alias, {
        return_to: textOf(return_to),
        origin: originOf(context, request),
        fresh: fresh === '1',
        test: is_test,
      });
    }),
  );
}

/** The way back from an OpenID provider, and the second step of the way back from a SAML provider. */
function bindCallback(scope: FastifyInstance, parts: HttpParts): void {
  scope.get<SignOnRequest>('/v1/auth/sso/:alias/callback', (request, reply) =>
    answer(parts, request, reply, () => {
      const search = new URL(request.url, 'http://callback.invalid').searchParams;
      return finishSignOn(requestContext(parts, request, reply, PUBLIC), request.params.alias, { search });
    }),
  );
}

/** A field of a form; empty where it is not there. Two of them are none: each reader of the form would take another. */
function fieldOf({ body }: Request, name: string): string {
  const sent = body instanceof URLSearchParams ? body.getAll(name) : [];
  return sent.length === 1 ? (sent[0] as string) : '';
}

/** What an OpenID provider sends by itself, without a browser, when somebody signs out there. */
function bindLogout(scope: FastifyInstance, parts: HttpParts): void {
  scope.post<SignOnRequest>(
    '/v1/auth/sso/:alias/logout',
    { bodyLimit: LOGOUT_MAX },
    async (request, reply) => {
      await takeTurn(parts, request, reply, PUBLIC);
      const context = requestContext(parts, request, reply, PUBLIC);
      await signOutByProvider(context, request.params.alias, fieldOf(request, 'logout_token'));
      return reply.code(200).header('cache-control', 'no-store').send();
    },
  );
}

function bindSaml(scope: FastifyInstance, parts: HttpParts): void {
  scope.post<SignOnRequest>('/v1/auth/sso/:alias/acs', { bodyLimit: FORM_MAX }, (request, reply) =>
    answer(parts, request, reply, () => {
      const context = requestContext(parts, request, reply, PUBLIC);
      return takeSamlAnswer(context, request.params.alias, {
        sent: fieldOf(request, 'SAMLResponse'),
        origin: originOf(context, request),
      });
    }),
  );
  scope.get<SignOnRequest>('/v1/auth/sso/:alias/metadata', async (request, reply) => {
    await takeTurn(parts, request, reply, PUBLIC);
    const context = requestContext(parts, request, reply, PUBLIC);
    const text = await describeServiceProvider(context, request.params.alias);
    return reply.type('application/samlmetadata+xml; charset=utf-8').send(text);
  });
}

/** Binds the addresses of an organization's provider. */
export function bindSignOn(app: FastifyInstance, parts: HttpParts): void {
  app.register(async (scope) => {
    addAnswerHooks(scope, parts.metrics);
    const known = { start: 'GET', callback: 'GET', acs: 'POST', metadata: 'GET', logout: 'POST' };
    for (const [name, method] of Object.entries(known))
      scope.known_paths.add(method, `/v1/auth/sso/:alias/${name}`, false);
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_MAX },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    bindStart(scope, parts);
    bindCallback(scope, parts);
    bindLogout(scope, parts);
    bindSaml(scope, parts);
  });
}
