// Callbacks of payment rails. The raw bytes are passed on, because the signature covers exactly them.
import { isDatabaseFault } from '@svc/core/db/index.ts';
import { type Log, type Reading, type RequestId, ServiceError } from '@svc/core/kernel/index.ts';
import { callbackRoutes, createContext } from '@svc/core/operations/index.ts';
import { takeRailCallback } from '@svc/core/refunds/index.ts';
import { moneyIn } from '@svc/core/topups/index.ts';
import { addAnswerHooks, type HttpParts, type Metrics } from '@svc/http/index.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const BODY_MAX = 1_048_576;

function headerOf(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' ? value : null;
}

type Refused = (rail: string, code: string) => void;

/** Counts callbacks that were refused, which leave no row. */
function countRefused(metrics: Metrics | undefined): Refused {
  const counts = new Map<string, Reading>();
  metrics?.watch([
    {
      name: 'svc_callbacks_refused_total',
      help: 'Callbacks of payment rails that were refused.',
      type: 'counter',
      read: () => [...counts.values()],
    },
  ]);
  return (rail, code) => {
    const name = `${rail} ${code}`;
    counts.set(name, { labels: { rail, code }, value: (counts.get(name)?.value ?? 0) + 1 });
  };
}

/**
 * Any fault of ours asks the rail to send the callback again, so that no payment is lost to a defect that a release
 * will fix. One that is refused is logged with the reason and nothing that was sent: a secret that was changed at the rail
 * alone, or a clock that is wrong, is seen there first.
 */
function asPassing(
  error: unknown,
  log: Log,
  { rail, request_id, refused }: { rail: string; request_id: string; refused: Refused },
) {
  if (error instanceof ServiceError) {
    const { code, details } = error;
    refused(rail, code);
    log.warn({ rail, code, details, request_id }, 'a callback was refused');
    return error;
  }
  if (isDatabaseFault(error)) return error;
  log.error({ error, rail, request_id }, 'a callback could not be processed');
  return new ServiceError('service_unavailable', 'The callback could not be processed. Send it again.', {
    details: { component: 'booking' },
    retry_after_ms: 1_000,
  });
}

/** Binds the callback route of each configured payment rail; other rails have no path. */
export function bindCallbacks(app: FastifyInstance, parts: HttpParts): void {
  const { pool, log, services, metrics } = parts;
  const { rails } = moneyIn(parts);
  const configured = callbackRoutes.filter(({ rail }) => rails[rail] !== null);
  if (configured.length === 0) return;
  const refused = countRefused(metrics);
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_MAX },
      async (_request: FastifyRequest, body: Buffer) => body,
    );
    addAnswerHooks(scope, metrics);
    for (const route of configured) {
      const rail = rails[route.rail];
      if (rail === null) continue;
      scope.known_paths.add(route.method, route.path, false);
      scope.post(route.path, async (request) => {
        const context = createContext({
          request_id: request.id as RequestId,
          caller: { kind: 'public' },
          pool,
          log,
          services,
        });
        try {
          return await takeRailCallback(context, rail, {
            raw: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
            signature: headerOf(request, route.signature_header),
            event_id: route.event_header === null ? null : headerOf(request, route.event_header),
          });
        } catch (error) {
          throw asPassing(error, log, { rail: rail.name, request_id: request.id, refused });
        }
      });
    }
  });
}
