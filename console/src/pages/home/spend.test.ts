import { expect, test } from 'vitest';
import { lastsText, median, spendSeries, type Usage } from './spend.ts';

const bucket = (day: number, cost: number) => ({
  bucket: `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`,
  costMicro: String(cost),
});
function usage(over: Partial<Usage>): Usage {
  return { series: [], groups: [], groupSeries: [], ...over };
}

test('the series of a day add up to what the day cost, whatever is not named', () => {
  const models = ['a', 'b', 'c', 'd', 'e', 'f'];
  const answer = usage({
    series: [bucket(20, 210), bucket(21, 0)],
    groups: models.map((key, i) => ({ key, costMicro: String(60 - i * 10) })),
    groupSeries: models.map((key, i) => ({ ...bucket(20, 60 - i * 10), key })),
  });
  const series = spendSeries(answer);
  expect(series.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'Other']);
  expect(series.reduce((sum, { values }) => sum + (values[0] ?? 0), 0)).toBe(210);
  expect(series.map(({ values }) => values[1])).toEqual([0, 0, 0, 0]);
});

test('days left count the last seven full days and not the running one', () => {
  const days = [14, 15, 16, 17, 18, 19, 20].map((day) => bucket(day, 1_000_000));
  const answer = usage({ series: [...days, bucket(21, 900_000_000)] });
  expect(lastsText('27500000', answer)).toBe('Lasts about 27 days at this week’s rate');
  expect(lastsText('900000', answer)).toBe('Lasts less than a day at this week’s rate');
  expect(lastsText('91000000', answer)).toBe('Lasts more than 90 days at this week’s rate');
  expect(lastsText('0', answer)).toBe('Nothing left: calls are refused');
  expect(
    lastsText('1', usage({ series: [...days.map((day) => ({ ...day, costMicro: '0' })), bucket(21, 0)] })),
  ).toBe('No spend in the last seven days');
  // Beside what was spent today "no spend" would be read as wrong.
  expect(lastsText('1', usage({ series: [bucket(20, 0), bucket(21, 5)] }))).toBe(
    'First spend today: too early to say how long it lasts',
  );
  expect(lastsText('1', usage({ series: [bucket(21, 0)] }))).toBe('No spend yet');
});

test('nothing has no middle', () => {
  expect([median([]), median([3]), median([9, 1, 5]), median([1, 2, 3, 4])]).toEqual([null, 3, 5, 2]);
});
