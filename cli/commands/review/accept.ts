// Accepts a payment that differs from what was asked: it buys what it pays for.
import { isId } from '@svc/core/kernel/index.ts';
import { acceptReview } from '@svc/core/topups/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    topup: { type: 'text', doc: 'id of a top-up in review', value: 'TOPUP', required: true },
    reason: { type: 'text', doc: 'the reason, which the audit log keeps', length_max: 500, required: true },
  },
  example: 'svcctl review accept --topup tup_01KACZ3V8S6T5R4Q3P2N1M0K9G --reason "short by a paisa"',
  async run(input) {
    const id = input.get('topup');
    if (!isId('topup', id)) throw new UsageError('--topup is an id like tup_01KACZ3V8S6T5R4Q3P2N1M0K9G');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const topup = await acceptReview(context, { id, reason: input.get('reason') });
      const { status, credits_micro, invoice_id, invoice_number } = topup;
      const document = invoice_number === null ? '' : `, document ${invoice_number}`;
      return {
        json: { id, status, credits_micro, invoice_id, invoice_number },
        text: `${id} is ${status}${document}`,
      };
    });
  },
};
