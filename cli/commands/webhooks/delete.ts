// Deletes an endpoint with its deliveries.
import type { Command } from '../../command.ts';
import { askWebhooks, endpoint, pathOf, webhookFlags } from './ask.ts';

export const command: Command = {
  positionals: endpoint,
  flags: webhookFlags,
  example: 'svcctl webhooks delete wh_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  run(input) {
    const id = input.positionals[0];
    return askWebhooks(input, { method: 'DELETE', path: pathOf(input) }, () => `${id} is deleted`);
  },
};
