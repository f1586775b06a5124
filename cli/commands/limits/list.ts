// Shows requests for higher limits that wait for a decision.
import { listOpenLimitTickets } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 200;

export const command: Command = {
  flags: {},
  example: 'svcctl limits list',
  async run() {
    return withDatabase(async (pool) => {
      const data = (await listOpenLimitTickets(pool, { after: null, limit: MOST })).map(
        ({ id, org_id, subject, body, created_at }) => ({ id, org_id, subject, ...body, created_at }),
      );
      const lines = data.map(
        ({ id, org_id, subject, reason }) =>
          `${id}  ${org_id}  ${subject}${reason === '' ? '' : ` (${reason})`}`,
      );
      return { json: { data }, text: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    });
  },
};
