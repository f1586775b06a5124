import { expect, test } from 'vitest';
import { effectsOf, formOf, monthsFrom, planChangeOf, type Sheet } from './form.ts';

const limits = { rpm: 1_500, tpm: 5_000_000, concurrency: 100, keys: 100, projects: null };
const plan = {
  ...{ id: 'TEAM', name: 'Team', description: 'For a team', public: true, graceDays: 3, limits },
  ...{ monthlyMinor: '4900', includedMicro: '45000000' },
} as unknown as Sheet['plans'][number];
const sheet = {
  ...{ plans: [plan], coming: [], period: '2026-11-01', riseBeginsOn: '2027-01-01' },
  onPlans: [{ planId: 'TEAM', orgs: 12 }],
} as unknown as Sheet;
const FROM = '2026-12-01';
const typed = (more: object) => ({ ...formOf(plan, FROM), reason: 'why', ...more });

test('what is not touched is not sent, and a form in which nothing differs asks for nothing', () => {
  expect(planChangeOf(plan, typed({ monthlyMinor: '59' })).input).toEqual({
    ...{ planId: 'TEAM', reason: 'why', monthlyMinor: '5900', from: FROM },
  });
  expect(planChangeOf(plan, typed({ projects: '30', keys: '' })).input).toEqual({
    ...{ planId: 'TEAM', reason: 'why', limits: { keys: null, projects: 30 } },
  });
  expect(planChangeOf(plan, typed({})).input).toBe(null);
});

test('each wrong field has its fault', () => {
  const wrong = { monthlyMinor: 'x', includedMicro: '-1', graceDays: '21', rpm: '0', name: '', reason: '' };
  const { faults, input } = planChangeOf(plan, typed(wrong));
  expect([Object.keys(faults).sort(), input]).toEqual([Object.keys(wrong).sort(), null]);
  expect(planChangeOf(plan, typed({ includedMicro: '0' })).input).toMatchObject({ includedMicro: '0' });
});

test('a rise says from when who has the plan pays it, a fall that nobody is written to, a limit that it holds at once', () => {
  const said = (more: object) => effectsOf(sheet, plan, planChangeOf(plan, typed(more)).input as never);
  expect(said({ monthlyMinor: '59' })).toEqual([
    'Fee of a month: $49.00 → $59.00, from 1 Dec 2026 for who comes to the plan. The 12 organizations on it: from 1 Jan 2027, after a mail to owners and billing address.',
  ]);
  expect(said({ monthlyMinor: '59', from: '2027-04-01' })[0]).toContain('on it: from 1 Apr 2027');
  expect(said({ monthlyMinor: '39' })).toEqual([
    'Fee of a month: $49.00 → $39.00, from 1 Dec 2026, for 12 organizations on it. Nobody is written to.',
  ]);
  expect(said({ rpm: '2000', projects: '5' })).toEqual([
    'Calls a minute: 1,500 → 2,000, at once, for 12 organizations on it.',
    'Projects: no limit → 5, at once, for 12 organizations on it.',
  ]);
});

test('a fee begins with a coming month, and with the one that runs only where nobody has the plan', () => {
  expect(monthsFrom(sheet, { used: true }).slice(0, 2)).toEqual(['2026-12-01', '2027-01-01']);
  expect(monthsFrom(sheet, { used: false })[0]).toBe('2026-11-01');
});
