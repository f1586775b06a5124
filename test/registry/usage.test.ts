// Sums of usage: groups, series and totals are the same calls counted three ways.
import { newRequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { startHarness } from './harness.ts';
import { rowOf } from './rows.ts';

const harness = await startHarness();
const { a, b } = harness;
const models = ['acme/fast-1', 'acme/slow-1', 'other/x'];
for (let i = 0; i < 30; i++) {
  harness.request_log.write(
    rowOf(a, {
      model: models[i % 3] as string,
      status: i % 10 === 0 ? 'error' : 'ok',
      cost_micro: 1_000 * (i % 3) + i,
      tags: i % 2 === 0 ? { team: 'red' } : {},
    }),
  );
}
harness.request_log.write(rowOf(a, { environment: 'test', cost_micro: 7 }));
harness.request_log.write(rowOf(b, { cost_micro: 1_000_000 }));
await harness.request_log.flush();

interface Figures {
  readonly key?: string;
  readonly bucket?: string;
  readonly requests: number;
  readonly ok: number;
  readonly errors: number;
  readonly cost_micro: number;
  readonly input_tokens: number;
}
interface Usage {
  readonly analytics_lag_s: number;
  readonly totals: Figures;
  readonly series: readonly Figures[];
  readonly groups: readonly Figures[];
  readonly group_series: readonly ({ bucket: string; key: string } & Figures)[];
  readonly previous?: { totals: Figures; from: string; to: string };
  readonly range: { from: string; to: string; granularity: string };
}
const usage = async (query: string, key = a.key) => {
  const response = await harness.call('GET', `/v1/usage?${query}`, { key });
  expect([query, response.statusCode]).toEqual([query, 200]);
  return response.json() as Usage;
};
const sum = (rows: readonly { cost_micro: number; requests: number }[]) => [
  rows.reduce((total, row) => total + row.requests, 0),
  rows.reduce((total, row) => total + row.cost_micro, 0),
];

test('sums over groups and over series are the totals, and no other organization or environment is in them', async () => {
  for (const group of [
    'model',
    'provider',
    'project',
    'key',
    'byok',
    'app',
    'user',
    'session',
    'tag&tag=team',
  ]) {
    const { totals, series, groups, group_series } = await usage(
      `range=24h&group_series=true&group_by=${group}`,
    );
    const expected = [30, 10 * 1_000 + 10 * 2_000 + (29 * 30) / 2];
    expect([group, totals.requests, totals.cost_micro]).toEqual([group, ...expected]);
    expect(sum(series)).toEqual(expected);
    expect(sum(groups)).toEqual(expected);
    expect(sum(group_series)).toEqual(expected);
    expect([totals.ok, totals.errors, totals.input_tokens]).toEqual([27, 3, 30 * 21]);
    const all = (name: 'ok' | 'errors' | 'input_tokens') =>
      group_series.reduce((total, row) => total + row[name], 0);
    expect([all('ok'), all('errors'), all('input_tokens')]).toEqual([27, 3, 30 * 21]);
  }
});

test('the figures of each bucket and group are there only if they are asked for', async () => {
  expect(await usage('group_by=model')).not.toHaveProperty('group_series');
  expect(await usage('group_by=model&group_series=false')).not.toHaveProperty('group_series');
  const { group_series, ...asked } = await usage('range=24h&group_by=model&group_series=true');
  expect(group_series.length).toBeGreaterThan(2);
  const { totals, series, groups } = await usage('range=24h&group_by=model');
  expect(asked).toMatchObject({ totals, series, groups });
  expect((await usage('group_series=true')).group_series).toEqual([]);
});

test('groups are by cost descending, a missing tag is the empty key', async () => {
  const { groups } = await usage('group_by=model');
  expect(groups.map(({ key }) => key)).toEqual(['other/x', 'acme/slow-1', 'acme/fast-1']);
  const tagged = await usage('group_by=tag&tag=team');
  expect(tagged.groups.map(({ key, requests }) => [key, requests]).sort()).toEqual([
    ['', 15],
    ['red', 15],
  ]);
});

test('buckets are filled with zeros over the whole range', async () => {
  const hours = await usage('range=7d');
  expect(hours.range.granularity).toBe('hour');
  expect(hours.series.length).toBeGreaterThanOrEqual(7 * 24);
  const starts = hours.series.map(({ bucket }) => Date.parse(bucket as string));
  for (let i = 1; i < starts.length; i++)
    expect((starts[i] as number) - (starts[i - 1] as number)).toBe(3_600_000);
  const days = await usage('range=90d');
  expect([days.range.granularity, days.series.length]).toEqual(['day', 91]);
});

test('a comparison shows the period before, of the same length', async () => {
  const { previous, range } = await usage('range=24h&compare=1');
  expect(previous?.totals.requests).toBe(0);
  expect(previous?.to).toBe(range.from);
  const length = (of: { from: string; to: string }) => Date.parse(of.to) - Date.parse(of.from);
  expect(length(previous as { from: string; to: string })).toBe(length(range));
});

test('rows that come late are told by seconds, to whoever reads the organization', async () => {
  expect((await usage('')).analytics_lag_s).toBeLessThan(60);
  shiftClock(-600_000);
  const request_id = newRequestId();
  shiftClock(0);
  harness.request_log.write(rowOf(b, { request_id, duration_ms: 0 }));
  await harness.request_log.flush();
  expect((await usage('', b.key)).analytics_lag_s).toBeGreaterThanOrEqual(599);
  expect((await usage('')).analytics_lag_s).toBeLessThan(60);
});

test('a test key sums its own environment and sees nothing of the live one; a tag needs its name', async () => {
  expect((await usage('', a.test_key)).totals.cost_micro).toBe(7);
  expect((await usage('environment=live', a.test_key)).totals.requests).toBe(0);
  const looked = async (key: string) =>
    (await harness.call('GET', '/v1/usage/advice?environment=live', { key })).json().calls;
  expect([await looked(a.test_key), await looked(a.key)]).toEqual([0, 30]);
  expect((await usage('environment=test')).totals.cost_micro).toBe(7);
  const response = await harness.call('GET', '/v1/usage?group_by=tag', { key: a.key });
  expect([response.statusCode, response.json().error.param]).toEqual([400, 'tag']);
  const nameless = await harness.call('GET', '/v1/usage?tag_value=red', { key: a.key });
  expect([nameless.statusCode, nameless.json().error.param]).toEqual([400, 'tag']);
  const zone = await harness.call('GET', '/v1/usage?timezone=Mars/Olympus', { key: a.key });
  expect([zone.statusCode, zone.json().error.param]).toEqual([400, 'timezone']);
});

test('an export has the same figures, a row per bucket and group', async () => {
  const shown = await usage('group_by=model&group_series=true');
  const file = await harness.call('GET', '/v1/usage?group_by=model&format=csv', { key: a.key });
  expect([file.statusCode, file.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(file.headers['content-disposition']).toMatch(/filename="usage-acme-\d{4}-\d\d-\d\d\.csv"$/);
  const [head, ...lines] = file.body.trimEnd().split('\r\n');
  expect(head).toBe(
    'bucket,group_by,key,requests,ok,errors,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,cost_micro',
  );
  const rows = lines.map((line) => line.split(','));
  expect(rows.map(([bucket, , key]) => `${bucket} ${key}`)).toEqual(
    shown.group_series.map(({ bucket, key }) => `${bucket} ${key}`),
  );
  const total = (place: number) => rows.reduce((sum, row) => sum + Number(row[place]), 0);
  expect([total(3), total(11)]).toEqual([shown.totals.requests, shown.totals.cost_micro]);
  const plain = await harness.call('GET', '/v1/usage?range=24h&format=csv', { key: a.key });
  expect(plain.body.trimEnd().split('\r\n')).toHaveLength(1 + shown.series.length);
});
