// Shows the events that an endpoint can subscribe to.
import type { Command } from '../../command.ts';
import { askWebhooks, webhookFlags } from './ask.ts';

interface EventType {
  readonly name: string;
  readonly description: string;
}

export const command: Command = {
  flags: webhookFlags,
  example: 'svcctl webhooks events --json',
  run(input) {
    type List = { data: readonly EventType[] };
    return askWebhooks<List>(input, { method: 'GET', path: '/events' }, ({ data }) => {
      const width = Math.max(...data.map(({ name }) => name.length));
      return data.map(({ name, description }) => `${name.padEnd(width)}  ${description}`).join('\n');
    });
  },
};
