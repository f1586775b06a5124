// Each rule once, with the schema that it belongs to. Callers turn a fault into a message in their own words.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { pathText, type SchemaFault, schemaFaults } from './faults.ts';

const Thing = Type.Object(
  {
    name: Type.String({ minLength: 2, maxLength: 4, pattern: '^[a-z]+$' }),
    kind: Type.Enum(['a', 'b']),
    on: Type.Literal('yes'),
    at: Type.String({ format: 'date-time' }),
    count: Type.Integer({ minimum: 1, maximum: 3 }),
    tags: Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true }),
    more: Type.Record(Type.String(), Type.Integer()),
    either: Type.Union([Type.String(), Type.Integer()]),
    maybe: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);

const right = {
  name: 'abc',
  kind: 'a',
  on: 'yes',
  at: '2026-01-02T03:04:05Z',
  count: 2,
  tags: ['x'],
  more: { x: 1 },
  either: 1,
  maybe: null,
};

const reported = (faults: readonly SchemaFault[]) =>
  faults.map(({ steps, rule }) => `${pathText(steps)} ${rule}`);
const ruled = (value: unknown) => reported(schemaFaults(Thing, value, { most: 20 }));

test('a value that fits its schema has no fault', () => {
  expect(ruled(right)).toEqual([]);
});

test.each<[string, Record<string, unknown>]>([
  ['name type', { name: 1 }],
  ['name null', { name: null }],
  ['name length', { name: 'a' }],
  ['name pattern', { name: 'AB' }],
  ['kind enum', { kind: 'c' }],
  ['on const', { on: 'no' }],
  ['at format', { at: 'yesterday' }],
  ['count range', { count: 4 }],
  ['count type', { count: 1.5 }],
  ['tags count', { tags: [] }],
  ['tags unique', { tags: ['x', 'x'] }],
  ['tags[0] type', { tags: [1] }],
  ['more.x type', { more: { x: 'one' } }],
  ['either forms', { either: true }],
  ['other unknown', { other: 1 }],
])('%s', (wanted, change) => {
  expect(ruled({ ...right, ...change })).toEqual([wanted]);
});

test('a missing member is reported with its own schema, and faults come in the order of the value', () => {
  const { name: _, ...rest } = right;
  const found = schemaFaults(Thing, { zzz: 1, ...rest, count: 9 }, { most: 20 });
  expect(reported(found)).toEqual(['name missing', 'zzz unknown', 'count range']);
  expect(found[0]?.schema.minLength).toBe(2);
});

test('the walk stops after the number of faults that the caller wants', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, i]));
  expect(schemaFaults(Thing, { ...right, ...many }, { most: 5 })).toHaveLength(5);
});

test("the caller's own rules refuse a declared member unread, and check whole objects", () => {
  const found = schemaFaults(
    Thing,
    { ...right, name: 1 },
    {
      most: 20,
      member: (name) => (name === 'name' ? 'kept for later' : null),
      object: (value) => ('kind' in value ? { at: 'kind', message: 'not beside a name' } : null),
    },
  );
  expect(found.map(({ message }) => message)).toEqual(['kept for later', 'not beside a name']);
});
