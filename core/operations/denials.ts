// Who tries what owners alone may do is in the organization's log, though nothing happened.
import { writeAudit } from '../identity/index.ts';
import { type Caller, type Context, type Operation, ServiceError } from '../kernel/index.ts';
import { admit, admittingRoles } from './access.ts';

function isForOwners({ audience }: Operation): boolean {
  const roles = admittingRoles(audience);
  return roles !== 'any' && roles.length === 1 && roles[0] === 'owner';
}

/** The organization whose member, or whose member's key, `caller` is; null for others. */
function orgOf(caller: Caller): string | null {
  return caller.kind === 'key' || caller.kind === 'session' ? caller.org_id : null;
}

/**
 * Admits `caller`, or notes in the audit log that somebody else than an owner has tried what is for owners. `open` gives the context
 * that the entry is written in.
 * @throws ServiceError as `admit`.
 */
export async function admitOrNote(
  operation: Operation,
  { caller, at, open }: { caller: Caller; at: Date; open: () => Context },
): Promise<void> {
  try {
    admit(operation, caller, at);
  } catch (error) {
    const org_id = orgOf(caller);
    const is_denial = error instanceof ServiceError && error.code === 'permission_denied';
    if (is_denial && org_id !== null && isForOwners(operation)) {
      await open().transaction((context) =>
        writeAudit(context, {
          ...{ action: operation.name, org_id, outcome: 'denied' },
          after: { code: error.code, ...(caller.kind === 'session' ? { role: caller.role } : {}) },
        }),
      );
    }
    throw error;
  }
}
