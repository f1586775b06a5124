import { expect, test } from 'vitest';
import { holds, requestOf } from './limits.ts';

test('the tighter of key and plan holds, and no bound is none', () => {
  expect([holds(10, 300), holds(400, 300), holds(null, 300), holds(5, null), holds(null, null)]).toEqual([
    ...[10, 300, 300, 5, null],
  ]);
});

test('what is left empty is not asked for; nothing at all and what is no number are said at their fields', () => {
  expect(requestOf({ rpm: '1,200', tpm: '', concurrency: ' ' })).toEqual({
    faults: {},
    asked: { rpm: 1_200 },
  });
  expect(Object.keys(requestOf({ rpm: '', tpm: '', concurrency: '' }).faults)).toEqual(['rpm']);
  expect(Object.keys(requestOf({ rpm: '10', tpm: '0', concurrency: 'many' }).faults)).toEqual([
    'tpm',
    'concurrency',
  ]);
});
