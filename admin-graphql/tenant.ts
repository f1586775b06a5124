// The customers' listener: sign-in, GraphQL for sessions, files to download, and the console.
import type { RequestFeed } from '@svc/core/analytics/index.ts';
import { type Caller, ServiceError, type SessionCaller } from '@svc/core/kernel/index.ts';
import { fileOperations, signInOperations } from '@svc/core/operations/index.ts';
import { readStorefrontAt } from '@svc/core/storefronts/index.ts';
import { operationSurface } from '@svc/graphql/bindings/surface.ts';
import { bindYoga } from '@svc/graphql/bindings/yoga.ts';
import { limits } from '@svc/graphql/limits.ts';
import { createTenantContext } from '@svc/graphql/tenant/context.ts';
import { tenantSchema } from '@svc/graphql/tenant/schema.ts';
import {
  bindHealth,
  bindHostRule,
  bindOperations,
  bindSignOn,
  callerOf,
  createApp,
  type HttpParts,
  takeTurn,
} from '@svc/http/index.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Boot, bindPages, type Pages } from './pages.ts';
import { bindPublicPages } from './public/routes.ts';
import type { Streams } from './streams.ts';

interface TenantListener {
  readonly feed: RequestFeed;
  readonly streams: Streams;
  /** Null when no console was built. */
  readonly pages: Pages | null;
  readonly persisted_only: boolean;
  /** Time limit of a query; 15 s unless given. */
  readonly timeout_ms?: number;
}

function standsAs(seen: Caller, before: SessionCaller): boolean {
  if (seen.kind !== 'session') return false;
  return (
    seen.org_id === before.org_id &&
    seen.role === before.role &&
    seen.barred === before.barred &&
    seen.suspended === before.suspended
  );
}

function bootOf({ base_url, services }: HttpParts): Boot {
  const { signup, challenge } = services.sign_in;
  if (challenge === null) return { base_url, signup };
  const { provider, site_key } = challenge;
  return { base_url, signup, challenge: { provider, site_key } };
}

/** The same for the page of a storefront: its name and looks, its address for calls, and who may make an account there. */
async function bootAt(parts: HttpParts, { storefront, headers }: FastifyRequest): Promise<Boot | null> {
  const settings = parts.services.storefronts;
  if (storefront === null || settings === undefined) return null;
  const shop = await readStorefrontAt(parts.pool, settings, headers.host ?? '');
  if (shop === null) return null;
  return { ...bootOf(parts), base_url: storefront.address, signup: shop.registration, storefront: shop };
}

/** The Fastify instance of the listener, not yet listening. */
export function createTenantApp(parts: HttpParts, listener: TenantListener): FastifyInstance {
  const app = createApp({ log: parts.log, base_url: parts.base_url });
  bindHostRule(app, parts.services);
  bindOperations(app, parts, [...signInOperations, ...fileOperations]);
  bindSignOn(app, parts);
  bindPublicPages(app, parts);
  bindYoga(app, {
    schema: tenantSchema,
    log: parts.log,
    persisted: listener.pages?.persisted ?? null,
    persisted_only: listener.persisted_only,
    timeout_ms: listener.timeout_ms ?? limits.timeout_ms,
    async open(request, reply) {
      const caller = await callerOf(parts, request);
      await takeTurn(parts, request, reply, caller);
      if (caller.kind !== 'session') {
        throw new ServiceError(
          'session_required',
          'This address is for people with a session; use an API key at /v1/graphql of the gateway.',
        );
      }
      const surface = operationSurface(parts, request, null, caller);
      const ended = new AbortController();
      return {
        context: createTenantContext(surface, { feed: listener.feed, signal: ended.signal }),
        surface,
        ended,
        openStream: () =>
          listener.streams.open({
            session_id: caller.session_id,
            ended,
            // A stream has the rights it was opened with. It ends when the person loses the membership, gets another
            // role, enters another organization or is barred by this one; the reader may open a new one.
            async check() {
              const seen = await callerOf(parts, request, { passive: true });
              if (!standsAs(seen, caller))
                throw new ServiceError('session_expired', 'The session has changed.');
            },
          }),
      };
    },
  });
  app.register(async (scope) => {
    bindHealth(scope, parts);
    if (listener.pages !== null) {
      bindPages(scope, listener.pages, bootOf(parts), (request) => bootAt(parts, request));
    }
  });
  return app;
}
