import { expect, test } from 'vitest';
import { checkinText, groupedCode, streakText } from './words.ts';

test('a code that was pasted is grouped, and what is none stays as it was typed', () => {
  expect(groupedCode('gift01ab1c0d10efgh01')).toBe('GIFT-01AB-1C0D-10EF-GH01');
  expect(groupedCode(' CR 01AB–1C0D 10EF gh01')).toBe('CR-01AB-1C0D-10EF-GH01');
  expect(groupedCode('CR')).toBe('CR');
  expect(groupedCode('hello')).toBe('hello');
});

test('a check-in says when the next is, and how many days it has been', () => {
  expect(checkinText({ doneToday: true, creditDays: 30 })).toBe(
    'The next is from midnight UTC. The credit ends after 30 days.',
  );
  expect([0, 1, 5].map(streakText)).toEqual(['', 'One day so far.', '5 days in a row.']);
});
