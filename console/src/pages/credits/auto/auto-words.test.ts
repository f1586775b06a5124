import { expect, test } from 'vitest';
import type { AutoTopupFactsFragment } from '../../../api/gen/graphql.ts';
import { lastText, markOf, nextText, offerText, ruleText } from './auto-words.ts';

const facts = (over: Partial<AutoTopupFactsFragment>) =>
  ({
    config: { enabled: true, thresholdMicro: '10000000', amountMinor: '2500' },
    mandate: { method: 'CARD', status: 'ACTIVE' },
    currency: 'USD',
    notifyHours: 0,
    ...over,
  }) as AutoTopupFactsFragment;

test('the rule is one sentence, with its notice where there is one', () => {
  expect(ruleText(facts({}))).toBe('When the balance falls below $10.00, add $25.00 by card.');
  expect(ruleText(facts({ mandate: null, notifyHours: 24 }))).toBe(
    'When the balance falls below $10.00, add $25.00, 24 hours after a mail says so.',
  );
});

test('what the service switched off says why, what people did not', () => {
  expect(nextText({ step: 'OFF', reason: 'three_failures' })).toContain('Three debits in a row failed');
  expect(nextText({ step: 'OFF', reason: '' })).toBe('It is switched off.');
  expect(markOf({ step: 'OFF', reason: 'three_failures' }).word).toBe('switched off');
  expect(markOf({ step: 'OFF', reason: '' }).word).toBe('off');
});

test('a block says its reason, also one of a later release', () => {
  expect(nextText({ step: 'BLOCKED', reason: 'dispute_open' })).toContain('disputed');
  expect(nextText({ step: 'BLOCKED', reason: 'something_new' })).toBe('Nothing is bought now.');
  expect(markOf({ step: 'BLOCKED', reason: 'too_soon' }).word).toBe('blocked');
});

test('a failure is said with its message; a success needs no words', () => {
  const last = { topupId: null, reason: 'expired_card', message: 'Your card has expired.', at: '' };
  expect(lastText({ ...last, status: 'FAILED' } as never)).toBe(
    'The last debit failed: Your card has expired.',
  );
  expect(lastText({ ...last, status: 'SUCCEEDED' } as never)).toBeNull();
});

test('a method is offered as people say it', () => {
  expect(['CARD', 'UPI', 'EMANDATE'].map(offerText)).toEqual(['Use a card', 'Use UPI', 'Use a bank account']);
});
