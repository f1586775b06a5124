import { expect, test } from 'vitest';
import type { ResaleAccrualFragment } from '../../api/gen/tools/graphql.ts';
import { readResaleSearch, viewsOf } from './views.ts';
import { bpsOf, costAt, lastMonths, percentText, statementCsv, totalsOf } from './words.ts';

test('a markup is typed and read as a share, and nothing is rounded on the way', () => {
  for (const [text, bps] of [
    ['0', 0],
    ['12.5', 1250],
    ['12.05 %', 1205],
    ['100', 10_000],
  ] as const)
    expect(bpsOf(text)).toBe(bps);
  for (const text of ['', '-1', '100.01', '1.234', '12,5', 'ten']) expect(bpsOf(text)).toBeNull();
  expect([0, 1250, 1205, 10_000].map(percentText)).toEqual(['0 %', '12.5 %', '12.05 %', '100 %']);
  expect(costAt('1125000', 1250, 0)).toBe('1000000');
  expect(costAt('1000000', 0, 1250)).toBe('1125000');
});

test('each part of the area is seen with its grant alone; a team by owners and admins', () => {
  expect(viewsOf({ role: 'developer', grants: ['reseller.support'] })).toEqual(['tickets']);
  expect(viewsOf({ role: 'viewer', grants: [] })).toEqual([]);
  expect(viewsOf({ role: 'owner' })).toEqual([]);
  expect(viewsOf({ role: 'viewer', grants: ['reseller.read'] })).not.toContain('team');
  expect(viewsOf({ role: 'admin', grants: ['reseller.read', 'reseller.support'] })).toHaveLength(10);
});

test('what an address says and nobody knows is dropped', () => {
  expect(
    readResaleSearch({ view: 'invites', month: '2026-11', status: 'closed', tier: 't', q: ' a ' }),
  ).toEqual({
    ...{ view: 'invites', month: '2026-11', status: 'closed', tier: 't', q: 'a' },
  });
  expect(readResaleSearch({ view: 'else', month: '2026-13', status: 1, tier: '', q: ' ' })).toEqual({});
});

test('months go back over the turn of a year', () => {
  expect(lastMonths(3, new Date('2026-01-31T23:59:59Z'))).toEqual(['2026-01', '2025-12', '2025-11']);
});

test('a statement adds up beyond what a number holds, and no name becomes a formula', () => {
  const row = (childName: string, micro: string): ResaleAccrualFragment => ({
    __typename: 'ResellerAccrual',
    ...{ month: '2026-11', childOrgId: 'org_1', childName, usageMicro: micro, markupMicro: micro },
    ...{ burnedMicro: micro, paidMicro: micro, writtenOffMicro: '0', accruedMicro: micro },
    ...{ status: 'OPEN', ledgerSeq: null },
  });
  const rows = [row('=1+1', '9007199254740993'), row('North, Ltd', '2')];
  expect(totalsOf(rows).usageMicro).toBe('9007199254740995');
  const lines = statementCsv('2026-11', rows).trimEnd().split('\r\n');
  expect(lines[1]).toMatch(/^2026-11,'=1\+1,org_1,9007199254\.740993,/);
  expect(lines[2]).toMatch(/^2026-11,"North, Ltd",org_1,0\.000002,/);
  expect(lines[3]).toMatch(/^2026-11,total,,9007199254\.740995,.*,9007199254\.740995,,$/);
});
