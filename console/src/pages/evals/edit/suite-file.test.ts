import { expect, test } from 'vitest';
import { type CaseInput, caseAt, partsOf, readSuiteFile } from './suite-file.ts';

const one = (id: string, content = 'Hi') => ({
  id,
  input: { messages: [{ role: 'user', content }] },
  grader: { kind: 'json_schema', ignore_case: true, full_match: false, schema: { ignore_case: 1 } },
  weight: 2,
});
const read = (value: unknown) => readSuiteFile(JSON.stringify(value), 'capitals.json');

test('a suite is read with the names of GraphQL, and its schemas stay as they are', () => {
  expect(read({ name: '', cases: [one('a')] })).toEqual({
    suite: {
      name: 'capitals',
      cases: [
        {
          ...one('a'),
          grader: { kind: 'JSON_SCHEMA', ignoreCase: true, fullMatch: false, schema: { ignore_case: 1 } },
        },
      ],
    },
  });
});

test.each<[string, string, RegExp]>([
  ['no JSON', 'prompts: [x]', /not JSON/],
  ['another format', '{"prompts": []}', /no list “cases”/],
  ['no case', '{"cases": []}', /no case/],
  ['too many', JSON.stringify({ cases: Array.from({ length: 5_001 }, () => one('a')) }), /5,000 at most/],
  ['a case without a grader', '{"cases": [{"input": {}}]}', /Case 1 has no input or no grader/],
  [
    'a case beyond one request',
    JSON.stringify({ cases: [one('big', 'x'.repeat(250_000))] }),
    /Case big is too large/,
  ],
])('%s is refused with a sentence', (_name, text, words) => {
  const result = readSuiteFile(text, 'x.json');
  expect('fault' in result ? result.fault : '').toMatch(words);
});

test('parts hold every case once, in order, and none is beyond what a request carries', () => {
  const cases = Array.from({ length: 950 }, (_, n) => one(`n${n}`, 'ä'.repeat(n % 7 === 0 ? 20_000 : 5)));
  const parts = partsOf(cases as unknown as CaseInput[]);
  expect(parts.flat()).toEqual(cases);
  for (const part of parts) {
    expect(part.length).toBeLessThanOrEqual(200);
    expect(new TextEncoder().encode(JSON.stringify(part)).length).toBeLessThan(256 * 1024 - 20_000);
  }
});

test('a fault of a part is told by the name of its case', () => {
  const part = [one('a'), { ...one('b'), id: undefined }] as unknown as CaseInput[];
  expect(caseAt(part, 'input.cases.0.grader.pattern', 200)).toBe('a');
  expect(caseAt(part, 'input.cases.1.id', 200)).toBe('202');
  expect(caseAt(part, 'input.name', 200)).toBeNull();
});
