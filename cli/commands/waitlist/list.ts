// Shows people who wait until they may make an organization.
import { listWaitingEntries, viewWaiting } from '@svc/core/identity/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 200;

export const command: Command = {
  flags: {},
  example: 'svcctl waitlist list',
  async run() {
    return withDatabase(async (pool) => {
      const data = (await listWaitingEntries(pool, { after: null, limit: MOST })).map(viewWaiting);
      const lines = data.map(({ id, email, name, company }) => `${id}  ${email}  ${name}, ${company}`);
      return { json: { data }, text: lines.length === 0 ? 'Nobody waits.' : lines.join('\n') };
    });
  },
};
