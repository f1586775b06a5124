import { expect, test } from 'vitest';
import type { TopupRowFragment } from '../../api/gen/graphql.ts';
import { choicesOf, markOf, sentenceOf } from './topup-words.ts';

const row = (over: Partial<TopupRowFragment>) =>
  ({
    status: 'PENDING',
    currency: 'USD',
    totalMinor: '2500',
    creditsMicro: '25000000',
    failureMessage: '',
    checkoutUrl: 'https://rail.example/pay/1',
    ...over,
  }) as TopupRowFragment;
const declined = row({ failureMessage: 'Your card was declined.' });

test('a declined payment is not called pending, and can be tried again at its checkout', () => {
  expect(markOf(declined).word).toBe('declined');
  expect(sentenceOf(declined, 'done')).toBe(
    'The payment of $25.00 was declined: Your card was declined. Nothing was charged.',
  );
  expect(choicesOf(declined, 'done').resume).toBe('https://rail.example/pay/1');
  expect(markOf(row({})).word).toBe('pending');
});

test('a payment that may be a bank transfer is not promised in seconds', () => {
  for (const outcome of ['done', undefined] as const) {
    expect(sentenceOf(row({}), outcome)).toContain('a bank transfer up to a few days');
  }
});

test('a top-up that was left is resumed or cancelled; who has just paid is offered neither', () => {
  const left = { resume: 'https://rail.example/pay/1', cancel: true, again: false };
  expect(choicesOf(row({}), 'back')).toEqual(left);
  expect(choicesOf(row({}), undefined)).toEqual(left);
  expect(choicesOf(row({}), 'done')).toEqual({ resume: null, cancel: false, again: false });
  expect(choicesOf(row({ checkoutUrl: null }), 'back').resume).toBeNull();
});

test('what has ended says what was charged, and only what was not paid is begun anew', () => {
  expect(sentenceOf(row({ status: 'EXPIRED' }), undefined)).toBe(
    'The checkout for $25.00 was not paid and is closed. Nothing was charged.',
  );
  expect(sentenceOf(row({ status: 'PAID' }), 'done')).toBe('$25.00 of credit added for $25.00.');
  const again = (status: TopupRowFragment['status']) => choicesOf(row({ status }), undefined).again;
  expect(['FAILED', 'EXPIRED', 'PAID', 'REVIEW'].map((each) => again(each as 'PAID'))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(choicesOf(row({ status: 'PAID' }), undefined).cancel).toBe(false);
});
