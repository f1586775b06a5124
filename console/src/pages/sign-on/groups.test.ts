// Groups as they are typed, and back.
import { expect, test } from 'vitest';
import { readGroups, writeGroups } from './groups.ts';

test('a line is a group and its role, and a group may hold an equals sign', () => {
  const text = 'Platform team = admin\n\n  cn=books,dc=acme = Billing  \n';
  const map = { 'Platform team': 'admin', 'cn=books,dc=acme': 'billing' };
  expect(readGroups(text)).toEqual({ map });
  expect(readGroups(writeGroups(map))).toEqual({ map });
  expect(readGroups('')).toEqual({ map: {} });
});

test.each([
  ['Platform', 'Write a line as "group = role": Platform'],
  ['= admin', 'Write a line as "group = role": = admin'],
  ['Bosses = owner', 'owner is none of admin, developer, billing, viewer.'],
  ['Bosses =', 'Nothing is none of admin, developer, billing, viewer.'],
  ['A = admin\nA = viewer', 'A stands there twice.'],
])('%j is refused in words', (text, fault) => {
  expect(readGroups(text)).toEqual({ fault });
});
