// Leave to debit at rail-a: what it is asked, to the letter, and what its answers are taken for.
import { machineMs } from '@svc/core/kernel/index.ts';
import type { ChargeRequest, RailMandates } from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-a');
const mandates = rail.mandates as RailMandates;
const whats = () => asked.map(({ what }) => what);

const wanted = {
  ...({
    mandate_id: 'mnd_1',
    org_id: 'org_1',
    method: 'upi',
    max_amount_minor: 1_500_000,
    currency: 'INR',
  } as const),
  ...({ name: 'n'.repeat(51), email: 'pay@example.in', expires_in_seconds: 3_600 } as const),
  ...({ page_url: 'http://pay.test/mnd_1', success_url: 'http://shop.test/done' } as const),
  cancel_url: 'http://shop.test/back',
} as const;
/** An answer of somebody in between: the rail may have done what it was asked. */
const PAGE = { body: '<html>' };
const NO = { status: 400, body: { error: { description: 'No.' } } };
const AWAY = { status: 503, body: { error: { description: 'Away.' } } };
const TEN_YEARS_SECONDS = 3_650 * 86_400;

describe('a registration', () => {
  test('is an order of its payer, whose first payment proves the method and gives the leave', async () => {
    tell({ body: { id: 'cust_1' } }, { body: { id: 'order_1' } });
    const from_seconds = Math.floor(machineMs() / 1_000);
    expect(await mandates.createSetup(wanted)).toEqual({
      ...{ setup_ref: 'order_1', registration_url: 'http://pay.test/mnd_1', customer_ref: 'cust_1' },
    });
    expect(whats()).toEqual(['POST /v1/customers', 'POST /v1/orders']);
    const [customer, order] = asked.map(({ body }) => body) as [object, { token: { expire_at: number } }];
    const notes = { mandate_id: 'mnd_1', org_id: 'org_1' };
    expect(customer).toEqual({ name: 'n'.repeat(50), fail_existing: 0, notes, email: 'pay@example.in' });
    expect(order).toEqual({
      ...{ amount: 100, currency: 'INR', customer_id: 'cust_1', method: 'upi', receipt: 'mnd_1' },
      ...{ notes, payment_capture: true },
      token: { max_amount: 1_500_000, expire_at: expect.any(Number), frequency: 'as_presented' },
    });
    const ahead_seconds = order.token.expire_at - from_seconds - TEN_YEARS_SECONDS;
    expect(ahead_seconds).toBeGreaterThanOrEqual(0);
    expect(ahead_seconds).toBeLessThan(30);
  });

  test('of a bank account needs no payment, and one without an address names none', async () => {
    tell({ body: { id: 'cust_1' } }, { body: { id: 'order_1' } });
    await mandates.createSetup({ ...wanted, method: 'emandate', email: null });
    expect(asked[0]?.body).not.toHaveProperty('email');
    expect(asked[1]?.body).toMatchObject({ amount: 0, method: 'emandate' });
  });

  test('whose answer was lost is found by its receipt, and not made twice', async () => {
    const orders = [
      { id: 'order_9', receipt: 'mnd_9' },
      { id: 'order_1', receipt: 'mnd_1' },
    ];
    tell({ body: { id: 'cust_1' } }, PAGE, { body: { items: orders } });
    expect((await mandates.createSetup(wanted)).setup_ref).toBe('order_1');
    expect(whats()[2]).toBe('GET /v1/orders?count=10&skip=0&receipt=mnd_1');
    tell({ body: { id: 'cust_1' } }, PAGE, { body: { items: orders.slice(0, 1) } });
    await expect(mandates.createSetup(wanted)).rejects.toMatchObject({ code: 'UNREADABLE_ANSWER' });
  });

  test('that the rail refuses is not looked for', async () => {
    tell({ body: { id: 'cust_1' } }, NO, { body: { items: [{ id: 'order_1', receipt: 'mnd_1' }] } });
    await expect(mandates.createSetup(wanted)).rejects.toMatchObject({ name: 'RailError', declined: true });
    expect(asked).toHaveLength(2);
  });

  test('cannot be closed, so nobody is asked', async () => {
    tell();
    await mandates.closeSetup('order_1');
    expect([mandates.closes_setups, asked]).toEqual([false, []]);
  });
});

const proof = {
  ...{ id: 'pay_1', order_id: 'order_1', amount: 100, currency: 'INR', method: 'upi', captured: true },
  ...{ customer_id: 'cust_1', token_id: 'token_1', contact: '+919876543210' },
};
const held = {
  ...{ id: 'token_1', expired_at: 1_763_719_200, recurring_details: { status: 'confirmed' } },
};
const allowed = {
  ...{ kind: 'mandate', change: 'confirmed', mandate_id: null, token_ref: 'token_1', customer_ref: 'cust_1' },
  ends_at: new Date('2025-11-21T10:00:00Z'),
};
const completed = {
  ...{ kind: 'mandate', change: 'completed', mandate_id: null, setup_ref: 'order_1', token_ref: null },
  ...{ customer_ref: null, ends_at: null, first_payment: 'pay_1' },
};

describe('what became of a registration', () => {
  test('is said by its payment and by the token that this made', async () => {
    const attempts = [
      { ...proof, id: 'pay_8', captured: false },
      { ...proof, id: 'pay_9', token_id: '' },
    ];
    tell({ body: { items: [...attempts, proof] } }, { body: held });
    expect(await mandates.readSetup('order_1')).toEqual({
      ...{ ...allowed, setup_ref: 'order_1', first_payment: 'pay_1' },
    });
    expect(whats()).toEqual(['GET /v1/orders/order_1/payments', 'GET /v1/customers/cust_1/tokens/token_1']);
    tell({ body: { items: attempts } });
    expect(await mandates.readSetup('order_1')).toBeNull();
    expect(asked).toHaveLength(1);
  });

  test('is only that it was paid, where the rail does not say how its token stands', async () => {
    for (const answer of [NO, { body: [held] }, { body: { ...held, recurring_details: null } }]) {
      tell({ body: { items: [proof] } }, answer);
      expect(await mandates.readSetup('order_1')).toEqual(completed);
    }
  });

  test('is not known while the rail is away', async () => {
    tell({ body: { items: [proof] } }, AWAY);
    await expect(mandates.readSetup('order_1')).rejects.toMatchObject({ name: 'RailError', declined: false });
  });
});

const token = { customer_ref: 'cust_1', token_ref: 'token_1' };

describe('a token', () => {
  test.each(['confirmed', 'rejected', 'paused', 'resumed', 'cancelled'])(
    'that is %s is read as that',
    async (status) => {
      tell({ body: { ...held, recurring_details: { status } } });
      expect(await mandates.readToken(token)).toEqual({
        ...{ ...allowed, change: status, setup_ref: null, first_payment: null },
      });
    },
  );

  test('in a state that is not known, or without a name, says nothing', async () => {
    for (const lack of [{ recurring_details: { status: 'initiated' } }, { id: '' }]) {
      tell({ body: { ...held, ...lack } });
      expect(await mandates.readToken(token)).toBeNull();
    }
  });

  test('is given up at the rail; one that is gone stays so, and a rail that is away is asked again', async () => {
    tell({ body: { deleted: true } }, NO, AWAY);
    await mandates.cancelToken(token);
    await mandates.cancelToken(token);
    await expect(mandates.cancelToken(token)).rejects.toMatchObject({ name: 'RailError', declined: false });
    expect(whats()).toEqual(Array(3).fill('DELETE /v1/customers/cust_1/tokens/token_1'));
  });
});

const request: ChargeRequest = {
  ...({ ...token, topup_id: 'tup_1', mandate_id: 'mnd_1', org_id: 'org_1', method: 'upi' } as const),
  ...({ total_minor: 118_000, currency: 'INR', description: 'Credits', email: 'pay@example.in' } as const),
  ...({ setup_ref: 'order_1', gateway_ref: 'order_2' } as const),
};
const notes = { topup_id: 'tup_1', org_id: 'org_1' };
const debit = { ...proof, id: 'pay_2', order_id: 'order_2', amount: 118_000, created_at: 10 };
const charged = {
  gateway_ref: 'order_2',
  facts: [{ kind: 'captured', payment_ref: 'pay_2', amount_minor: 118_000, currency: 'INR', method: 'upi' }],
};

describe('the order of a debit', () => {
  const earliest = new Date(1_763_719_200_900);

  test.each([
    ['upi', { notification: { token_id: 'token_1', payment_after: 1_763_719_200 } }],
    ['card', { notification: { token_id: 'token_1', payment_after: 1_763_719_200 } }],
    ['emandate', {}],
  ] as const)('by %s is made with the notice that its bank asks for', async (method, notice) => {
    tell({ body: { items: [{ id: 'order_9', receipt: 'tup_9' }] } }, { body: { id: 'order_2' } });
    expect(await mandates.announce({ ...request, method }, earliest)).toBe('order_2');
    expect(whats()).toEqual(['GET /v1/orders?count=10&skip=0&receipt=tup_1', 'POST /v1/orders']);
    expect(asked[1]?.body).toEqual({
      ...{ amount: 118_000, currency: 'INR', receipt: 'tup_1', notes, payment_capture: true, ...notice },
    });
    expect(mandates.givesNotice(method)).toBe(method !== 'emandate');
  });

  test('that was made before is not made twice: its payer has the notice', async () => {
    tell({ body: { items: [{ id: 'order_2', receipt: 'tup_1' }] } });
    expect(await mandates.announce(request, earliest)).toBe('order_2');
    expect(asked).toHaveLength(1);
  });
});

describe('a debit', () => {
  test('is made on its order, by the number that the payer gave, and read back', async () => {
    const attempts = [
      { ...proof, captured: false, contact: '+911111111111' },
      { ...proof, token_id: null, contact: '+912222222222' },
    ];
    tell({ body: { items: [...attempts, proof] } }, { body: { id: 'pay_2' } }, { body: { items: [debit] } });
    expect(await mandates.charge(request)).toEqual(charged);
    expect(whats()).toEqual([
      'GET /v1/orders/order_1/payments',
      'POST /v1/payments/create/recurring',
      'GET /v1/orders/order_2/payments',
    ]);
    expect(asked[1]?.body).toEqual({
      ...{ amount: 118_000, currency: 'INR', notes, email: 'pay@example.in', contact: '+919876543210' },
      ...{ order_id: 'order_2', customer_id: 'cust_1', token: 'token_1', recurring: '1' },
      description: 'Credits',
    });
  });

  test('has a number also where the payer gave none, and an address', async () => {
    const nobody = { contact: '+910000000000', email: 'void@razorpay.com' };
    tell({ body: { items: [{ ...proof, contact: '' }] } }, { body: {} }, { body: { items: [] } });
    expect(await mandates.charge({ ...request, email: null })).toEqual({ gateway_ref: 'order_2', facts: [] });
    expect(asked[1]?.body).toMatchObject(nobody);
    tell({ body: { items: [] } }, { body: {} }, { body: { items: [] } });
    await mandates.charge({ ...request, email: null });
    expect(asked[1]?.body).toMatchObject(nobody);
    // Without a registration to ask for, it is not asked for.
    tell({ body: {} }, { body: { items: [] } });
    await mandates.charge({ ...request, email: null, setup_ref: null });
    expect(asked[0]?.body).toMatchObject(nobody);
  });

  test('that is refused because another worker has asked meanwhile is that one; else it is refused', async () => {
    const unregistered = { ...request, setup_ref: null };
    tell(NO, { body: { items: [debit] } });
    expect(await mandates.charge(unregistered)).toEqual(charged);
    tell(NO, { body: { items: [{ ...debit, status: 'created', captured: false }] } });
    expect(await mandates.charge(unregistered)).toEqual({ ...charged, facts: [] });
    tell(NO, { body: { items: [] } });
    await expect(mandates.charge(unregistered)).rejects.toMatchObject({ declined: true });
    // Where there is no answer nobody knows, and it is asked for later.
    tell(AWAY);
    await expect(mandates.charge(unregistered)).rejects.toMatchObject({ declined: false });
    expect(asked).toHaveLength(1);
  });

  test('without an order is a defect, and nobody is asked', async () => {
    tell();
    await expect(mandates.charge({ ...request, gateway_ref: null })).rejects.toThrow('tup_1 has no order');
    expect(asked).toEqual([]);
  });

  test('that was sent before is found on its order', async () => {
    tell({ body: { items: [debit] } }, { body: { items: [] } });
    expect(await mandates.findCharge(request)).toEqual(charged);
    expect(await mandates.findCharge(request)).toBeNull();
    expect(await mandates.findCharge({ ...request, gateway_ref: null })).toBeNull();
    expect(whats()).toEqual(Array(2).fill('GET /v1/orders/order_2/payments'));
  });

  test('is by any of the three methods of the rail', () => {
    expect(mandates.methods).toEqual(['upi', 'card', 'emandate']);
  });
});
