import { expect, test } from 'vitest';
import {
  agoText,
  dateText,
  dayText,
  documentDate,
  greetingAt,
  instantOf,
  lastDays,
  localMinute,
  utcMinute,
  utcText,
} from './time.ts';

test('a row time without a zone is UTC, as the API means it', () => {
  expect(instantOf('2026-11-21 10:42:07.318').toISOString()).toBe('2026-11-21T10:42:07.318Z');
  expect(instantOf('2026-11-21T16:12:07.318+05:30').toISOString()).toBe('2026-11-21T10:42:07.318Z');
  expect(utcText(instantOf('2026-11-21 10:42:07.318'))).toBe('2026-11-21 10:42:07.318 UTC');
});

test('the past is told in the grain in which people speak of it', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  const ago = (text: string) => agoText(new Date(text), now);
  expect(ago('2026-11-21T11:59:50Z')).toBe('just now');
  expect(ago('2026-11-21T11:58:00Z')).toBe('2 minutes ago');
  expect(ago('2026-11-21T08:00:00Z')).toBe('4 hours ago');
  expect(ago('2026-11-20T10:00:00Z')).toBe('yesterday');
  expect(ago('2026-08-01T10:00:00Z')).toBe('1 Aug 2026');
  expect(ago('2026-11-22T12:00:00Z')).toBe('tomorrow');
});

test('the days of the chart are UTC days without a gap, today last', () => {
  expect(lastDays(3, new Date('2026-03-01T00:30:00Z'))).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
  expect(dayText('2026-03-01')).toBe('Mar 1');
});

test('a time that is chosen in the zone of the reader is kept in UTC, and stands in the field as it was', () => {
  for (const local of ['2026-11-20T00:00', '2026-03-29T13:59']) {
    const minute = utcMinute(local) as string;
    expect(minute).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/);
    expect(Date.parse(minute)).toBe(new Date(local).getTime());
    expect(localMinute(minute)).toBe(local);
  }
  expect(utcMinute('')).toBeUndefined();
});

test('the greeting goes by the clock of the person, and at night it names no part of the day', () => {
  const at = (hour: number) => greetingAt(new Date(2026, 10, 21, hour, 38));
  expect([3, 5, 11, 12, 17, 18, 23].map(at)).toEqual([
    'Hello',
    'Good morning',
    'Good morning',
    'Good afternoon',
    'Good afternoon',
    'Good evening',
    'Good evening',
  ]);
});

test('a document has one date wherever it is read, that of Kolkata, and a day far off its year', () => {
  expect(documentDate(new Date('2027-03-31T18:29:59Z'))).toBe('31 Mar 2027');
  expect(documentDate(new Date('2027-03-31T18:30:00Z'))).toBe('1 Apr 2027');
  expect(dateText('2027-01-01')).toBe('1 Jan 2027');
});
