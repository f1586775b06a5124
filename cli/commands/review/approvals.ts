// Shows acts of staff that wait for a second person, who approves them in the console.
import { listApprovals } from '@svc/core/approvals/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

const SHOWN_MAX = 200;

export const command: Command = {
  flags: {},
  example: 'svcctl approvals list',
  async run() {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const waiting = { waiting: true, at: context.now(), before: null, limit: SHOWN_MAX };
      const json = (await listApprovals(context.db, waiting)).map((one) => ({
        ...{ id: one.id, action: one.action, org_id: one.org_id, org_name: one.org_name },
        ...{ amount_micro_usd: one.amount_micro_usd, reason: one.reason, asked_by: one.asked_by_email },
        ...{ asked_at: one.asked_at.toISOString(), expires_at: one.expires_at.toISOString() },
      }));
      const lines = json.map(
        (one) =>
          `${one.id}  ${one.action}${one.org_name === null ? '' : ` of ${one.org_name}`}: ` +
          `${one.amount_micro_usd === null ? '' : `${one.amount_micro_usd} micro-USD, `}asked by ${one.asked_by} (${one.reason}), until ${one.expires_at}`,
      );
      return { json, text: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    });
  },
};
