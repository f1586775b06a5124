import { expect, test } from 'vitest';
import { type Dispute, wordsOfDispute } from './dispute-words.ts';

const dispute = (over: Partial<Dispute>): Dispute => ({
  id: 'dsp_1',
  status: 'open',
  reason: 'product_not_received',
  currency: 'USD',
  amountMinor: '2500',
  creditsMicro: '25000000',
  writtenOffMicro: null,
  respondBy: '2026-11-30T10:00:00.000Z',
  openedAt: '2026-11-21T10:00:00.000Z',
  closedAt: null,
  liftedAt: null,
  paidAt: null,
  ...over,
});
const lost = (over: Partial<Dispute>) =>
  wordsOfDispute(dispute({ status: 'lost', closedAt: '2026-12-20T10:00:00.000Z', ...over }));

test('an open dispute says what is held, what goes on, and until when to answer', () => {
  const { happened, means, todo } = wordsOfDispute(dispute({}));
  expect(happened).toBe('On Nov 21 the payer asked the bank to take $25.00 back, as “product not received”.');
  expect(means).toContain('Up to $25.00 of credit');
  expect(means).toContain('Calls go on with the rest');
  expect(todo).toContain('before Nov 30');
});

test('a dispute that was won asks for nothing', () => {
  const words = wordsOfDispute(dispute({ status: 'won', closedAt: '2026-12-20T10:00:00.000Z' }));
  expect(words).toEqual({
    happened: 'On Dec 20 the bank decided for the payment: $25.00 stays.',
    means: 'Credit that was held is yours again, where it was before.',
    todo: null,
  });
});

test('a loss says what is owed, and what is refused until it is paid', () => {
  expect(lost({ writtenOffMicro: '0' })).toMatchObject({ todo: null });
  const owed = lost({ writtenOffMicro: '10000000' });
  expect(owed.means).toContain('$10.00 of it had been spent and is owed');
  expect(owed.means).toContain('Calls, refunds and gifts are refused');
  expect(owed.todo).toContain('Write to support');
  const lifted = lost({ writtenOffMicro: '10000000', liftedAt: '2026-12-21T10:00:00.000Z' });
  expect(lifted.means).toContain('Calls are allowed again');
  const paid = lost({ writtenOffMicro: '10000000', paidAt: '2026-12-24T10:00:00.000Z' });
  expect([paid.means.includes('paid on Dec 24'), paid.todo]).toEqual([true, null]);
});
