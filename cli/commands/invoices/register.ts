// Tries the registration of a document again that has failed.
import { registerAgain } from '@svc/core/e-invoices/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {
    number: { type: 'text', doc: 'number of the document', value: 'NUMBER', length_max: 16, required: true },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
  },
  example: 'svcctl invoices register --number INV/26-27/00017 --reason "the GSTIN is active again"',
  async run(input) {
    const args = { number: input.get('number'), reason: input.get('reason') };
    return withDatabase(async (pool) => {
      const { id, number, irn_status } = await registerAgain(await staffContext(pool), args);
      return { json: { id, number, irn_status }, text: `${number} waits for its registration again.` };
    });
  },
};
