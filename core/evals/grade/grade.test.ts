// Every rule of the graders, by a text that just passes and one that just does not.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { graderFault } from './check.ts';
import { gradeText } from './grade.ts';
import type { Grader } from './types.ts';

type Row = readonly [what: string, grader: Grader, text: string, score: number];

const exact = (more: Partial<Grader> = {}): Grader => ({ kind: 'exact', expected: 'Yes', ...more });
const contains = (more: Partial<Grader> = {}): Grader => ({
  ...{ kind: 'contains', expected: ['red', 'blue', 'green', 'teal'] },
  ...more,
});
const regex = (pattern: string, more: Partial<Grader> = {}): Grader => ({ kind: 'regex', pattern, ...more });
const numeric = (expected: number | string, more: Partial<Grader> = {}): Grader => ({
  ...{ kind: 'numeric', expected },
  ...more,
});
const schema = (of: Record<string, unknown>): Grader => ({ kind: 'json_schema', schema: of });
const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name'],
  additionalProperties: false,
};

const rows: readonly Row[] = [
  ['white space around is cut', exact(), ' Yes\n', 1],
  ['… unless trim is false', exact({ trim: false }), 'Yes ', 0],
  ['case counts', exact(), 'yes', 0],
  ['… unless it is ignored', exact({ ignore_case: true }), 'yEs', 1],
  ['one of a list is enough', exact({ expected: ['No', 'Yes'] }), 'Yes', 1],
  ['a part is not the whole', exact(), 'Yes.', 0],
  ['CRLF is LF', exact({ expected: 'a\nb' }), 'a\r\nb', 1],
  ['characters are composed', exact({ expected: 'é' }), 'e\u0301', 1],
  ['all: every one', contains(), 'red blue green teal', 1],
  ['all: the share that is there', contains(), 'red and blue', 0.5],
  ['any: one', contains({ mode: 'any' }), 'teal', 1],
  ['any: none', contains({ mode: 'any' }), 'black', 0],
  ['none: none', contains({ mode: 'none' }), 'black', 1],
  ['none: one is too many', contains({ mode: 'none' }), 'a red one', 0],
  ['contains: case is ignored when asked', contains({ expected: 'RED', ignore_case: true }), 'red', 1],
  ['regex: somewhere', regex('b+'), 'abbc', 1],
  ['regex: the whole', regex('b+', { full_match: true }), 'abbc', 0],
  ['regex: the whole it is', regex('a.*c', { full_match: true }), 'abbc', 1],
  ['regex: i', regex('ABC', { flags: 'i' }), 'abc', 1],
  ['regex: without m, ^ is the start', regex('^b'), 'a\nb', 0],
  ['regex: with m, a line', regex('^b', { flags: 'm' }), 'a\nb', 1],
  ['regex: without s, a dot is no line end', regex('a.b'), 'a\nb', 0],
  ['regex: with s it is', regex('a.b', { flags: 's' }), 'a\nb', 1],
  ['schema: the whole text', schema(PERSON), '{"name":"Ada","age":36}', 1],
  ['schema: the only block', schema(PERSON), 'Here:\n```json\n{"name":"Ada"}\n```\nDone.', 1],
  ['schema: of two blocks none', schema(PERSON), '```json\n{"name":"A"}\n```\n```json\n{"name":"B"}\n```', 0],
  ['schema: no JSON', schema(PERSON), 'Ada', 0],
  ['schema: a member is missing', schema(PERSON), '{"age":3}', 0],
  ['schema: a member too many', schema(PERSON), '{"name":"A","x":1}', 0],
  ['numeric: the last', numeric(42), 'between 7 and 42', 1],
  ['numeric: the first', numeric(7, { pick: 'first' }), 'between 7 and 42', 1],
  ['numeric: commas are dropped', numeric(1234567.5), 'It is 1,234,567.50 in all', 1],
  ['numeric: signs and exponents', numeric('-0.0015'), 'x = -1.5e-3', 1],
  ['numeric: decimal, not binary', numeric('0.3', { abs: '0' }), '0.30', 1],
  ['numeric: abs at its edge', numeric('10', { abs: '0.1' }), '10.1', 1],
  ['numeric: abs beyond its edge', numeric('10', { abs: '0.1' }), '10.1000000000000000001', 0],
  ['numeric: rel at its edge', numeric('-200', { rel: '0.05' }), '-210', 1],
  ['numeric: rel beyond its edge', numeric('-200', { rel: '0.05' }), '-210.01', 0],
  ['numeric: the larger of both', numeric('1', { abs: '0.5', rel: '0.01' }), '1.5', 1],
  ['numeric: no number', numeric(1), 'one', 0],
  ['numeric: an absurd exponent is no number', numeric(1), '1e999999999', 0],
];

test.each(rows)('%s', (_what, grader, text, score) => {
  expect(graderFault(grader, 'g')).toBe(null);
  const verdict = gradeText(grader, text);
  expect(verdict.score).toBe(score);
  expect(verdict.passed).toBe(score === 1);
});

describe('a grader is refused with the path of what is wrong', () => {
  const faults: readonly (readonly [Record<string, unknown>, string, string])[] = [
    [{ kind: 'exact' }, 'g.expected', 'missing'],
    [{ kind: 'exact', expected: 3 }, 'g.expected', 'type'],
    [{ kind: 'exact', expected: 'a', pattern: 'b' }, 'g.pattern', 'unknown'],
    [{ kind: 'regex', pattern: '(?=a)' }, 'g.pattern', 'format'],
    [{ kind: 'regex', pattern: '(a{1,900}){3}' }, 'g.pattern', 'format'],
    [{ kind: 'numeric', expected: 'ten' }, 'g.expected', 'format'],
    [{ kind: 'numeric', expected: 1, rel: -1 }, 'g.rel', 'range'],
    [{ kind: 'json_schema', schema: { $ref: 'https://example.com/a' } }, 'g.schema.$ref', 'format'],
    [{ kind: 'json_schema', schema: { items: { $ref: '#/$defs/no' } } }, 'g.schema.items.$ref', 'format'],
    [{ kind: 'json_schema', schema: { unevaluatedItems: false } }, 'g.schema.unevaluatedItems', 'format'],
    [
      { kind: 'json_schema', schema: { properties: { a: { pattern: '(' } } } },
      'g.schema.properties.a.pattern',
      'format',
    ],
    [{ kind: 'judge', rubric: 'r', scale: 3, threshold: 4 }, 'g.threshold', 'range'],
  ];
  test.each(faults)('%j', (grader, param, reason) => {
    expect(graderFault(grader as unknown as Grader, 'g')).toMatchObject({ param, reason });
  });
});

test('a schema that costs without end is given up, and the answer fails', () => {
  const loop = schema({ $ref: '#' });
  expect(gradeText(loop, '1')).toMatchObject({ passed: false });
  const doubling: Record<string, unknown> = { $defs: { a0: { type: 'integer' } }, $ref: '#/$defs/a30' };
  for (let i = 1; i <= 30; i++) {
    const ref = { $ref: `#/$defs/a${i - 1}` };
    (doubling['$defs'] as Record<string, unknown>)[`a${i}`] = { allOf: [ref, ref] };
  }
  const started = performance.now();
  expect(gradeText(schema(doubling), '1')).toMatchObject({ passed: false });
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('a pattern that takes a backtracking engine for ever is done at once', () => {
  const started = performance.now();
  const hostile = { properties: { a: { pattern: '^(a+)+$' } } };
  expect(gradeText(regex('^(a+)+$'), `${'a'.repeat(5_000)}b`).passed).toBe(false);
  expect(gradeText(schema(hostile), JSON.stringify({ a: `${'a'.repeat(5_000)}b` })).passed).toBe(false);
  expect(performance.now() - started).toBeLessThan(2_000);
});

describe('for any text', () => {
  test('exact: a text is its own answer, with any white space around', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', '\n', '\t '), (text, around) => {
        expect(gradeText(exact({ expected: text }), around + text + around).passed).toBe(true);
      }),
    );
  });

  test('contains: `any` and `none` are opposites, and `all` is 1 exactly when every text is there', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), fc.string(), (expected, text) => {
        const of = (mode: 'all' | 'any' | 'none') => gradeText(contains({ expected, mode }), text);
        expect(of('any').passed).toBe(!of('none').passed);
        expect(of('all').passed).toBe(of('all').score === 1);
      }),
    );
  });

  test('numeric: an integer within abs passes, one beyond does not', () => {
    const n = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(n, n, fc.nat(1_000), (expected, given, abs) => {
        const grader = numeric(expected, { abs });
        const text = given.toLocaleString('en-US');
        expect(gradeText(grader, `so ${text}`).passed).toBe(Math.abs(given - expected) <= abs);
      }),
    );
  });

  test('no text and no value makes a grader throw', () => {
    const all = [exact(), contains(), regex('a|b*'), numeric('1e3', { rel: '0.1' }), schema(PERSON)];
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        for (const grader of all) {
          const { score } = gradeText(grader, text);
          expect(score >= 0 && score <= 1).toBe(true);
        }
      }),
      { numRuns: 40 },
    );
  });
});
