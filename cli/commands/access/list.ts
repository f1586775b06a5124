// Shows requests for access that wait for a decision.
import { listWaitingAccess } from '@svc/core/identity/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 200;

export const command: Command = {
  flags: {},
  example: 'svcctl access list',
  async run() {
    return withDatabase(async (pool) => {
      const rows = await listWaitingAccess(pool, { after: null, limit: MOST });
      const data = rows.map(({ email_key: _key, mails: _mails, expires_at: _end, ...row }) => row);
      const lines = data.map(({ id, email, name, company }) => `${id}  ${email}  ${name}, ${company}`);
      return { json: { data }, text: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    });
  },
};
