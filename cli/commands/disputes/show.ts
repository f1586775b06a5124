// Shows one dispute with all that is known of it.
import { isId } from '@svc/core/kernel/index.ts';
import { findDispute, viewDispute } from '@svc/core/topups/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: { dispute: { type: 'text', doc: 'id of a dispute', value: 'DISPUTE', required: true } },
  example: 'svcctl disputes show --dispute dsp_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  async run(input) {
    const id = input.get('dispute');
    if (!isId('dispute', id)) throw new UsageError('--dispute is an id like dsp_01KACZ3V8S6T5R4Q3P2N1M0K9G');
    return withDatabase(async (pool) => {
      const found = await findDispute(pool, id);
      if (found === null) throw new UsageError(`there is no dispute ${id}`);
      const dispute = viewDispute(found);
      const lines = Object.entries(dispute).map(([name, value]) => `${name.padEnd(18)} ${value ?? '-'}`);
      return { json: { dispute }, text: lines.join('\n') };
    });
  },
};
