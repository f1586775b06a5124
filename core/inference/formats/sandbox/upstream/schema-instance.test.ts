import fc from 'fast-check';
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { smallestInstance } from './schema-instance.ts';

const cases: [string, Record<string, unknown>, string][] = [
  ['an object without required members', { type: 'object', properties: { a: { type: 'string' } } }, '{}'],
  [
    'required members in schema order',
    {
      type: 'object',
      properties: { b: { type: 'boolean' }, a: { type: 'integer' }, c: {} },
      required: ['a', 'b'],
    },
    '{"b":false,"a":0}',
  ],
  ['bounds of numbers', { type: 'integer', minimum: 3, multipleOf: 5 }, '5'],
  ['exclusive bounds', { type: 'number', exclusiveMaximum: -2 }, '-3'],
  ['minItems', { type: 'array', items: { type: 'string', minLength: 2 }, minItems: 2 }, '["aa","aa"]'],
  ['prefixItems', { type: 'array', prefixItems: [{ const: 1 }, { const: 'x' }], minItems: 2 }, '[1,"x"]'],
  ['null where it is allowed', { type: ['string', 'null'] }, 'null'],
  ['a nullable union', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'null'],
  ['the first branch of a union', { oneOf: [{ const: 'a' }, { const: 'b' }] }, '"a"'],
  ['an enum', { enum: ['x', 'y'] }, '"x"'],
  [
    'allOf, merged',
    {
      allOf: [
        { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
        { properties: { b: { const: 2 } }, required: ['b'] },
      ],
    },
    '{"a":1,"b":2}',
  ],
  [
    'references',
    {
      $ref: '#/$defs/p',
      $defs: {
        p: { type: 'object', properties: { x: { $ref: '#/$defs/n' } }, required: ['x'] },
        n: { type: 'number', minimum: 1.5 },
      },
    },
    '{"x":1.5}',
  ],
  ['known formats', { type: 'string', format: 'date' }, '"2000-01-01"'],
];

test.each(cases)('the smallest instance of %s is valid', (_name, schema, expected) => {
  const instance = smallestInstance(schema);
  expect(JSON.stringify(instance)).toBe(expected);
  expect(Schema.Check(schema as never, instance)).toBe(true);
});

test('schemas that refer to themselves, or multiply, end soon', () => {
  const self = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
  expect(JSON.stringify(smallestInstance(self)).length).toBeLessThan(2_000);
  const wide = { type: 'array', minItems: 1_000, items: { $ref: '#' } };
  expect(JSON.stringify(smallestInstance(wide)).length).toBeLessThan(200_000);
  const unions = { allOf: [{ $ref: '#' }, { $ref: '#' }] };
  expect(smallestInstance(unions)).not.toBeUndefined();
});

test.each([
  null,
  5,
  'x',
  [],
  { $ref: '#/nowhere' },
  { $ref: 'https://example.com/s' },
  { type: 'array', minItems: -1 },
  { type: 'string', format: { toString: 1, valueOf: 1 } },
])('a schema that makes no sense (%j) gives some JSON', (schema) => {
  expect(JSON.stringify(smallestInstance(schema))).toBeDefined();
});

test('any schema of known words and odd values gives JSON text', () => {
  const words = [
    'type',
    'enum',
    'format',
    'items',
    'properties',
    'required',
    'anyOf',
    'allOf',
    'minItems',
    'minimum',
  ];
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(
      'object',
      'array',
      'string',
      'integer',
      'constructor',
      '__proto__',
      [],
      {},
      -1,
      1e308,
      0.1,
    ),
  );
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.dictionary(
      fc.constantFrom(...words, 'const', '$ref', 'prefixItems', 'minLength', 'multipleOf'),
      fc.oneof({ depthSize: 'small' }, odd, tie('schema'), fc.array(tie('schema'), { maxLength: 3 })),
      // To draw larger ones takes seconds, and they hold no more than these do.
      { maxKeys: 5 },
    ),
  }));
  fc.assert(
    fc.property(schema, (value) => {
      expect(JSON.stringify(smallestInstance(value))).toBeTypeOf('string');
    }),
    { numRuns: 500 },
  );
});
