// Closing an organization in the staff schema.
import { closeOrgByStaffOperation } from '@svc/core/closing/index.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the act that closes an organization. */
export function addClosing({ mutation }: Parts): void {
  mutation({
    name: 'closeOrg',
    operation: closeOrgByStaffOperation,
    description:
      'Closes an organization for its owner, and gives unused credit back where that is asked for.',
    rename: { id: 'orgId' },
    payload: (t) => ({
      orgId: t.id({ resolve: ({ org_id }: Any) => org_id }),
      closedAt: t.field({ type: 'DateTime', resolve: ({ closed_at }: Any) => closed_at }),
    }),
  });
}
