import { readFileSync } from 'node:fs';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../kernel/index.ts';
import { openRails } from './open.ts';
import { readEvent } from './rail-b-event.ts';
import { signCallback, verifyCallback } from './signature.ts';

const SECRET = 'whsec_rail_b';
const BODY = Buffer.from('{"id":"evt_1","object":"event","type":"checkout.session.completed"}');
const T = 1_763_719_200;
const HEADER = `t=${T},v1=99a4dda6fba88725ce7a71134c00043d77e2100bc8fcf9ab86656c89bb311b07`;
const check = (header: string | null, other: { raw?: Buffer; secrets?: string[]; at?: number } = {}) =>
  verifyCallback(other.raw ?? BODY, header, {
    secrets: other.secrets ?? [SECRET],
    machine_ms: (other.at ?? T) * 1_000,
  });

test('the signature of the vector is made and accepted, and one by the official client is', () => {
  expect(`t=${T},v1=${signCallback(BODY, SECRET, T)}`).toBe(HEADER);
  expect(() => check(HEADER)).not.toThrow();
  const theirs = new Stripe('sk_test_x').webhooks.generateTestHeaderString({
    payload: BODY.toString(),
    secret: SECRET,
    timestamp: T,
  });
  expect(() => check(theirs)).not.toThrow();
});

test('any of several signatures and any of several secrets will do', () => {
  const other = 'v1='.padEnd(67, '0');
  expect(() => check(`t=${T},${other},${HEADER.split(',')[1]},v0=1`)).not.toThrow();
  expect(() => check(HEADER, { secrets: ['whsec_old', SECRET] })).not.toThrow();
  expect(() => check(HEADER, { secrets: ['whsec_old'] })).toThrow(
    expect.objectContaining({ code: 'signature_invalid' }),
  );
});

test('other bytes, another time, no signature or a broken one are refused', () => {
  const spaced = Buffer.from(JSON.stringify(JSON.parse(BODY.toString()), null, 1));
  const v1 = HEADER.split(',')[1] as string;
  expect(() => check(HEADER, { raw: spaced })).toThrow(
    expect.objectContaining({ code: 'signature_invalid' }),
  );
  for (const header of [
    null,
    '',
    v1,
    `t=${T}`,
    `t=${T + 1},${v1}`,
    `t=${T},${v1.toUpperCase()}`,
    `t=${T},${v1.slice(0, -1)}`,
    `t=-${T},${v1}`,
    `t=${T},${v1}${','.repeat(5_000)}`,
  ]) {
    expect(() => check(header)).toThrow(expect.objectContaining({ code: 'signature_invalid' }));
  }
});

test('a header is read with blanks between its parts, and up to 4,096 letters', () => {
  expect(() => check(HEADER.replace(',', ' , '))).not.toThrow();
  const long = `${HEADER},${'x'.repeat(4_096 - HEADER.length - 1)}`;
  expect(() => check(long)).not.toThrow();
  expect(() => check(`${long}x`)).toThrow(expect.objectContaining({ code: 'signature_invalid' }));
});

test('what is signed right but is no header of the rail is refused: another scheme, a time that is none, more behind', () => {
  const signed = (stamp: string) => signCallback(BODY, SECRET, stamp);
  for (const header of [
    `t=${T},v0=${signed(String(T))}`,
    `t=${T},v1=${signed(String(T))}zz`,
    `t=x${T},v1=${signed(`x${T}`)}`,
    `t=${T}x,v1=${signed(`${T}x`)}`,
    `v1=${signed('null')}`,
  ]) {
    expect(() => check(header)).toThrow(expect.objectContaining({ code: 'signature_invalid' }));
  }
});

test('a right signature holds for 300 seconds in both directions and not a second longer', () => {
  for (const at of [T - 300, T + 300]) expect(() => check(HEADER, { at })).not.toThrow();
  for (const at of [T - 301, T + 301]) {
    expect(() => check(HEADER, { at })).toThrow(expect.objectContaining({ code: 'signature_expired' }));
  }
});

const event = (type: string, object: object, other: object = {}) =>
  readEvent(
    Buffer.from(JSON.stringify({ id: 'evt_1', type, livemode: false, data: { object }, ...other })),
    false,
  );
const disputed = {
  ...{ id: 'dp_1', object: 'dispute', payment_intent: 'pi_1', amount: 2_500, currency: 'usd' },
  status: 'needs_response',
};
const session = {
  id: 'cs_1',
  mode: 'payment',
  payment_status: 'paid',
  payment_intent: 'pi_1',
  amount_total: 2_500,
  currency: 'usd',
  client_reference_id: 'tup_1',
  payment_method_types: ['card'],
};

test('events that book, fail and close are read; others mean nothing', () => {
  const money = {
    kind: 'captured',
    payment_ref: 'pi_1',
    amount_minor: 2_500,
    currency: 'USD',
    method: 'card',
  };
  const names = { order_ref: 'cs_1', topup_id: 'tup_1' };
  expect(event('checkout.session.completed', session)).toMatchObject({ fact: money, ...names });
  expect(event('checkout.session.async_payment_succeeded', session)).toMatchObject({ fact: money });
  expect(event('checkout.session.completed', { ...session, payment_intent: { id: 'pi_1' } })).toMatchObject({
    fact: money,
  });
  expect(event('checkout.session.completed', { ...session, payment_status: 'unpaid' }).fact).toBeNull();
  expect(event('checkout.session.completed', { ...session, mode: 'setup' }).fact).toBeNull();
  expect(event('checkout.session.expired', session).fact).toEqual({ kind: 'lapsed' });
  expect(event('checkout.session.async_payment_failed', session).fact).toMatchObject({
    kind: 'failed',
    last: true,
  });
  const intent = { id: 'pi_1', amount_received: 2_500, currency: 'usd', metadata: { topup_id: 'tup_1' } };
  expect(event('payment_intent.succeeded', intent)).toMatchObject({ topup_id: 'tup_1', order_ref: null });
  expect(event('payment_intent.succeeded', { ...intent, metadata: {} }).fact).toBeNull();
  expect(event('payment_intent.payment_failed', intent).fact).toMatchObject({ kind: 'failed', last: false });
  expect(event('charge.succeeded', { id: 'ch_1' }).fact).toBeNull();
});

test('every event of a dispute says how it stands; a charge that was refunded is told by its refund', () => {
  const { dispute: opened } = event('charge.dispute.created', disputed);
  expect(opened).toMatchObject({ kind: 'dispute', ref: 'dp_1', payment_ref: 'pi_1', status: 'open' });
  for (const what of ['updated', 'funds_withdrawn', 'funds_reinstated', 'closed'])
    expect(event(`charge.dispute.${what}`, disputed).dispute).toEqual(opened);
  expect(event('charge.dispute.closed', { ...disputed, status: 'won' }).dispute).toMatchObject({
    status: 'won',
  });
  const charge = {
    id: 'ch_1',
    object: 'charge',
    payment_intent: 'pi_1',
    amount_refunded: 100,
    currency: 'usd',
  };
  const refunded = event('charge.refunded', charge);
  expect([refunded.fact, refunded.money_back, refunded.unreadable]).toEqual([null, undefined, undefined]);
});

test('docs/money/rails.md has each event that the rail is to be asked for', () => {
  const listed = readFileSync(new URL('../../../docs/money/rails.md', import.meta.url), 'utf8');
  const names = [
    ...['completed', 'async_payment_succeeded', 'async_payment_failed', 'expired'].map(
      (what) => `checkout.session.${what}`,
    ),
    ...['payment_intent.succeeded', 'payment_intent.payment_failed', 'refund.updated', 'refund.failed'],
    ...['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'].map(
      (what) => `charge.dispute.${what}`,
    ),
    ...['setup_intent.succeeded', 'payment_method.detached'],
  ];
  expect(names.filter((name) => !listed.includes(`\`${name}\``))).toEqual([]);
});

test('an event of the other mode means nothing, and a paid one that lacks what a booking needs is unreadable', () => {
  expect(event('checkout.session.completed', session, { livemode: true })).toMatchObject({
    fact: null,
    order_ref: null,
  });
  for (const lack of [
    { payment_intent: null },
    { amount_total: '2500' },
    { amount_total: 1.5 },
    { currency: null },
  ]) {
    const read = event('checkout.session.completed', { ...session, ...lack });
    expect([read.fact, read.unreadable]).toEqual([null, 'a paid session without payment or amount']);
  }
  for (const text of ['', '[]', 'null', '{"id":1}', '{"id":"evt_1"}']) {
    expect(() => readEvent(Buffer.from(text), false)).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    );
  }
});

test('a rail is whole, or the start stops and names what is missing; without any variable there is none', () => {
  const open = (env: Record<string, string>) => openRails(readConfig(env));
  expect(open({})['rail-b']).toBeNull();
  const whole = { SVC_RAIL_B_KEY_SECRET: 'sk_test_1', SVC_RAIL_B_WEBHOOK_SECRET: 'whsec_1' };
  expect(open(whole)['rail-b']).toMatchObject({ name: 'rail-b', live: false });
  expect(open({ ...whole, SVC_RAIL_B_KEY_SECRET: 'sk_live_1' })['rail-b']).toMatchObject({ live: true });
  const faults = (env: Record<string, string>) => {
    try {
      open(env);
      return [];
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).faults.map((fault) => fault.split(':')[0]);
    }
  };
  expect(faults({ SVC_RAIL_B_BASE_URL: 'http://127.0.0.1:1' })).toEqual([
    'SVC_RAIL_B_KEY_SECRET',
    'SVC_RAIL_B_WEBHOOK_SECRET',
  ]);
  expect(faults({ SVC_RAIL_B_KEY_SECRET: 'sk_test_1' })).toEqual(['SVC_RAIL_B_WEBHOOK_SECRET']);
  for (const address of ['nonsense', 'http://rail.example', 'ftp://127.0.0.1', 'http://127.0.0.1.example']) {
    expect(faults({ ...whole, SVC_RAIL_B_BASE_URL: address })).toEqual(['SVC_RAIL_B_BASE_URL']);
  }
  for (const address of ['https://rail.example', 'http://localhost:1', 'http://[::1]:1']) {
    expect(faults({ ...whole, SVC_RAIL_B_BASE_URL: address })).toEqual([]);
  }
  expect(faults({ ...whole, SVC_RAIL_B_WEBHOOK_SECRET: ' , ' })).toEqual(['SVC_RAIL_B_WEBHOOK_SECRET']);
  expect(faults({ ...whole, SVC_RAIL_B_KEY_SECRET: 'sk_live_1', SVC_DEV: '1' })).toEqual([
    'SVC_RAIL_B_KEY_SECRET',
  ]);
});
