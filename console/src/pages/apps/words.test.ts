import { expect, test } from 'vitest';
import { badgeSnippet, inputOf, standingOf } from './words.ts';

test('a badge is an image that leads to what the app shows, whatever its name', () => {
  expect(badgeSnippet({ slug: 'notes', name: 'Notes' }, 'https://api.example/')).toBe(
    '[![Notes](https://api.example/v1/apps/notes/badge)](https://api.example/v1/apps/notes/public)',
  );
  expect(badgeSnippet({ slug: 'n', name: 'a](javascript:x) [\\' }, 'https://a.example')).toMatch(
    /^\[!\[a\\\]\(javascript:x\) \\\[\\\\\]\(https:/,
  );
});

test('all fields are sent, so that none is reset by being left out', () => {
  const fields = { name: '', category: '', url: '', public: true };
  expect(inputOf('notes', fields)).toEqual({
    ...{ slug: 'notes', name: 'notes', category: null, url: null, public: true },
  });
});

test('an app under the name of another is said to be so, whatever else is known', () => {
  expect(standingOf({ owned: false, public: true }).word).toBe('name taken');
  expect(standingOf({ owned: true, public: true }).word).toBe('public');
  expect(standingOf({ owned: true, public: false }).word).toBe('private');
});
