// Lets an organization make calls again although the loss of a dispute is unpaid.
import { isId } from '@svc/core/kernel/index.ts';
import { endLossBy } from '@svc/core/refunds/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    dispute: { type: 'text', doc: 'id of a dispute that was lost', value: 'DISPUTE', required: true },
    reason: { type: 'text', doc: 'the reason, which the audit log keeps', length_max: 500, required: true },
  },
  example: 'svcctl disputes lift --dispute dsp_01KACZ3V8S6T5R4Q3P2N1M0K9G --reason "they pay until Friday"',
  async run(input) {
    const id = input.get('dispute');
    if (!isId('dispute', id)) throw new UsageError('--dispute is an id like dsp_01KACZ3V8S6T5R4Q3P2N1M0K9G');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const ended = await endLossBy(context, { id, by: 'lifted', reason: input.get('reason') });
      const { org_id, status, written_off_micro } = ended;
      return {
        json: { id, org_id, status, written_off_micro },
        text: `${id}: its organization can make calls again`,
      };
    });
  },
};
