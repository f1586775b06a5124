// A format's shape and its reader say the same: what the shape allows is read, what it forbids is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JsonObject, ServiceError } from '../../kernel/index.ts';
import { builtIn } from './index.ts';
import { documentedFamilies } from './native/caller/part-shapes.ts';
import { wiresOf } from './native/caller/wires.ts';
import { callShapes } from './shapes.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

/** Texts that fit the patterns of shapes: addresses of media, and base64. */
const fitting = ['https://example.com/a.png', 'data:image/png;base64,AAAA', 'AAAA', 'image/png'];

function texts({ pattern, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (pattern === undefined) return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 40) });
  return fc.constantFrom(...fitting.filter((one) => new RegExp(pattern).test(one)));
}

function objects(schema: Schema): fc.Arbitrary<unknown> {
  const { properties, required = [] } = schema;
  if (properties === undefined) {
    const { patternProperties = {}, additionalProperties } = schema;
    const [pattern] = Object.values(patternProperties);
    const member = pattern ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valuesOf(member ?? {}), { maxKeys: 3 });
  }
  const model = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, valuesOf(member)]),
  );
  return fc.record(model, { requiredKeys: [...required] });
}

/** Values that `schema` allows. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000_000, max: schema.maximum ?? 1_000_000 });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const { minItems = 0, maxItems = 3 } = schema;
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: minItems,
        maxLength: Math.min(maxItems, minItems + 2),
      });
    }
    case 'object':
      return objects(schema);
    default:
      return fc.constantFrom(1, 'a', true, null);
  }
}

/** The forms that `schema` has, those of its forms too. */
function formsOf(schema: Schema): Schema[] {
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(formsOf);
}

/** A value of a kind that none of the forms of `schema` has, or beyond the bounds of its numbers and lists. */
function forbidden(schema: Schema): unknown[] {
  const forms = formsOf(schema);
  const kinds = new Set(forms.map((form) => (form.type === 'integer' ? 'number' : form.type)));
  const values: unknown[] = [];
  const others = { number: 7, boolean: true, string: '\u00a0 none of these', array: [], object: {} };
  for (const [kind, value] of Object.entries(others)) if (!kinds.has(kind)) values.push(value);
  const is_word = (form: Schema) => form.enum !== undefined || form.type === 'null';
  if (forms.every(is_word)) values.push(others.string);
  const limits = forms.filter((form) => form.type === 'integer' || form.type === 'number');
  for (const { type, minimum, maximum } of limits) {
    if (minimum !== undefined) values.push(minimum - 1);
    if (maximum !== undefined) values.push(maximum + 1);
    if (type === 'integer') values.push(1.5);
  }
  return values;
}

/** Members that hang together with others, of which a single one says too little or too much. */
const together: Readonly<Record<string, string>> = {
  top_logprobs: 'needs logprobs',
  best_of: 'at least n',
  reasoning: 'effort, mode and budget may contradict each other',
  include: 'its words are looked up',
  input: 'calls and results go together',
  messages: 'calls and results go together',
  provider_options: 'names of a provider’s members are looked up',
  svc: 'provider options are looked up',
  max_tokens: 'agrees with its newer name',
  max_completion_tokens: 'agrees with its older name',
  top_n: 'at most the documents',
  inference_geo: 'a region',
  tools: 'the payload of a provider’s tool has a name',
};

const read = (path: string, body: JsonObject): string | null => {
  try {
    builtIn.dialects.get(path)?.read(body, {});
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${error.param}: ${error.message}`;
    throw error;
  }
};

const routes = [...callShapes].filter(([path]) => builtIn.dialects.has(path));

describe.each(routes)('%s', (path, shape) => {
  const { properties = {} } = shape.body as unknown as Schema;
  const minimal = Object.values(shape.examples.request)[0] as JsonObject;

  test('reads each of its examples', () => {
    for (const body of Object.values(shape.examples.request)) expect(read(path, body)).toBeNull();
  });

  test('reads what its shape allows, member by member', () => {
    const members = Object.entries(properties).filter(([name]) => !Object.hasOwn(together, name));
    expect(members.length).toBeGreaterThan(3);
    for (const [name, schema] of members) {
      fc.assert(
        fc.property(valuesOf(schema), (value) => {
          expect([name, value, read(path, { ...minimal, [name]: value })]).toEqual([name, value, null]);
        }),
        { numRuns: 25, seed: 7 },
      );
    }
  });

  test('refuses what its shape forbids, member by member', () => {
    for (const [name, schema] of Object.entries(properties)) {
      for (const value of forbidden(schema)) {
        const refusal = read(path, { ...minimal, [name]: value });
        expect([name, value, refusal]).toEqual([
          name,
          value,
          expect.stringMatching(/^(?:invalid_request|unsupported_parameter) /),
        ]);
      }
    }
  });
});

test('the families that the document lists are those that a native caller may name', () => {
  expect([...documentedFamilies].sort()).toEqual(
    [...wiresOf([...builtIn.adapters.values()]).families].sort(),
  );
});
