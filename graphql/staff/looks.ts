// Looking at an organization as its people see it, in the staff schema.
import { beginLookOperation } from '@svc/core/identity/index.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the act that begins a look. */
export function addLooks({ mutation }: Parts): void {
  mutation({
    name: 'lookAsCustomer',
    operation: beginLookOperation,
    description: 'Begins a look at an organization: half an hour, read only, in its audit log.',
    rename: { id: 'orgId' },
    payload: (t: Any) => ({
      url: t.exposeString('url'),
      expiresAt: t.field({
        type: 'DateTime',
        resolve: ({ expires_at }: { expires_at: string }) => expires_at,
      }),
    }),
  });
}
