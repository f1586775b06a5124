import { expect, test } from 'vitest';
import { isAcceptable, standing } from './words.ts';

const now = Date.parse('2026-11-26T00:00:00Z');
const row = {
  ...{ outstanding: false, acceptedAt: null, requiresAcceptance: true },
  effectiveAt: '2026-11-01T00:00:00.000Z',
};

test('a document that waits says so, whatever else it is', () => {
  expect(standing({ ...row, outstanding: true }, now).word).toBe('waits to be accepted');
  expect(isAcceptable({ ...row, outstanding: true }, now)).toBe(true);
});

test('one that comes can be accepted before it holds, and once', () => {
  const coming = { ...row, effectiveAt: '2026-12-26T00:00:00.000Z' };
  expect(standing(coming, now).word).toBe('comes');
  expect(isAcceptable(coming, now)).toBe(true);
  expect(isAcceptable({ ...coming, acceptedAt: '2026-11-20T00:00:00.000Z' }, now)).toBe(false);
  expect(isAcceptable({ ...coming, requiresAcceptance: false }, now)).toBe(false);
});

test('what nobody has to accept is for information', () => {
  expect(standing({ ...row, requiresAcceptance: false }, now)).toEqual({
    tone: 'mute',
    word: 'for information',
  });
});
