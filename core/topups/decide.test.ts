// The table of docs/money/topups.md#states, and that the order of facts does not matter for money.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideTopup, type TopupState } from './decide.ts';
import { type Captured, type TopupFact, type TopupStatus, topupStatuses } from './types.ts';

const topup = (status: TopupStatus, other: Partial<TopupState> = {}): TopupState => ({
  status,
  payment_ref: status === 'paid' || status === 'review' ? 'P1' : null,
  total_minor: 118_000,
  currency: 'INR',
  source: 'checkout',
  gateway_ref: 'O1',
  ...other,
});
const captured = (payment_ref: string, amount_minor = 118_000, currency = 'INR'): Captured => ({
  kind: 'captured',
  payment_ref,
  amount_minor,
  currency,
  method: 'card',
});
const failed = (last: boolean): TopupFact => ({
  kind: 'failed',
  last,
  code: 'card_declined',
  message: 'No.',
});

test.each([
  ['pending', captured('P1'), 'book'],
  ['failed', captured('P1'), 'book'],
  ['expired', captured('P1'), 'book'],
  ['pending', captured('P1', 117_999), 'review'],
  ['pending', captured('P1', 118_001), 'review'],
  ['pending', captured('P1', 118_000, 'USD'), 'review'],
  ['expired', captured('P1', 1), 'review'],
  ['paid', captured('P1'), 'replay'],
  ['paid', captured('P1', 117_999), 'replay'],
  ['review', captured('P1'), 'replay'],
  ['paid', captured('P2'), 'refund_second'],
  ['paid', captured('P2', 5), 'refund_second'],
  ['review', captured('P2'), 'refund_second'],
  ['pending', failed(true), 'fail'],
  ['pending', failed(false), 'note_failure'],
  ['pending', { kind: 'lapsed' }, 'expire'],
  ['pending', { kind: 'cancelled' }, 'expire'],
] as const)('%s, %o: %s', (status, fact, what) => {
  expect(decideTopup(topup(status), fact).do).toBe(what);
});

test('an automatic top-up has one attempt: its failure is the last', () => {
  expect(decideTopup(topup('pending', { source: 'auto' }), failed(false))).toMatchObject({
    do: 'fail',
    tell: true,
  });
});

test('a rail that could not be reached fails the row in silence, unless its callback was faster', () => {
  const fact: TopupFact = { kind: 'unreachable', message: 'connect' };
  expect(decideTopup(topup('pending', { gateway_ref: null }), fact)).toMatchObject({
    do: 'fail',
    code: 'rail_unavailable',
    tell: false,
  });
  expect(decideTopup(topup('pending'), fact)).toEqual({ do: 'nothing' });
});

test('nothing but money moves a top-up that is over', () => {
  const facts: TopupFact[] = [
    failed(true),
    failed(false),
    { kind: 'lapsed' },
    { kind: 'cancelled' },
    { kind: 'unreachable', message: '' },
  ];
  for (const status of topupStatuses.filter((status) => status !== 'pending')) {
    for (const fact of facts) expect(decideTopup(topup(status), fact)).toEqual({ do: 'nothing' });
  }
});

/** Applies facts to a state as book.ts does, and returns what was booked and sent back. */
function run(facts: readonly TopupFact[]): { booked: string[]; refunded: string[]; status: TopupStatus } {
  let state = topup('pending', { payment_ref: null });
  const booked: string[] = [];
  const refunded: string[] = [];
  for (const fact of facts) {
    const decision = decideTopup(state, fact);
    if (decision.do === 'book') {
      booked.push(decision.payment.payment_ref);
      state = { ...state, status: 'paid', payment_ref: decision.payment.payment_ref };
    } else if (decision.do === 'refund_second') refunded.push(decision.payment.payment_ref);
    else if (decision.do === 'fail') state = { ...state, status: 'failed' };
    else if (decision.do === 'expire') state = { ...state, status: 'expired' };
  }
  return { booked, refunded, status: state.status };
}

test('in any order and with any repeats, one payment of the right amount is booked and every other goes back', () => {
  const fact = fc.oneof(
    fc.constantFrom('P1', 'P2', 'P3').map((payment) => captured(payment)),
    fc.boolean().map(failed),
    fc.constant<TopupFact>({ kind: 'lapsed' }),
    fc.constant<TopupFact>({ kind: 'cancelled' }),
  );
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 12 }), (facts) => {
      const payments = new Set(facts.flatMap((fact) => (fact.kind === 'captured' ? [fact.payment_ref] : [])));
      const { booked, refunded, status } = run(facts);
      expect(booked.length).toBe(payments.size > 0 ? 1 : 0);
      expect(new Set([...booked, ...refunded])).toEqual(payments);
      if (payments.size > 0) expect(status).toBe('paid');
    }),
  );
});
