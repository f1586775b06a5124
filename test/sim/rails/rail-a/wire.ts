// How rail-a signs its events, and the browser's return from its checkout.
import { createHmac } from 'node:crypto';
import type { Wire } from '../webhooks.ts';
import type { RailAEvent } from './objects.ts';

function hex(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** The rail signs with one secret, the newest. */
export const railAWire: Wire<RailAEvent> = {
  body: (event) => JSON.stringify(event.body),
  sign: (body, secrets) => hex(secrets.at(-1) ?? '', body),
  headers: (event, signature) => ({
    'x-razorpay-signature': signature,
    'x-razorpay-event-id': event.id,
  }),
};

/** What the rail signs of a paid order when the browser returns. */
export function signReturn(order_id: string, payment_id: string, key_secret: string): string {
  return hex(key_secret, `${order_id}|${payment_id}`);
}
