// `/skip/{topup}?t=`: the page behind the link of a notice before a debit. It works without signing in; opening it does
// nothing, pressing its button skips the debit.
import { type Context, type RequestId, ServiceError } from '@svc/core/kernel/index.ts';
import { readSkipPage, type SkipPage, skipByLink } from '@svc/core/mandates/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { moneyIn } from '@svc/core/topups/index.ts';
import { addAnswerHooks, type HttpParts, takeTurn } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unknownPage } from './page.ts';
import { skipPage } from './skip-page.ts';

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const BODY_MAX = 1_024;

interface SkipRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: { readonly t?: unknown };
}

type Act = (context: Context, args: { id: string; token: string }) => Promise<SkipPage>;

async function answer(
  parts: HttpParts,
  request: FastifyRequest<SkipRequest>,
  reply: FastifyReply,
  act: Act,
): Promise<FastifyReply> {
  await takeTurn(parts, request, reply, { kind: 'public' });
  const { pool, log, services } = parts;
  const request_id = request.id as RequestId;
  const context = createContext({ request_id, caller: { kind: 'public' }, pool, log, services });
  const { t } = request.query;
  const html = (status: number, page: string) =>
    reply
      .code(status)
      .header('content-security-policy', POLICY)
      // The token stays out of the address that a further page would get.
      .header('referrer-policy', 'no-referrer')
      .type('text/html; charset=utf-8')
      .send(page);
  try {
    const page = await act(context, { id: request.params.id, token: typeof t === 'string' ? t : '' });
    return html(200, skipPage(page));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    return html(404, unknownPage());
  }
}

/** Binds the page where some rail takes mandates; elsewhere it has no path. */
export function bindSkip(app: FastifyInstance, parts: HttpParts): void {
  const { rails } = moneyIn(parts);
  if (Object.values(rails).every((rail) => rail === null || rail.mandates === null)) return;
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: BODY_MAX },
      async (_request: FastifyRequest, body: string) => body,
    );
    addAnswerHooks(scope, parts.metrics);
    scope.known_paths.add('GET', '/skip/:id', false);
    scope.known_paths.add('POST', '/skip/:id', false);
    scope.get<SkipRequest>('/skip/:id', (request, reply) => answer(parts, request, reply, readSkipPage));
    scope.post<SkipRequest>('/skip/:id', (request, reply) => answer(parts, request, reply, skipByLink));
  });
}
