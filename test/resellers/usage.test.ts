// What customers of a reseller use (docs/resellers/customers.md#what-customers-use): sums alone, from rows and from the sums of hours.
import { rollUpUsage } from '@svc/core/analytics/index.ts';
import { insertRows } from '@svc/core/analytics/store.ts';
import { now, nowMs, type RequestId } from '@svc/core/kernel/index.ts';
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { startResellers } from './world.ts';

const world = await startResellers();
const { harness, ask, refused } = world;
const acme = await world.reseller('acme-sells');
const other = await world.reseller('other-sells');
const one = await world.child(acme, 'one');
const two = await world.child(acme, 'two');
const stranger = await world.child(other, 'stranger');

const HOUR_MS = 3_600_000;
const call = (tenant: Tenant, hours_ago: number, cost_micro: number, more: object = {}) =>
  rowOf(tenant, { request_id: ulid(nowMs() - hours_ago * HOUR_MS) as RequestId, cost_micro, ...more });
await insertRows(harness.pool, [
  ...[call(one, 1, 100), call(one, 30, 1_000), call(one, 30, 10, { model: 'acme/other-1' })],
  ...[call(two, 2, 7), call(two, 2, 3, { status: 'error' }), call(stranger, 1, 50_000)],
  // The sandbox costs nobody anything.
  call(one, 1, 9_999, { environment: 'test' }),
]);

interface Usage {
  readonly totals: { readonly requests: number; readonly errors: number; readonly cost_micro: number };
  readonly series: readonly { readonly bucket: string; readonly cost_micro: number }[];
  readonly groups: readonly {
    readonly key: string;
    readonly requests: number;
    readonly cost_micro: number;
  }[];
  readonly group_series: readonly { readonly cost_micro: number }[];
}
const usage = (path: string) => ask<Usage>('GET', `/v1/reseller/${path}`, acme.token);
const sum = (rows: readonly { readonly cost_micro: number }[]) =>
  rows.reduce((total, { cost_micro }) => total + cost_micro, 0);
const groupsOf = ({ groups }: Usage) => groups.map(({ key, cost_micro }) => [key, cost_micro]);

test.each(['rows', 'hours that are summed'])('sums of customers add up, of %s', async (of) => {
  if (of !== 'rows') await rollUpUsage(harness.pool, now());
  const all = await usage('usage?range=7d&group_by=child');
  expect(all.totals).toMatchObject({ requests: 5, errors: 1, cost_micro: 1_120 });
  expect(groupsOf(all)).toEqual([
    [one.org.id, 1_110],
    [two.org.id, 10],
  ]);
  for (const query of ['', '&group_by=child', '&group_by=model', '&group_by=day', '&granularity=day']) {
    const { totals, series, groups, group_series } = await usage(`usage?range=7d&group_series=true${query}`);
    expect([query, sum(series), totals.cost_micro]).toEqual([query, 1_120, 1_120]);
    if (query.includes('group_by')) expect([sum(groups), sum(group_series)]).toEqual([1_120, 1_120]);
  }
  const by_day = await usage('usage?range=7d&group_by=day');
  expect(by_day.groups.every(({ key }) => /^\d{4}-\d\d-\d\d$/.test(key))).toBe(true);
  expect(await usage('usage')).toMatchObject({ totals: { requests: 3, cost_micro: 110 } });
});

test('of one customer a reseller sees the sums by model, and of nobody else', async () => {
  const own = await usage(`children/${one.org.id}/usage?range=7d&group_by=model`);
  expect(groupsOf(own)).toEqual([
    [rowOf(one, {}).model, 1_100],
    ['acme/other-1', 10],
  ]);
  const path = `/v1/reseller/children/${stranger.org.id}/usage`;
  expect(await refused('GET', path, acme.token)).toEqual([404, 'not_found']);
  expect(await refused('GET', '/v1/reseller/children/org_1/usage', acme.token)).toEqual([404, 'not_found']);
});

test('a reseller without customers gets zeros, and a range that is none is named', async () => {
  const alone = await world.reseller('alone-sells');
  const none = await ask<Usage>('GET', '/v1/reseller/usage?group_by=child', alone.token);
  expect(none).toMatchObject({ totals: { requests: 0, cost_micro: 0 }, groups: [] });
  const bad = '/v1/reseller/usage?range=custom&from=2026-01-01T00:00:00Z';
  expect((await harness.call('GET', bad, { key: acme.token })).json().error).toMatchObject({ param: 'to' });
  expect(await refused('GET', '/v1/reseller/usage?group_by=key', acme.token)).toEqual([
    400,
    'invalid_request',
  ]);
});

test('as a table it has a row per bucket and customer', async () => {
  const path = '/v1/reseller/usage?range=7d&group_by=child&format=csv';
  const table = await harness.call('GET', path, { key: acme.token });
  expect(table.headers['content-type']).toBe('text/csv; charset=utf-8');
  const lines = table.body.trim().split(/\r?\n/);
  expect(lines[0]).toMatch(/^bucket,group_by,key,requests,/);
  expect(lines.filter((line) => line.includes(one.org.id))).toHaveLength(2);
  expect(table.body).not.toContain(stranger.org.id);
});
