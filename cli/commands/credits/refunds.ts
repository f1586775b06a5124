// Lists refunds that have not gone back: pending at the rail, or failed.
import { listStaffRefunds } from '@svc/core/refunds/index.ts';
import { nameTopups } from '@svc/core/topups/index.ts';
import type { Command } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

const LIMIT = 200;

export const command: Command = {
  flags: {},
  example: 'svcctl credits refunds',
  run() {
    return withDatabase(async (pool) => {
      const found = { org_id: null, waiting: true, before: null, limit: LIMIT };
      const rows = await listStaffRefunds(pool, found);
      const topup_ids = rows.map(({ topup_id }) => topup_id);
      const names = await nameTopups(pool, topup_ids);
      const refunds = rows.map((refund) => ({
        id: refund.id,
        org_id: refund.org_id,
        topup_id: refund.topup_id,
        org_name: names.get(refund.topup_id)?.org_name ?? '',
        invoice_number: names.get(refund.topup_id)?.invoice_number ?? null,
        rail: refund.gateway,
        status: refund.status,
        at_rail: refund.gateway_ref !== null,
        failure_code: refund.failure_code ?? '',
        total_minor: refund.total_minor,
        currency: refund.currency,
        credits_micro: refund.credits_micro,
        created_at: refund.created_at.toISOString(),
      }));
      const lines = refunds.map(
        ({ id, org_name, invoice_number, rail, status, at_rail, failure_code, ...rest }) => {
          const { total_minor, currency, created_at } = rest;
          const where = status === 'pending' && !at_rail ? 'not at the rail yet' : failure_code;
          const payment = invoice_number ?? 'no document';
          const amount = `${total_minor} ${currency}`;
          return [created_at, id, org_name, payment, rail, status, amount, where].join('  ').trimEnd();
        },
      );
      const text = lines.length === 0 ? 'no refund is pending or has failed' : lines.join('\n');
      return { json: { refunds }, text };
    });
  },
};
