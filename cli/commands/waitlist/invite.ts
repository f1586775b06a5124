// Lets a person of the waitlist make an organization; a mail tells them.
import { inviteFromWaitlist } from '@svc/core/identity/index.ts';
import { isId } from '@svc/core/kernel/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    entry: { type: 'text', doc: 'id of an entry that waits', value: 'ENTRY', required: true },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
  },
  example: 'svcctl waitlist invite --entry wle_01KACZ3V8S6T5R4Q3P2N1M0K9J --reason "next fifty"',
  async run(input) {
    const id = input.get('entry');
    if (!isId('waitlist_entry', id))
      throw new UsageError('--entry is an id like wle_01KACZ3V8S6T5R4Q3P2N1M0K9J');
    return withDatabase(async (pool) => {
      const { email } = await inviteFromWaitlist(await staffContext(pool), {
        id,
        reason: input.get('reason'),
      });
      return { json: { id, status: 'invited' }, text: `${email} may make an organization; a mail says so` };
    });
  },
};
