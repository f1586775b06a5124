import { expect, test } from 'vitest';
import { badgeSnippet, inputOf, standingOf } from './words.ts';

test('a badge is an image that leads to the page of the app, whatever its name', () => {
  const at = { base_url: 'https://api.example/', origin: 'https://console.example' };
  expect(badgeSnippet({ slug: 'notes', name: 'Notes' }, at)).toBe(
    '[![Notes](https://api.example/v1/apps/notes/badge)](https://console.example/rankings/apps/notes)',
  );
  expect(badgeSnippet({ slug: 'n', name: 'a](javascript:x) [\\' }, at)).toMatch(
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
