import { expect, test } from 'vitest';
import { changeText } from './words.ts';

test('a change shows each member before and after', () => {
  expect(changeText({ role: 'viewer' }, { role: 'admin' })).toBe('role: viewer → admin');
  expect(changeText(null, { name: 'x', hard: true })).toBe('name: x; hard: true');
  expect(changeText({ slug: 'a' }, null)).toBe('slug: a → nothing');
  expect(changeText(null, null)).toBe('');
});
