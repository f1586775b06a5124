import { describe, expect, test } from 'vitest';
import { dayStarts, usageRange } from './usage/buckets.ts';
import { allPartsOf, GROUPS_MAX } from './usage/shape.ts';
import { OTHER } from './usage/sums-store.ts';

const now = Date.parse('2026-11-21T10:20:30.000Z');
const shown = (input: Parameters<typeof usageRange>[0]) => {
  const { from, unit } = usageRange(input, now);
  return [new Date(from).toISOString(), unit];
};

describe('the range of usage', () => {
  test('ends now and begins with a whole bucket', () => {
    expect(shown({})).toEqual(['2026-11-20T10:00:00.000Z', 'hour']);
    expect(shown({ range: '7d' })).toEqual(['2026-11-14T10:00:00.000Z', 'hour']);
    expect(shown({ range: '30d' })).toEqual(['2026-10-22T10:00:00.000Z', 'hour']);
    expect(shown({ range: '30d', granularity: 'day' })).toEqual(['2026-10-22T00:00:00.000Z', 'day']);
    expect(usageRange({}, now).to).toBe(now);
  });

  test('beyond thirty days is by day unless asked by the hour, beyond ninety always by day', () => {
    expect(shown({ range: '90d' })[1]).toBe('day');
    expect(shown({ range: '90d', granularity: 'hour' })[1]).toBe('hour');
    const long = { range: 'custom', from: '2026-01-01', to: '2026-11-01', granularity: 'hour' } as const;
    expect(shown(long)).toEqual(['2026-01-01T00:00:00.000Z', 'day']);
  });

  test('of its own needs both ends in order, at most 400 days apart', () => {
    for (const [input, param] of [
      [{ range: 'custom', to: '2026-01-02' }, 'from'],
      [{ range: 'custom', from: '2026-01-02' }, 'to'],
      [{ range: 'custom', from: '2026-01-02', to: '2026-01-02' }, 'from'],
    ] as const) {
      expect(() => usageRange(input, now)).toThrow(
        expect.objectContaining({ code: 'invalid_request', param }),
      );
    }
    const own = { from: '2026-01-01', to: '2026-01-03' };
    expect(shown(own)).toEqual(shown({ ...own, range: 'custom' }));
    for (const [input, param] of [
      [{ from: '2026-01-01' }, 'to'],
      [{ ...own, range: '7d' }, 'from'],
      [{ to: '2026-01-01', range: '24h' }, 'to'],
    ] as const)
      expect(() => usageRange(input, now)).toThrow(
        expect.objectContaining({ code: 'invalid_request', param }),
      );
    expect(() => usageRange({ range: 'custom', from: '2025-01-01', to: '2026-11-01' }, now)).toThrow(
      expect.objectContaining({ code: 'range_too_long', param: 'from', details: { days_max: 400 } }),
    );
  });
});

describe('the days of a reader', () => {
  const hours = (zone: string, from: string, to: string) => {
    const starts = dayStarts({ from: Date.parse(from), to: Date.parse(to) }, zone);
    return starts.slice(1).map((at, i) => (at - (starts[i] as number)) / 3_600_000);
  };

  test('are shorter and longer where clocks change, and begin where the zone has midnight', () => {
    expect(hours('UTC', '2026-03-28', '2026-04-01')).toEqual([24, 24, 24]);
    expect(hours('Europe/Berlin', '2026-03-28', '2026-03-31T12:00:00Z')).toEqual([24, 23, 24]);
    expect(hours('America/New_York', '2026-10-31T12:00:00Z', '2026-11-03T12:00:00Z')).toEqual([24, 25, 24]);
    expect(
      dayStarts({ from: now, to: now + 1 }, 'Asia/Kolkata').map((at) => new Date(at).toISOString()),
    ).toEqual(['2026-11-20T18:30:00.000Z']);
  });

  test('begin with the leap where clocks leap over midnight, and once where midnight comes twice', () => {
    // Cairo goes from 00:00 to 01:00, and in autumn from 24:00 back to 23:00.
    const leap = dayStarts(
      { from: Date.parse('2026-04-23T12:00:00Z'), to: Date.parse('2026-04-24T12:00:00Z') },
      'Africa/Cairo',
    );
    expect(leap.map((at) => new Date(at).toISOString())).toEqual([
      '2026-04-22T22:00:00.000Z',
      '2026-04-23T22:00:00.000Z',
    ]);
    expect(hours('Africa/Cairo', '2026-04-22T12:00:00Z', '2026-04-26T12:00:00Z')).toEqual([24, 24, 23, 24]);
    expect(hours('Africa/Cairo', '2026-10-28T12:00:00Z', '2026-11-01T12:00:00Z')).toEqual([24, 25, 24, 24]);
  });

  test('follow one another without a gap in any zone, whatever the year', () => {
    const year = { from: Date.parse('2026-01-01'), to: Date.parse('2027-02-04') };
    for (const zone of Intl.supportedValuesOf('timeZone').filter((_, i) => i % 6 === 0)) {
      const starts = dayStarts(year, zone);
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
      const number = (at: number) => Date.parse(day.format(at)) / 86_400_000;
      expect([zone, starts.length]).toEqual([zone, number(year.to - 1) - number(year.from) + 1]);
      // Each begins a date: the second before is another one.
      for (const at of starts.filter((_, i) => i % 9 === 0)) {
        expect([zone, day.format(at - 1_000) < day.format(at)]).toEqual([zone, true]);
      }
    }
  });

  test('are refused for a zone that nobody knows', () => {
    for (const timezone of ['Mars/Olympus', '', '+05:30', 'UTC; drop table', 'x'.repeat(65)]) {
      expect(() => usageRange({ timezone }, now)).toThrow(
        expect.objectContaining({ code: 'invalid_request', param: 'timezone' }),
      );
    }
  });
});

test('the rest that was summed where rows are stays the last group, with what does not fit beside it', () => {
  const range = usageRange({ range: '24h' }, now);
  const sum = (key: string, cost_micro: number) => ({
    ...{
      bucket: new Date(range.from),
      key,
      requests: 1,
      ok: 1,
      errors: 0,
      input_tokens: 0,
      output_tokens: 0,
    },
    ...{ cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0, cost_micro },
  });
  const few = allPartsOf([sum(OTHER, 900), sum('a', 5)], range, 'user');
  expect(few.groups.map(({ key, cost_micro }) => [key, cost_micro])).toEqual([
    ['a', 5],
    [OTHER, 900],
  ]);
  const more = Array.from({ length: GROUPS_MAX + 1 }, (_, i) => sum(`u${i}`, 1_000 - i));
  const { groups, totals } = allPartsOf([sum(OTHER, 900), ...more], range, 'user');
  expect(groups).toHaveLength(GROUPS_MAX + 1);
  expect(groups.at(-1)).toMatchObject({ key: OTHER, requests: 2, cost_micro: 900 + 1_000 - GROUPS_MAX });
  expect(groups.reduce((total, { cost_micro }) => total + cost_micro, 0)).toBe(totals.cost_micro);
});
