import { readFileSync } from 'node:fs';
import Razorpay from 'razorpay';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../kernel/index.ts';
import { openRails } from './open.ts';
import { readRailA, signRailA, verifyRailA } from './rail-a-event.ts';

const SECRET = 'rail-a-secret';
const BODY = Buffer.from('{"entity":"event","event":"payment.captured"}');
const SIGNATURE = '77f27b95d8b0109260f769691dc5b0e1e164b5311304ab5403e7e6ae4f24589a';
const invalid = expect.objectContaining({ code: 'signature_invalid' });

test('the signature of the vector is made and accepted, and the official client agrees', () => {
  expect(signRailA(BODY, SECRET)).toBe(SIGNATURE);
  expect(() => verifyRailA(BODY, SIGNATURE, [SECRET])).not.toThrow();
  expect(Razorpay.validateWebhookSignature(BODY.toString(), SIGNATURE, SECRET)).toBe(true);
});

test('while one secret replaces another, either will do; with neither nothing is accepted', () => {
  expect(() => verifyRailA(BODY, SIGNATURE, [SECRET, 'the-next'])).not.toThrow();
  expect(() => verifyRailA(BODY, SIGNATURE, ['the-last', SECRET])).not.toThrow();
  for (const secrets of [[], ['the-last'], ['']]) {
    expect(() => verifyRailA(BODY, SIGNATURE, secrets)).toThrow(invalid);
  }
});

test('other bytes, no signature or a broken one are refused', () => {
  const spaced = Buffer.from(JSON.stringify(JSON.parse(BODY.toString()), null, 1));
  expect(() => verifyRailA(spaced, SIGNATURE, [SECRET])).toThrow(invalid);
  const broken = [null, '', SIGNATURE.toUpperCase(), SIGNATURE.slice(1), `${SIGNATURE}0`, 'x'.repeat(64)];
  for (const signature of broken) {
    expect(() => verifyRailA(BODY, signature, [SECRET])).toThrow(invalid);
  }
});

const payment = {
  id: 'pay_1',
  amount: 118_000,
  currency: 'INR',
  order_id: 'order_1',
  method: 'upi',
  notes: { topup_id: 'tup_1' },
};
const order = { id: 'order_1', receipt: 'tup_1', notes: { topup_id: 'tup_1' } };
const read = (event: string, entities: Record<string, object>, event_id: string | null = 'evt_1') => {
  const payload = Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }]));
  return readRailA({ raw: Buffer.from(JSON.stringify({ event, payload })), signature: null, event_id });
};

test('each event that concerns a top-up is read as its fact, everything else as nothing', () => {
  const captured = {
    kind: 'captured',
    payment_ref: 'pay_1',
    amount_minor: 118_000,
    currency: 'INR',
    method: 'upi',
  };
  const about = { event_id: 'evt_1', order_ref: 'order_1', topup_id: 'tup_1' };
  expect(read('payment.captured', { payment })).toEqual({
    ...about,
    type: 'payment.captured',
    fact: captured,
  });
  expect(read('order.paid', { payment, order })).toEqual({ ...about, type: 'order.paid', fact: captured });
  const error = {
    error_reason: 'payment_timed_out',
    error_code: 'GATEWAY_ERROR',
    error_description: 'Late.',
  };
  expect(read('payment.failed', { payment: { ...payment, ...error } }).fact).toEqual({
    kind: 'failed',
    last: false,
    code: 'payment_timed_out',
    message: 'Late.',
  });
  for (const type of [
    'payment.authorized',
    'refund.created',
    'settlement.processed',
    'order.notification.failed',
  ]) {
    expect(read(type, { payment, order }).fact).toBeNull();
  }
});

test('a payment without notes is known by its order; one of another product and that of a mandate mean nothing', () => {
  expect(read('payment.captured', { payment: { ...payment, notes: [] } })).toMatchObject({
    order_ref: 'order_1',
    topup_id: null,
    fact: { kind: 'captured' },
  });
  const stranger = { ...payment, order_id: null, notes: [] };
  expect(read('payment.captured', { payment: stranger })).toMatchObject({ fact: null, order_ref: null });
  const of_mandate = { notes: { mandate_id: 'mnd_1' } };
  expect(read('payment.captured', { payment: { ...payment, ...of_mandate } }).fact).toBeNull();
  expect(read('order.paid', { payment, order: { ...order, ...of_mandate } }).fact).toBeNull();
  // A payer writes the notes of a payment: they cannot make a paid order mean nothing.
  expect(read('order.paid', { payment: { ...payment, ...of_mandate }, order }).fact).toMatchObject({
    kind: 'captured',
  });
});

test('an event that lacks what a booking needs, or names two top-ups, is unreadable; what is no event is refused', () => {
  for (const lack of [{ id: null }, { amount: '118000' }, { amount: 1.5 }, { currency: '' }]) {
    expect(read('payment.captured', { payment: { ...payment, ...lack } })).toMatchObject({
      fact: null,
      unreadable: 'a captured payment without id or amount',
    });
  }
  const other = { ...payment, notes: { topup_id: 'tup_2' } };
  expect(read('order.paid', { payment: other, order })).toMatchObject({ fact: null, topup_id: 'tup_1' });
  expect(read('order.paid', { payment: other, order }).unreadable).toMatch(/different top-ups/);
  for (const text of ['', '[]', 'null', '"x"', '{}', '{"event":1}']) {
    expect(() => readRailA({ raw: Buffer.from(text), signature: null })).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    );
  }
});

test('docs/money/rails.md has each event that the rail is to be asked for', () => {
  const listed = readFileSync(new URL('../../../docs/money/rails.md', import.meta.url), 'utf8');
  const names = [
    ...['payment.captured', 'payment.failed', 'order.paid', 'refund.processed', 'refund.failed'],
    ...['created', 'under_review', 'won', 'lost', 'closed'].map((what) => `payment.dispute.${what}`),
    ...['confirmed', 'rejected', 'paused', 'resumed', 'cancelled'].map((what) => `token.${what}`),
    ...['order.notification.delivered', 'order.notification.failed'],
  ];
  expect(names.filter((name) => !listed.includes(`\`${name}\``))).toEqual([]);
});

test('an event without its header is known by its bytes', () => {
  const [a, b] = [read('payment.captured', { payment }, null), read('payment.captured', { payment }, '')];
  expect(a.event_id).toMatch(/^[0-9a-f]{64}$/);
  expect(b.event_id).toBe(a.event_id);
  expect(read('payment.captured', { payment: { ...payment, id: 'pay_2' } }, null).event_id).not.toBe(
    a.event_id,
  );
  expect(read('payment.captured', { payment }, 'x'.repeat(256)).event_id).toBe(a.event_id);
});

test('a rail is whole, or the start stops and names what is missing; both rails stand beside each other', () => {
  const open = (env: Record<string, string>) => openRails(readConfig(env));
  const whole = {
    SVC_RAIL_A_KEY_ID: 'rzp_test_1',
    SVC_RAIL_A_KEY_SECRET: 's',
    SVC_RAIL_A_WEBHOOK_SECRET: 'w',
  };
  const b = { SVC_RAIL_B_KEY_SECRET: 'sk_test_1', SVC_RAIL_B_WEBHOOK_SECRET: 'whsec_1' };
  expect(open(whole)['rail-a']).toMatchObject({ name: 'rail-a', live: false });
  expect(open(whole)['rail-b']).toBeNull();
  expect(open(b)['rail-a']).toBeNull();
  expect(Object.values(open({ ...whole, ...b })).map((rail) => rail?.name)).toEqual(['rail-a', 'rail-b']);
  expect(open({ ...whole, SVC_RAIL_A_KEY_ID: 'rzp_live_1' })['rail-a']).toMatchObject({ live: true });
  const faults = (env: Record<string, string>) => {
    try {
      open(env);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).faults.map((fault) => fault.split(':')[0]);
    }
  };
  expect(faults({ SVC_RAIL_A_KEY_ID: 'rzp_test_1' })).toEqual([
    'SVC_RAIL_A_KEY_SECRET',
    'SVC_RAIL_A_WEBHOOK_SECRET',
  ]);
  expect(faults({ ...whole, SVC_RAIL_A_WEBHOOK_SECRET: ' , ' })).toEqual(['SVC_RAIL_A_WEBHOOK_SECRET']);
  expect(faults({ ...whole, SVC_RAIL_A_BASE_URL: 'http://rail.example' })).toEqual(['SVC_RAIL_A_BASE_URL']);
  expect(faults({ ...whole, SVC_RAIL_A_KEY_ID: 'rzp_live_1', SVC_DEV: '1' })).toEqual(['SVC_RAIL_A_KEY_ID']);
});
