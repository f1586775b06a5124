import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changeText, csvOf, nameOf, seriesOf } from './figures.ts';

const at = (i: number) => `2026-11-${String(i + 1).padStart(2, '0')}T00:00:00.000Z`;

test('the series of a bucket add up to what the bucket cost, however many groups there are', () => {
  const costs = fc.array(fc.array(fc.nat(5_000_000), { minLength: 3, maxLength: 3 }), { maxLength: 12 });
  fc.assert(
    fc.property(costs, (groups) => {
      const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
      const usage = {
        series: [0, 1, 2].map((i) => ({
          bucket: at(i),
          costMicro: String(sum(groups.map((values) => values[i] ?? 0))),
        })),
        groups: groups.map((values, n) => ({ key: `g${n}`, costMicro: String(sum(values)) })),
        groupSeries: groups.flatMap((values, n) =>
          values.map((cost, i) => ({ bucket: at(i), key: `g${n}`, costMicro: String(cost) })),
        ),
      };
      const series = seriesOf(usage, (key) => key);
      expect(series.length).toBeLessThanOrEqual(6);
      expect(new Set(series.map(({ color }) => color)).size).toBe(series.length);
      for (const [i, { costMicro }] of usage.series.entries()) {
        expect(sum(series.map(({ values }) => values[i] ?? 0))).toBe(Number(costMicro));
      }
    }),
  );
});

test('a group without a name says what it is, and one of several is called so', () => {
  const names = new Map([['key_1', 'backend']]);
  expect(nameOf('key_1', 'key', names)).toBe('backend');
  expect(nameOf('', 'session', names)).toBe('No session');
  expect(nameOf('__other', 'model', names)).toBe('Other');
  expect(nameOf('false', 'byok', names)).toBe('Our provider keys');
});

test('a change is said of what was there before', () => {
  expect([changeText(3, 2), changeText(1, 2), changeText(2, 2), changeText(2, 0)]).toEqual([
    ...['+50%', '−50%', 'no change', 'none before'],
  ]);
});

test('a file is exact, and a name in it is no formula and breaks no line', () => {
  const row = {
    ...{ bucket: at(0), key: '=1,"x"', requests: 2, ok: 1, errors: 1, costMicro: '7412' },
    ...{ inputTokens: 3, outputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 6, reasoningTokens: 7 },
  };
  expect(csvOf([row], (key) => key).split('\r\n')).toEqual([
    'bucket_utc,group,key,requests,ok,errors,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,cost_usd',
    `2026-11-01T00:00:00.000Z,"'=1,""x""","'=1,""x""",2,1,1,3,4,5,6,7,0.007412`,
    '',
  ]);
});
