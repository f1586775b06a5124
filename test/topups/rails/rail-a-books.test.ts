// The books of rail-a: what it is asked for a time, to the letter, and what a row of its lists is taken for.
import { describe, expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-a');
const { books } = rail;
const whats = () => asked.map(({ what }) => what);
/** Neither end is a whole second: nothing of the time may be left out. */
const time = { from: new Date(1_000_500), to: new Date(2_000_500) };
const IN_TIME = 'from=1000&to=2000';

const list = (...items: unknown[]) => ({ body: { items } });
const little = (words: string) => ({
  ...{ name: 'RailError', declined: false, message: expect.stringContaining(words) },
});

const row = {
  ...{ id: 'pay_1', amount: 118_000, currency: 'INR', method: 'upi', captured: true, order_id: 'order_1' },
  ...{ fee: 2_785, refund_status: null, notes: { topup_id: 'tup_9' } },
};
const payment = {
  payment: { kind: 'captured', payment_ref: 'pay_1', amount_minor: 118_000, currency: 'INR', method: 'upi' },
  ...{ order_ref: 'order_1', topup_id: null, fee_minor: 2_785, returned: false },
};
const refund = { id: 'rfnd_1', payment_id: 'pay_1', amount: 700, currency: 'INR', status: 'processed' };
const refunded = {
  ...{ kind: 'refund', ref: 'rfnd_1', payment_ref: 'pay_1', refund_id: null, amount_minor: 700 },
  ...{ currency: 'INR', status: 'refunded', failure_code: null },
};
const dispute = {
  ...{ id: 'disp_1', payment_id: 'pay_1', amount: 5_000, currency: 'INR', status: 'open', phase: 'fraud' },
  ...{ reason_code: 'general', created_at: 1_500 },
};
const disputed = {
  ...{ kind: 'dispute', ref: 'disp_1', payment_ref: 'pay_1', amount_minor: 5_000, currency: 'INR' },
  ...{ status: 'open', phase: 'fraud', reason: 'general', respond_by: null },
};

describe('a day', () => {
  test('is asked for whole, in three lists', async () => {
    tell(list(row), list(refund), list(dispute));
    expect(await books.readDay(time)).toEqual({
      ...{ payments: [payment], refunds: [refunded], disputes: [disputed] },
    });
    expect(whats()).toEqual([
      `GET /v1/payments?${IN_TIME}&count=100&skip=0`,
      `GET /v1/refunds?${IN_TIME}&count=100&skip=0`,
      'GET /v1/disputes?count=100&skip=0',
    ]);
  });

  test('has what went back whole, what the rail has not said its fee of, and payments of no order', async () => {
    const rows = [
      { ...row, refund_status: 'full' },
      { ...row, refund_status: 'partial' },
      { ...row, fee: '2785' },
      { ...row, order_id: '' },
    ];
    tell(list(...rows), list(), list());
    expect((await books.readDay(time)).payments).toEqual([
      { ...payment, returned: true },
      payment,
      { ...payment, fee_minor: null },
      { ...payment, order_ref: null },
    ]);
  });

  test('has nothing of payments that were not captured, nor of what cannot be read', async () => {
    const strangers = [{ ...row, captured: false }, { ...row, amount: 0 }, null];
    const unknown = { ...dispute, status: 'of_tomorrow' };
    tell(list(...strangers), list({ ...refund, id: '' }), list(unknown));
    expect(await books.readDay(time)).toEqual({ payments: [], refunds: [], disputes: [] });
  });

  test('has the disputes of its time: the first moment is in it, the last is not', async () => {
    const at = (created_at: unknown) => ({ ...dispute, id: `disp_${created_at}`, created_at });
    tell(list(), list(), list(...[2_001, 2_000, 1_500, 1_000, 999, '1500'].map(at)));
    const whole = { from: new Date(1_000_000), to: new Date(2_000_000) };
    const { disputes } = await books.readDay(whole);
    expect(disputes.map(({ ref }) => ref)).toEqual(['disp_1500', 'disp_1000']);
  });
});

describe('a list', () => {
  const full = (item: unknown) => Array(100).fill(item);

  test('is read page by page until one is not full', async () => {
    tell(list(...full(row)), list(...full(row)), list(row), list(), list());
    expect((await books.readDay(time)).payments).toHaveLength(201);
    expect(whats().slice(0, 3)).toEqual(
      [0, 100, 200].map((skip) => `GET /v1/payments?${IN_TIME}&count=100&skip=${skip}`),
    );
  });

  test('goes on behind what is no object', async () => {
    tell(list(...full(null)), list(row), list(), list());
    expect((await books.readDay(time)).payments).toEqual([payment]);
    expect(whats()[1]).toContain('skip=100');
  });

  test('of disputes ends with the page that goes back beyond the time', async () => {
    const older = { ...dispute, created_at: 1_000 };
    tell(list(), list(), list(...full(dispute)), list(...full(dispute).slice(1), older), list(dispute));
    expect((await books.readDay(time)).disputes).toHaveLength(199);
    expect(whats().slice(2)).toEqual([0, 100].map((skip) => `GET /v1/disputes?count=100&skip=${skip}`));
  });

  test('of disputes goes on where the last of a page began with the time itself', async () => {
    const first = { ...dispute, created_at: 1_000 };
    tell(list(), list(), list(...full(dispute).slice(1), first), list(first));
    const whole = { from: new Date(1_000_000), to: new Date(2_000_000) };
    expect((await books.readDay(whole)).disputes).toHaveLength(101);
  });

  test('without items, or without an end, is refused', async () => {
    tell({ body: { items: null } });
    await expect(books.readDay(time)).rejects.toMatchObject(little('a list without items'));
    tell({ body: { items: Array(500_000).fill(0) } }, list(row));
    await expect(books.readDay(time)).rejects.toMatchObject(little('a list without an end'));
    expect(asked).toHaveLength(1);
  });
});

const settlement = { id: 'setl_1', amount: 115_000, status: 'processed', utr: 'utr-1', created_at: 1_500 };
const paidOut = {
  ...{ ref: 'setl_1', amount_minor: 115_000, currency: 'INR', state: 'paid', bank_ref: 'utr-1' },
  ...{ itemized: true, at: new Date(1_500_000) },
};
const settled = {
  ...{ entity_id: 'pay_1', type: 'payment', settlement_id: 'setl_1', currency: 'inr', amount: 118_000 },
  ...{ credit: 115_215, debit: 0, method: 'upi', order_id: 'order_1', settled_at: 1_500 },
};
const about = {
  ...{ ref: 'pay_1', source_ref: null, payment_ref: 'pay_1', fee_minor: 2_785, currency: 'INR' },
  ...{ payout_ref: 'setl_1', at: new Date(1_500_000), paid: null, back: null },
};
const line = { ...about, kind: 'payment', amount_minor: 118_000, paid: payment };
/** The lines of a report that has these rows. */
async function linesOf(...rows: object[]) {
  tell(list(), list(...rows));
  return (await books.readSettled(time)).lines;
}

describe('what was paid out', () => {
  test('is asked for in payouts, and in the report of each day of India', async () => {
    tell(list(settlement), list(settled));
    expect(await books.readSettled(time)).toEqual({ payouts: [paidOut], lines: [line] });
    expect(whats()).toEqual([
      `GET /v1/settlements?${IN_TIME}&count=100&skip=0`,
      'GET /v1/settlements/recon/combined?year=1970&month=1&day=1&count=1000&skip=0',
    ]);
  });

  test.each([
    ['2026-11-20T18:30:00.000Z', '2026-11-21T18:30:00.000Z', ['2026-11-21']],
    ['2026-11-20T18:29:59.999Z', '2026-11-21T18:30:00.000Z', ['2026-11-20', '2026-11-21']],
    ['2026-11-30T00:00:00.000Z', '2026-11-30T18:30:00.001Z', ['2026-11-30', '2026-12-1']],
  ])('from %s to %s has a part of the days %j', async (from, to, days) => {
    tell(list(), list(), list());
    await books.readSettled({ from: new Date(from), to: new Date(to) });
    const reported = whats()
      .slice(1)
      .map((what) => new URL(what.slice(4), 'http://x').searchParams);
    expect(reported.map((day) => ['year', 'month', 'day'].map((name) => day.get(name)).join('-'))).toEqual(
      days,
    );
  });

  test('has arrived, has failed or is under way, and the name of the bank where that is known', async () => {
    const words = ['processed', 'failed', 'created', null];
    tell(list(...words.map((status) => ({ ...settlement, status, utr: '' }))), list());
    const { payouts } = await books.readSettled(time);
    expect(payouts).toEqual(
      ['paid', 'failed', 'under_way', 'under_way'].map((state) => ({ ...paidOut, state, bank_ref: null })),
    );
  });

  test('without a name is refused', async () => {
    tell(list({ ...settlement, id: '' }), list());
    await expect(books.readSettled(time)).rejects.toMatchObject(little('a settlement without id'));
  });

  test('has the lines of its time: the first moment is in it, the last is not', async () => {
    const whole = { from: new Date(1_000_000), to: new Date(2_000_000) };
    const at = (settled_at: number) => ({ ...settled, entity_id: `pay_${settled_at}`, settled_at });
    tell(list(), list(...[999, 1_000, 1_999, 2_000].map(at)));
    const { lines } = await books.readSettled(whole);
    expect(lines.map(({ ref }) => ref)).toEqual(['pay_1000', 'pay_1999']);
  });
});

describe('a line of the report', () => {
  test('of a refund has the refund, and by its name', async () => {
    const back = {
      ...{ ...settled, entity_id: 'rfnd_1', type: 'refund', payment_id: 'pay_1', amount: 700 },
      ...{ credit: 0, debit: 700 },
    };
    expect(await linesOf(back, { ...back, payment_id: null })).toEqual([
      {
        ...{ ...about, kind: 'refund', ref: 'rfnd_1', source_ref: 'rfnd_1' },
        ...{ amount_minor: -700, fee_minor: 0, back: refunded },
      },
      {
        ...{ ...about, kind: 'refund', ref: 'rfnd_1', source_ref: 'rfnd_1', payment_ref: null },
        ...{ amount_minor: -700, fee_minor: 0 },
      },
    ]);
  });

  test('of a dispute takes money, and brings it back when it was won', async () => {
    const taken = {
      ...{ ...settled, entity_id: 'adj_1', type: 'adjustment', dispute_id: 'disp_1', payment_id: 'pay_1' },
      ...{ amount: 5_000, credit: 0, debit: 5_000 },
    };
    const lines = await linesOf(taken, { ...taken, credit: 5_000, debit: 0 });
    const of_dispute = { ...about, ref: 'adj_1', source_ref: 'disp_1', fee_minor: 0 };
    expect(lines).toEqual([
      { ...of_dispute, kind: 'dispute', amount_minor: -5_000 },
      { ...of_dispute, kind: 'dispute_back', amount_minor: 5_000 },
    ]);
    const other = { ...taken, dispute_id: '', type: 'transfer' };
    expect(await linesOf(other, { ...other, type: null })).toMatchObject(Array(2).fill({ kind: 'other' }));
  });

  test('of a payment whose fee is more than itself is a payment, and its fee is all that lies between', async () => {
    expect(await linesOf({ ...settled, amount: 100, credit: 0, debit: 490 })).toMatchObject([
      { kind: 'payment', amount_minor: 100, fee_minor: 590, paid: { payment: { amount_minor: 100 } } },
    ]);
  });

  test('has nothing for what is no whole number', async () => {
    const lines = await linesOf({ ...settled, debit: null, credit: '115215', amount: 118_000 });
    expect(lines).toMatchObject([{ amount_minor: 118_000, fee_minor: 118_000 }]);
  });

  test.each([{ entity_id: '' }, { settlement_id: null }, { currency: 7 }])(
    'that says too little is refused: %o',
    async (lack) => {
      await expect(linesOf({ ...settled, ...lack })).rejects.toMatchObject(little('says too little'));
    },
  );
});

test('an order says what it was made for by its notes; one that was not made by us says nothing', async () => {
  const notes = { topup_id: 'tup_1', mandate_id: 'mnd_1' };
  tell({ body: { id: 'order_1', notes } }, { body: { id: 'order_1', notes: [] } });
  expect(await books.readOrder('order_1')).toEqual(notes);
  expect(await books.readOrder('order_1')).toEqual({ topup_id: null, mandate_id: null });
  expect(whats()).toEqual(Array(2).fill('GET /v1/orders/order_1'));
});
