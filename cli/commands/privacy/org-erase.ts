// Asks for the erasure of an organization, or takes it back.
import { cancelOrgErasure, findErasure, requestOrgErasure } from '@svc/core/org-erasure/index.ts';
import type { Command } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';
import { getOrg } from '../../lookup.ts';

export const command: Command = {
  flags: {
    org: { type: 'text', doc: 'id or slug', value: 'ORG', required: true },
    cancel: { type: 'switch', doc: 'take it back' },
    refund: { type: 'switch', doc: 'give unused credit back that was paid for' },
    reason: { type: 'text', doc: 'why, for the audit log', value: 'TEXT', length_max: 500, required: true },
  },
  example: 'svcctl org erase --org acme --reason "asked by the owner"',
  async run(input) {
    return withDatabase(async (pool) => {
      const context = await staffContext(pool);
      const { id: org_id, slug } = await getOrg(context, input.get('org'));
      const reason = input.get('reason');
      if (input.has('cancel'))
        await cancelOrgErasure(context, { org_id, action: 'staff.orgs.erasure.cancel', reason });
      else {
        const refund_requested = input.has('refund');
        const action = 'staff.orgs.erasure.request';
        await requestOrgErasure(context, { org_id, refund_requested, action, reason });
      }
      const erasure = await findErasure(pool, org_id);
      const { status = null, due_at = null } = erasure ?? {};
      const due = due_at?.toISOString() ?? null;
      const text = status === 'asked' ? `${slug} is erased from ${due} on` : `${slug} is not erased`;
      return { json: { id: org_id, slug, status, due_at: due }, text };
    });
  },
};
