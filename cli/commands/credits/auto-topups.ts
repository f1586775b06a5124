// Lists automatic top-ups with the reason why one does not buy.
import { listAutoTopups } from '@svc/core/mandates/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const LIMIT = 1_000;

export const command: Command = {
  flags: {},
  example: 'svcctl credits auto-topups',
  run() {
    return withDatabase(async (pool) => {
      const auto_topups = await listAutoTopups(pool, LIMIT);
      const lines = auto_topups.map((line) => {
        const { slug, enabled, mandate_id, mandate_status, reason, attempt_status, topup_id } = line;
        const mandate = mandate_id === null ? 'no mandate' : `${mandate_id} ${mandate_status}`;
        const last = topup_id === null ? '' : `last ${topup_id} ${attempt_status}`;
        return [slug, enabled ? 'on' : 'off', mandate, reason ?? '', last].filter(Boolean).join('  ');
      });
      const text = lines.length === 0 ? 'nobody has set an automatic top-up' : lines.join('\n');
      return { json: { auto_topups }, text };
    });
  },
};
