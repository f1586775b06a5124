// The staff listener: its own sign-in, schema and console, and nothing that customers can reach.
import { ServiceError } from '@svc/core/kernel/index.ts';
import { staffListenerOperations } from '@svc/core/operations/index.ts';
import { operationSurface } from '@svc/graphql/bindings/surface.ts';
import { bindYoga } from '@svc/graphql/bindings/yoga.ts';
import { Runner } from '@svc/graphql/run.ts';
import { staffSchema } from '@svc/graphql/staff/schema.ts';
import {
  bindHealth,
  bindOperations,
  createApp,
  type HttpParts,
  staffCallerOf,
  takeTurn,
} from '@svc/http/index.ts';
import type { FastifyInstance } from 'fastify';
import { bindDecoder, type Decoder } from './decoder.ts';
import { bindPages, type Pages } from './pages.ts';

interface StaffListener {
  readonly introspection: boolean;
  /** Null when no console of staff was built. */
  readonly pages: Pages | null;
  /** Null: encrypted payloads of workflows are not decoded here. */
  readonly decoder: Decoder | null;
}

/** The Fastify instance of the listener, not yet listening. Its schema can be introspected only in development. */
export function createStaffApp(parts: HttpParts, listener: StaffListener): FastifyInstance {
  const { introspection, pages, decoder } = listener;
  const app = createApp({ log: parts.log, base_url: parts.base_url });
  // The customers' console is foreign to this listener: its origin and its cookies are not accepted.
  const { sign_in } = parts.services;
  const services = { ...parts.services, sign_in: { ...sign_in, console_origins: sign_in.staff_origins } };
  const bound: HttpParts = { ...parts, services };
  bindOperations(app, bound, staffListenerOperations);
  bindYoga(app, {
    schema: staffSchema,
    log: parts.log,
    persisted: pages?.persisted ?? null,
    // Staff also ask with a bearer token, outside of any console.
    persisted_only: false,
    introspection,
    async open(request, reply) {
      const caller = await staffCallerOf(bound, request);
      await takeTurn(bound, request, reply, caller);
      const surface = operationSurface(bound, request, null, caller);
      return {
        context: { runner: new Runner(surface) },
        surface,
        ended: new AbortController(),
        openStream() {
          throw new ServiceError('invalid_request', 'The staff listener serves no streams.');
        },
      };
    },
  });
  if (decoder !== null) bindDecoder(app, bound, decoder);
  app.register(async (scope) => {
    bindHealth(scope, parts);
    if (pages !== null) bindPages(scope, pages, { base_url: parts.base_url });
  });
  return app;
}
