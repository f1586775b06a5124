import { expect, test } from 'vitest';
import type { PlanFactsFragment } from '../../../api/gen/graphql.ts';
import { type Change, dayOf, feeText, limitText, type Offer, sentencesOf, verbOf } from './words.ts';

const offer = (name: string, monthlyMinor: string | null) => ({ name, monthlyMinor }) as unknown as Offer;
const team = offer('Team', '4900');
const payg = offer('Pay as you go', '0');
const on = (plan: Offer) => ({ plan, periodEnd: '2026-12-01T00:00:00.000Z' }) as unknown as PlanFactsFragment;
const change = (more: Partial<Change>) =>
  ({ feeMicro: '0', includedMicro: '0', effectiveAt: '2026-11-21T10:00:00.000Z', ...more }) as Change;

test('a fee, a limit and a day read as people say them', () => {
  expect([team, payg, offer('Enterprise', null)].map(feeText)).toEqual([
    '$49.00 a month',
    'no fee',
    'by agreement',
  ]);
  expect([limitText(null), limitText(1_000_000)]).toEqual(['no limit', '1,000,000']);
  expect(dayOf('2026-12-01T00:00:00.000Z')).toBe('Dec 1');
});

test('an upgrade says what leaves today, what comes, and what follows', () => {
  const upgrade = change({ kind: 'UPGRADE', plan: team, feeMicro: '16333333', includedMicro: '15000000' });
  expect(verbOf(upgrade)).toBe('Pay $16.33 and change');
  expect(sentencesOf(on(payg), upgrade)).toEqual([
    '$16.33 leaves your credits now: what Team costs more for the rest of the month.',
    '$15.00 of credit comes with it and ends on Dec 1.',
    'Its limits apply at once. From Dec 1 on it costs $49.00 a month.',
  ]);
});

test('a smaller plan waits for the end of the month, except in the days of grace', () => {
  const later = change({ kind: 'DOWNGRADE', plan: payg, effectiveAt: '2026-12-01T00:00:00.000Z' });
  expect(sentencesOf(on(team), later)[0]).toBe(
    'Team stays until Dec 1, then you are on Pay as you go, with its limits. Nothing is given back.',
  );
  const now = change({ kind: 'DOWNGRADE', plan: payg });
  expect(sentencesOf(on(team), now)[0]).toMatch(/^From now on you are on Pay as you go/);
});

test('keeping the plan takes back what follows, or tries an unpaid fee again', () => {
  expect(verbOf(change({ kind: 'KEEP', plan: team }))).toBe('Keep Team');
  expect(verbOf(change({ kind: 'KEEP', plan: team, feeMicro: '49000000' }))).toBe('Try the fee again');
});
