// The books of rail-b: what it is asked for a time, to the letter, and what a row of its lists is taken for.
import { describe, expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-b');
const { books } = rail;
/** Neither end is a whole second: nothing of the time may be left out. */
const time = { from: new Date(1_000_500), to: new Date(2_000_500) };
const IN_TIME = 'created[gte]=1000&created[lt]=2001&limit=100';

const list = (...data: object[]) => ({ body: { object: 'list', data, has_more: false } });

const intent = {
  ...{ id: 'pi_1', status: 'succeeded', amount_received: 2_500, currency: 'usd' },
  ...{ payment_method_types: ['card'], metadata: { topup_id: 'tup_1' } },
  latest_charge: { id: 'ch_1', balance_transaction: { fee: 103, currency: 'usd' } },
};
const payment = {
  payment: { kind: 'captured', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD', method: 'card' },
  ...{ order_ref: null, topup_id: 'tup_1', fee_minor: 103, returned: false },
};
const refund = {
  ...{ id: 're_1', payment_intent: 'pi_1', amount: 700, currency: 'usd', status: 'succeeded', metadata: {} },
};
const refunded = {
  ...{ kind: 'refund', ref: 're_1', payment_ref: 'pi_1', refund_id: null, amount_minor: 700 },
  ...{ currency: 'USD', status: 'refunded', failure_code: null },
};
const dispute = {
  ...{ id: 'dp_1', payment_intent: 'pi_1', amount: 2_500, currency: 'usd', status: 'won', reason: 'general' },
};

describe('a day', () => {
  test('is asked for whole, in three lists', async () => {
    tell(list(intent), list(refund), list(dispute));
    expect(await books.readDay(time)).toEqual({
      payments: [payment],
      refunds: [refunded],
      disputes: [
        {
          ...{ kind: 'dispute', ref: 'dp_1', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD' },
          ...{ status: 'won', phase: 'chargeback', reason: 'general', respond_by: null },
        },
      ],
    });
    expect(asked.map(({ what }) => what)).toEqual([
      `GET /v1/payment_intents?${IN_TIME}&expand[0]=data.latest_charge.balance_transaction`,
      `GET /v1/refunds?${IN_TIME}`,
      `GET /v1/disputes?${IN_TIME}`,
    ]);
  });

  test('has what went back whole, and what the rail has not said its fee of', async () => {
    const charges = [{ id: 'ch_1', refunded: true }, { id: 'ch_1', refunded: 'yes' }, 'ch_1', null];
    tell(list(...charges.map((latest_charge) => ({ ...intent, latest_charge }))), list(), list());
    const { payments } = await books.readDay(time);
    expect(payments.map(({ returned, fee_minor }) => [returned, fee_minor])).toEqual([
      [true, null],
      [false, null],
      [false, null],
      [false, null],
    ]);
  });

  test('has nothing of payments that failed, say too little or are not ours, nor of what cannot be read', async () => {
    const strangers = [
      { ...intent, status: 'canceled' },
      { ...intent, amount_received: 0 },
      { ...intent, metadata: {} },
      { ...intent, metadata: null },
    ];
    tell(list(...strangers), list({ ...refund, id: '' }), list({ ...dispute, status: 'of_tomorrow' }));
    expect(await books.readDay(time)).toEqual({ payments: [], refunds: [], disputes: [] });
  });
});

const payout = {
  ...{ id: 'po_1', amount: 9_000, currency: 'usd', status: 'paid', created: 1_500 },
  ...{ reconciliation_status: 'completed', trace_id: { status: 'supported', value: 'trace-1' } },
};
const paidOut = {
  ...{ ref: 'po_1', amount_minor: 9_000, currency: 'USD', state: 'paid', bank_ref: 'trace-1' },
  ...{ itemized: true, at: new Date(1_500_000) },
};
const charge = {
  ...{ id: 'ch_1', object: 'charge', amount: 2_500, currency: 'usd', payment_intent: 'pi_1' },
  ...{ metadata: { topup_id: 'tup_1' }, payment_method_details: { type: 'card' } },
};
const row = { id: 'txn_1', type: 'charge', amount: 2_500, fee: 103, currency: 'usd', source: charge };
const line = {
  ...{ kind: 'payment', ref: 'txn_1', source_ref: null, payment_ref: 'pi_1', amount_minor: 2_500 },
  ...{ fee_minor: 103, currency: 'USD', payout_ref: 'po_1', at: new Date(1_500_000) },
  ...{ paid: payment, back: null },
};
/** The lines of a payout that has these rows. */
async function linesOf(...rows: object[]) {
  tell(list(payout), list(...rows));
  return (await books.readSettled(time)).lines;
}

test('a list without an end is refused', async () => {
  const rows = (count: number) => ({ body: { data: Array(count).fill({ id: 're_1' }), has_more: false } });
  tell(list(), rows(500_000), list());
  expect((await books.readDay(time)).refunds).toEqual([]);
  tell(list(), rows(500_001), list());
  await expect(books.readDay(time)).rejects.toMatchObject({
    ...{ name: 'RailError', declined: false, message: expect.stringContaining('a list without an end') },
  });
});

describe('what was paid out', () => {
  test('is asked for in payouts, and each in its lines', async () => {
    tell(list(payout), list(row, { ...row, id: 'txn_2', type: 'payout' }));
    expect(await books.readSettled(time)).toEqual({ payouts: [paidOut], lines: [line] });
    expect(asked.map(({ what }) => what)).toEqual([
      `GET /v1/payouts?${IN_TIME}`,
      'GET /v1/balance_transactions?payout=po_1&limit=100&expand[0]=data.source',
    ]);
  });

  test('has no lines where a person asked for it, and the name of the bank where that is known', async () => {
    const by_hand = { ...payout, reconciliation_status: 'not_applicable', trace_id: null };
    tell(list(by_hand, { ...by_hand, trace_id: { value: '' } }));
    const { payouts, lines } = await books.readSettled(time);
    const unknown = { ...paidOut, itemized: false, bank_ref: null };
    expect([payouts, lines, asked.length]).toEqual([[unknown, unknown], [], 1]);
  });

  test('has arrived, has failed or is under way', async () => {
    const words = ['paid', 'failed', 'canceled', 'pending', 'in_transit'];
    const rows = words.map((status) => ({ ...payout, status, reconciliation_status: 'in_progress' }));
    tell(list(...rows));
    const { payouts } = await books.readSettled(time);
    expect(payouts.map(({ state }) => state)).toEqual(['paid', 'failed', 'failed', 'under_way', 'under_way']);
  });

  test('has its pages read to the end', async () => {
    const rest = { ...row, id: 'txn_2' };
    tell(list(payout), { body: { data: [row], has_more: true } }, list(rest));
    const { lines } = await books.readSettled(time);
    expect(lines.map(({ ref }) => ref)).toEqual(['txn_1', 'txn_2']);
    expect(asked[2]?.what).toContain('starting_after=txn_1');
  });
});

describe('a line of a payout', () => {
  test.each([
    ['charge', 'payment'],
    ['payment', 'payment'],
    ['refund', 'refund'],
    ['payment_refund', 'refund'],
    ['refund_failure', 'refund_back'],
    ['payment_failure_refund', 'refund_back'],
    ['stripe_fee', 'fee'],
    ['stripe_fx_fee', 'fee'],
    ['tax_fee', 'fee'],
    ['adjustment', 'other'],
    ['transfer', 'other'],
  ])('of type %s is one of kind %s', async (type, kind) => {
    expect(await linesOf({ ...row, type })).toMatchObject([
      { kind, amount_minor: kind === 'fee' ? 0 : 2_500 },
    ]);
  });

  test('of a refund has the refund, and by its name', async () => {
    const back = { ...row, type: 'refund', amount: -700, fee: 0, source: { ...refund, object: 'refund' } };
    expect(await linesOf(back)).toEqual([
      {
        ...{ ...line, kind: 'refund', source_ref: 're_1', amount_minor: -700, fee_minor: 0 },
        ...{ paid: null, back: refunded },
      },
    ]);
  });

  test('of a dispute takes money, and brings it back when it was won', async () => {
    const source = { ...dispute, object: 'dispute' };
    const taken = { ...row, type: 'adjustment', amount: -2_500, fee: 1_500, source };
    const lines = await linesOf(taken, { ...taken, amount: 2_500, fee: 0 }, { ...taken, amount: 0, fee: 0 });
    expect(lines.map(({ kind }) => kind)).toEqual(['dispute', 'dispute_back', 'dispute_back']);
    expect(lines[0]).toEqual({
      ...{ ...line, kind: 'dispute', source_ref: 'dp_1', amount_minor: -2_500, fee_minor: 1_500 },
      ...{ paid: null, back: null },
    });
    // Another type about a dispute is not one that this code knows.
    expect(await linesOf({ ...taken, type: 'reserve_transaction' })).toMatchObject([{ kind: 'other' }]);
  });

  test('of the rail’s own fee is a fee and no amount, and is about nothing', async () => {
    const fee = { ...row, type: 'stripe_fee', amount: -250, fee: 10, source: 'fee_1' };
    expect(await linesOf(fee)).toEqual([
      {
        ...{ ...line, kind: 'fee', source_ref: null, payment_ref: null, amount_minor: 0, fee_minor: 260 },
        ...{ paid: null, back: null },
      },
    ]);
  });

  test('whose source is only named is named by it', async () => {
    const other = { ...row, type: 'transfer', source: 'tr_1' };
    expect(await linesOf(other, { ...other, source: null })).toMatchObject([
      { source_ref: 'tr_1', payment_ref: null },
      { source_ref: null, payment_ref: null },
    ]);
  });

  test.each([
    ['without a payment', { payment_intent: null }],
    ['without a currency', { currency: '' }],
    ['without an amount', { amount: '2500' }],
  ])('of a charge %s does not say what was paid', async (_, lack) => {
    expect(await linesOf({ ...row, source: { ...charge, ...lack } })).toMatchObject([{ paid: null }]);
  });

  test('of a charge says how it was paid, whether it went back, and its fee where that is comparable', async () => {
    const sources = [
      { ...charge, payment_intent: { id: 'pi_1' }, refunded: true },
      { ...charge, payment_method_details: null, metadata: null, refunded: 'yes' },
      { ...charge, currency: 'eur' },
    ];
    const lines = await linesOf(...sources.map((source) => ({ ...row, source })));
    expect(lines.map(({ paid }) => paid)).toEqual([
      { ...payment, returned: true },
      { ...payment, payment: { ...payment.payment, method: null }, topup_id: null },
      { ...payment, payment: { ...payment.payment, currency: 'EUR' }, fee_minor: null },
    ]);
  });
});

test('an order says nothing of what it was made for: its payments do', async () => {
  tell();
  expect(await books.readOrder('cs_1')).toEqual({ topup_id: null, mandate_id: null });
  expect(asked).toEqual([]);
});
