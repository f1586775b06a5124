import { describe, expect, test } from 'vitest';
import { usageRange } from './usage.ts';

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
    expect(() => usageRange({ range: 'custom', from: '2025-01-01', to: '2026-11-01' }, now)).toThrow(
      expect.objectContaining({ code: 'range_too_long', param: 'from', details: { days_max: 400 } }),
    );
  });
});
