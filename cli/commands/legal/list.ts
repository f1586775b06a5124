// Shows the versions of legal documents.
import { listVersions } from '@svc/core/legal/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  example: 'svcctl legal list',
  async run() {
    return withDatabase(async (pool) => {
      const data = (await listVersions(pool, null)).map(({ text: _, ...version }) => version);
      const lines = data.map(({ kind, version, effective_at, requires_acceptance, published_by, title }) =>
        [
          ...[kind, version, `in force from ${effective_at.toISOString().slice(0, 10)}`],
          requires_acceptance ? 'to be accepted' : 'for information',
          ...[`by ${published_by}`, title],
        ].join('  '),
      );
      return { json: { data }, text: lines.join('\n') || 'There are none: run svcctl migrate.' };
    });
  },
};
