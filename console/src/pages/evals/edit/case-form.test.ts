import { expect, test } from 'vitest';
import { type CaseShown, fieldOf, questionOf, readCase, typedOf, withMessages } from './case-form.ts';

const nothing = {
  ...{
    expected: null,
    trim: null,
    ignoreCase: null,
    mode: null,
    pattern: null,
    flags: null,
    fullMatch: null,
  },
  ...{ schema: null, abs: null, rel: null, pick: null, model: null, rubric: null, scale: null },
  ...{ threshold: null, reference: null },
};
const shown = (grader: Partial<CaseShown['grader']>, input: Partial<CaseShown['input']> = {}) =>
  ({
    ...{ id: 'one', weight: 1, tags: [] },
    input: {
      messages: [{ role: 'user', content: 'Say yes.' }],
      ...{ model: null, system: null, generation: null, tools: null },
      ...input,
    },
    grader: { ...nothing, kind: 'EXACT', ...grader },
  }) as unknown as CaseShown;

test.each<[string, CaseShown, object]>([
  ['one answer', shown({ expected: 'yes' }), { kind: 'EXACT', expected: 'yes' }],
  [
    'several',
    shown({ expected: ['yes', 'ja'], trim: false }),
    { kind: 'EXACT', expected: ['yes', 'ja'], trim: false },
  ],
  ['one with a line break', shown({ expected: 'a\nb' }), { kind: 'EXACT', expected: 'a\nb' }],
  ['one with a bracket', shown({ expected: '[1]' }), { kind: 'EXACT', expected: '[1]' }],
  [
    'parts',
    shown({ kind: 'CONTAINS', expected: ['a', 'b'], mode: 'any', ignoreCase: true }),
    { kind: 'CONTAINS', expected: ['a', 'b'], mode: 'any', ignoreCase: true },
  ],
  [
    'a pattern',
    shown({ kind: 'REGEX', pattern: '^a b$ ', flags: 'i', fullMatch: true }),
    { kind: 'REGEX', pattern: '^a b$ ', flags: 'i', fullMatch: true },
  ],
  [
    'a schema',
    shown({ kind: 'JSON_SCHEMA', schema: { type: 'object' } }),
    { kind: 'JSON_SCHEMA', schema: { type: 'object' } },
  ],
  [
    'a number',
    shown({ kind: 'NUMERIC', expected: '1.50', abs: '0.1', pick: 'first' }),
    { kind: 'NUMERIC', expected: '1.50', abs: '0.1', pick: 'first' },
  ],
  [
    'a judge',
    shown({ kind: 'JUDGE', rubric: 'Polite?', model: 'a/b', scale: 10, threshold: 7, reference: 'x' }),
    { kind: 'JUDGE', rubric: 'Polite?', model: 'a/b', scale: 10, threshold: 7, reference: 'x' },
  ],
])('a grader that is opened and saved is as it was: %s', (_name, of, grader) => {
  expect(readCase(typedOf(of), false).fields?.grader).toEqual(grader);
});

test('what is asked is a question where it is one, else JSON, and both come back as they were', () => {
  expect(questionOf([{ role: 'user', content: 'Hi' }])).toBe('Hi');
  for (const messages of [
    [{ role: 'system', content: 'Hi' }],
    [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    [{ role: 'user', content: 'Hi', name: 'a' }],
    [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Yes?' },
    ],
  ])
    expect(questionOf(messages)).toBeNull();
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Yes?' },
  ];
  const input = { messages, system: 'Be kind.', generation: { max_tokens: 8 }, tools: [{ name: 'f' }] };
  expect(readCase(typedOf(shown({ expected: 'x' }, input)), true).fields?.input).toEqual(input);
});

test('a question that is typed becomes JSON and back, and what is more than a question stays JSON', () => {
  const typed = { ...typedOf(null), question: 'Why?' };
  const json = withMessages(typed, true);
  expect(JSON.parse(json?.['messages'] ?? '')).toEqual([{ role: 'user', content: 'Why?' }]);
  expect(withMessages({ ...typed, ...json, question: '' }, false)?.['question']).toBe('Why?');
  for (const messages of ['', '{', '[{"role":"system","content":"x"}]'])
    expect(withMessages({ ...typed, messages }, false)).toBeNull();
});

test('each empty or wrong field is named, and nothing is read then', () => {
  const faults = (typed: object, as_json = false) =>
    Object.keys(readCase({ ...typedOf(null), ...typed }, as_json).faults ?? {}).sort();
  expect(faults({})).toEqual(['expected', 'question']);
  expect(faults({ kind: 'REGEX', question: 'x' })).toEqual(['pattern']);
  expect(faults({ kind: 'JSON_SCHEMA', question: 'x', schema: '[1]' })).toEqual(['schema']);
  expect(faults({ kind: 'JUDGE', question: 'x', rubric: 'r', scale: 'many' })).toEqual(['scale']);
  expect(faults({ question: 'x', expected: 'y', weight: '-1', generation: '{' })).toEqual([
    'generation',
    'weight',
  ]);
  expect(faults({ expected: 'y', messages: '' }, true)).toEqual(['messages']);
});

test('a fault of the API finds its field', () => {
  const found = (path: string, as_json = false) => fieldOf(path, as_json);
  expect(found('input.grader.pattern')).toBe('pattern');
  expect(found('input.grader.model')).toBe('judge');
  expect(found('input.cases.0.grader.schema.type')).toBe('schema');
  expect(found('input.cases.0.id')).toBe('id');
  expect(found('input.newId')).toBe('id');
  expect(found('input.input.messages.0.role')).toBe('question');
  expect(found('input.input.messages.0.role', true)).toBe('messages');
  expect(found('input.cases.0.input.generation.max_tokens')).toBe('generation');
  expect(found('input.expectedRevision')).toBeNull();
  expect(fieldOf(null, false)).toBeNull();
});
