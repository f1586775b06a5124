// Shows payments that differ from what was asked and wait for a decision.
import { listReviews } from '@svc/core/topups/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  flags: {},
  example: 'svcctl review list',
  async run() {
    return withDatabase(async (pool) => {
      const reviews = await listReviews(await staffContext(pool));
      const json = reviews.map(({ topup, org_name, paid_minor, paid_currency, offer }) => ({
        id: topup.id,
        org_id: topup.org_id,
        org_name,
        asked_minor: topup.total_minor,
        currency: topup.currency,
        paid_minor,
        paid_currency,
        offer_credits_micro: offer?.credits_micro ?? null,
      }));
      const lines = json.map(
        (one) =>
          `${one.id}  ${one.org_name}: asked ${one.asked_minor} ${one.currency}, paid ${one.paid_minor} ${one.paid_currency}` +
          (one.offer_credits_micro === null
            ? ', can only be refused'
            : `, buys ${one.offer_credits_micro} micro-USD`),
      );
      return { json, text: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    });
  },
};
