import { expect, test } from 'vitest';
import { eventsText, metBy, standingOf } from './words.ts';

test('an attempt says its status, or why there is none', () => {
  expect(metBy({ code: 500, error: '' })).toBe('HTTP 500');
  expect(metBy({ code: 0, error: 'dns' })).toBe('the name does not resolve');
  expect(metBy({ code: 302, error: 'redirect' })).toBe(
    'HTTP 302: the answer was a redirect; give the final address',
  );
  expect(metBy({ code: 0, error: 'of a later release' })).toBe('no answer');
});

test('an endpoint that fails is not called well, and one that is off is off', () => {
  expect(standingOf({ status: 'ACTIVE', failingSince: null }).word).toBe('active');
  expect(standingOf({ status: 'ACTIVE', failingSince: '2026-11-20T10:00:00.000Z' }).word).toBe('failing');
  expect(standingOf({ status: 'DISABLED', failingSince: '2026-11-20T10:00:00.000Z' }).word).toBe('off');
});

test('a few events are named, many are counted, and the star is all', () => {
  expect(eventsText(['topup.completed', 'key.revoked'])).toBe('topup.completed, key.revoked');
  expect(eventsText(['a', 'b', 'c'])).toBe('3 events');
  expect(eventsText(['a', '*'])).toBe('all events');
});
