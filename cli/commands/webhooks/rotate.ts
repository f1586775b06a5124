// Replaces the secret of an endpoint and shows the new one, once; for 24 hours the old one signs too.
import type { Command } from '../../command.ts';
import { askWebhooks, type Endpoint, endpoint, endpointText, pathOf, webhookFlags } from './ask.ts';

export const command: Command = {
  positionals: endpoint,
  flags: webhookFlags,
  example: 'svcctl webhooks rotate wh_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  run(input) {
    const request = { method: 'POST', path: pathOf(input, '/rotate'), body: {} };
    return askWebhooks<Endpoint>(input, request, endpointText);
  },
};
