// Resellers in the staff schema.
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the act that makes an organization a reseller, or an ordinary one again. */
export function addResellers({ derive, mutation }: Parts): void {
  derive.enum('SettableOrganizationKind', ['team', 'reseller']);
  mutation({
    name: 'setOrgKind',
    operation: setOrgKindOperation,
    description: 'Makes an organization a reseller, or one without customers an ordinary one.',
    payload: (t: Any) => ({
      id: t.id({ resolve: ({ id }: { id: string }) => id }),
      kind: t.field({ type: 'OrganizationKind', resolve: ({ kind }: { kind: string }) => kind }),
    }),
  });
}
