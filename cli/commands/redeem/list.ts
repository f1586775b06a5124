// Lists batches of codes, with how many are redeemed.
import { listBatches } from '@svc/core/redeem/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const MOST = 200;

export const command: Command = {
  example: 'svcctl redeem list',
  async run() {
    return withDatabase(async (pool) => {
      const batches = await listBatches(pool, { before: null, limit: MOST });
      const lines = batches.map(({ name, redeemed, codes, amount_micro_usd, valid_until, closed_at }) => {
        const until = closed_at === null ? `until ${valid_until.toISOString()}` : 'ended';
        return `${name}  ${redeemed} of ${codes} redeemed, ${amount_micro_usd} micro-USD each, ${until}`;
      });
      const data = batches.map(({ batch_id: _, ...batch }) => batch);
      return { json: { data }, text: lines.length === 0 ? 'no batch' : lines.join('\n') };
    });
  },
};
