import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checksumHolds } from '../kernel/index.ts';
import { hashSecret, hasKeyForm, keyHint, newKeySecret } from './secret.ts';

const LIVE = 'svc-live-0123456789ABCDEFGHIJKLMNOPQRSTUV1fDVvb';
const TEST = 'svc-test-abcdefghijklmnopqrstuvwxyz0123453tc8vl';

test('two keys that were computed elsewhere have form, checksum and digest', () => {
  for (const secret of [LIVE, TEST])
    expect([hasKeyForm(secret), checksumHolds(secret)]).toEqual([true, true]);
  expect(hashSecret(LIVE).toString('hex')).toBe(
    'bb8bdeb5cccc15abdf89dc614ad365ced96e31d91d6be3f8b8c965dee435263a',
  );
  expect(keyHint(LIVE)).toBe('svc-live-...DVvb');
});

test('a fresh key has 47 characters, the form of its environment and a checksum that holds', () => {
  for (const environment of ['live', 'test'] as const) {
    const secret = newKeySecret(environment);
    expect(secret).toHaveLength(47);
    expect(secret.startsWith(`svc-${environment}-`)).toBe(true);
    expect([hasKeyForm(secret), checksumHolds(secret)]).toEqual([true, true]);
  }
});

test('any single changed character breaks the checksum', () => {
  const alphabet = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
  fc.assert(
    fc.property(fc.nat({ max: 37 }), fc.constantFrom(...alphabet), (at, character) => {
      fc.pre(LIVE[9 + at] !== character);
      expect(checksumHolds(LIVE.slice(0, 9 + at) + character + LIVE.slice(10 + at))).toBe(false);
    }),
  );
});
