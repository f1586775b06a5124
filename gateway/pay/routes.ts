// `/pay/{topup}?t=`: our page to pay on, for rails whose checkout opens in a page of the merchant's. The token comes in
// the address once; a cookie of this page alone keeps it, so that the address can be cleared and the page loaded again.
import { readCookie } from '@svc/core/identity/index.ts';
import { type Context, type RequestId, ServiceError, secureBytes } from '@svc/core/kernel/index.ts';
import { readRegisterPage, readRegisterReturn } from '@svc/core/mandates/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { moneyIn, type OpenPage, readPayPage, readPayReturn } from '@svc/core/topups/index.ts';
import { addAnswerHooks, type HttpParts, takeTurn } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openPage, overPage, unknownPage } from './page.ts';
import { registerPage } from './register-page.ts';

const COOKIE = 'svc_pay';
/** As long as a top-up can be paid at most. */
const COOKIE_SECONDS = 24 * 3_600;
const RETURN_MAX = 65_536;

/** The checkout of the rail may load from its own hosts, and nothing from anywhere else. */
function policyOf({ opening }: Pick<OpenPage, 'opening'>, nonce: string): string {
  const sources = opening.sources.join(' ');
  return (
    `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}' ${sources}; connect-src ${sources}; ` +
    `frame-src ${sources}; img-src data: ${sources}; form-action ${sources}; base-uri 'none'; frame-ancestors 'none'`
  );
}

function html(reply: FastifyReply, status: number, policy: string, page: string): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', policy)
    .type('text/html; charset=utf-8')
    .send(page);
}

const PLAIN = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

interface PayRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly t?: unknown };
}

function contextOf(parts: HttpParts, request: FastifyRequest): Context {
  const { pool, log, services } = parts;
  const request_id = request.id as RequestId;
  return createContext({ request_id, caller: { kind: 'public' }, pool, log, services });
}

/** A cookie of this page alone, so that it can be loaded again without the token in its address. */
function keepToken(
  parts: HttpParts,
  reply: FastifyReply,
  { id, token }: { id: string; token: string },
): void {
  const secure = parts.base_url.startsWith('https:') ? '; Secure' : '';
  const kept = `Path=/pay/${id}; HttpOnly; SameSite=Lax; Max-Age=${COOKIE_SECONDS}${secure}`;
  reply.header('set-cookie', `${COOKIE}=${token}; ${kept}`);
}

async function showMandate(
  parts: HttpParts,
  request: FastifyRequest<PayRequest>,
  reply: FastifyReply,
  args: { id: string; token: string },
): Promise<FastifyReply> {
  const page = await readRegisterPage(contextOf(parts, request), args);
  keepToken(parts, reply, args);
  const nonce = secureBytes(16).toString('base64');
  const is_open = page.fields !== null;
  return html(reply, is_open ? 200 : 410, is_open ? policyOf(page, nonce) : PLAIN, registerPage(page, nonce));
}

async function show(
  parts: HttpParts,
  request: FastifyRequest<PayRequest>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await takeTurn(parts, request, reply, { kind: 'public' });
  const { id } = request.params;
  const given = request.query.t;
  const token = typeof given === 'string' ? given : (readCookie(request.headers.cookie, COOKIE)[0] ?? '');
  try {
    if (id.startsWith('mnd_')) return await showMandate(parts, request, reply, { id, token });
    const page = await readPayPage(contextOf(parts, request), { id, token });
    keepToken(parts, reply, { id, token });
    if (page.state === 'over') return html(reply, 410, PLAIN, overPage(page));
    const nonce = secureBytes(16).toString('base64');
    return html(reply, 200, policyOf(page, nonce), openPage(page, nonce));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    return html(reply, 404, PLAIN, unknownPage());
  }
}

/** A browser that the rail sends back; what it brings decides only where it goes. */
async function comeBack(
  parts: HttpParts,
  request: FastifyRequest<PayRequest>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await takeTurn(parts, request, reply, { kind: 'public' });
  const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  try {
    const { id } = request.params;
    const context = contextOf(parts, request);
    const to = id.startsWith('mnd_')
      ? await readRegisterReturn(context, id)
      : await readPayReturn(context, { id, fields: Object.fromEntries(form) });
    return reply.redirect(to, 303);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    return html(reply, 404, PLAIN, unknownPage());
  }
}

/** Binds the page where a configured rail needs it; elsewhere it has no path. */
export function bindPay(app: FastifyInstance, parts: HttpParts): void {
  const { rails } = moneyIn(parts);
  if (Object.values(rails).every((rail) => rail === null || rail.opening === null)) return;
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: RETURN_MAX },
      async (_request: FastifyRequest, body: string) => body,
    );
    addAnswerHooks(scope, parts.metrics);
    scope.known_paths.add('GET', '/pay/:id', false);
    scope.known_paths.add('POST', '/pay/:id/return', false);
    scope.get<PayRequest>('/pay/:id', (request, reply) => show(parts, request, reply));
    scope.post<PayRequest>('/pay/:id/return', (request, reply) => comeBack(parts, request, reply));
  });
}
