// Refuses a request for higher limits.
import { isId } from '@svc/core/kernel/index.ts';
import { refuseRequest } from '@svc/core/support/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    ticket: { type: 'text', doc: 'id of an open request', value: 'TICKET', required: true },
    answer: {
      type: 'text',
      doc: 'why, in words for the customer',
      value: 'TEXT',
      length_max: 500,
      required: true,
    },
  },
  example: 'svcctl limits refuse --ticket tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G --answer "The plan team has room."',
  async run(input) {
    const id = input.get('ticket');
    if (!isId('ticket', id)) throw new UsageError('--ticket is an id like tkt_01KACZ3V8S6T5R4Q3P2N1M0K9G');
    return withDatabase(async (pool) => {
      const { status } = await refuseRequest(await staffContext(pool), { id, answer: input.get('answer') });
      return { json: { id, status }, text: `${id} is ${status}` };
    });
  },
};
