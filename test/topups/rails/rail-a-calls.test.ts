// What rail-a is asked for at a checkout, to the letter, what each of its answers is taken for, and how its checkout opens.
import { hmacSha256, readConfig } from '@svc/core/kernel/index.ts';
import { openRails } from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell, url } = await startAnsweringRail('rail-a');

const request = {
  ...({ topup_id: 'tup_1', org_id: 'org_1', total_minor: 118_000, currency: 'INR', email: null } as const),
  ...({ description: 'Credits', expires_in_seconds: 3_600, pay_url: 'http://pay.test/tup_1' } as const),
  ...({ success_url: 'http://shop.test/done', cancel_url: 'http://shop.test/back' } as const),
} as const;
const unreadable = (words: string) => ({
  ...{ name: 'RailError', code: 'UNREADABLE_ANSWER', declined: false },
  message: expect.stringContaining(words),
});
/** An answer of somebody in between: the rail may have done what it was asked. */
const PAGE = { body: '<html>' };
const NO = { status: 400, body: { error: { code: 'BAD_REQUEST_ERROR', description: 'No.' } } };

describe('an order', () => {
  test('is asked for with our names for it, and paid on our page', async () => {
    tell({ body: { id: 'order_1' } });
    expect(await rail.createCheckout(request)).toEqual({
      ...{ gateway_ref: 'order_1', checkout_url: 'http://pay.test/tup_1' },
    });
    const authorization = `Basic ${Buffer.from('rzp_test_1:secret').toString('base64')}`;
    expect(asked).toMatchObject([{ what: 'POST /v1/orders', headers: { authorization } }]);
    expect(asked[0]?.body).toEqual({
      ...{ amount: 118_000, currency: 'INR', receipt: 'tup_1', payment_capture: true },
      notes: { topup_id: 'tup_1', org_id: 'org_1' },
    });
  });

  test('whose answer was lost is found by its receipt, and not made twice', async () => {
    const orders = [
      { id: 'order_9', receipt: 'tup_9' },
      { id: 'order_1', receipt: 'tup_1' },
    ];
    tell(PAGE, { body: { items: orders } });
    expect((await rail.createCheckout(request)).gateway_ref).toBe('order_1');
    expect(asked.map(({ what }) => what)).toEqual([
      'POST /v1/orders',
      'GET /v1/orders?count=10&skip=0&receipt=tup_1',
    ]);
  });

  test('whose answer was lost and that is not there may be made again later', async () => {
    tell(PAGE, { body: { items: [{ id: 'order_9', receipt: 'tup_9' }] } });
    await expect(rail.createCheckout(request)).rejects.toMatchObject(unreadable('without an object'));
  });

  test('that the rail refuses is not looked for', async () => {
    tell(NO, { body: { items: [{ id: 'order_1', receipt: 'tup_1' }] } });
    await expect(rail.createCheckout(request)).rejects.toMatchObject({ name: 'RailError', declined: true });
    expect(asked).toHaveLength(1);
  });

  test('cannot be closed, so nobody is asked', async () => {
    tell();
    await rail.closeCheckout('order_1');
    expect(asked).toEqual([]);
  });
});

const payment = {
  ...{ id: 'pay_1', order_id: 'order_1', amount: 118_000, currency: 'INR', method: 'upi' },
  ...{ status: 'captured', captured: true, fee: 2_785, created_at: 10 },
};
const fact = {
  ...{ kind: 'captured', payment_ref: 'pay_1', amount_minor: 118_000, currency: 'INR', method: 'upi' },
};

describe('the state of an order', () => {
  test('is that of its payments, with what the rail took', async () => {
    tell({ body: { items: [payment] } });
    expect(await rail.readCheckout('order_1')).toEqual({ facts: [fact], fees: { pay_1: 2_785 } });
    expect(asked.map(({ what }) => what)).toEqual(['GET /v1/orders/order_1/payments']);
  });

  test('has no fee where the rail has not said it', async () => {
    tell({ body: { items: [{ ...payment, fee: null }] } });
    expect(await rail.readCheckout('order_1')).toEqual({ facts: [fact], fees: {} });
  });

  test('has an attempt that failed with its reason, and nothing of one under way', async () => {
    const open = { ...payment, captured: false };
    const failed = { ...open, status: 'failed', error_reason: 'cancelled', error_description: 'Left.' };
    tell({ body: { items: [failed, { ...open, status: 'authorized' }] } });
    expect(await rail.readCheckout('order_1')).toEqual({
      ...{ facts: [{ kind: 'failed', last: false, code: 'cancelled', message: 'Left.' }], fees: {} },
    });
  });

  test('has the oldest first: of one second that which the rail lists last', async () => {
    const at = (id: string, created_at: number) => ({ ...payment, id, created_at });
    tell({ body: { items: [at('pay_1', 3), at('pay_3', 5), at('pay_2', 5)] } });
    const { facts } = await rail.readCheckout('order_1');
    expect(facts).toEqual(['pay_1', 'pay_2', 'pay_3'].map((payment_ref) => ({ ...fact, payment_ref })));
  });

  test('is not taken from payments of another order, or without the money', async () => {
    tell({ body: { items: [payment, { ...payment, order_id: 'order_2' }] } });
    await expect(rail.readCheckout('order_1')).rejects.toMatchObject(
      unreadable('a payment of another order'),
    );
    tell({ body: { items: [{ ...payment, amount: 0 }] } });
    await expect(rail.readCheckout('order_1')).rejects.toMatchObject(
      unreadable('a captured payment without'),
    );
  });
});

test('a payment goes back whole under a key of its own; one that has gone back stays so', async () => {
  const gone = (status: number) => ({
    ...{ status, body: { error: { description: 'The payment has been fully refunded already' } } },
  });
  tell({ body: { id: 'rfnd_1' } }, gone(400), NO, gone(503));
  await rail.refundPayment('pay/1');
  await rail.refundPayment('pay/1');
  for (const declined of [true, false])
    await expect(rail.refundPayment('pay/1')).rejects.toMatchObject({ name: 'RailError', declined });
  expect(asked[0]).toMatchObject({ headers: { 'x-refund-idempotency': 'refund-pay/1' }, body: {} });
  expect(asked[0]?.path).toBe('/v1/payments/pay%2F1/refund');
});

describe('the checkout of the rail', () => {
  test('opens from its public addresses, or from those of a simulator', () => {
    expect(rail.opening).toMatchObject({
      ...{ key_id: 'rzp_test_1', script_url: `${url}/v1/checkout.js` },
      ...{ form_url: `${url}/v1/checkout/embedded`, sources: [url] },
    });
    const settings = {
      ...{ SVC_RAIL_A_KEY_ID: 'rzp_live_1', SVC_RAIL_A_KEY_SECRET: 'secret' },
      SVC_RAIL_A_WEBHOOK_SECRET: 'hook',
    };
    expect(openRails(readConfig(settings))['rail-a']).toMatchObject({
      ...{ name: 'rail-a', live: true },
      opening: {
        ...{ key_id: 'rzp_live_1', script_url: 'https://checkout.razorpay.com/v1/checkout.js' },
        form_url: 'https://api.razorpay.com/v1/checkout/embedded',
        sources: ['https://*.razorpay.com'],
      },
    });
    expect(rail.live).toBe(false);
  });

  test('signs that an order was paid; what it did not sign is not paid', () => {
    const signed = (secret: string, text: string) => hmacSha256(secret, text).toString('hex');
    const right = signed('secret', 'order_1|pay_1');
    const paid = (fields: object) =>
      rail.opening?.isPaid('order_1', {
        ...{ razorpay_order_id: 'order_1', razorpay_payment_id: 'pay_1', razorpay_signature: right },
        ...fields,
      });
    expect(paid({})).toBe(true);
    for (const fields of [
      { razorpay_order_id: 'order_2' },
      { razorpay_payment_id: 'pay_2' },
      { razorpay_signature: signed('another', 'order_1|pay_1') },
      { razorpay_signature: right.toUpperCase() },
      { razorpay_signature: `${right}zz` },
      { razorpay_signature: undefined },
    ])
      expect(paid(fields)).toBe(false);
  });
});

test('a callback is read when it is signed with the secret of the rail', () => {
  const raw = Buffer.from(
    JSON.stringify({ event: 'payment.captured', payload: { payment: { entity: payment } } }),
  );
  const signature = hmacSha256('hook', raw).toString('hex');
  expect(rail.readCallback({ raw, signature, event_id: 'evt_1' }, 0)).toEqual({
    ...{ event_id: 'evt_1', type: 'payment.captured', order_ref: 'order_1', topup_id: null, fact },
  });
  expect(() => rail.readCallback({ raw, signature: 'x' }, 0)).toThrow(
    expect.objectContaining({ code: 'signature_invalid' }),
  );
});
