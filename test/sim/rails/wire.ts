// How rail-b words and signs its events.
import { createHmac } from 'node:crypto';
import type { RailEvent } from './objects.ts';
import type { Wire } from './webhooks.ts';

export const railBWire: Wire<RailEvent> = {
  body: (event) => JSON.stringify(event, null, 2),
  sign(body, secrets, at) {
    const signatures = secrets.map((secret) => {
      return `v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;
    });
    return [`t=${at}`, ...signatures].join(',');
  },
  headers: (_event, signature) => ({ 'stripe-signature': signature }),
};
