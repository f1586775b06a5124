// Answers a ticket.
import { answerTicket } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    ticket: { type: 'text', doc: 'id of a ticket', value: 'TICKET', required: true },
    text: { type: 'text', doc: 'words for the customer', length_max: 10_000, required: true },
    resolve: { type: 'switch', doc: 'the matter is settled' },
  },
  example:
    'svcctl tickets answer --ticket tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G --text "It is corrected." --resolve',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { ticket } = await answerTicket(context, {
        ...{ id: input.get('ticket'), text: input.get('text'), resolve: input.has('resolve') },
      });
      return { json: { id: ticket.id, status: ticket.status }, text: `${ticket.id} is ${ticket.status}` };
    });
  },
};
