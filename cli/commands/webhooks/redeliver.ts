// Sends an event again: the same id and bytes in a new delivery.
import type { Command } from '../../command.ts';
import { askWebhooks, endpoint, pathOf, webhookFlags } from './ask.ts';
import { type Delivery, deliveryLine } from './deliveries.ts';

export const command: Command = {
  positionals: [...endpoint, { name: 'DELIVERY', doc: 'id of a delivery', required: true }],
  flags: webhookFlags,
  example: 'svcctl webhooks redeliver wh_01KACZ3V8S6T5R4Q3P2N1M0K9J 2718281828459045',
  run(input) {
    const delivery = encodeURIComponent(input.positionals[1] ?? '');
    const path = pathOf(input, `/deliveries/${delivery}/redeliver`);
    return askWebhooks<Delivery>(input, { method: 'POST', path, body: {} }, deliveryLine);
  },
};
