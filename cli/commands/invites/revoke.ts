// Revokes an invite code.
import { revokeInviteCode } from '@svc/core/identity/index.ts';
import { isId } from '@svc/core/kernel/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    code: { type: 'text', doc: 'id of the code, not the code itself', value: 'ID', required: true },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
  },
  example: 'svcctl invites revoke --code ivc_01KACZ3V8S6T5R4Q3P2N1M0K9J --reason "posted in public"',
  async run(input) {
    const id = input.get('code');
    if (!isId('invite_code', id)) throw new UsageError('--code is an id like ivc_01KACZ3V8S6T5R4Q3P2N1M0K9J');
    return withDatabase(async (pool) => {
      const { uses } = await revokeInviteCode(await staffContext(pool), {
        ...{ id, reason: input.get('reason'), reseller_id: null },
      });
      return { json: { id, status: 'revoked', uses }, text: `${id} is revoked; it was used ${uses} times` };
    });
  },
};
