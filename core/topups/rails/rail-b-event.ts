// From an event of rail-b to a fact. What an event says about itself is enough: nothing is fetched.
import { isObject, type JsonObject, ServiceError } from '../../kernel/index.ts';
import type { Captured, TopupFact } from '../types.ts';
import type { MandateFact } from './mandate-types.ts';
import { disputeOf } from './rail-b-dispute.ts';
import { refundOf } from './rail-b-refund.ts';
import { amountOf, eventIn, nameOf } from './read.ts';
import type { RailEvent } from './types.ts';

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An id, given as such or inside the expanded object. */
function idOf(value: unknown): string | null {
  return isObject(value) ? textOf(value['id']) : textOf(value);
}

function onlyMethod(object: JsonObject): string | null {
  const types = object['payment_method_types'];
  return Array.isArray(types) && types.length === 1 ? textOf(types[0]) : null;
}

function captured(args: {
  payment: unknown;
  amount: unknown;
  currency: unknown;
  method: string | null;
}): Captured | null {
  const payment_ref = nameOf(idOf(args.payment));
  const currency = nameOf(args.currency);
  const amount_minor = amountOf(args.amount);
  if (payment_ref === null || currency === null || amount_minor === null) return null;
  return {
    kind: 'captured',
    payment_ref,
    amount_minor,
    currency: currency.toUpperCase(),
    method: args.method,
  };
}

/** The payment of a paid session; null when it lacks what a booking needs. */
export function capturedBySession(session: JsonObject): Captured | null {
  return captured({
    payment: session['payment_intent'],
    amount: session['amount_total'],
    currency: session['currency'],
    method: onlyMethod(session),
  });
}

/** Why a payment failed, in the rail's words. */
export function failureOf(intent: JsonObject, last: boolean): TopupFact {
  const error = isObject(intent['last_payment_error']) ? intent['last_payment_error'] : {};
  const code = textOf(error['decline_code']) ?? textOf(error['code']) ?? 'payment_failed';
  const message = textOf(error['message']) ?? 'The payment failed.';
  return { kind: 'failed', last, code: code.slice(0, 64), message: message.slice(0, 500) };
}

type Reading = Pick<RailEvent, 'fact' | 'unreadable'>;

function readSession(type: string, session: JsonObject): Reading {
  if (session['mode'] !== 'payment') return { fact: null };
  if (type === 'checkout.session.expired') return { fact: { kind: 'lapsed' } };
  if (type === 'checkout.session.async_payment_failed') {
    const intent = isObject(session['payment_intent']) ? session['payment_intent'] : {};
    return { fact: failureOf(intent, true) };
  }
  // Completed but unpaid: the payment is under way, its own event follows.
  if (session['payment_status'] !== 'paid') return { fact: null };
  const fact = capturedBySession(session);
  return fact === null ? { fact: null, unreadable: 'a paid session without payment or amount' } : { fact };
}

/** A payment that succeeded; null when it lacks what a booking needs. */
export function capturedIntent(intent: JsonObject): Captured | null {
  return captured({
    payment: intent['id'],
    amount: intent['amount_received'],
    currency: intent['currency'],
    method: onlyMethod(intent),
  });
}

function readIntent(type: string, intent: JsonObject): Reading {
  if (type === 'payment_intent.payment_failed') return { fact: failureOf(intent, false) };
  const fact = capturedIntent(intent);
  return fact === null ? { fact: null, unreadable: 'a payment without id or amount' } : { fact };
}

const SESSION_EVENTS = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
]);
const REFUND_EVENTS = new Set(['refund.updated', 'refund.failed']);
const DISPUTE_EVENTS = 'charge.dispute.';
const INTENT_EVENTS = new Set(['payment_intent.succeeded', 'payment_intent.payment_failed']);

function topupOf(object: JsonObject): string | null {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  return textOf(object['client_reference_id']) ?? textOf(metadata['topup_id']);
}

function mandateFact(change: MandateFact['change'], more: Partial<MandateFact>): MandateFact {
  const nobody = { mandate_id: null, setup_ref: null, token_ref: null, customer_ref: null };
  return { kind: 'mandate', change, ...nobody, ends_at: null, first_payment: null, ...more };
}

/** What an event says of a card that is kept; null when it is about none. */
function readMandate(type: string, object: JsonObject): MandateFact | null {
  if (type === 'payment_method.detached')
    return mandateFact('cancelled', { token_ref: textOf(object['id']) });
  if (type === 'setup_intent.succeeded' && isObject(object['metadata'])) {
    const mandate_id = textOf(object['metadata']['mandate_id']);
    const token = { token_ref: idOf(object['payment_method']), customer_ref: idOf(object['customer']) };
    return mandate_id === null ? null : mandateFact('confirmed', { mandate_id, ...token });
  }
  if (!SESSION_EVENTS.has(type) || object['mode'] !== 'setup') return null;
  const named = { mandate_id: textOf(object['client_reference_id']), setup_ref: textOf(object['id']) };
  // A session does not say which card was kept.
  if (type === 'checkout.session.completed') return mandateFact('completed', named);
  return type === 'checkout.session.expired' ? mandateFact('lapsed', named) : null;
}

/**
 * Reads verified bytes as an event; `live` is the mode of our key, and events of the other mode mean nothing here.
 * @throws ServiceError invalid_json when the bytes are no event.
 */
export function readEvent(raw: Uint8Array, live: boolean): RailEvent {
  const event = eventIn(raw);
  const [event_id, type] = [nameOf(event?.['id']), textOf(event?.['type'])];
  if (event === null || event_id === null || type === null) {
    throw new ServiceError('invalid_json', 'The callback is not an event.');
  }
  const nothing = { event_id, type, fact: null, order_ref: null, topup_id: null };
  const data = isObject(event['data']) ? event['data'] : {};
  const object = isObject(data['object']) ? data['object'] : {};
  if (event['livemode'] === undefined ? live : event['livemode'] !== live) return nothing;
  const mandate = readMandate(type, object);
  if (mandate !== null) return { ...nothing, mandate };
  if (SESSION_EVENTS.has(type)) {
    const about = { order_ref: idOf(object['id']), topup_id: topupOf(object) };
    return { event_id, type, ...about, ...readSession(type, object) };
  }
  if (REFUND_EVENTS.has(type)) {
    const money_back = refundOf(object);
    if (money_back !== null) return { ...nothing, money_back };
    // One of a charge without a payment of the kind that top-ups have.
    if (object['payment_intent'] === null) return nothing;
    return { ...nothing, unreadable: 'a refund without id, payment or amount' };
  }
  if (type.startsWith(DISPUTE_EVENTS)) {
    // One of a charge without a payment of the kind that top-ups have.
    if (object['payment_intent'] === null) return nothing;
    const dispute = disputeOf(object);
    if (dispute !== null) return { ...nothing, dispute };
    return { ...nothing, unreadable: 'a dispute without id, payment, amount or a state that is known' };
  }
  if (INTENT_EVENTS.has(type)) {
    const topup_id = topupOf(object);
    // A payment that no top-up asked for is somebody else's on the same account.
    if (topup_id === null) return nothing;
    return { event_id, type, order_ref: null, topup_id, ...readIntent(type, object) };
  }
  return nothing;
}
