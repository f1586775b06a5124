// Looking at an organization as its people see it: staff begin with a reason, open a link once in a browser, and read for half
// an hour at most. What a look may not do is decided where callers are admitted (core/operations/access.ts).
import {
  type Context,
  type Id,
  notFound,
  ServiceError,
  type SessionCaller,
  type StaffCaller,
} from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { hashToken, hasTokenForm, newToken } from '../sessions/token.ts';
import { deleteLook, insertLook, type LookRow, openLookRow } from './store.ts';

const MINUTE_MS = 60_000;
const LOOK_MINUTES = 30;
const LINK_MINUTES = 1;

/** Writes what happened to a look into the organization's log and into that of the service. */
async function record(
  context: Context,
  action: 'staff.looks.begin' | 'staff.looks.end',
  look: Pick<LookRow, 'id' | 'org_id' | 'staff_id' | 'staff_email' | 'reason' | 'expires_at'>,
): Promise<void> {
  const entry = {
    ...{ action, reason: look.reason, after: { expires_at: look.expires_at.toISOString() } },
    target: { type: 'org', id: look.org_id },
    actor: { type: 'staff', id: look.staff_id, display: look.staff_email } as const,
  };
  await writeAudit(context, { ...entry, org_id: look.org_id });
  await writeAudit(context, { ...entry, org_id: null });
}

/** Begins a look and returns the token of its link, which is good once and for a minute. */
export function beginLook(
  context: Context,
  given: { readonly org_id: string; readonly reason: string },
): Promise<{ token: string; expires_at: Date }> {
  const { staff_id, session_id, name } = context.caller as StaffCaller;
  if (staff_id === null || session_id === undefined)
    throw new ServiceError('permission_denied', 'Only staff who are signed in can look.', { details: {} });
  return context.transaction(async (context) => {
    const org = await findOrg(context.db, given.org_id);
    if (org === null) throw notFound();
    const created_at = context.now();
    const token = newToken('session');
    const look = {
      ...{ id: context.newId('session'), staff_id, org_id: org.id, reason: given.reason, created_at },
      expires_at: new Date(created_at.getTime() + LOOK_MINUTES * MINUTE_MS),
    };
    await insertLook(context.db, { ...look, hash: hashToken(token), staff_session_id: session_id });
    await record(context, 'staff.looks.begin', { ...look, staff_email: name });
    return { token, expires_at: look.expires_at };
  });
}

/** Opens a link: the browser gets a session of its own. @throws ServiceError token_invalid. */
export async function openLook(context: Context, link: string): Promise<{ token: string; look: LookRow }> {
  const refusal = new ServiceError('token_invalid', 'This link was used or has ended. Begin again.');
  if (!hasTokenForm('session', link)) throw refusal;
  const at = context.now();
  const token = newToken('session');
  const look = await openLookRow(context.db, {
    ...{ link_hash: hashToken(link), hash: hashToken(token), at },
    since: new Date(at.getTime() - LINK_MINUTES * MINUTE_MS),
  });
  if (look === null) throw refusal;
  return { token, look };
}

/** Ends the look that `caller` is. */
export function endLook(context: Context, caller: SessionCaller): Promise<void> {
  const { looking, session_id, org_id } = caller;
  if (looking === undefined || org_id === null) throw new Error('a session that is no look');
  return context.transaction(async (context) => {
    await deleteLook(context.db, session_id);
    const { staff_id, reason, expires_at } = looking;
    await record(context, 'staff.looks.end', {
      ...{ id: session_id, org_id, staff_id, staff_email: caller.email, reason, expires_at },
    });
  });
}

/** A look as a caller: a viewer of the organization who is no person of it. */
export function callerOfLook(
  look: LookRow,
  request: Pick<SessionCaller, 'token_hash' | 'environment'>,
): SessionCaller {
  const { staff_id, reason, expires_at, tier_bps } = look;
  return {
    ...{ kind: 'session', session_id: look.id, ...request, org_id: look.org_id, role: 'viewer' },
    // Ids of staff are no ids of people: whatever is asked for by it is not there.
    user_id: staff_id as string as Id<'user'>,
    ...{ email: look.staff_email, two_factor: true, proved_at: look.created_at },
    ...(tier_bps === null ? {} : { tier_bps }),
    looking: { staff_id, reason, expires_at },
  };
}
