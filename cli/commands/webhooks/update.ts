// Changes an endpoint; with --status it is switched off or on again.
import { webhookStatuses } from '@svc/core/webhooks/index.ts';
import { type Command, UsageError } from '../../command.ts';
import {
  askWebhooks,
  type Endpoint,
  endpoint,
  endpointText,
  eventsFlag,
  eventsOf,
  pathOf,
  webhookFlags,
} from './ask.ts';

export const command: Command = {
  positionals: endpoint,
  flags: {
    url: { type: 'text', doc: 'https address that is called', value: 'URL' },
    events: eventsFlag,
    description: { type: 'text', doc: 'words about it', length_max: 500 },
    status: {
      type: 'text',
      doc: 'disabled drops what is queued, active starts afresh',
      choices: webhookStatuses,
    },
    ...webhookFlags,
  },
  example: 'svcctl webhooks update wh_01KACZ3V8S6T5R4Q3P2N1M0K9J --status active',
  async run(input) {
    const events = eventsOf(input);
    const given = ['url', 'description', 'status'].flatMap((name) => {
      const value = input.find(name);
      return value === null ? [] : [[name, value] as const];
    });
    const body = { ...Object.fromEntries(given), ...(events === undefined ? {} : { events }) };
    if (Object.keys(body).length === 0) throw new UsageError('nothing to change was given');
    return askWebhooks<Endpoint>(input, { method: 'PATCH', path: pathOf(input), body }, endpointText);
  },
};
