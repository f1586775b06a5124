// The keywords of draft 2020-12, each by a value that fits and one that does not.
import { expect, test } from 'vitest';
import { faultsAgainst, isSame, type JsonSchema } from './schema-check.ts';

/** As text: an object with a member `then` is a promise to some. */
const BRANCHES = JSON.parse(
  '{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"maximum":5}}',
) as JsonSchema;

const rows: readonly (readonly [JsonSchema, readonly unknown[], readonly unknown[]])[] = [
  [true, [1, null], []],
  [false, [], [1, null]],
  [{ type: ['integer', 'null'] }, [1, 1.0, null], [1.5, '1', {}]],
  [{ enum: [{ a: 1, b: [2] }, 3] }, [{ b: [2], a: 1 }, 3], [{ a: 1 }, '3']],
  [{ const: null }, [null], [0]],
  [{ minimum: 1, exclusiveMaximum: 2, multipleOf: 0.1 }, [1, 1.3], [0.9, 2, 1.25]],
  [{ minLength: 1, maxLength: 2, pattern: '^.$' }, ['😀'], ['', 'ab']],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'integer' } }, [['a', 1, 2], []], [[1], ['a', 'b']]],
  [{ items: false, prefixItems: [true] }, [[1]], [[1, 2]]],
  [{ minItems: 1, maxItems: 2, uniqueItems: true }, [[1, '1']], [[], [1, 1], [1, 2, 3]]],
  [{ contains: { minimum: 5 }, minContains: 2, maxContains: 2 }, [[5, 6, 1]], [[5], [5, 6, 7]]],
  [{ required: ['a'], minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { b: 1 }, { a: 1, b: 2, c: 3 }]],
  [
    { patternProperties: { '^n_': { type: 'number' } }, additionalProperties: { type: 'string' } },
    [{ n_a: 1, b: 'x' }],
    [{ n_a: 'x' }, { b: 1 }],
  ],
  [{ propertyNames: { pattern: '^[a-z]+$' } }, [{ ab: 1 }], [{ A: 1 }]],
  [{ dependentRequired: { a: ['b'] } }, [{ a: 1, b: 1 }, { c: 1 }], [{ a: 1 }]],
  [{ dependentSchemas: { a: { required: ['b'] } } }, [{ a: 1, b: 1 }], [{ a: 1 }]],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 5], [4]],
  [{ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, [0, 3], [1.5]],
  [{ not: { type: 'string' } }, [1], ['a']],
  [BRANCHES, [20, 5], [15, 6]],
  [
    {
      $defs: { list: { properties: { next: { $ref: '#/$defs/list' }, v: { type: 'integer' } } } },
      $ref: '#/$defs/list',
    },
    [{ v: 1, next: { v: 2 } }],
    [{ v: 1, next: { v: 'x' } }],
  ],
  [
    { properties: { 'a/b~c': { $ref: '#/$defs/x~1y~0z' } }, $defs: { 'x/y~z': false } },
    [{}],
    [{ 'a/b~c': 1 }],
  ],
];

test.each(rows.map(([schema, good, bad]) => ({ schema, good, bad })))('$schema', ({ schema, good, bad }) => {
  for (const value of good) expect(faultsAgainst(schema, value), JSON.stringify(value)).toEqual([]);
  for (const value of bad)
    expect(faultsAgainst(schema, value).length, JSON.stringify(value)).toBeGreaterThan(0);
});

test('faults say where they are, and there are at most ten', () => {
  const schema = { type: 'object', properties: { a: { items: { type: 'integer' } } }, required: ['b'] };
  expect(faultsAgainst(schema, { a: [1, 'x'] })).toEqual([
    { path: '$.b', message: 'is missing' },
    { path: '$.a[1]', message: 'is string, not integer' },
  ]);
  expect(faultsAgainst({ items: false }, Array(50).fill(0))).toHaveLength(10);
});

test('the order of members does not make values differ, and the order of items does', () => {
  expect(isSame({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true);
  expect(isSame([1, 2], [2, 1])).toBe(false);
  expect(isSame({ a: undefined }, {})).toBe(false);
});
