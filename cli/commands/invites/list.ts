// Shows invite codes.
import { listCodes, viewCode } from '@svc/core/identity/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 200;

export const command: Command = {
  flags: {},
  example: 'svcctl invites list',
  async run() {
    return withDatabase(async (pool) => {
      const rows = await listCodes(pool, { reseller_id: null, after: null, limit: MOST });
      const data = rows.map((row) => viewCode(row, now()));
      const lines = data.map(({ id, hint, status, uses, max_uses, expires_at, note }) =>
        [id, hint, status, `${uses} of ${max_uses}`, `until ${expires_at}`, note].join('  '),
      );
      return { json: { data }, text: lines.length === 0 ? 'There are none.' : lines.join('\n') };
    });
  },
};
