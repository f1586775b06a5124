// The OpenAPI 3.1 document, made from the declarations; nothing in it is written a second time.
import type { TSchema } from 'typebox';
import { type Audience, codes, type ErrorCode, type Operation } from '../kernel/index.ts';
import { svcVersions } from '../keys/index.ts';
import { admittingRoles, admittingScopes } from './access.ts';
import { commonShape, type InferenceShape, inferenceShapes } from './inference-shapes.ts';
import { inferenceRoutes, operations } from './registry.ts';
import { shapeOf } from './shape.ts';

type Json = Record<string, unknown>;

const common: readonly ErrorCode[] = [
  'authentication_required',
  'invalid_api_key',
  'permission_denied',
  'org_inactive',
  'rate_limit_exceeded',
  'internal',
  'service_unavailable',
];

/** What a session may be told wherever one is admitted, by its cookie beside a bearer and by `x-svc-org` too. */
const ofSessions: readonly ErrorCode[] = [
  'invalid_request',
  'not_found',
  'session_expired',
  'ip_not_allowed',
  'two_factor_required',
  'csrf_failed',
];

/** What an error tells on every surface, wherever it stands in the envelope. */
const errorMembers = {
  message: { type: 'string' },
  type: { type: 'string', enum: [...new Set(Object.values(codes).map((code) => code.type))] },
  code: { type: 'string', enum: Object.keys(codes) },
  param: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  details: { type: 'object', additionalProperties: true },
  doc_url: { type: 'string', description: 'where the code is explained' },
};
const requestId: Json = { type: 'string', pattern: '^[0-9A-HJKMNP-TV-Z]{26}$' };

function envelope(members: Json, beside: Json): Json {
  const error = { type: 'object', required: Object.keys(members), properties: members };
  const properties = { ...beside, error };
  return { type: 'object', required: Object.keys(properties), properties };
}

const errorSchemas = {
  Error: envelope({ ...errorMembers, request_id: requestId }, {}),
  /** Of the messages routes, as their clients read it. */
  MessagesError: envelope(
    { ...errorMembers, type: { type: 'string' } },
    { type: { const: 'error' }, request_id: requestId },
  ),
};

/** A schema without TypeBox's own marks. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}

function errorResponses(declared: readonly ErrorCode[], schema: keyof typeof errorSchemas = 'Error'): Json {
  const by_status = new Map<number, ErrorCode[]>();
  for (const code of declared) {
    const { status } = codes[code];
    by_status.set(status, [...(by_status.get(status) ?? []), code]);
  }
  const responses: Json = {};
  for (const [status, names] of [...by_status].sort(([a], [b]) => a - b)) {
    const unique = [...new Set(names)];
    responses[String(status)] = {
      description: unique.join(', '),
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
    };
  }
  return responses;
}

function security({ audience }: Pick<Operation, 'audience'>): Json[] {
  if (audience.kind === 'public' || audience.kind === 'signed') return [];
  const by_header = audience.kind === 'key' && audience.x_api_key === true;
  const by_cookie = audience.kind === 'session' || admittingRoles(audience).length > 0;
  return [
    { bearer: [] },
    ...(by_header ? [{ x_api_key: [] }] : []),
    ...(by_cookie ? [{ session_cookie: [] }] : []),
  ];
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function keyRights(audience: Audience & { kind: 'key' }): string {
  const scopes = admittingScopes(audience);
  const who =
    scopes === 'any' ? 'Any valid key.' : `Key scope: ${scopes.map((s) => `\`${s}\``).join(' or ')}.`;
  if (audience.sandbox === 'only') return `${who} Test keys only.`;
  return audience.sandbox === false ? `${who} Live keys only.` : who;
}

function rights({ audience }: Pick<Operation, 'audience'>): string {
  switch (audience.kind) {
    case 'public':
      return 'Public.';
    case 'signed':
      return 'Signed by the sender.';
    case 'staff':
      return audience.roles === 'any' ? 'Staff.' : `Staff: ${listed(audience.roles)}.`;
    case 'session': {
      const who =
        audience.roles === 'any'
          ? 'Sessions only: whoever is signed in.'
          : `Sessions only: ${listed(audience.roles)}.`;
      return audience.reauthenticated === true
        ? `${who} Needs a proof of the person of the last 15 minutes.`
        : who;
    }
    case 'key': {
      const roles = audience.session ?? [];
      return roles.length === 0
        ? keyRights(audience)
        : `${keyRights(audience)} Session role: ${listed(roles)}.`;
    }
  }
}

function parameters(operation: Operation): Json[] {
  const shape = shapeOf(operation);
  const listed: Json[] = [];
  for (const [name, schema] of Object.entries(shape.path)) {
    listed.push({ name, in: 'path', required: true, schema: plain(schema) });
  }
  for (const [name, schema] of Object.entries(shape.query)) {
    const { description, ...rest } = plain(schema);
    listed.push({
      name,
      in: 'query',
      required: shape.required.has(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    });
  }
  if (operation.idempotent === true) {
    listed.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'repeats within 24 hours get the first answer again',
      schema: { type: 'string', minLength: 1, maxLength: 128 },
    });
  }
  return listed;
}

function declaredErrors(operation: Operation): ErrorCode[] {
  const shape = shapeOf(operation);
  const declared: ErrorCode[] = [...operation.errors];
  const has_input = shape.body !== null || Object.keys(shape.query).length > 0;
  if (has_input) declared.push('invalid_request');
  if (shape.body !== null) declared.push('invalid_json', 'request_too_large', 'unsupported_media_type');
  const { audience } = operation;
  if (audience.kind === 'session' || admittingRoles(audience).length > 0) declared.push(...ofSessions);
  if (audience.kind === 'session') declared.push('session_required');
  if (operation.audience.kind !== 'public') declared.push(...common);
  else declared.push('rate_limit_exceeded', 'internal', 'service_unavailable');
  if (Object.keys(shape.path).length > 0 || operation.method !== 'GET') declared.push('not_found');
  if (operation.idempotent === true) declared.push('idempotency_in_progress', 'idempotency_conflict');
  if (operation.audience.kind === 'key' && operation.audience.sandbox === false) {
    declared.push('sandbox_key_not_allowed');
  }
  return declared;
}

function success(operation: Operation): Json {
  const status = String(operation.status ?? 200);
  if (status === '204') return { 204: { description: 'Done; no body.' } };
  const content: Json = {
    'application/json': {
      schema: plain(operation.output),
      ...(operation.example === undefined ? {} : { example: operation.example }),
    },
  };
  if (operation.produces !== undefined) content[operation.produces] = { schema: { type: 'string' } };
  return { [status]: { description: operation.summary, content } };
}

function describe(operation: Operation): Json {
  const { body } = shapeOf(operation);
  return {
    operationId: operation.name,
    summary: operation.summary,
    description: rights(operation),
    tags: [operation.name.split('.')[0]],
    security: security(operation),
    parameters: parameters(operation),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: ((body['required'] as unknown[] | undefined) ?? []).length > 0,
            content: { 'application/json': { schema: plain(body) } },
          },
        }),
    responses: { ...success(operation), ...errorResponses(declaredErrors(operation)) },
  };
}

function inferenceHeaders({ keyed }: InferenceShape): Json[] {
  const header = (name: string, schema: Json): Json => ({ name, in: 'header', required: false, schema });
  return [
    header('svc-version', { type: 'string', enum: [...svcVersions] }),
    ...(keyed ? [header('x-svc-debug', { type: 'string', enum: ['1'] })] : []),
    ...(keyed ? [header('Idempotency-Key', { type: 'string', maxLength: 128 })] : []),
  ];
}

function describeInference(route: (typeof inferenceRoutes)[number]): Json {
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
      ...errorResponses(
        [...route.errors, 'authentication_required', 'invalid_api_key'],
        route.path.startsWith('/v1/messages') ? 'MessagesError' : 'Error',
      ),
    },
  };
}

/** The OpenAPI 3.1 document of the service at `base_url`. */
export function openApiDocument(base_url: string): Json {
  const paths: Record<string, Json> = {};
  const place = (path: string, method: string, description: Json) => {
    const templated = path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[templated] = { ...paths[templated], [method.toLowerCase()]: description };
  };
  for (const route of inferenceRoutes) place(route.path, route.method, describeInference(route));
  for (const operation of operations) {
    if (operation.audience.kind !== 'staff') place(operation.path, operation.method, describe(operation));
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'LLM gateway',
      version: '2026-09-09',
      description: 'Prepaid gateway for large-language-model calls. Errors: [/docs/errors](/docs/errors).',
    },
    servers: [{ url: base_url }],
    tags: [...new Set(['inference', ...operations.map((o) => o.name.split('.')[0] as string)])].map(
      (name) => ({
        name,
      }),
    ),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'svc-live-…, svc-test-… or svc-sess-…' },
        x_api_key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session_cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-svc_session',
          description: 'writes also need the header x-svc-csrf; svc_session over http on loopback',
        },
      },
      schemas: errorSchemas,
    },
  };
}
