// All routes of the gateway except inference and GraphQL: the operations of customers, the callbacks of payment
// rails, health and documentation.
import { inferenceRoutes, operations } from '@svc/core/operations/index.ts';
import { addAnswerHooks, bindHealth, bindOperations, bindSignOn, type HttpParts } from '@svc/http/index.ts';
import type { FastifyInstance } from 'fastify';
import { bindCallbacks } from '../callbacks/routes.ts';
import { bindLegal } from '../legal/routes.ts';
import { bindPay } from '../pay/routes.ts';
import { bindSkip } from '../pay/skip-routes.ts';
import { bindScim } from '../scim/routes.ts';
import { bindDocs } from './docs.ts';

const customerOperations = operations.filter(({ audience }) => audience.kind !== 'staff');

/**
 * Binds all of them. Inference routes are only announced here, for 405 and preflights; `bindInference` adds the
 * routes themselves.
 */
export function bindRest(app: FastifyInstance, parts: HttpParts): void {
  for (const { method, path, audience } of inferenceRoutes) {
    app.known_paths.add(method, path, true, audience.kind === 'key' && audience.session !== undefined);
  }
  bindCallbacks(app, parts);
  bindPay(app, parts);
  bindSkip(app, parts);
  bindSignOn(app, parts);
  bindScim(app, parts);
  bindLegal(app, parts);
  bindOperations(app, parts, customerOperations);
  app.register(async (scope) => {
    addAnswerHooks(scope, parts.metrics);
    bindHealth(scope, parts);
    bindDocs(scope, parts.base_url);
  });
}
