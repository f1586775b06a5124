// Temporal's remote codec on the staff listener: its UI and command line send encrypted payloads of histories here and show
// what comes back. The protocol is Temporal's, as are its paths below the address; nothing is encoded here.
// @see https://docs.temporal.io/codec-server
import { decodePayloads } from '@svc/core/desk/index.ts';
import type { StaffCaller } from '@svc/core/kernel/index.ts';
import {
  addAnswerHooks,
  consoleHeaders,
  type HttpParts,
  parseBody,
  requestContext,
  staffCallerOf,
  takeTurn,
} from '@svc/http/index.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface Decoder {
  /** Origins of Temporal's UI, whose pages may ask with the cookie of a staff session. */
  readonly ui_origins: readonly string[];
}

const PATH = '/temporal/decode';
/** Temporal keeps no payload above 2 MB, and a page of a history has a few. */
const BODY_MAX = 16_777_216;
/** Values of JSON in a body: payloads, their metadata and data. */
const ITEMS_MAX = 60_000;

const callers = new WeakMap<FastifyRequest, StaffCaller>();

function pageHeaders({ headers }: FastifyRequest, { ui_origins }: Decoder): Record<string, string> {
  const { origin } = headers;
  return origin !== undefined && ui_origins.includes(origin) ? consoleHeaders(origin) : {};
}

/** Binds the address that is given to Temporal as its codec endpoint: `…/temporal`. */
export function bindDecoder(app: FastifyInstance, parts: HttpParts, decoder: Decoder): void {
  app.register(async (scope) => {
    scope.known_paths.add('POST', PATH, false);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      /^application\/json(?:$|\s*;)/,
      { parseAs: 'buffer', bodyLimit: BODY_MAX },
      async (_request: FastifyRequest, body: Buffer) => parseBody(body, ITEMS_MAX),
    );
    addAnswerHooks(scope, parts.metrics);
    scope.addHook('onRequest', async (request, reply) => {
      reply.headers(pageHeaders(request, decoder));
    });
    scope.options(PATH, async (request, reply) => {
      if (pageHeaders(request, decoder)['access-control-allow-origin'] !== undefined) {
        reply.headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, content-type, x-namespace',
          'access-control-max-age': '600',
        });
      }
      return reply.code(204).send();
    });
    scope.route({
      method: 'POST',
      url: PATH,
      async onRequest(request, reply) {
        // Nothing is changed by it, so a page that may read the answer needs no token against forgery.
        const caller = await staffCallerOf(parts, request, { read_by: decoder.ui_origins });
        await takeTurn(parts, request, reply, caller);
        callers.set(request, caller);
      },
      async handler(request, reply) {
        const context = requestContext(parts, request, reply, callers.get(request) as StaffCaller);
        return context.transaction((context) => decodePayloads(context, request.body));
      },
    });
  });
}
