// `/openapi.json`, `/docs`, a reference to browse, and `/docs/errors`; scripts and styles are served from here.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { openApiDocument } from '@svc/core/operations/index.ts';
import type { FastifyInstance } from 'fastify';
import { errorPage } from './error-page.ts';

const POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'self'; img-src 'self' data:; object-src 'none'; " +
  "script-src 'self'; style-src 'self' 'unsafe-inline'";

/** The reference without the tool's own bar: what it reads and who made it helps no reader. */
const THEME = {
  title: 'LLM gateway API',
  css: [{ filename: 'theme.css', content: '.swagger-ui .topbar{display:none}' }],
};

/** Adds `/openapi.json`, `/docs` and `/docs/errors`. */
export async function bindDocs(scope: FastifyInstance, base_url: string): Promise<void> {
  const document = openApiDocument(base_url);
  const text = JSON.stringify(document);
  for (const path of ['/openapi.json', '/docs', '/docs/errors']) scope.known_paths.add('GET', path, true);
  scope.get('/openapi.json', async (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=60' })
      .type('application/json; charset=utf-8')
      .send(text),
  );
  const errors = await errorPage();
  scope.get('/docs/errors', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=60').type('text/html; charset=utf-8').send(errors),
  );
  await scope.register(swagger, { mode: 'static', specification: { document: document as never } });
  await scope.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', deepLinking: true, validatorUrl: null },
    staticCSP: POLICY,
    theme: THEME,
  });
}
