// `/openapi.json`, the API reference at `/docs`, and `/docs/errors`. Scripts and styles are served from here, so that
// the pages work on a machine without Internet access.
import { openApiDocument, PRODUCT } from '@svc/core/operations/index.ts';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { errorPage } from './error-page.ts';
import { referencePage, referenceStart } from './reference-page.ts';

const POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'self'; img-src 'self' data: blob:; object-src 'none'; " +
  "script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; worker-src 'self' blob:";
const MINUTE = 'public, max-age=60';
const DAY = 'public, max-age=86400';
const SCRIPT = 'text/javascript; charset=utf-8';

/**
 * The JavaScript of the reference. Its package holds it as one string of five megabytes, which costs a process that
 * much memory, so it is loaded at the first request. A separate Fastify instance loads it, because plugins cannot be
 * added to one that is running.
 */
async function loadReference(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { body } = await app.inject('/docs/js/scalar.js');
  await app.close();
  return body;
}

/** Calls `make` at most once and keeps its result. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function sent(reply: FastifyReply, type: string, cache: string): FastifyReply {
  return reply.headers({ 'cache-control': cache, 'content-security-policy': POLICY }).type(type);
}

/** What we are called where `request` came to. */
const nameAt = ({ storefront }: FastifyRequest) => storefront?.seller.name ?? PRODUCT;

/** The document as customers of a reseller know the service: under its name and address. */
function documentAt(text: string, base_url: string, { storefront }: FastifyRequest): string {
  if (storefront === null) return text;
  const document = JSON.parse(text.replaceAll(base_url, storefront.address));
  return JSON.stringify({ ...document, info: { ...document.info, title: storefront.seller.name } });
}

/** Adds `/openapi.json`, `/docs` and `/docs/errors`. Each is generated at its first request. */
export function bindDocs(scope: FastifyInstance, base_url: string): void {
  const document = once(() => JSON.stringify(openApiDocument(base_url)));
  const reference = once(loadReference);
  const errors = once(errorPage);
  for (const path of ['/openapi.json', '/docs', '/docs/errors']) scope.known_paths.add('GET', path, true);
  scope.get('/openapi.json', async (request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cache-control': MINUTE })
      .type('application/json; charset=utf-8')
      .send(documentAt(document(), base_url, request)),
  );
  const html = 'text/html; charset=utf-8';
  scope.get('/docs', async (request, reply) =>
    sent(reply, html, MINUTE).send(referencePage(nameAt(request))),
  );
  scope.get('/docs/', async (_request, reply) => reply.redirect('/docs', 301));
  scope.get('/docs/start.js', async (request, reply) =>
    sent(reply, SCRIPT, MINUTE).send(referenceStart(nameAt(request))),
  );
  scope.get('/docs/reference.js', async (_request, reply) =>
    sent(reply, SCRIPT, DAY).send(await reference()),
  );
  scope.get('/docs/errors', async (_request, reply) => sent(reply, html, MINUTE).send(errors()));
}
