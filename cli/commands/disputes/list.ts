// Lists disputes: those that are open and losses that nobody has paid, or all.
import { listDisputes } from '@svc/core/topups/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const LIMIT = 200;

export const command: Command = {
  flags: { all: { type: 'switch', doc: 'also those that have ended and cost nothing' } },
  example: 'svcctl disputes list',
  run(input) {
    return withDatabase(async (pool) => {
      const found = { org_id: null, waiting: !input.has('all'), before: null, limit: LIMIT };
      const disputes = (await listDisputes(pool, found)).map((dispute) => ({
        id: dispute.id,
        org_id: dispute.org_id,
        topup_id: dispute.topup_id,
        rail: dispute.gateway,
        gateway_ref: dispute.gateway_ref,
        status: dispute.status,
        amount_minor: dispute.amount_minor,
        currency: dispute.currency,
        credits_micro: dispute.credits_micro,
        written_off_micro: dispute.written_off_micro,
        respond_by: dispute.respond_by?.toISOString() ?? null,
        opened_at: dispute.opened_at.toISOString(),
      }));
      const lines = disputes.map(
        ({ id, org_id, rail, status, amount_minor, currency, written_off_micro, respond_by, opened_at }) => {
          const more =
            status === 'open'
              ? `answer by ${respond_by ?? '?'}`
              : `lost ${written_off_micro ?? '?'} micro-USD`;
          return [opened_at, id, org_id, rail, status, `${amount_minor} ${currency}`, more].join('  ');
        },
      );
      const text = lines.length === 0 ? 'no dispute waits for anybody' : lines.join('\n');
      return { json: { disputes }, text };
    });
  },
};
