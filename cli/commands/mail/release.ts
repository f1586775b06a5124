// Lets mail go to an address again that was refused.
import { writeAudit } from '@svc/core/identity/index.ts';
import { ServiceError } from '@svc/core/kernel/index.ts';
import { getEmailKey, releaseAddress } from '@svc/core/mail/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    address: { type: 'text', doc: 'the address', value: 'EMAIL', required: true, length_max: 254 },
  },
  example: 'svcctl mail release --address asha@acme.example',
  run: (input) =>
    withDatabase(async (pool) => {
      const address = getEmailKey(input.get('address'));
      const context = await staffContext(pool);
      await context.transaction(async (context) => {
        if (!(await releaseAddress(context.db, address)))
          throw new ServiceError('not_found', 'This address was not refused.');
        const target = { type: 'mail_address', id: address, display: address };
        await writeAudit(context, { action: 'mail.release', org_id: null, target });
      });
      return { json: { address }, text: `${address} gets mail again` };
    }),
};
