// What the document says of a route that runs calls.
import { commonShape, type InferenceShape, inferenceShapes } from '../inference-shapes.ts';
import type { InferenceRoute } from '../registry.ts';
import type { Json } from './components.ts';
import { type Parts, rights, security } from './operation.ts';

function inferenceHeaders({ keyed }: InferenceShape): Json[] {
  const names = keyed ? ['SvcVersion', 'Debug', 'IdempotencyKey'] : ['SvcVersion'];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** `route` as the document has it. */
export function describeInference(route: InferenceRoute, { errors }: Parts): Json {
  const shape = inferenceShapes.get(route.path) ?? commonShape;
  const { required, members, strict = false, reply = { type: 'object' } } = shape;
  const svc = strict ? '' : ' Bodies and answers are those of the dialect; `svc` adds routing and cost.';
  return {
    operationId: route.name,
    summary: route.summary,
    description: rights(route) + svc,
    tags: ['inference'],
    security: security(route),
    parameters: inferenceHeaders(shape),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { type: 'object', required, properties: members, additionalProperties: !strict },
        },
      },
    },
    responses: {
      200: {
        description: shape.answer,
        content: {
          'application/json': { schema: reply },
          ...(shape.streams ? { 'text/event-stream': { schema: { type: 'string' } } } : {}),
        },
      },
      ...errors.of(
        [...route.errors, 'authentication_required', 'invalid_api_key'],
        route.path.startsWith('/v1/messages') ? 'MessagesError' : 'Error',
      ),
    },
  };
}
