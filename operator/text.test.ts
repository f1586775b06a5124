// The canonical text reads back as what it was made of, and equal policies have equal text.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { canonicalText, sameData, yamlText } from './text.ts';

const awkward = fc.constantFrom(
  ...[
    '',
    ' ',
    'true',
    'No',
    'null',
    '~',
    '1e3',
    '0x10',
    '.5',
    '-',
    '- a',
    'a: b',
    'a #b',
    '#',
    '"',
    "'",
    '\\',
  ],
  ...[
    'acme/*',
    '*',
    '&a',
    '!a',
    '%a',
    '@a',
    '[',
    '{',
    '09:00',
    '2026-01-01',
    '\u2028',
    '\u0085',
    '\x7f',
    '\ufeff',
  ],
);
const text = fc.oneof(awkward, fc.string({ unit: 'binary' }), fc.string());
const key = fc.oneof(awkward, fc.string()).filter((name) => name !== '__proto__');
const { value } = fc.letrec<{ value: unknown; list: unknown[]; map: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
    fc.constant(null),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));
const policy = fc.dictionary(fc.constantFrom('rules', 'defaults', 'sort', 'description'), value, {
  noNullPrototype: true,
});

/** The same value with the keys of every object the other way round. */
function reversed(one: unknown): unknown {
  if (Array.isArray(one)) return one.map(reversed);
  if (one === null || typeof one !== 'object') return one;
  return Object.fromEntries(
    Object.entries(one)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

test('any value reads back as it was, in the language that policies are read in', () => {
  const options = { version: '1.2', schema: 'core', strict: true, uniqueKeys: true } as const;
  fc.assert(
    fc.property(policy, (one) => {
      expect(parse(canonicalText('main', one), options)).toEqual({ version: 1, policy: 'main', ...one });
    }),
    { numRuns: 1_000 },
  );
});

test('the order of keys changes nothing', () => {
  fc.assert(
    fc.property(policy, (one) => {
      expect(canonicalText('main', reversed(one) as object)).toBe(canonicalText('main', one));
      expect(sameData(one, reversed(one))).toBe(true);
    }),
  );
});

test('a policy is text that people can read', () => {
  const rules = [
    { name: 'long', match: { models: ['acme/*'], input_tokens: { min: 200_000 } }, sort: 'price' },
  ];
  expect(canonicalText('agents', { rules, defaults: { lock: [], sort: 'balanced' } })).toBe(
    [
      ...['version: 1', 'policy: agents', 'defaults:', '  lock: []', '  sort: balanced', 'rules:'],
      ...['- match:', '    input_tokens:', '      min: 200000', '    models:', '    - "acme/*"'],
      ...['  name: long', '  sort: price', ''],
    ].join('\n'),
  );
  expect(yamlText({ a: [[1, { b: 2 }], []], c: {} })).toBe('a:\n- - 1\n  - b: 2\n- []\nc: {}\n');
});
