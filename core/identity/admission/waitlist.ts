// The waitlist: people who have an account and wait until staff let them make an organization.
import { type Context, type Id, notFound, ServiceError } from '../../kernel/index.ts';
import { sendMail } from '../../mail/index.ts';
import { actorOf, writeAudit } from '../audit/audit.ts';
import { signUpMode } from '../seller.ts';
import { lockPerson } from '../store.ts';
import {
  admitPerson,
  findAdmission,
  findEntry,
  insertEntry,
  lockEntry,
  markInvited,
  type WaitingEntry,
  type WaitlistEntry,
} from './store.ts';

/** What sign-up asks of a caller. */
interface SignUpState {
  readonly invite_only: boolean;
  readonly needs_invite: boolean;
  readonly waitlist: WaitlistEntry | null;
}

/** `SignUpState` of a person; of a key that nobody answers for with null. */
export async function readSignUp(context: Context, user_id: Id<'user'> | null): Promise<SignUpState> {
  const invite_only = (await signUpMode(context)) !== 'open';
  if (user_id === null) return { invite_only, needs_invite: false, waitlist: null };
  const admission = await findAdmission(context.db, user_id);
  const needs_invite =
    invite_only && admission?.is_admitted !== true && (admission?.invite_code_id ?? null) === null;
  return { invite_only, needs_invite, waitlist: await findEntry(context.db, user_id) };
}

/**
 * Puts a person on the waitlist; who is on it keeps the entry as it is.
 * @throws ServiceError state_conflict for whoever may make an organization already.
 */
export function joinWaitlist(
  context: Context,
  { user_id, company, use_case }: { user_id: Id<'user'>; company: string; use_case: string },
): Promise<{ entry: WaitlistEntry; is_new: boolean }> {
  return context.transaction(async (context) => {
    await lockPerson(context.db, user_id);
    const { needs_invite, waitlist } = await readSignUp(context, user_id);
    if (waitlist !== null) return { entry: waitlist, is_new: false };
    if (!needs_invite)
      throw new ServiceError('state_conflict', 'You can make an organization now.', {
        details: { state: 'admitted' },
      });
    const id = context.newId('waitlist_entry');
    await insertEntry(context.db, { id, user_id, company, use_case, at: context.now() });
    const entry = await findEntry(context.db, user_id);
    if (entry === null) throw new Error('an entry that was just made is not there');
    await writeAudit(context, {
      ...{
        action: 'signup.waitlist',
        org_id: null,
        target: { type: 'waitlist_entry', id, display: company },
      },
    });
    return { entry, is_new: true };
  });
}

/** Lets the person of an entry in, and mails them. @throws ServiceError not_found, state_conflict. */
export function inviteFromWaitlist(
  context: Context,
  { id, reason }: { id: Id<'waitlist_entry'>; reason: string },
): Promise<WaitingEntry> {
  return context.transaction(async (context) => {
    const at = context.now();
    const entry = await lockEntry(context.db, id);
    if (entry === null) throw notFound();
    if (entry.status === 'invited')
      throw new ServiceError('state_conflict', 'The person is invited already.', {
        details: { state: entry.status },
      });
    const reviewed_by = actorOf(context.caller).display;
    await markInvited(context.db, { id, reviewed_by, at });
    await admitPerson(context.db, { id: entry.user_id, at });
    await sendMail(context, {
      ...{ template: 'waitlist_invited', to: [entry.email], org_id: null, reference: id, data: {} },
    });
    await writeAudit(context, {
      ...{ action: 'staff.waitlist.invite', org_id: null, reason },
      target: { type: 'waitlist_entry', id, display: entry.email },
    });
    return { ...entry, status: 'invited', reviewed_by };
  });
}
