// Closes an organization: keys, endpoints and automatic top-up end at once, the rest follows by a workflow.
import { closeOrg, findClosing } from '@svc/core/closing/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    refund: { type: 'switch', doc: 'give unused credit back that was paid for' },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
  },
  example: 'svcctl org close --org acme --refund --reason "asked by the owner"',
  async run(input) {
    const refund_requested = input.has('refund');
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id, slug } = await getOrg(context, input.get('org'));
      await closeOrg(context, {
        ...{ org_id: id, confirm: null, refund_requested, action: 'staff.orgs.close' },
        reason: input.get('reason'),
      });
      const closed_at = (await findClosing(pool, id))?.closed_at.toISOString() ?? null;
      const back = refund_requested ? 'unused credit that was paid for goes back' : 'no credit goes back';
      return { json: { id, slug, closed_at, refund_requested }, text: `${slug} is closed; ${back}` };
    });
  },
};
