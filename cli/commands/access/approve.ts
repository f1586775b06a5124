// Approves a request for access: a mail brings the link that makes the account.
import { approveAccess } from '@svc/core/identity/index.ts';
import { isId } from '@svc/core/kernel/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { rootKey, withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    request: { type: 'text', doc: 'id of a request that waits', value: 'REQUEST', required: true },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
  },
  example: 'svcctl access approve --request acr_01KACZ3V8S6T5R4Q3P2N1M0K9J --reason "a partner of ours"',
  async run(input) {
    const id = input.get('request');
    if (!isId('access_request', id))
      throw new UsageError('--request is an id like acr_01KACZ3V8S6T5R4Q3P2N1M0K9J');
    const root_key = rootKey();
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { status } = await approveAccess(context, { id, reason: input.get('reason'), root_key });
      return { json: { id, status }, text: `${id} is ${status}` };
    });
  },
};
