import { expect, test } from 'vitest';
import { builtInPlans, monthOf, type Plan } from '../orgs/index.ts';
import { compareOffers, monthlyPrice, upgradePrice } from './fee.ts';

const [payg, team, scale, enterprise] = builtInPlans as [Plan, Plan, Plan, Plan];

test('team on 2026-11-21 costs 16,333,333 and includes 15,000,000', () => {
  expect(upgradePrice(payg, team, new Date('2026-11-21T10:00:00Z'))).toEqual({
    fee_micro: 16_333_333,
    included_micro: 15_000_000,
  });
});

test.each([
  ['2026-02-01T00:00:00Z', 28, 28],
  ['2026-02-28T23:59:59.999Z', 28, 1],
  ['2028-02-29T00:00:00Z', 29, 1],
  ['2028-02-15T12:00:00Z', 29, 15],
  ['2026-12-31T23:59:59.999Z', 31, 1],
  ['2100-02-01T00:00:00Z', 28, 28],
])('%s is in a month of %i days with %i left, today counted', (at, days, days_left) => {
  expect(monthOf(new Date(at))).toMatchObject({ days, days_left });
});

test('a month ends where the next one begins, over the turn of the year too', () => {
  const december = monthOf(new Date('2026-12-31T23:59:59.999Z'));
  expect(december.period).toBe('2026-12-01');
  expect(monthOf(december.ends_at)).toMatchObject({ period: '2027-01-01', starts_at: december.ends_at });
});

test('on the first of a month an upgrade costs the whole month, on the last day one day', () => {
  expect(upgradePrice(payg, team, new Date('2028-02-01T00:00:00Z'))).toEqual(monthlyPrice(team));
  expect(upgradePrice(payg, team, new Date('2028-02-29T23:59:59Z')).fee_micro).toBe(
    Math.floor(49_000_000 / 29),
  );
});

test('a second upgrade costs what the larger plan costs more', () => {
  const at = new Date('2026-11-21T10:00:00Z');
  expect(upgradePrice(team, scale, at)).toEqual({
    fee_micro: Math.floor((450_000_000 * 10) / 30),
    included_micro: Math.floor((430_000_000 * 10) / 30),
  });
});

test('what is by agreement is the largest plan and takes nothing from the credits', () => {
  expect(compareOffers(scale, enterprise)).toBe('upgrade');
  expect(compareOffers(enterprise, scale)).toBe('downgrade');
  expect(compareOffers(scale, team)).toBe('downgrade');
  expect(monthlyPrice(enterprise)).toEqual({ fee_micro: 0, included_micro: 0 });
});
