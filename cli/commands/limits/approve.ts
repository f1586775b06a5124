// Grants a request for higher limits.
import { isId } from '@svc/core/kernel/index.ts';
import { approveRequest } from '@svc/core/support/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { limitFlags, limitsGiven } from './flags.ts';

export const command: Command = {
  flags: {
    ticket: { type: 'text', doc: 'id of an open request', value: 'TICKET', required: true },
    ...limitFlags('instead of what was asked'),
    answer: { type: 'text', doc: 'words for the customer', value: 'TEXT', length_max: 500 },
  },
  example: 'svcctl limits approve --ticket tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G --rpm 900',
  async run(input) {
    const id = input.get('ticket');
    if (!isId('ticket', id)) throw new UsageError('--ticket is an id like tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const answer = input.find('answer') ?? '';
      const { status } = await approveRequest(context, { id, answer, instead: limitsGiven(input) });
      return { json: { id, status }, text: `${id} is ${status}` };
    });
  },
};
