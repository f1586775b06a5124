// Sends test.ping to an endpoint and shows what came of it.
import type { Command } from '../../command.ts';
import { askWebhooks, endpoint, pathOf, webhookFlags } from './ask.ts';
import { type Delivery, deliveryText } from './deliveries.ts';

export const command: Command = {
  positionals: endpoint,
  flags: webhookFlags,
  example: 'svcctl webhooks test wh_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  async run(input) {
    const request = { method: 'POST', path: pathOf(input, '/test'), body: {} };
    const result = await askWebhooks<Delivery>(input, request, deliveryText);
    const arrived = result.ok !== false && (result.json as Delivery).status === 'delivered';
    return { ...result, ok: arrived };
  },
};
