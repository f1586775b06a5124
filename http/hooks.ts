// What every answer of a listener has, whichever route it comes from.
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

/** Adds the common headers to answers of `scope` and counts them by the declared path of their route. */
export function addAnswerHooks(scope: FastifyInstance, metrics: Metrics | undefined): void {
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers(scope.answer_headers(request.id));
  });
  if (metrics === undefined) return;
  scope.addHook('onResponse', async (request, reply) => {
    metrics.observe({
      method: request.method,
      route: request.routeOptions.url ?? '',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    });
  });
}
