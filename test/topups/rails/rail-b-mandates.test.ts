// Cards that are kept at rail-b: what it is asked, to the letter, and what its answers are taken for.
import { machineMs } from '@svc/core/kernel/index.ts';
import type { ChargeRequest, RailMandates } from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { startAnsweringRail } from './answers.ts';

const { rail, asked, tell } = await startAnsweringRail('rail-b');
const mandates = rail.mandates as RailMandates;

const wanted = {
  ...({
    mandate_id: 'mnd_1',
    org_id: 'org_1',
    method: 'card',
    max_amount_minor: 50_000,
    currency: 'USD',
  } as const),
  ...({
    name: 'Acme',
    email: 'pay@example.com',
    expires_in_seconds: 3_600,
    page_url: 'http://pay.test',
  } as const),
  ...({ success_url: 'http://shop.test/done', cancel_url: 'http://shop.test/back' } as const),
} as const;
const OVER = { status: 400, body: { error: { message: 'It is over.' } } };
const AWAY = { status: 503, body: { error: { message: 'Away.' } } };

describe('a registration', () => {
  test('is asked for under the id of its mandate, with all that the rail has to know', async () => {
    tell({ body: { id: 'cs_1', url: 'http://rail.test/cs_1' } });
    const from_seconds = Math.floor(machineMs() / 1_000);
    expect(await mandates.createSetup(wanted)).toEqual({
      ...{ setup_ref: 'cs_1', registration_url: 'http://rail.test/cs_1', customer_ref: null },
    });
    expect(asked).toMatchObject([
      { what: 'POST /v1/checkout/sessions', headers: { 'idempotency-key': 'mnd_1' } },
    ]);
    const [{ body } = expect.fail('nothing was asked')] = asked;
    const { expires_at, ...fields } = body as Record<string, string>;
    expect(fields).toEqual({
      ...{ mode: 'setup', currency: 'usd', client_reference_id: 'mnd_1', customer_creation: 'always' },
      ...{ 'metadata[mandate_id]': 'mnd_1', 'metadata[org_id]': 'org_1' },
      'setup_intent_data[metadata][mandate_id]': 'mnd_1',
      'setup_intent_data[metadata][org_id]': 'org_1',
      ...{ success_url: 'http://shop.test/done', cancel_url: 'http://shop.test/back' },
      customer_email: 'pay@example.com',
    });
    const ahead_seconds = Number(expires_at) - from_seconds;
    expect(ahead_seconds).toBeGreaterThanOrEqual(3_600);
    expect(ahead_seconds).toBeLessThan(3_630);
  });

  test('says nothing of an address that the payer does not have', async () => {
    tell({ body: { id: 'cs_1', url: 'http://rail.test/cs_1' } });
    await mandates.createSetup({ ...wanted, email: null });
    expect(asked[0]?.body).not.toHaveProperty('customer_email');
  });

  test('without an address to register at is none', async () => {
    tell({ body: { id: 'cs_1', url: null } });
    const made = mandates.createSetup(wanted);
    await expect(made).rejects.toMatchObject({
      ...{ name: 'RailError', declined: true, message: expect.stringContaining('no address') },
    });
  });

  const session = {
    ...{ id: 'cs_1', client_reference_id: 'mnd_1', status: 'complete', customer: 'cus_1' },
    setup_intent: { id: 'seti_1', payment_method: 'pm_1' },
  };
  const about = {
    ...{ kind: 'mandate', mandate_id: 'mnd_1', setup_ref: 'cs_1', ends_at: null, first_payment: null },
  };
  const confirmed = { ...about, change: 'confirmed', token_ref: 'pm_1', customer_ref: 'cus_1' };
  test('is read with the card that was kept', async () => {
    tell({ body: session });
    expect(await mandates.readSetup('cs_1')).toEqual(confirmed);
    expect(asked.map(({ what }) => what)).toEqual(['GET /v1/checkout/sessions/cs_1?expand[0]=setup_intent']);
  });

  test.each([
    [
      'whose card and payer are given whole',
      { ...session, customer: { id: 'cus_1' }, setup_intent: { payment_method: { id: 'pm_1' } } },
      confirmed,
    ],
    [
      'that ran out',
      { ...session, status: 'expired', setup_intent: null },
      { ...about, change: 'lapsed', token_ref: null, customer_ref: null },
    ],
    ['that is open', { ...session, status: 'open' }, null],
    ['whose card is only named by its intent', { ...session, setup_intent: 'seti_1' }, null],
    ['without a card', { ...session, setup_intent: { payment_method: null } }, null],
    ['with a card without a name', { ...session, setup_intent: { payment_method: '' } }, null],
    ['with a card that is a number', { ...session, setup_intent: { payment_method: 1 } }, null],
    ['without a payer', { ...session, customer: null }, null],
  ])('%s', async (_, body, read) => {
    tell({ body });
    expect(await mandates.readSetup('cs_1')).toEqual(read);
  });

  test('is closed at the rail; one that is over stays so, and a rail that is away is asked again', async () => {
    expect(mandates.closes_setups).toBe(true);
    tell({ body: {} }, OVER, AWAY);
    await mandates.closeSetup('cs_1');
    await mandates.closeSetup('cs_1');
    await expect(mandates.closeSetup('cs_1')).rejects.toMatchObject({ name: 'RailError', declined: false });
    expect(asked.map(({ what }) => what)).toEqual(Array(3).fill('POST /v1/checkout/sessions/cs_1/expire'));
  });
});

const token = { customer_ref: 'cus_1', token_ref: 'pm_1' };
const request: ChargeRequest = {
  ...({ ...token, topup_id: 'tup_1', mandate_id: 'mnd_1', org_id: 'org_1', method: 'card' } as const),
  ...({ total_minor: 2_500, currency: 'USD', description: 'Credits', email: null } as const),
  ...({ setup_ref: 'cs_1', gateway_ref: null } as const),
};
const intent = {
  ...{ id: 'pi_1', status: 'succeeded', amount_received: 2_500, currency: 'usd' },
  ...{ payment_method_types: ['card'], metadata: { topup_id: 'tup_1' }, latest_charge: null },
};
const captured = {
  gateway_ref: 'pi_1',
  facts: [{ kind: 'captured', payment_ref: 'pi_1', amount_minor: 2_500, currency: 'USD', method: 'card' }],
};
const declined = {
  ...{ ...intent, status: 'requires_payment_method' },
  last_payment_error: { decline_code: 'insufficient_funds', message: 'No money.' },
};
const failed = {
  gateway_ref: 'pi_1',
  facts: [{ kind: 'failed', last: true, code: 'insufficient_funds', message: 'No money.' }],
};
const REFUSED = { status: 402, body: { error: { code: 'card_declined', message: 'No.' } } };

describe('a debit', () => {
  test('is made under the id of its top-up, with nobody there', async () => {
    tell({ body: intent });
    expect(await mandates.charge(request)).toEqual(captured);
    expect(asked).toMatchObject([
      { what: 'POST /v1/payment_intents', headers: { 'idempotency-key': 'tup_1' } },
    ]);
    expect(asked[0]?.body).toEqual({
      ...{ amount: '2500', currency: 'usd', customer: 'cus_1', payment_method: 'pm_1' },
      ...{ description: 'Credits', off_session: 'true', confirm: 'true' },
      ...{ 'metadata[topup_id]': 'tup_1', 'metadata[org_id]': 'org_1', 'metadata[mandate_id]': 'mnd_1' },
    });
  });

  test('that the bank refuses is the payment that says why', async () => {
    tell(REFUSED, { body: { data: [declined], has_more: false } });
    expect(await mandates.charge(request)).toEqual(failed);
    expect(asked[1]?.what).toBe('GET /v1/payment_intents?customer=cus_1&limit=100');
  });

  test('that the rail refuses leaves no payment, and is its refusal', async () => {
    tell(REFUSED, { body: { data: [], has_more: false } });
    await expect(mandates.charge(request)).rejects.toMatchObject({ declined: true, code: 'card_declined' });
  });

  test('that a rail out of reach may have made is not looked for yet', async () => {
    tell(AWAY, { body: { data: [intent], has_more: false } });
    await expect(mandates.charge(request)).rejects.toMatchObject({ name: 'RailError', declined: false });
    expect(asked).toHaveLength(1);
  });

  test('is found by its top-up among those of its payer, on whichever page it is', async () => {
    const other = { ...intent, id: 'pi_9', metadata: { topup_id: 'tup_9' } };
    tell({ body: { data: [other], has_more: true } }, { body: { data: [declined], has_more: false } });
    expect(await mandates.findCharge(request)).toEqual(failed);
    expect(asked[1]?.what).toBe('GET /v1/payment_intents?customer=cus_1&limit=100&starting_after=pi_9');
    tell({ body: { data: [other], has_more: false } });
    expect(await mandates.findCharge(request)).toBeNull();
  });

  test('needs neither notice nor order', async () => {
    tell();
    expect(mandates.methods).toEqual(['card']);
    expect(mandates.givesNotice('card')).toBe(false);
    expect(await mandates.announce(request, new Date())).toBeNull();
    expect(await mandates.readToken(token)).toBeNull();
    expect(asked).toEqual([]);
  });
});

test('a card is given up at the rail; one that is gone stays so, and a rail that is away is asked again', async () => {
  tell({ body: {} }, OVER, AWAY);
  await mandates.cancelToken(token);
  await mandates.cancelToken(token);
  await expect(mandates.cancelToken(token)).rejects.toMatchObject({ name: 'RailError', declined: false });
  expect(asked.map(({ what }) => what)).toEqual(Array(3).fill('POST /v1/payment_methods/pm_1/detach'));
});
