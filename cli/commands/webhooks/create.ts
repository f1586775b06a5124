// Makes an endpoint and shows its secret, once.
import type { Command } from '../../command.ts';
import { askWebhooks, type Endpoint, endpointText, eventsFlag, eventsOf, webhookFlags } from './ask.ts';

export const command: Command = {
  flags: {
    url: { type: 'text', doc: 'https address that is called', value: 'URL', required: true },
    events: { ...eventsFlag, doc: `${eventsFlag.doc}; default: all` },
    description: { type: 'text', doc: 'words about it', length_max: 500 },
    ...webhookFlags,
  },
  example: 'svcctl webhooks create --url https://example.com/hooks/svc --events topup.completed,key.revoked',
  run(input) {
    const description = input.find('description');
    const body = {
      ...{ url: input.get('url'), events: eventsOf(input) ?? ['*'] },
      ...(description === null ? {} : { description }),
    };
    return askWebhooks<Endpoint>(input, { method: 'POST', path: '', body }, endpointText);
  },
};
