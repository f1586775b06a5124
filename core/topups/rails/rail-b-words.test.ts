// What the words of rail-b are taken for, compared whole: an event or an answer of it, and the fact that is made of it.
import { describe, expect, test } from 'vitest';
import { disputeOf } from './rail-b-dispute.ts';
import { readEvent } from './rail-b-event.ts';
import { refundOf } from './rail-b-refund.ts';

const read = (type: string, object: unknown, more: object = {}, live = false) =>
  readEvent(
    Buffer.from(JSON.stringify({ id: 'evt_1', type, livemode: live, data: { object }, ...more })),
    live,
  );
const nothing = (type: string) => ({
  ...{ event_id: 'evt_1', type, fact: null, order_ref: null, topup_id: null },
});
const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';
const BOUNCED = 'checkout.session.async_payment_failed';

const session = {
  ...{ id: 'cs_1', mode: 'payment', payment_status: 'paid', payment_intent: 'pi_1', amount_total: 2_500 },
  ...{ currency: 'usd', client_reference_id: 'tup_1', payment_method_types: ['card'] },
};
const captured = {
  ...{ kind: 'captured', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD', method: 'card' },
};
const intent = {
  ...{ id: 'pi_1', amount_received: 2_500, currency: 'usd', metadata: { topup_id: 'tup_1' } },
  payment_method_types: ['card'],
};
const of_session = { order_ref: 'cs_1', topup_id: 'tup_1' };
const of_intent = { order_ref: null, topup_id: 'tup_1' };

describe('a session', () => {
  test('is named by our reference, else by its metadata', () => {
    expect(read(COMPLETED, session)).toEqual({ ...nothing(COMPLETED), ...of_session, fact: captured });
    const metadata = { topup_id: 'tup_2' };
    for (const client_reference_id of ['', null, 7]) {
      const { topup_id } = read(COMPLETED, { ...session, client_reference_id, metadata });
      expect(topup_id).toBe('tup_2');
    }
  });

  test('has a method only where it is the only one', () => {
    for (const payment_method_types of [['card', 'link'], [], null, 'card', [7]])
      expect(read(COMPLETED, { ...session, payment_method_types }).fact).toEqual({
        ...captured,
        method: null,
      });
  });

  test('of anything but a payment says nothing of money', () => {
    for (const [type, mode] of [
      [COMPLETED, 'subscription'],
      [BOUNCED, 'setup'],
    ] as const)
      expect(read(type, { ...session, mode })).toEqual({ ...nothing(type), ...of_session });
  });

  test('whose payment failed later says why', () => {
    const payment_intent = { last_payment_error: { code: 'bank_account_closed', message: 'Closed.' } };
    expect(read(BOUNCED, { ...session, payment_intent }).fact).toEqual({
      ...{ kind: 'failed', last: true, code: 'bank_account_closed', message: 'Closed.' },
    });
  });
});

describe('a payment', () => {
  test('that succeeded is one of its top-up', () => {
    const type = 'payment_intent.succeeded';
    expect(read(type, intent)).toEqual({ ...nothing(type), ...of_intent, fact: captured });
    for (const lack of [{ id: null }, { amount_received: 0 }, { currency: 'x'.repeat(256) }])
      expect(read(type, { ...intent, ...lack })).toEqual({
        ...{ ...nothing(type), ...of_intent, unreadable: 'a payment without id or amount' },
      });
  });

  test('that failed says why in the words of the bank, else of the rail, else in ours', () => {
    const type = 'payment_intent.payment_failed';
    const errors: [object | null, string, string][] = [
      [{ decline_code: 'lost_card', code: 'card_declined', message: 'No.' }, 'lost_card', 'No.'],
      [{ decline_code: '', code: 'card_declined', message: '' }, 'card_declined', 'The payment failed.'],
      [{ decline_code: 'd'.repeat(65), message: 'm'.repeat(501) }, 'd'.repeat(64), 'm'.repeat(500)],
      [null, 'payment_failed', 'The payment failed.'],
    ];
    for (const [last_payment_error, code, message] of errors)
      expect(read(type, { ...intent, last_payment_error }).fact).toEqual({
        ...{ kind: 'failed', last: false, code, message },
      });
  });

  test('of a kind of event that books nothing means nothing, whoever it names', () => {
    const type = 'payment_intent.created';
    expect(read(type, intent)).toEqual(nothing(type));
  });
});

describe('a card that is kept', () => {
  const about = {
    ...{ kind: 'mandate', mandate_id: null, setup_ref: null, token_ref: null, customer_ref: null },
    ...{ ends_at: null, first_payment: null },
  };
  const taken = (type: string, object: object) => {
    const { mandate, ...rest } = read(type, object);
    expect(rest).toEqual(nothing(type));
    return mandate;
  };

  test('is told with its payer, given as names or whole', () => {
    const kept = {
      ...about,
      change: 'confirmed',
      mandate_id: 'mnd_1',
      token_ref: 'pm_1',
      customer_ref: 'cus_1',
    };
    const metadata = { mandate_id: 'mnd_1' };
    for (const [payment_method, customer] of [
      ['pm_1', 'cus_1'],
      [{ id: 'pm_1' }, { id: 'cus_1' }],
    ])
      expect(taken('setup_intent.succeeded', { metadata, payment_method, customer })).toEqual(kept);
    // Somebody else's on the same account.
    for (const stranger of [{}, null]) {
      const object = { metadata: stranger, payment_method: 'pm_1', customer: 'cus_1' };
      expect(taken('setup_intent.succeeded', object)).toBeUndefined();
    }
    expect(taken('setup_intent.created', { metadata, payment_method: 'pm_1' })).toBeUndefined();
  });

  test('is told as a session that is over, which does not say the card', () => {
    const setup = {
      id: 'cs_1',
      mode: 'setup',
      client_reference_id: 'mnd_1',
      metadata: { mandate_id: 'mnd_1' },
    };
    const named = { ...about, mandate_id: 'mnd_1', setup_ref: 'cs_1' };
    expect(taken(COMPLETED, setup)).toEqual({ ...named, change: 'completed' });
    expect(taken(EXPIRED, setup)).toEqual({ ...named, change: 'lapsed' });
    expect(read(BOUNCED, setup).mandate).toBeUndefined();
  });

  test('is told as taken away', () => {
    expect(taken('payment_method.detached', { id: 'pm_1', mode: 'setup' })).toEqual({
      ...{ ...about, change: 'cancelled', token_ref: 'pm_1' },
    });
  });
});

const back = { id: 're_1', payment_intent: 'pi_1', amount: 700, currency: 'usd', status: 'succeeded' };
const refund = {
  ...{ kind: 'refund', ref: 're_1', payment_ref: 'pi_1', refund_id: null, amount_minor: 700 },
  ...{ currency: 'USD', status: 'refunded', failure_code: null },
};

describe('money that went back', () => {
  test('is told by its events; of a charge that is no payment of ours it means nothing', () => {
    for (const type of ['refund.updated', 'refund.failed']) {
      expect(read(type, back)).toEqual({ ...nothing(type), money_back: refund });
      const unreadable = 'a refund without id, payment or amount';
      expect(read(type, { ...back, id: null })).toEqual({ ...nothing(type), unreadable });
      expect(read(type, { ...back, payment_intent: null })).toEqual(nothing(type));
    }
    expect(read('refund.created', back)).toEqual(nothing('refund.created'));
  });

  test.each([
    ['succeeded', 'refunded', null],
    ['pending', 'pending', null],
    ['requires_action', 'pending', null],
    ['failed', 'failed', 'failed_at_rail'],
    ['canceled', 'failed', 'failed_at_rail'],
  ])('%s at the rail is %s here', (word, status, failure_code) => {
    expect(refundOf({ ...back, status: word })).toEqual({ ...refund, status, failure_code });
  });

  test('has our name for it, its payment given whole, and why it failed', () => {
    const metadata = { refund_id: 'rfd_1' };
    const more = { metadata, payment_intent: { id: 'pi_1' }, status: 'failed', failure_reason: 'lost_card' };
    expect(refundOf({ ...back, ...more })).toEqual({
      ...{ ...refund, refund_id: 'rfd_1', status: 'failed', failure_code: 'lost_card' },
    });
    expect(refundOf({ ...back, metadata: { refund_id: '' } })).toEqual(refund);
  });

  test.each([
    { id: '' },
    { id: 5 },
    { payment_intent: {} },
    { payment_intent: '' },
    { currency: null },
    { amount: 0 },
    { amount: '700' },
  ])('without what a booking needs is none: %o', (lack) => {
    expect(refundOf({ ...back, ...lack })).toBeNull();
  });
});

const disputed = {
  ...{ id: 'dp_1', payment_intent: 'pi_1', amount: 2_500, currency: 'usd', status: 'needs_response' },
  ...{ reason: 'fraudulent', evidence_details: { due_by: 1_763_719_200 } },
};
const dispute = {
  ...{ kind: 'dispute', ref: 'dp_1', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD' },
  ...{ status: 'open', phase: 'chargeback', reason: 'fraudulent' },
  respond_by: new Date('2025-11-21T10:00:00Z'),
};

describe('a payment that is disputed', () => {
  test('is told by its events; of a charge that is no payment of ours it means nothing', () => {
    const type = 'charge.dispute.updated';
    expect(read(type, disputed)).toEqual({ ...nothing(type), dispute });
    const unreadable = 'a dispute without id, payment, amount or a state that is known';
    expect(read(type, { ...disputed, status: 'of_tomorrow' })).toEqual({ ...nothing(type), unreadable });
    expect(read(type, { ...disputed, payment_intent: null })).toEqual(nothing(type));
  });

  test.each([
    ['warning_needs_response', 'open', 'inquiry'],
    ['warning_under_review', 'open', 'inquiry'],
    ['warning_closed', 'won', 'inquiry'],
    ['needs_response', 'open', 'chargeback'],
    ['under_review', 'open', 'chargeback'],
    ['appeal_needs_response', 'open', 'chargeback'],
    ['appeal_under_review', 'open', 'chargeback'],
    ['won', 'won', 'chargeback'],
    ['lost', 'lost', 'chargeback'],
  ])('%s at the rail is %s here, in a %s', (word, status, phase) => {
    expect(disputeOf({ ...disputed, status: word })).toEqual({ ...dispute, status, phase });
  });

  test('has the reason that the rail has, as far as it fits', () => {
    for (const [reason, said] of [
      [null, 'unknown'],
      ['', 'unknown'],
      ['r'.repeat(65), 'r'.repeat(64)],
    ])
      expect(disputeOf({ ...disputed, reason })).toEqual({ ...dispute, reason: said });
  });

  test('has a time to answer only where the rail says one', () => {
    for (const evidence_details of [null, {}, { due_by: 0 }, { due_by: -5 }, { due_by: '1763719200' }])
      expect(disputeOf({ ...disputed, evidence_details })).toEqual({ ...dispute, respond_by: null });
  });

  test('has its payment given whole, and the smallest amount', () => {
    const more = { payment_intent: { id: 'pi_1' }, amount: 1 };
    expect(disputeOf({ ...disputed, ...more })).toEqual({ ...dispute, amount_minor: 1 });
  });

  test.each([
    { id: '' },
    { id: 5 },
    { payment_intent: {} },
    { currency: null },
    { status: null },
    { amount: 0 },
    { amount: 1.5 },
  ])('without what a booking needs is none: %o', (lack) => {
    expect(disputeOf({ ...disputed, ...lack })).toBeNull();
  });
});

describe('bytes', () => {
  test('that name no event or no type are none', () => {
    for (const fields of [{ type: 'x' }, { id: 'evt_1' }, { id: 'evt_1', type: '' }, { id: 5, type: 'x' }])
      expect(() => readEvent(Buffer.from(JSON.stringify(fields)), false)).toThrow(
        expect.objectContaining({ code: 'invalid_json' }),
      );
  });

  test('that do not say their mode are of tests; those of the other mode mean nothing', () => {
    const unsaid = { livemode: undefined };
    expect(read(COMPLETED, session, unsaid).fact).toEqual(captured);
    expect(read(COMPLETED, session, unsaid, true)).toEqual(nothing(COMPLETED));
    expect(read(COMPLETED, session, {}, true).fact).toEqual(captured);
    expect(read(COMPLETED, session, { livemode: false }, true)).toEqual(nothing(COMPLETED));
    expect(read(COMPLETED, null)).toMatchObject({ fact: null, order_ref: null, topup_id: null });
    expect(read(COMPLETED, session, { data: null })).toMatchObject({ fact: null, topup_id: null });
  });
});
