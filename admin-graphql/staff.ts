// The listener of staff: its own sign-in, its own schema, nothing of customers beside it.
import { ServiceError } from '@svc/core/kernel/index.ts';
import { staffListenerOperations } from '@svc/core/operations/index.ts';
import { operationSurface } from '@svc/graphql/bindings/surface.ts';
import { bindYoga } from '@svc/graphql/bindings/yoga.ts';
import { Runner } from '@svc/graphql/run.ts';
import { staffSchema } from '@svc/graphql/staff/schema.ts';
import {
  type BindOptions,
  bindHealth,
  bindOperations,
  createApp,
  servicesOf,
  staffCallerOf,
  takeTurn,
} from '@svc/http/index.ts';
import type { FastifyInstance } from 'fastify';

/** The listener's instance, not yet listening. Its schema is shown in development alone. */
export function createStaffApp(parts: BindOptions, options: { introspection: boolean }): FastifyInstance {
  const app = createApp({ log: parts.log, base_url: parts.base_url });
  const bound = { ...parts, services: servicesOf(parts) };
  // A console page of customers has no business here: neither its origin nor its cookies count.
  const { staff_origins } = parts.sign_in;
  const sign_in = { ...parts.sign_in, console_origins: staff_origins };
  bindOperations(app, { ...parts, sign_in }, staffListenerOperations);
  bindYoga(app, {
    schema: staffSchema,
    log: parts.log,
    persisted: null,
    persisted_only: false,
    introspection: options.introspection,
    async open(request, reply) {
      const caller = await staffCallerOf(bound, request);
      await takeTurn(bound, request, reply, caller);
      const surface = operationSurface(bound, request, null, caller);
      return {
        context: { runner: new Runner(surface) },
        surface,
        ended: new AbortController(),
        openStream() {
          throw new ServiceError('invalid_request', 'There are no streams here.');
        },
      };
    },
  });
  app.register(async (scope) => bindHealth(scope, parts));
  return app;
}
