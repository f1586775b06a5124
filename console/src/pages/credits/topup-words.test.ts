import { expect, test } from 'vitest';
import type { TopupRowFragment } from '../../api/gen/graphql.ts';
import { choicesOf, type MadeRefund, markOf, refundSentence, sentenceOf } from './topup-words.ts';

const row = (over: Partial<TopupRowFragment>) =>
  ({
    status: 'PENDING',
    currency: 'USD',
    totalMinor: '2500',
    refundedMinor: '0',
    disputed: false,
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
  const left = { resume: 'https://rail.example/pay/1', cancel: true, again: false, refund: false };
  expect(choicesOf(row({}), 'back')).toEqual(left);
  expect(choicesOf(row({}), undefined)).toEqual(left);
  expect(choicesOf(row({}), 'done')).toEqual({ ...left, resume: null, cancel: false });
  expect(choicesOf(row({ checkoutUrl: null }), 'back').resume).toBeNull();
});

test('what has ended says what was charged, and only what was not paid is begun anew', () => {
  expect(sentenceOf(row({ status: 'EXPIRED' }), undefined)).toBe(
    'The checkout for $25.00 was not paid and is closed. Nothing was charged.',
  );
  expect(sentenceOf(row({ status: 'PAID', creditsMicro: '27768367' }), 'done')).toBe(
    '$27.76 of credit added for $25.00.',
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

test('what went back and what is disputed is said, and a refund is offered as long as something can go back', () => {
  const paid = row({ status: 'PAID' });
  const some = row({ status: 'PAID', refundedMinor: '1000' });
  const all = row({ status: 'PAID', refundedMinor: '2500' });
  const disputed = row({ status: 'PAID', disputed: true });
  expect([paid, some, all, disputed].map((each) => markOf(each).word)).toEqual([
    'paid',
    'partly refunded',
    'refunded',
    'disputed',
  ]);
  expect([paid, some, all, disputed].map((each) => choicesOf(each, undefined).refund)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(sentenceOf(some, undefined)).toBe('$25.00 of credit added for $25.00. $10.00 of it went back.');
  expect(sentenceOf(disputed, undefined)).toContain('its unused credit waits for the decision');
  const lost = row({ status: 'PAID', disputed: true, dispute: { status: 'lost' } as never });
  expect([markOf(lost).word, sentenceOf(lost, undefined)]).toEqual([
    'lost in a dispute',
    '$25.00 of credit added for $25.00. The bank took it back.',
  ]);
});

test('a refund says what goes back and when, and that a declined one took nothing', () => {
  const refund = (status: MadeRefund['status']) =>
    refundSentence({
      ...{
        id: 'rfd_1',
        currency: 'INR',
        totalMinor: '39333',
        taxMinor: '6000',
        creditsMicro: '3702412',
        status,
      },
    } as MadeRefund);
  expect(refund('REFUNDED')).toMatch(
    /^₹393\.33 \(₹60\.00 of it tax\) is on its way to where it came from; \$3\.70/,
  );
  expect(refund('PENDING')).toContain('goes back as soon as the rail has taken it');
  expect(refund('FAILED')).toContain('is yours again');
});
