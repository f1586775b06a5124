import { expect, test } from 'vitest';
import { standing } from './standing.ts';

const calls = (...counts: [Parameters<typeof standing>[1][number]['status'], number][]) =>
  counts.flatMap(([status, count]) => Array.from({ length: count }, () => ({ status })));

test('all is well only where every call was answered', () => {
  expect(standing('5000000', calls(['OK', 30]))).toEqual({
    tone: 'ok',
    text: 'All of the last 20 calls were answered.',
  });
  expect(standing(null, calls(['OK', 1])).text).toBe('The last call was answered.');
  expect(standing('1', calls(['OK', 4], ['CANCELLED', 2])).text).toBe('4 of the last 6 calls were answered.');
  expect(standing('1', calls(['CANCELLED', 2])).tone).toBe('mute');
  expect(standing('1', [])).toEqual({ tone: 'mute', text: 'No call has arrived yet.' });
});

test('nothing is well without credit, whatever the last calls were', () => {
  for (const available of ['0', '-1']) {
    expect(standing(available, calls(['OK', 20])).text).toBe('No credit is left, so calls are refused.');
  }
});

test('calls that failed and calls that were refused are both counted, and named apart', () => {
  expect(standing('1', calls(['ERROR', 3], ['OK', 17]))).toEqual({
    tone: 'warn',
    text: '3 of the last 20 calls failed.',
    status: 'error',
  });
  expect(standing('1', calls(['REJECTED', 20]))).toEqual({
    tone: 'bad',
    text: 'All of the last 20 calls were refused.',
    status: 'rejected',
  });
  expect(standing('1', calls(['ERROR', 1], ['REJECTED', 1], ['OK', 2])).text).toBe(
    '1 of the last 4 calls failed, 1 of the last 4 calls was refused.',
  );
  expect(standing('1', calls(['ERROR', 1])).text).toBe('The last call failed.');
});
