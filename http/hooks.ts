// What every answer of a listener has, whoever wrote its route.
import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

/** Answers of `scope` carry the common headers and are counted by the declared path of their route. */
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
