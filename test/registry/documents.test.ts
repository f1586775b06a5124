// What is written down is what runs: the error table, the OpenAPI document and its examples, the reference page.
import { readFile } from 'node:fs/promises';
import { codes, type ErrorCode } from '@svc/core/kernel/index.ts';
import { openApiDocument, operations } from '@svc/core/operations/index.ts';
import { Compile } from 'typebox/compile';
import { Compile as CompileJsonSchema } from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { startHarness } from './harness.ts';

const harness = await startHarness();

interface Described {
  operationId: string;
  security: Record<string, string[]>[];
  parameters: { name: string; in: string; required: boolean; schema?: object }[];
  tags: string[];
  requestBody?: {
    content: Record<
      string,
      { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }
    >;
  };
  responses: Record<
    string,
    { description: string; content?: Record<string, { schema: object; example?: unknown }> }
  >;
}
const document = openApiDocument('http://127.0.0.1:8080') as {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { securitySchemes: object; schemas: Record<string, object> };
};
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** A check of `schema`, which refers to components of the document. */
function checkOf(schema: object | false) {
  const { schemas } = document.components;
  const whole = JSON.stringify({ allOf: [schema], $defs: schemas });
  return CompileJsonSchema(JSON.parse(whole.replaceAll('#/components/schemas/', '#/$defs/')));
}

test('docs/errors.md holds exactly the codes of the table, with their status, type and retry', async () => {
  const text = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [
    ...text.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \| ([a-z_]+) \| (yes|no) \| (.+) \| (.+) \|$/gm),
  ];
  const documented = Object.fromEntries(
    rows.map(([, code, status, type, retry]) => [
      code,
      { status: Number(status), type, retry: retry === 'yes' },
    ]),
  );
  expect(documented).toEqual(codes);
  expect(rows.length).toBe(Object.keys(codes).length);
});

test('every refusal an operation declares is a code of the table, and none is declared twice', () => {
  for (const { name, errors } of operations) {
    for (const code of errors) expect([name, Object.hasOwn(codes, code)]).toEqual([name, true]);
    expect([name, new Set<ErrorCode>(errors).size]).toEqual([name, errors.length]);
  }
});

test('the document lists every operation once, with an id of its own and its right', () => {
  const ids = described.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { name, audience } of operations) {
    expect([name, ids.includes(name)]).toEqual([name, audience.kind !== 'staff']);
  }
  expect(ids).toEqual(expect.arrayContaining(['chat.completions.create', 'messages.create']));
  const open = described.filter(({ operation }) => operation.security.length === 0);
  const declared = operations.filter(
    ({ audience }) => audience.kind === 'public' || audience.kind === 'signed',
  );
  expect(open.map(({ operation }) => operation.operationId).sort()).toEqual(
    declared.map(({ name }) => name).sort(),
  );
});

test('every reference of the document leads somewhere, and every schema compiles', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]);
  for (const reference of new Set(references)) {
    const target = (reference as string)
      .replace('#/', '')
      .split('/')
      .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], document);
    expect([reference, typeof target]).toEqual([reference, 'object']);
  }
  const schemas = described.flatMap(({ operation }) => [
    ...operation.parameters.flatMap(({ schema }) => (schema === undefined ? [] : [schema])),
    ...Object.values(operation.requestBody?.content ?? {}).map((content) => content.schema),
    ...Object.values(operation.responses).flatMap((response) =>
      Object.values(response.content ?? {}).map((content) => content.schema),
    ),
  ]);
  // Most are references to the same few: each is compiled once.
  for (const schema of new Set(schemas.map((one) => JSON.stringify(one)))) {
    expect(() => checkOf(JSON.parse(schema))).not.toThrow();
  }
});

test('an error is described with all that it has, and what any caller of a route may be told stands there', async () => {
  const closed = (name: string) => {
    const { properties, ...rest } = document.components.schemas[name] as { properties: { error: object } };
    const error = { ...properties.error, additionalProperties: false };
    return checkOf({ ...rest, properties: { ...properties, error }, additionalProperties: false });
  };
  const statuses = new Map(
    described.map(({ operation }) => [operation.operationId, Object.keys(operation.responses)]),
  );
  const token = await harness.signIn(await harness.makePerson(harness.a, 'viewer'));
  const headers = { cookie: `svc_session=${token}` };
  for (const [id, path, options, status] of [
    ['auth.session', '/v1/auth/session', { key: token, headers }, 400],
    ['credits.get', '/v1/credits', { key: token, headers: { 'x-svc-org': harness.b.org.id } }, 404],
  ] as const) {
    const answer = await harness.call('GET', path, options);
    expect([answer.statusCode, statuses.get(id)]).toEqual([status, expect.arrayContaining([`${status}`])]);
    expect(closed('Refusal').Errors(answer.json())[1]).toEqual([]);
  }
  const refused = await harness.call('GET', '/v1/messages');
  expect([refused.statusCode, closed('MessagesError').Errors(refused.json())[1]]).toEqual([405, []]);
  // The database may be away for everybody.
  for (const { name, audience } of operations) {
    if (audience.kind !== 'staff')
      expect([name, statuses.get(name)]).toEqual([name, expect.arrayContaining(['503'])]);
  }
});

describe.each(described.map((item) => [item.operation.operationId, item] as const))('%s', (_id, item) => {
  const { path, method, operation } = item;

  test('declares each parameter of its path, and a body only where the method has one', () => {
    const in_path = [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]);
    const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
    expect(declared.map((parameter) => parameter.name).sort()).toEqual([...in_path].sort());
    expect(declared.every((parameter) => parameter.required)).toBe(true);
    if (method === 'get' || method === 'delete') expect(operation.requestBody).toBeUndefined();
  });

  test('documents one success, and 401, 403 and 500 with the error envelope', () => {
    const statuses = Object.keys(operation.responses);
    // Where the same call again is answered with what it got, that answer is described too.
    const repeats = operations.some(({ name, isReplay }) => name === operation.operationId && isReplay);
    expect(statuses.filter((status) => status.startsWith('2'))).toHaveLength(repeats ? 2 : 1);
    // What needs no credential refuses none.
    const open = operations.some(
      ({ name, audience, errors }) =>
        name === operation.operationId &&
        audience.kind === 'public' &&
        !errors.some((code) => codes[code].status === 401),
    );
    expect(statuses).toEqual(expect.arrayContaining(open ? ['500'] : ['401', '403', '500']));
    if (open) expect(statuses).not.toContain('401');
    // Of an image that is not there an image says so.
    const is_image = operation.responses['200']?.content?.['image/svg+xml'] !== undefined;
    for (const status of statuses.filter((status) => Number(status) >= 400)) {
      if (is_image && status === '404') continue;
      expect(operation.responses[status]?.content?.['application/json']?.schema).toEqual({
        $ref: `#/components/schemas/${path.startsWith('/v1/messages') ? 'MessagesError' : 'Refusal'}`,
      });
    }
  });
});

test.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s has an example that its own schema accepts',
  (_name, operation) => {
    expect(operation.example).toBeDefined();
    const check = Compile(operation.output);
    expect(check.Errors(operation.example as never)).toEqual([]);
  },
);

test('every error code has its place on the page that doc_url names', async () => {
  const page = await harness.call('GET', '/docs/errors');
  expect(page.statusCode).toBe(200);
  const places = [...page.body.matchAll(/<section id="(\w+)">/g)].map((match) => match[1]);
  expect(places.sort()).toEqual(Object.keys(codes).sort());
  for (const path of ['/v1/credits', '/v1/messages']) {
    const { code, doc_url } = (await harness.call('GET', path)).json().error;
    expect(doc_url).toBe(`http://127.0.0.1:8080/docs/errors#${code}`);
    expect(places).toContain(code);
  }
});

test('the gateway serves the document and a reference that loads nothing from elsewhere', async () => {
  const served = await harness.call('GET', '/openapi.json');
  expect(served.statusCode).toBe(200);
  expect(served.json()).toEqual(JSON.parse(JSON.stringify(document)));
  const page = await harness.call('GET', '/docs');
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
  expect(assets.length).toBeGreaterThan(2);
  for (const asset of assets) {
    expect(asset).toMatch(/^\/\w/);
    expect([asset, (await harness.call('GET', asset)).statusCode]).toEqual([asset, 200]);
  }
});

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: object;
}

/** Every object with members and every choice of words, with where it stands; data of examples is none. */
function* shapesOf(node: unknown, at: string): Generator<{ at: string; text: string }> {
  if (node === null || typeof node !== 'object') return;
  const { type, enum: words, properties } = node as Schema;
  const is_shape = type === 'object' && Object.keys(properties ?? {}).length > 1;
  const is_choice = (words?.length ?? 0) > 1;
  if (is_shape || is_choice) yield { at, text: JSON.stringify(node) };
  for (const [name, member] of Object.entries(node)) {
    if (name !== 'example' && name !== 'examples') yield* shapesOf(member, `${at}/${name}`);
  }
}

test('a shape that stands twice has a name, and so have the bodies of requests and answers', () => {
  const places = new Map<string, string[]>();
  for (const { at, text } of shapesOf({ described, schemas: document.components.schemas }, '')) {
    // Two formats may have a shape in common under a name each.
    if (/^\/schemas\/\w+$/.test(at)) continue;
    places.set(text, [...(places.get(text) ?? []), at]);
  }
  expect([...places.values()].filter((ats) => ats.length > 1)).toEqual([]);
  for (const { operation } of described) {
    const answer = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
    for (const content of [answer?.content, operation.requestBody?.content]) {
      const schema = content?.['application/json']?.schema ?? { $ref: '' };
      expect([operation.operationId, Object.keys(schema)]).toEqual([operation.operationId, ['$ref']]);
    }
  }
});

test('every chapter is described, and every body of a request has an example that its schema accepts', () => {
  const { tags } = document;
  const used = new Set(described.flatMap(({ operation }) => operation.tags));
  expect([...used].sort()).toEqual(tags.map(({ name }) => name).sort());
  for (const { description } of tags) expect(description).toMatch(/\.$/);
  for (const { operationId, requestBody } of described.map((item) => item.operation)) {
    const content = requestBody?.content['application/json'];
    const given = content?.example === undefined ? content?.examples : { one: { value: content.example } };
    expect([operationId, content === undefined || given !== undefined]).toEqual([operationId, true]);
    for (const { value } of Object.values(given ?? {})) {
      const [, faults] = checkOf(content?.schema ?? false).Errors(value);
      expect([operationId, faults]).toEqual([operationId, []]);
    }
  }
});
