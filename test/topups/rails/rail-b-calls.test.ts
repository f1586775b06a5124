// What rail-b is asked for at a checkout, to the letter, and what each of its answers is taken for.
import { hmacSha256, machineMs, readConfig } from '@svc/core/kernel/index.ts';
import { openRails, RailError } from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-b');

const request = {
  ...({
    topup_id: 'tup_1',
    org_id: 'org_1',
    total_minor: 2_500,
    currency: 'USD',
    email: 'pay@example.com',
  } as const),
  ...({
    description: 'Prepaid API credits, $25.00',
    expires_in_seconds: 3_600,
    pay_url: 'http://pay.test',
  } as const),
  ...({ success_url: 'http://shop.test/done', cancel_url: 'http://shop.test/back' } as const),
} as const;
const unreadable = (words: string) => ({
  ...{ name: 'RailError', code: 'UNREADABLE_ANSWER', declined: false },
  message: expect.stringContaining(words),
});

describe('a checkout', () => {
  test('is asked for under the id of its top-up, with all that the rail has to know', async () => {
    tell({ body: { id: 'cs_1', url: 'http://rail.test/cs_1' } });
    const from_seconds = Math.floor(machineMs() / 1_000);
    expect(await rail.createCheckout(request)).toEqual({
      gateway_ref: 'cs_1',
      checkout_url: 'http://rail.test/cs_1',
    });
    const [{ what, headers, body } = expect.fail('nothing was asked')] = asked;
    expect(what).toBe('POST /v1/checkout/sessions');
    expect(headers).toMatchObject({
      'idempotency-key': 'tup_1',
      'stripe-version': '2026-10-28.endive',
      authorization: 'Bearer sk_test_1',
    });
    const { expires_at, ...fields } = body as Record<string, string>;
    expect(fields).toEqual({
      ...{ mode: 'payment', client_reference_id: 'tup_1', customer_email: 'pay@example.com' },
      ...{ 'metadata[topup_id]': 'tup_1', 'metadata[org_id]': 'org_1' },
      'payment_intent_data[metadata][topup_id]': 'tup_1',
      'payment_intent_data[metadata][org_id]': 'org_1',
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '2500',
      'line_items[0][price_data][product_data][name]': 'Prepaid API credits, $25.00',
      'adaptive_pricing[enabled]': 'false',
      ...{ success_url: 'http://shop.test/done', cancel_url: 'http://shop.test/back' },
    });
    const ahead_seconds = Number(expires_at) - from_seconds;
    expect(ahead_seconds).toBeGreaterThanOrEqual(3_600);
    expect(ahead_seconds).toBeLessThan(3_630);
  });

  test('says nothing of an address that the payer does not have, and nothing of how fast calls were', async () => {
    tell({ body: { id: 'cs_2', url: 'http://rail.test/cs_2' } });
    await rail.createCheckout({ ...request, email: null });
    expect(asked[0]?.body).not.toHaveProperty('customer_email');
    expect(asked[0]?.headers).not.toHaveProperty('x-stripe-client-telemetry');
  });

  test('without an address to pay at is none', async () => {
    tell({ body: { id: 'cs_1', url: null } });
    await expect(rail.createCheckout(request)).rejects.toMatchObject({
      ...{ name: 'RailError', declined: true, message: expect.stringContaining('no address') },
    });
    tell({ body: { id: 'cs_1' } });
    await expect(rail.createCheckout(request)).rejects.toMatchObject(
      unreadable('a session without an address'),
    );
    tell({ body: { url: 'http://rail.test/cs_1' } });
    await expect(rail.createCheckout(request)).rejects.toMatchObject(unreadable('an object without a name'));
  });
});

describe('an answer that is a refusal', () => {
  test.each([
    [400, 'parameter_invalid', true],
    [402, 'card_declined', true],
    [404, 'resource_missing', true],
    [409, 'state_conflict', true],
    [409, 'idempotency_key_in_use', false],
    [400, 'lock_timeout', false],
    [401, 'api_key_expired', false],
    [403, 'secret_key_required', false],
    [429, 'rate_limit', false],
    [500, 'api_error', false],
  ] as const)('%i %s: declined is %s', async (status, code, declined) => {
    tell({ status, body: { error: { code, message: 'The words of the rail.' } } });
    const refused = rail.createCheckout(request);
    await expect(refused).rejects.toMatchObject({
      name: 'RailError',
      declined,
      code,
      message: 'The words of the rail.',
    });
  });

  test('has no more words than fit, and no code where the rail has none', async () => {
    tell({ status: 400, body: { error: { message: 'x'.repeat(501) } } });
    await expect(rail.createCheckout(request)).rejects.toMatchObject({
      code: null,
      message: 'x'.repeat(500),
    });
  });

  test('is told from an answer that no client could read', async () => {
    tell({ body: { object: 'list', data: 7, has_more: false } });
    const read = rail.books.readDay({ from: new Date(0), to: new Date(1_000) });
    await expect(read).rejects.not.toBeInstanceOf(RailError);
  });
});

const charged = (balance_transaction: unknown) => ({ id: 'ch_1', balance_transaction });
const intent = {
  ...{ id: 'pi_1', status: 'succeeded', amount_received: 2_500, currency: 'usd' },
  ...{ payment_method_types: ['card'], latest_charge: charged({ fee: 103, currency: 'usd' }) },
};
const paid = {
  ...{ id: 'cs_1', status: 'complete', payment_status: 'paid', payment_intent: intent },
  ...{ amount_total: 2_500, currency: 'usd', payment_method_types: ['card'] },
};
const fact = {
  ...{ kind: 'captured', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD', method: 'card' },
};
const refused = { last_payment_error: { decline_code: 'insufficient_funds', message: 'No money.' } };
const failed = { kind: 'failed', last: true, code: 'insufficient_funds', message: 'No money.' };
const NOTHING = { facts: [], fees: {} };

describe('the state of a checkout', () => {
  test('is asked for with what the rail took', async () => {
    tell({ body: paid });
    expect(await rail.readCheckout('cs_1')).toEqual({ facts: [fact], fees: { pi_1: 103 } });
    expect(asked.map(({ what }) => what)).toEqual([
      'GET /v1/checkout/sessions/cs_1?expand[0]=payment_intent.latest_charge.balance_transaction',
    ]);
  });

  test.each([
    ['in another currency', { ...intent, latest_charge: charged({ fee: 103, currency: 'eur' }) }],
    ['not there yet', { ...intent, latest_charge: charged(null) }],
    ['only named', { ...intent, latest_charge: charged('txn_1') }],
    ['of a charge that is only named', { ...intent, latest_charge: 'ch_1' }],
    ['of no charge', { ...intent, latest_charge: null }],
    ['of a payment that is only named', 'pi_1'],
  ])('has no fee where that is %s', async (_, payment_intent) => {
    tell({ body: { ...paid, payment_intent } });
    expect(await rail.readCheckout('cs_1')).toEqual({ facts: [fact], fees: {} });
  });

  const unpaid = { ...paid, payment_status: 'unpaid' };
  test.each([
    [
      'expired',
      { ...unpaid, status: 'expired', payment_intent: null },
      { facts: [{ kind: 'lapsed' }], fees: {} },
    ],
    [
      'a bank transfer that failed',
      { ...unpaid, payment_intent: { ...intent, ...refused, status: 'requires_payment_method' } },
      { facts: [failed], fees: {} },
    ],
    [
      'a bank transfer that was called off',
      { ...unpaid, payment_intent: { ...intent, ...refused, status: 'canceled' } },
      { facts: [failed], fees: {} },
    ],
    [
      'a bank transfer under way',
      { ...unpaid, payment_intent: { ...intent, status: 'processing' } },
      NOTHING,
    ],
    ['one whose payment is only named', { ...unpaid, payment_intent: 'pi_1' }, NOTHING],
    ['open, nothing paid', { ...unpaid, status: 'open', payment_intent: null }, NOTHING],
    [
      'open, after an attempt that failed',
      {
        ...unpaid,
        status: 'open',
        payment_intent: { ...intent, ...refused, status: 'requires_payment_method' },
      },
      NOTHING,
    ],
  ])('%s', async (_, session, state) => {
    tell({ body: session });
    expect(await rail.readCheckout('cs_1')).toEqual(state);
  });

  test('is not taken from an answer about another one, or without the money', async () => {
    tell({ body: { ...paid, id: 'cs_2' } });
    await expect(rail.readCheckout('cs_1')).rejects.toMatchObject(unreadable('another payment'));
    for (const lack of [{ amount_total: null }, { payment_intent: null }]) {
      tell({ body: { ...paid, ...lack } });
      await expect(rail.readCheckout('cs_1')).rejects.toMatchObject(unreadable('a paid session without'));
    }
  });
});

describe('the state of a payment without a checkout', () => {
  test('is asked for with what the rail took', async () => {
    tell({ body: intent });
    expect(await rail.readCheckout('pi_1')).toEqual({ facts: [fact], fees: { pi_1: 103 } });
    expect(asked.map(({ what }) => what)).toEqual([
      'GET /v1/payment_intents/pi_1?expand[0]=latest_charge.balance_transaction',
    ]);
  });

  test.each([
    ['requires_payment_method', [failed]],
    ['requires_action', [failed]],
    ['canceled', [failed]],
    ['processing', []],
  ])('%s', async (status, facts) => {
    tell({ body: { ...intent, ...refused, status } });
    expect(await rail.readCheckout('pi_1')).toEqual({ facts, fees: {} });
  });

  test('has no fee where the rail has not said it', async () => {
    tell({ body: { ...intent, latest_charge: null } });
    expect(await rail.readCheckout('pi_1')).toEqual({ facts: [fact], fees: {} });
  });

  test('is not taken from an answer about another one, or without the money', async () => {
    tell({ body: { ...intent, id: 'pi_2' } });
    await expect(rail.readCheckout('pi_1')).rejects.toMatchObject(unreadable('another payment'));
    tell({ body: { ...intent, amount_received: 0 } });
    await expect(rail.readCheckout('pi_1')).rejects.toMatchObject(unreadable('a payment without'));
  });
});

const OVER = { status: 400, body: { error: { message: 'It is over.' } } };
const AWAY = { status: 503, body: { error: { message: 'Away.' } } };

test('an order is closed as what it is; one that is over stays so, and a rail that is away is asked again', async () => {
  for (const [gateway_ref, path] of [
    ['cs_1', '/v1/checkout/sessions/cs_1/expire'],
    ['pi_1', '/v1/payment_intents/pi_1/cancel'],
    ['cs_pi_', '/v1/checkout/sessions/cs_pi_/expire'],
  ] as const) {
    tell({ body: {} }, OVER, AWAY);
    await rail.closeCheckout(gateway_ref);
    await rail.closeCheckout(gateway_ref);
    await expect(rail.closeCheckout(gateway_ref)).rejects.toMatchObject({
      name: 'RailError',
      declined: false,
    });
    expect(asked.map(({ what }) => what)).toEqual(Array(3).fill(`POST ${path}`));
  }
});

test('a payment goes back whole under a key of its own; one that has gone back stays so', async () => {
  const gone = { status: 400, body: { error: { code: 'charge_already_refunded', message: 'Gone.' } } };
  tell({ body: { id: 're_1' } }, gone, OVER, AWAY);
  await rail.refundPayment('pi_1');
  await rail.refundPayment('pi_1');
  for (const declined of [true, false])
    await expect(rail.refundPayment('pi_1')).rejects.toMatchObject({ name: 'RailError', declined });
  expect(asked[0]).toMatchObject({
    what: 'POST /v1/refunds',
    headers: { 'idempotency-key': 'refund-pi_1' },
    body: { payment_intent: 'pi_1' },
  });
});

test('a key is for real money where its prefix says so', () => {
  const liveOf = (SVC_RAIL_B_KEY_SECRET: string) =>
    openRails(readConfig({ SVC_RAIL_B_KEY_SECRET, SVC_RAIL_B_WEBHOOK_SECRET: 'hook' }))['rail-b']?.live;
  expect(['sk_live_1', 'rk_live_1', 'sk_test_1', 'x_sk_live_1'].map(liveOf)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('a callback is read when it is signed with the secret of the rail, at its time', () => {
  const object = { ...paid, mode: 'payment', client_reference_id: 'tup_1', payment_intent: 'pi_1' };
  const event = { id: 'evt_1', type: 'checkout.session.completed', livemode: false, data: { object } };
  const raw = Buffer.from(JSON.stringify(event));
  const at_seconds = 1_763_719_200;
  const signature = `t=${at_seconds},v1=${hmacSha256('hook', `${at_seconds}.${raw}`).toString('hex')}`;
  expect(rail.readCallback({ raw, signature }, at_seconds * 1_000)).toEqual({
    ...{ event_id: 'evt_1', type: event.type, order_ref: 'cs_1', topup_id: 'tup_1', fact },
  });
  const refused = (code: string) => expect.objectContaining({ code });
  const late_ms = (at_seconds + 301) * 1_000;
  expect(() => rail.readCallback({ raw, signature }, late_ms)).toThrow(refused('signature_expired'));
  expect(() => rail.readCallback({ raw, signature: 'x' }, 0)).toThrow(refused('signature_invalid'));
});

test('the rail has pages of its own, and goes by its name', () => {
  expect([rail.name, rail.opening]).toEqual(['rail-b', null]);
});
