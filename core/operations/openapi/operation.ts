// What the document says of an operation of the registry: who may call, where its members stand, what it answers.
import { type TSchema, Type } from 'typebox';
import { type Audience, type ErrorCode, named, nameOf, type Operation } from '../../kernel/index.ts';
import { admittingRoles, admittingScopes } from '../access.ts';
import { shapeOf } from '../shape.ts';
import type { Components, Json } from './components.ts';
import type { ErrorResponses } from './errors.ts';
import { tagOf } from './tags.ts';

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
  'org_closed',
];

/** The ways to say who calls. */
export function security({ audience }: Pick<Operation, 'audience'>): Json[] {
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

/** Who may call, in words. */
export function rights({ audience }: Pick<Operation, 'audience'>): string {
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
      if (roles === 'any') return `${keyRights(audience)} Sessions: whoever is signed in.`;
      return roles.length === 0
        ? keyRights(audience)
        : `${keyRights(audience)} Session role: ${listed(roles)}.`;
    }
  }
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
  // Every route is at hosts that nobody is served at too.
  declared.push('misdirected_request');
  if (operation.audience.kind !== 'public') declared.push(...common);
  else declared.push('rate_limit_exceeded', 'internal', 'service_unavailable');
  if (Object.keys(shape.path).length > 0 || operation.method !== 'GET') declared.push('not_found');
  if (operation.versioned === true && operation.method !== 'GET') declared.push('precondition_failed');
  if (operation.idempotent === true) declared.push('idempotency_in_progress', 'idempotency_conflict');
  if (operation.audience.kind === 'key' && operation.audience.sandbox === false) {
    declared.push('sandbox_key_not_allowed');
  }
  return declared;
}

/** What one document shares over its operations. */
export interface Parts {
  readonly components: Components;
  readonly errors: ErrorResponses;
  readonly base_url: string;
}

function pascal(name: string): string {
  return name.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function placed(
  parts: Parts,
  at: { name: string; in: 'path' | 'query'; required: boolean },
  schema: TSchema,
): Json {
  const { description, examples, ...rest } = parts.components.refer(schema) as {
    description?: string;
    examples?: readonly unknown[];
  };
  const words =
    description ?? (at.in === 'path' ? `Names the ${at.name === 'id' ? 'object' : at.name}.` : undefined);
  return {
    ...at,
    ...(words === undefined ? {} : { description: words }),
    schema: rest,
    ...(examples === undefined ? {} : { example: examples[0] }),
  };
}

function parameters(operation: Operation, parts: Parts): Json[] {
  const shape = shapeOf(operation);
  const listed: Json[] = [];
  for (const [name, schema] of Object.entries(shape.path)) {
    listed.push(placed(parts, { name, in: 'path', required: true }, schema));
  }
  for (const [name, schema] of Object.entries(shape.query)) {
    listed.push(placed(parts, { name, in: 'query', required: shape.required.has(name) }, schema));
  }
  if (operation.idempotent === true) listed.push({ $ref: '#/components/parameters/IdempotencyKey' });
  if (operation.versioned === true && operation.method !== 'GET') {
    listed.push({ $ref: '#/components/parameters/IfMatch' });
  }
  if (operation.cached !== undefined) listed.push({ $ref: '#/components/parameters/IfNoneMatch' });
  return listed;
}

function requestBody(operation: Operation, { components }: Parts): Json {
  const { body } = shapeOf(operation);
  if (body === null || Object.keys(body.properties).length === 0) return {};
  const { minProperties } = operation.input as { readonly minProperties?: number };
  const schema = Type.Object(body.properties, {
    additionalProperties: false,
    ...(minProperties === undefined ? {} : { minProperties }),
  });
  const required = (body.required ?? []).length > 0 || minProperties !== undefined;
  const { request } = operation;
  const content = {
    schema: components.refer(named(`${pascal(operation.name)}Body`, schema)),
    ...(request === undefined ? {} : { example: request }),
  };
  return { requestBody: { required, content: { 'application/json': content } } };
}

/** The image, and the one that says that there is none. */
function imageAnswers(status: string): Json {
  const content = { 'image/svg+xml': { schema: { type: 'string' } } };
  return {
    [status]: { description: 'The image.', content },
    404: { description: 'There is none: a grey image that says so.', content },
  };
}

const NOT_MODIFIED: Json = { 304: { description: 'What the caller has is still so.' } };

function success(operation: Operation, parts: Parts): Json {
  const answers = answersOf(operation, parts);
  return operation.cached === undefined ? answers : { ...answers, ...NOT_MODIFIED };
}

function answersOf(operation: Operation, { components }: Parts): Json {
  const status = String(operation.status ?? 200);
  if (status === '204') return { 204: { description: 'Done; no body.' } };
  const { output } = operation;
  const { produces = '' } = operation;
  if (produces === 'image/*') {
    const schema = { type: 'string', format: 'binary' };
    const content = Object.fromEntries(['png', 'jpeg', 'webp'].map((kind) => [`image/${kind}`, { schema }]));
    return { [status]: { description: 'The image.', content } };
  }
  if (produces === 'application/pdf' || produces === 'application/zip') {
    const content = { [produces]: { schema: { type: 'string', format: 'binary' } } };
    return { [status]: { description: 'The file.', content } };
  }
  if (operation.produces === 'image/svg+xml') return imageAnswers(status);
  if (operation.produces === 'text/markdown') {
    const also = operation.also_produces;
    const content = {
      'text/markdown': { schema: { type: 'string' }, example: operation.example },
      ...(also === undefined ? {} : { [also]: { schema: { type: 'string', format: 'binary' } } }),
    };
    return { [status]: { description: 'The text.', content } };
  }
  if (operation.produces === 'text/event-stream') {
    // The schema is that of the data of an event, as on the routes of inference.
    const none = { type: 'object', maxProperties: 0, description: 'of the event `end`' };
    const content = { [operation.produces]: { schema: { anyOf: [components.refer(output), none] } } };
    return { [status]: { description: 'The events, until the reader leaves.', content } };
  }
  if (nameOf(output) === undefined) throw new Error(`the answer of ${operation.name} has no name`);
  const content: Json = {
    'application/json': {
      schema: components.refer(output),
      ...(operation.example === undefined ? {} : { example: operation.example }),
    },
  };
  if (operation.produces !== undefined) content[operation.produces] = { schema: { type: 'string' } };
  const again =
    operation.isReplay === undefined ? {} : { 200: { description: 'The answer of then.', content } };
  return { ...again, [status]: { description: 'The answer.', content } };
}

/** `operation` as the document has it. */
export function describeOperation(operation: Operation, parts: Parts): Json {
  return {
    operationId: operation.name,
    summary: operation.summary,
    description: rights(operation),
    tags: [tagOf(operation.name)],
    security: security(operation),
    parameters: parameters(operation, parts),
    ...requestBody(operation, parts),
    responses: { ...parts.errors.of(declaredErrors(operation)), ...success(operation, parts) },
  };
}
