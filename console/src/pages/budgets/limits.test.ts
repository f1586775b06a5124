import { expect, test } from 'vitest';
import { holds, limitChanges, newOrgText, requestOf } from './limits.ts';

test('the smallest of key, project and plan holds, and no bound is none', () => {
  expect([holds(10, 300), holds(400, 300), holds(null, 300), holds(5, null), holds(null, null)]).toEqual([
    ...[10, 300, 300, 5, null],
  ]);
  expect([holds(50, 20, 300), holds(null, 20, null), holds(null, undefined, 7)]).toEqual([20, 20, 7]);
});

test('of the limits of a project only what was changed is sent, null where one is emptied', () => {
  const now = { rpm: 60, tpm: null, concurrency: 4 };
  const same = { rpm: '60', tpm: '', concurrency: '4' };
  expect(limitChanges(now, same)).toEqual({ faults: {}, changes: {} });
  expect(limitChanges(now, { ...same, rpm: '', tpm: '9,000' }).changes).toEqual({ rpm: null, tpm: 9_000 });
  expect(Object.keys(limitChanges(now, { ...same, rpm: '0', tpm: 'x' }).faults)).toEqual(['rpm', 'tpm']);
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

test('what bounds a new organization is said with what lifts it, and nothing of one that has no such limit', () => {
  expect(newOrgText({ rpm: 20, keysPerHour: 20 })).toBe(
    'Until the first top-up is paid, all live keys together can make 20 calls a minute. 20 keys can be created in an hour.',
  );
  expect(newOrgText({ rpm: null, keysPerHour: 1 })).toBe('1 key can be created in an hour.');
  expect(newOrgText({ rpm: null, keysPerHour: null })).toBe('');
});
