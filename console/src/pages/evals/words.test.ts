import { expect, test } from 'vitest';
import {
  askedText,
  dollarsOf,
  graderText,
  markOfRun,
  microOf,
  modelsIn,
  reasonText,
  scoreText,
  verdictOf,
} from './words.ts';

test('a run says why it did not come to its end, and while it ends', () => {
  const word = (status: Parameters<typeof markOfRun>[0]['status'], stopReason = '') =>
    markOfRun({ status, stopReason }).word;
  expect(word('COMPLETED')).toBe('completed');
  expect(word('STOPPED', 'budget')).toBe('stopped: budget spent');
  expect(word('STOPPED', 'credits')).toBe('stopped: out of credit');
  expect(word('RUNNING')).toBe('running');
  expect(word('RUNNING', 'cancelled')).toBe('ending');
  expect(word('PENDING')).toBe('waiting');
});

test('a budget is read and written to the micro-dollar, without floats', () => {
  expect(microOf('0.5')).toBe('500000');
  expect(microOf(' $12 ')).toBe('12000000');
  expect(microOf('0.000001')).toBe('1');
  for (const wrong of ['', '0', '-1', '1,5', '1e3', '0.0000001', 'ten']) expect(microOf(wrong)).toBe(null);
  expect(dollarsOf('7')).toBe('0.000007');
  expect(microOf(dollarsOf('123456789'))).toBe('123456789');
});

test('models are named one a line or between commas, each once', () => {
  expect(modelsIn(' a/b, c/d\n\na/b ')).toEqual(['a/b', 'c/d']);
});

test('a verdict never claims more than the test does', () => {
  expect(verdictOf({ decision: 'CANNOT_TELL', cases: 1, changed: 0 })).toBe('One cannot tell over 1 case.');
  expect(verdictOf({ decision: 'WORSE', cases: 30, changed: 2 })).toBe(
    'Worse, over 30 cases. 2 cases changed since and left out.',
  );
});

test('cases, grades and scores are told in words', () => {
  const input = { messages: [{ content: [{ type: 'text', text: 'What is' }, { type: 'image' }] }] };
  expect(askedText({ input: input as never })).toBe('What is [image]');
  expect(graderText({ grader: { kind: 'CONTAINS', expected: ['a', 'b'], mode: 'any' } as never })).toBe(
    'contains any of: a, b',
  );
  expect(reasonText({ errorCode: '', graderDetail: { reason: 'It is rude.', score: 2 } })).toBe(
    'It is rude.',
  );
  expect(reasonText({ errorCode: '', graderDetail: { found: '7' } })).toBe('found: 7');
  expect(scoreText(2 / 3)).toBe('0.667');
  expect(scoreText(null)).toBe('–');
});
