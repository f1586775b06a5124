// Shows announcements, ended ones too.
import { listAnnouncements } from '@svc/core/support/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 100;

export const command: Command = {
  flags: {},
  example: 'svcctl announcements list',
  async run() {
    return withDatabase(async (pool) => {
      const data = await listAnnouncements(pool, { after: null, limit: MOST });
      const lines = data.map(({ id, severity, audience, audience_values, starts_at, ends_at, title }) =>
        [
          ...[id, severity, [audience, ...audience_values].join(' ')],
          `${starts_at.toISOString()} to ${ends_at?.toISOString() ?? 'further notice'}`,
          title,
        ].join('  '),
      );
      return { json: { data }, text: lines.length === 0 ? 'Nothing was announced.' : lines.join('\n') };
    });
  },
};
