// From a callback of rail-a to a fact: HMAC-SHA256 over the raw bytes, and what the event says about itself. Nothing is
// fetched.
import {
  equalBytes,
  hmacSha256,
  isObject,
  type JsonObject,
  ServiceError,
  sha256Hex,
} from '../../kernel/index.ts';
import type { Captured, TopupFact } from '../types.ts';
import type { NoticeFact } from './mandate-types.ts';
import { disputeOfRailA } from './rail-a-dispute.ts';
import { mandateOfPayment, mandateOfToken } from './rail-a-mandate.ts';
import { refundOfRailA } from './rail-a-refund.ts';
import { amountOf, eventIn, nameOf } from './read.ts';
import type { Callback, RailEvent } from './types.ts';

const BOOKING = new Set(['payment.captured', 'order.paid']);
const REFUNDS = new Set(['refund.processed', 'refund.failed']);
const DISPUTE_EVENTS = 'payment.dispute.';
const EVENT_ID_MAX = 255;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The signature of `raw` under `secret`, as 64 hex digits. */
export function signRailA(raw: Uint8Array, secret: string): string {
  return hmacSha256(secret, raw).toString('hex');
}

/**
 * Checks `signature` over `raw` with any of `secrets` (while one replaces another there are two). The rail signs no
 * time: an old event that is sent again is known by its id.
 * @throws ServiceError signature_invalid.
 */
export function verifyRailA(raw: Uint8Array, signature: string | null, secrets: readonly string[]): void {
  const given = /^[0-9a-f]{64}$/.test(signature ?? '') ? Buffer.from(signature as string, 'hex') : null;
  let matched = false;
  // All are compared, so that the time taken does not tell which secret it was.
  for (const secret of secrets) {
    const expected = Buffer.from(signRailA(raw, secret), 'hex');
    if (given !== null && equalBytes(given, expected)) matched = true;
  }
  if (!matched) {
    throw new ServiceError('signature_invalid', 'The callback is not signed with a secret of this rail.');
  }
}

/** A captured payment; null when it lacks what a booking needs. */
export function capturedPayment(payment: JsonObject): Captured | null {
  const [payment_ref, currency] = [nameOf(payment['id']), nameOf(payment['currency'])];
  const amount_minor = amountOf(payment['amount']);
  if (payment_ref === null || currency === null || amount_minor === null) return null;
  return {
    kind: 'captured',
    payment_ref,
    amount_minor,
    currency: currency.toUpperCase(),
    method: textOf(payment['method']),
  };
}

/** Why an attempt failed, in the rail's words. The payer may try again on the same order. */
export function failedAttempt(payment: JsonObject): TopupFact {
  const code = textOf(payment['error_reason']) ?? textOf(payment['error_code']) ?? 'payment_failed';
  const message = textOf(payment['error_description']) ?? 'The payment failed.';
  return { kind: 'failed', last: false, code: code.slice(0, 64), message: message.slice(0, 500) };
}

function entityAt(event: JsonObject, name: string): JsonObject {
  const payload = isObject(event['payload']) ? event['payload'] : {};
  const holder = isObject(payload[name]) ? payload[name] : {};
  return isObject(holder['entity']) ? holder['entity'] : {};
}

function noteOf(entity: JsonObject, name: string): string | null {
  return isObject(entity['notes']) ? textOf(entity['notes'][name]) : null;
}

function bodyOf(raw: Uint8Array): JsonObject {
  const event = eventIn(raw);
  if (event === null) throw new ServiceError('invalid_json', 'The callback is not an event.');
  return event;
}

/** The top-up that an event names: by the notes of its payment and of its order, which must be the same. */
function namedTopup(payment: JsonObject, order: JsonObject): { topup_id: string | null; agree: boolean } {
  const [by_payment, by_order] = [noteOf(payment, 'topup_id'), noteOf(order, 'topup_id')];
  const agree = by_payment === null || by_order === null || by_payment === by_order;
  return { topup_id: by_order ?? by_payment, agree };
}

function readPayment(type: string, payment: JsonObject): Pick<RailEvent, 'fact' | 'unreadable'> {
  if (type === 'payment.failed') return { fact: failedAttempt(payment) };
  const fact = capturedPayment(payment);
  return fact === null ? { fact: null, unreadable: 'a captured payment without id or amount' } : { fact };
}

/** What became of the notice before a debit; null when the event is about none. */
function noticeOf(type: string, event: JsonObject): NoticeFact | null {
  if (type !== 'order.notification.delivered' && type !== 'order.notification.failed') return null;
  const [order, notice] = [entityAt(event, 'order'), entityAt(event, 'notification')];
  const order_ref = textOf(order['id']) ?? textOf(notice['order_id']);
  if (order_ref === null) return null;
  const delivered = type === 'order.notification.delivered';
  return { kind: 'notice', order_ref, topup_id: noteOf(order, 'topup_id'), delivered };
}

/** Reads a verified callback. @throws ServiceError invalid_json when the bytes are no event. */
export function readRailA({ raw, event_id }: Callback): RailEvent {
  const event = bodyOf(raw);
  const type = textOf(event['event']);
  if (type === null) throw new ServiceError('invalid_json', 'The callback is not an event.');
  // Without its header an event is known by its bytes, which the rail sends the same each time.
  const given = textOf(event_id ?? null);
  const id = given === null || given.length > EVENT_ID_MAX ? sha256Hex(raw) : given;
  const nothing = { event_id: id, type, fact: null, order_ref: null, topup_id: null };
  if (REFUNDS.has(type)) {
    const money_back = refundOfRailA(entityAt(event, 'refund'));
    if (money_back !== null) return { ...nothing, money_back };
    return { ...nothing, unreadable: 'a refund without id, payment or amount' };
  }
  if (type.startsWith(DISPUTE_EVENTS)) {
    const dispute = disputeOfRailA(entityAt(event, 'dispute'));
    if (dispute !== null) return { ...nothing, dispute };
    return { ...nothing, unreadable: 'a dispute without id, payment, amount or a state that is known' };
  }
  const mandate = mandateOfToken(type, entityAt(event, 'token'));
  if (mandate !== null) return { ...nothing, mandate };
  const notice = noticeOf(type, event);
  if (notice !== null) return { ...nothing, notice };
  if (!BOOKING.has(type) && type !== 'payment.failed') return nothing;
  const [payment, order] = [entityAt(event, 'payment'), entityAt(event, 'order')];
  // The first payment of a mandate is given back; it buys nothing. A payer writes the notes of a payment, not of an order.
  const mandate_id = noteOf(textOf(order['id']) === null ? payment : order, 'mandate_id');
  if (mandate_id !== null) {
    return type === 'payment.captured'
      ? { ...nothing, mandate: mandateOfPayment(payment, mandate_id) }
      : nothing;
  }
  const order_ref = textOf(order['id']) ?? textOf(payment['order_id']);
  const { topup_id, agree } = namedTopup(payment, order);
  // A payment that no order asked for is somebody else's on the same account.
  if (order_ref === null && topup_id === null) return nothing;
  const about = { event_id: id, type, order_ref, topup_id };
  if (!agree) return { ...about, fact: null, unreadable: 'payment and order name different top-ups' };
  return { ...about, ...readPayment(type, payment) };
}
