// When an export can be downloaded.
import { expect, test } from 'vitest';
import { isOpen } from './exports.ts';

test('an export can be downloaded until its link ends, and no more than twenty times', () => {
  const row = { expiresAt: '2026-11-22T10:00:00.000Z', downloads: 0 };
  expect(isOpen(row, new Date('2026-11-22T09:59:59.999Z'))).toBe(true);
  expect(isOpen(row, new Date('2026-11-22T10:00:00.000Z'))).toBe(false);
  expect(isOpen({ ...row, downloads: 19 }, new Date('2026-11-22T09:00:00Z'))).toBe(true);
  expect(isOpen({ ...row, downloads: 20 }, new Date('2026-11-22T09:00:00Z'))).toBe(false);
});
