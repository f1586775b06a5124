// Declines a request for access.
import { declineAccess } from '@svc/core/identity/index.ts';
import { isId } from '@svc/core/kernel/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    request: { type: 'text', doc: 'id of a request that waits', value: 'REQUEST', required: true },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
    mail: { type: 'switch', doc: 'send a mail that says so, without the reason' },
  },
  example: 'svcctl access decline --request acr_01KACZ3V8S6T5R4Q3P2N1M0K9J --reason "no use case" --mail',
  async run(input) {
    const id = input.get('request');
    if (!isId('access_request', id))
      throw new UsageError('--request is an id like acr_01KACZ3V8S6T5R4Q3P2N1M0K9J');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { status } = await declineAccess(context, {
        ...{ id, reason: input.get('reason'), tells: input.has('mail') },
      });
      return { json: { id, status }, text: `${id} is ${status}` };
    });
  },
};
