// Lists disputes: those that are open and losses that nobody has paid, or all.
import { listDisputes, nameTopups } from '@svc/core/topups/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const LIMIT = 200;

export const command: Command = {
  flags: { all: { type: 'switch', doc: 'also those that have ended and cost nothing' } },
  example: 'svcctl disputes list',
  run(input) {
    return withDatabase(async (pool) => {
      const found = { org_id: null, waiting: !input.has('all'), before: null, limit: LIMIT };
      const rows = await listDisputes(pool, found);
      const topup_ids = rows.map(({ topup_id }) => topup_id);
      const names = await nameTopups(pool, topup_ids);
      const disputes = rows.map((dispute) => ({
        id: dispute.id,
        org_id: dispute.org_id,
        topup_id: dispute.topup_id,
        org_name: names.get(dispute.topup_id)?.org_name ?? '',
        invoice_number: names.get(dispute.topup_id)?.invoice_number ?? null,
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
        ({ id, org_name, invoice_number, rail, status, amount_minor, currency, ...rest }) => {
          const { written_off_micro, respond_by, opened_at } = rest;
          const more =
            status === 'open'
              ? `answer by ${respond_by ?? '?'}`
              : `lost ${written_off_micro ?? '?'} micro-USD`;
          const payment = invoice_number ?? 'no document';
          const amount = `${amount_minor} ${currency}`;
          return [opened_at, id, org_name, payment, rail, status, amount, more].join('  ');
        },
      );
      const text = lines.length === 0 ? 'no dispute waits for anybody' : lines.join('\n');
      return { json: { disputes }, text };
    });
  },
};
