// Shows tickets that wait for staff.
import { listOpenTickets } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 200;

export const command: Command = {
  flags: { answered: { type: 'switch', doc: 'also those that wait for the customer' } },
  example: 'svcctl tickets list',
  async run(input) {
    return withDatabase(async (pool) => {
      const answered = input.has('answered');
      const data = await listOpenTickets(pool, { answered, after: null, limit: MOST });
      const lines = data.map(
        ({ id, org_id, kind, subject, waiting_for, created_at }) =>
          `${id}  ${org_id}  ${created_at.toISOString()}  ${kind}  waits for ${waiting_for}  ${subject}`,
      );
      return { json: { data }, text: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    });
  },
};
