// What the words of rail-a are taken for, compared whole: an event or an answer of it, and the fact that is made of it.
import { describe, expect, test } from 'vitest';
import { disputeOfRailA } from './rail-a-dispute.ts';
import { readRailA } from './rail-a-event.ts';
import { refundOfRailA } from './rail-a-refund.ts';

const read = (event: string, entities: Record<string, unknown>, event_id: string | null = 'evt_1') => {
  const payload = Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }]));
  return readRailA({ raw: Buffer.from(JSON.stringify({ event, payload })), signature: null, event_id });
};
const nothing = (type: string) => ({
  ...{ event_id: 'evt_1', type, fact: null, order_ref: null, topup_id: null },
});

const payment = {
  ...{ id: 'pay_1', amount: 118_000, currency: 'inr', order_id: 'order_1', method: 'upi' },
  notes: { topup_id: 'tup_1' },
};
const captured = {
  ...{ kind: 'captured', payment_ref: 'pay_1', amount_minor: 118_000, currency: 'INR', method: 'upi' },
};

describe('a payment', () => {
  test('is named by its order and our note, and has its method where the rail says one', () => {
    const type = 'payment.captured';
    const about = { ...nothing(type), order_ref: 'order_1', topup_id: 'tup_1' };
    expect(read(type, { payment })).toEqual({ ...about, fact: captured });
    for (const method of ['', null, 7])
      expect(read(type, { payment: { ...payment, method } }).fact).toEqual({ ...captured, method: null });
  });

  test('without an order is the one of our note', () => {
    const type = 'payment.captured';
    expect(read(type, { payment: { ...payment, order_id: null } })).toEqual({
      ...{ ...nothing(type), topup_id: 'tup_1', fact: captured },
    });
  });

  test('that an order reports has the name of that order', () => {
    const { order_id: _, ...unnamed } = payment;
    const order = { id: 'order_2', notes: { topup_id: 'tup_1' } };
    expect(read('order.paid', { payment: unnamed, order }).order_ref).toBe('order_2');
  });

  test('that failed says why in the words of the bank, else of the rail, else in ours', () => {
    const errors: [object, string, string][] = [
      [{ error_reason: 'r', error_code: 'c', error_description: 'Words.' }, 'r', 'Words.'],
      [{ error_reason: '', error_code: 'c', error_description: '' }, 'c', 'The payment failed.'],
      [{}, 'payment_failed', 'The payment failed.'],
      [
        { error_reason: 'r'.repeat(65), error_description: 'd'.repeat(501) },
        ...(['r'.repeat(64), 'd'.repeat(500)] as const),
      ],
    ];
    for (const [error, code, message] of errors)
      expect(read('payment.failed', { payment: { ...payment, ...error } }).fact).toEqual({
        ...{ kind: 'failed', last: false, code, message },
      });
  });

  test('that gave leave to debit is told once, by itself and not by its order', () => {
    const notes = { mandate_id: 'mnd_1' };
    const proof = { ...payment, notes };
    const completed = {
      ...{ kind: 'mandate', change: 'completed', mandate_id: 'mnd_1', setup_ref: null, token_ref: null },
      ...{ customer_ref: null, ends_at: null, first_payment: 'pay_1' },
    };
    const type = 'payment.captured';
    expect(read(type, { payment: proof })).toEqual({ ...nothing(type), mandate: completed });
    // A bank account needs no payment: nothing goes back.
    for (const lack of [{ amount: 0 }, { id: '' }])
      expect(read(type, { payment: { ...proof, ...lack } }).mandate).toEqual({
        ...{ ...completed, first_payment: null },
      });
    const order = { id: 'order_1', notes };
    expect(read('order.paid', { payment: proof, order })).toEqual(nothing('order.paid'));
    expect(read('payment.failed', { payment: proof })).toEqual(nothing('payment.failed'));
  });
});

describe('the notice before a debit', () => {
  test('is named by its order, and has arrived or not', () => {
    const order = { id: 'order_1', notes: { topup_id: 'tup_1' } };
    for (const [what, delivered] of [
      ['delivered', true],
      ['failed', false],
    ] as const) {
      const type = `order.notification.${what}`;
      const notice = { kind: 'notice', order_ref: 'order_1', topup_id: 'tup_1', delivered };
      expect(read(type, { order, notification: { order_id: 'order_2' } })).toEqual({
        ...nothing(type),
        notice,
      });
      expect(read(type, { notification: { order_id: 'order_1' } })).toEqual({
        ...{ ...nothing(type), notice: { ...notice, topup_id: null } },
      });
      expect(read(type, {})).toEqual(nothing(type));
    }
    expect(read('order.notification.sent', { order })).toEqual(nothing('order.notification.sent'));
  });
});

describe('a token', () => {
  const token = { id: 'token_1', customer_id: 'cust_1', expired_at: 1_763_719_200 };
  const mandate = {
    ...{ kind: 'mandate', mandate_id: null, setup_ref: null, first_payment: null },
    ...{ token_ref: 'token_1', customer_ref: 'cust_1', ends_at: new Date('2025-11-21T10:00:00Z') },
  };

  test.each(['confirmed', 'rejected', 'paused', 'resumed', 'cancelled'])(
    'that is %s is told so',
    (change) => {
      const type = `token.${change}`;
      expect(read(type, { token })).toEqual({ ...nothing(type), mandate: { ...mandate, change } });
    },
  );

  test('has no end and no payer where the rail says none', () => {
    const bare = { id: 'token_1', customer_id: '', expired_at: null };
    expect(read('token.confirmed', { token: bare }).mandate).toEqual({
      ...{ ...mandate, change: 'confirmed', customer_ref: null, ends_at: null },
    });
  });

  test('without a name, or in a state that is not known, means nothing', () => {
    for (const id of ['', 7])
      expect(read('token.confirmed', { token: { ...token, id } })).toEqual(nothing('token.confirmed'));
    expect(read('token.of_tomorrow', { token })).toEqual(nothing('token.of_tomorrow'));
    expect(read('order.confirmed', { token })).toEqual(nothing('order.confirmed'));
  });
});

const back = { id: 'rfnd_1', payment_id: 'pay_1', amount: 700, currency: 'inr', status: 'processed' };
const refund = {
  ...{ kind: 'refund', ref: 'rfnd_1', payment_ref: 'pay_1', refund_id: null, amount_minor: 700 },
  ...{ currency: 'INR', status: 'refunded', failure_code: null },
};

describe('money that went back', () => {
  test('is told by its events', () => {
    for (const type of ['refund.processed', 'refund.failed']) {
      expect(read(type, { refund: back })).toEqual({ ...nothing(type), money_back: refund });
      const unreadable = 'a refund without id, payment or amount';
      expect(read(type, { refund: { ...back, id: null } })).toEqual({ ...nothing(type), unreadable });
    }
    expect(read('refund.created', { refund: back })).toEqual(nothing('refund.created'));
  });

  test.each([
    ['processed', 'refunded', null],
    ['pending', 'pending', null],
    ['failed', 'failed', 'failed_at_rail'],
  ])('%s at the rail is %s here', (word, status, failure_code) => {
    expect(refundOfRailA({ ...back, status: word })).toEqual({ ...refund, status, failure_code });
  });

  test('has our name for it where the rail was given one', () => {
    expect(refundOfRailA({ ...back, notes: { refund_id: 'rfd_1' } })).toEqual({
      ...refund,
      refund_id: 'rfd_1',
    });
    expect(refundOfRailA({ ...back, notes: [] })).toEqual(refund);
  });

  test.each([
    { id: '' },
    { payment_id: 5 },
    { currency: null },
    { status: 'of_tomorrow' },
    { status: null },
    { amount: 0 },
  ])('without what a booking needs is none: %o', (lack) => {
    expect(refundOfRailA({ ...back, ...lack })).toBeNull();
  });
});

const disputed = {
  ...{
    id: 'disp_1',
    payment_id: 'pay_1',
    amount: 5_000,
    currency: 'inr',
    status: 'open',
    amount_deducted: 0,
  },
  ...{ phase: 'fraud', reason_code: 'not_received', respond_by: 1_763_719_200 },
};
const dispute = {
  ...{ kind: 'dispute', ref: 'disp_1', payment_ref: 'pay_1', amount_minor: 5_000, currency: 'INR' },
  ...{ status: 'open', phase: 'fraud', reason: 'not_received' },
  respond_by: new Date('2025-11-21T10:00:00Z'),
};

describe('a payment that is disputed', () => {
  test('is told by its events', () => {
    const type = 'payment.dispute.under_review';
    expect(read(type, { dispute: disputed })).toEqual({ ...nothing(type), dispute });
    const unreadable = 'a dispute without id, payment, amount or a state that is known';
    const unknown = { ...disputed, status: 'of_tomorrow' };
    expect(read(type, { dispute: unknown })).toEqual({ ...nothing(type), unreadable });
  });

  test.each([
    ['open', 0, 'open', 5_000],
    ['open', 4_000, 'open', 5_000],
    ['under_review', 0, 'open', 5_000],
    ['won', 4_000, 'won', 5_000],
    ['lost', 4_000, 'lost', 4_000],
    ['lost', 0, 'lost', 5_000],
    ['lost', '4000', 'lost', 5_000],
    ['closed', 1, 'lost', 1],
    ['closed', 0, 'won', 5_000],
  ])('%s at the rail, %o taken, is %s here, of %i', (word, amount_deducted, status, amount_minor) => {
    const at_rail = { ...disputed, status: word, amount_deducted };
    expect(disputeOfRailA(at_rail)).toEqual({ ...dispute, status, amount_minor });
  });

  test('has phase and reason as the rail has them, as far as they fit', () => {
    for (const [word, phase, reason] of [
      [null, 'chargeback', 'unknown'],
      ['', 'chargeback', 'unknown'],
      ['w'.repeat(65), 'w'.repeat(64), 'w'.repeat(64)],
    ])
      expect(disputeOfRailA({ ...disputed, phase: word, reason_code: word })).toEqual({
        ...{ ...dispute, phase, reason },
      });
  });

  test('has a time to answer only where the rail says one', () => {
    for (const respond_by of [null, 0, -5, '1763719200'])
      expect(disputeOfRailA({ ...disputed, respond_by })).toEqual({ ...dispute, respond_by: null });
  });

  test('has the smallest amount', () => {
    expect(disputeOfRailA({ ...disputed, amount: 1 })).toEqual({ ...dispute, amount_minor: 1 });
  });

  test.each([
    { id: '' },
    { payment_id: 5 },
    { currency: null },
    { status: null },
    { amount: 0 },
    { amount: 1.5 },
  ])('without what a booking needs is none: %o', (lack) => {
    expect(disputeOfRailA({ ...disputed, ...lack })).toBeNull();
  });
});

describe('bytes', () => {
  test('that name no type are no event', () => {
    for (const event of ['', 7, null])
      expect(() => readRailA({ raw: Buffer.from(JSON.stringify({ event })), signature: null })).toThrow(
        expect.objectContaining({ code: 'invalid_json' }),
      );
  });

  test('are known by their header as far as names go', () => {
    expect(read('x', {}, 'e'.repeat(255)).event_id).toBe('e'.repeat(255));
  });
});
