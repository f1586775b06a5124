// `/docs/legal`: the public pages of legal texts and of the list of sub-processors.
import { type RequestId, ServiceError } from '@svc/core/kernel/index.ts';
import { readLegalPage } from '@svc/core/legal/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { addAnswerHooks, type HttpParts, takeTurn } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { legalPage } from './page.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
/** A version never changes, but whoever runs this may set what its placeholders say. */
const CACHE = 'public, max-age=60';

interface PageRequest {
  readonly Params: { readonly kind?: string; readonly version?: string };
}

function html(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', POLICY)
    .header('cache-control', status === 200 ? CACHE : 'no-store')
    .type('text/html; charset=utf-8')
    .send(page);
}

async function show(
  parts: HttpParts,
  request: FastifyRequest<PageRequest>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  await takeTurn(parts, request, reply, { kind: 'public' });
  const { pool, log, services } = parts;
  const request_id = request.id as RequestId;
  const context = createContext({
    ...{ request_id, caller: { kind: 'public' }, pool, log, services },
    // The list names whose storefront it is read at.
    requestHeader: (name) => (name === 'host' ? (request.headers.host ?? null) : null),
  });
  const { kind = null, version = null } = request.params;
  try {
    const page = await readLegalPage(context, { kind, version });
    return 'to' in page ? reply.redirect(page.to, 302) : html(reply, 200, legalPage(page));
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    const markdown = '# Nothing here\n\nThere is no such document, or no such version of it.';
    return html(reply, 404, legalPage({ title: 'Nothing here', markdown }));
  }
}

/** Binds the pages. */
export function bindLegal(app: FastifyInstance, parts: HttpParts): void {
  app.register(async (scope) => {
    addAnswerHooks(scope, parts.metrics);
    for (const path of ['/docs/legal', '/docs/legal/:kind', '/docs/legal/:kind/:version']) {
      scope.known_paths.add('GET', path, false);
      scope.get<PageRequest>(path, (request, reply) => show(parts, request, reply));
    }
  });
}
