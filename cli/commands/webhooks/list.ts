// Shows the endpoints of the organization.
import type { Command } from '../../command.ts';
import { askWebhooks, type Endpoint, endpointText, webhookFlags } from './ask.ts';

export const command: Command = {
  flags: webhookFlags,
  example: 'svcctl webhooks list',
  run(input) {
    return askWebhooks<{ data: readonly Endpoint[] }>(input, { method: 'GET', path: '' }, ({ data }) =>
      data.length === 0 ? 'There is no endpoint.' : data.map(endpointText).join('\n'),
    );
  },
};
