// Requests for access in the staff schema.
import {
  AccessRequestView,
  accessStates,
  approveAccessOperation,
  declineAccessOperation,
  listAccessOperation,
} from '@svc/core/identity/index.ts';
import { pageField } from './page-field.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the requests, and the acts that decide them. */
export function addAccess({ builder, derive, connectionType, mutation }: Parts): void {
  derive.enum('AccessRequestStatus', accessStates);
  const Requests = connectionType('AccessRequest', derive.output('AccessRequest', AccessRequestView));
  builder.queryField('accessRequests', (t: Any) =>
    pageField(t, {
      type: Requests,
      operation: listAccessOperation,
      description: 'Requests for access that wait for a decision, oldest first.',
    }),
  );
  const decided = (t: Any) => ({
    id: t.exposeID('id'),
    email: t.exposeString('email'),
    status: t.exposeString('status'),
  });
  mutation({
    name: 'approveAccess',
    operation: approveAccessOperation,
    description: 'Approves a request for access: a mail brings the link that makes the account.',
    payload: decided,
  });
  mutation({
    name: 'declineAccess',
    operation: declineAccessOperation,
    description: 'Declines a request for access, with a mail or without one.',
    payload: decided,
  });
}
