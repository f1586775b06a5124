// `POST /v1/graphql` for API keys: the same schema that the admin program serves to people.
import { ServiceError } from '@svc/core/kernel/index.ts';
import { bindMercurius } from '@svc/graphql/bindings/mercurius.ts';
import { operationSurface } from '@svc/graphql/bindings/surface.ts';
import { createTenantContext } from '@svc/graphql/tenant/context.ts';
import { tenantSchema } from '@svc/graphql/tenant/schema.ts';
import { callerOf, type HttpParts, takeTurn } from '@svc/http/index.ts';
import type { FastifyInstance } from 'fastify';

/** Adds the route. A query may take `timeout_ms`, 15 s unless given. */
export function bindGraphql(app: FastifyInstance, parts: HttpParts, timeout_ms?: number): void {
  bindMercurius(app, {
    schema: tenantSchema,
    path: '/v1/graphql',
    log: parts.log,
    metrics: parts.metrics,
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
    async open(request, reply) {
      const caller = await callerOf(parts, request);
      await takeTurn(parts, request, reply, caller);
      if (caller.kind !== 'key') {
        throw new ServiceError(
          'permission_denied',
          'This address is for API keys; use a session at the address of the console.',
        );
      }
      return createTenantContext(operationSurface(parts, request, reply, caller), null);
    },
  });
}
