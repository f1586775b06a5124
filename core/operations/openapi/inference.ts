// What the document says of a route that runs calls. Bodies, answers and events are those of the format's shapes.
import { type CallShape, callShapes } from '../../inference/index.ts';
import type { InferenceRoute } from '../registry.ts';
import type { Json } from './components.ts';
import { type Parts, rights, security } from './operation.ts';
import { samplesOf } from './samples.ts';

/** The shape of `route`. @throws Error (a defect) for a route whose format has none. */
function shapeOf(route: InferenceRoute): CallShape {
  const shape = callShapes.get(route.path);
  if (shape === undefined) throw new Error(`${route.name} has no shape`);
  return shape;
}

/** What asks about a call holds nothing and is never a repeat: it takes fewer headers. */
function headers(route: InferenceRoute): Json[] {
  const repeats = route.errors.includes('idempotency_conflict');
  const names = repeats ? ['SvcVersion', 'Debug', 'IdempotencyKey'] : ['SvcVersion'];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function examples(all: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, { value }]));
}

function answers(shape: CallShape, { components }: Parts): Json {
  const { answer, event } = shape;
  const content: Json = {
    'application/json': { schema: components.refer(answer), example: shape.examples.answer },
  };
  if (event !== undefined) {
    content['text/event-stream'] = {
      schema: components.refer(event),
      examples: examples(shape.examples.events ?? {}),
    };
  }
  const description =
    event === undefined ? 'The answer.' : 'The answer, whole or, with `stream: true`, as server-sent events.';
  return { 200: { description, content } };
}

/** `route` as the document has it. */
export function describeInference(route: InferenceRoute, parts: Parts): Json {
  const shape = shapeOf(route);
  const [request = {}] = Object.values(shape.examples.request);
  return {
    operationId: route.name,
    summary: route.summary,
    description: rights(route),
    tags: ['inference'],
    security: security(route),
    'x-codeSamples': samplesOf(route.path, request, parts.base_url),
    parameters: headers(route),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: parts.components.refer(shape.body),
          examples: examples(shape.examples.request),
        },
      },
    },
    responses: {
      ...answers(shape, parts),
      ...parts.errors.of(
        [...route.errors, 'authentication_required', 'invalid_api_key'],
        route.path.startsWith('/v1/messages') ? 'MessagesError' : 'Refusal',
      ),
    },
  };
}
