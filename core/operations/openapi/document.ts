// The OpenAPI 3.1 document, made from the declarations; nothing in it is written a second time.
import { inferenceRoutes, operations } from '../registry.ts';
import { Components, type Json } from './components.ts';
import { ErrorResponses } from './errors.ts';
import { describeInference } from './inference.ts';
import { describeOperation } from './operation.ts';
import { tagList } from './tags.ts';

/** What the service is called where nobody else's name stands. */
export const PRODUCT = 'LLM gateway';

const INTRODUCTION = `A prepaid gateway for calls of large language models.

**Keys.** Send a key as \`Authorization: Bearer svc-…\`; the routes of models take it in \`x-api-key\` too. A key that
begins with \`svc-test-\` never reaches a provider: every model is answered in process and paid in play credit.

**Clients.** Official OpenAI clients work with this address and \`/v1\` behind it as their base URL, Anthropic's
with this address alone.

**Errors.** Every refusal has one form and a code that programs match on: [all codes](/docs/errors).

**Rules over several members.** A tool call of the assistant is followed by its result before the next turn, and a
result follows its call. \`top_logprobs\` goes with \`logprobs: true\`. A file by its id needs your own provider key. A
model takes the routes that it can serve: text, vectors or rankings. What breaks such a rule is refused as
\`invalid_request\`, \`unsupported_parameter\` or \`no_endpoint_available\`, with its place in \`param\`.

**Text.** No text holds U+0000 or half of a surrogate pair; a body has at most 64 levels.`;

const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Repeats with the same key and body within 24 hours get the first answer again.',
    schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[\\x20-\\x7e]+$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of a read: the change is refused with 412 when the object has changed since.',
    schema: { type: 'string', maxLength: 1_024 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description:
      'The `ETag` of an earlier answer, or several: where it is still so, 304 without a body is the answer.',
    schema: { type: 'string', maxLength: 1_024 },
  },
  SvcVersion: {
    name: 'svc-version',
    in: 'header',
    required: false,
    description: 'The version of the API that the call is written for; if absent, the version of the key.',
    schema: { $ref: '#/components/schemas/SvcVersion' },
  },
  Debug: {
    name: 'x-svc-debug',
    in: 'header',
    required: false,
    description: '`1`: `x-svc-*` headers of the answer say how it was routed, attempt by attempt.',
    schema: { type: 'string', enum: ['1'] },
  },
};

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key (`svc-live-…`, `svc-test-…`) or the token of a session (`svc-sess-…`).',
  },
  x_api_key: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A key, in the header that Anthropic clients use.',
  },
  session_cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-svc_session',
    description: 'Writes also need the header `x-svc-csrf`. Over http on loopback: `svc_session`.',
  },
};

/** The OpenAPI 3.1 document of the service at `base_url`. */
export function openApiDocument(base_url: string): Json {
  const components = new Components();
  const errors = new ErrorResponses(components, base_url);
  const parts = { components, errors, base_url };
  const paths: Record<string, Json> = {};
  const place = (path: string, method: string, description: Json) => {
    const templated = path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[templated] = { ...paths[templated], [method.toLowerCase()]: description };
  };
  for (const route of inferenceRoutes) {
    place(route.path, route.method, describeInference(route, parts));
  }
  for (const operation of operations) {
    if (operation.audience.kind === 'staff') continue;
    place(operation.path, operation.method, describeOperation(operation, parts));
  }
  return {
    openapi: '3.1.0',
    info: { title: PRODUCT, version: '2026-09-09', description: INTRODUCTION },
    servers: [{ url: base_url }],
    tags: tagList,
    paths,
    components: {
      securitySchemes,
      parameters,
      schemas: components.sorted(),
      examples: errors.examples,
    },
  };
}
