// Invite codes: staff make them, a person registers with one, and one use is counted when the person makes an organization.
import {
  type Context,
  hashCode,
  hashesOfCode,
  hintOf,
  type Id,
  invalid,
  newCode,
  notFound,
  type RootKeyRing,
  ServiceError,
} from '../../kernel/index.ts';
import { actorOf, writeAudit } from '../audit/audit.ts';
import { sellerOf, signUpMode } from '../seller.ts';
import { beginLinkAttempt } from '../sign-in/throttle.ts';
import {
  admitPerson,
  findAdmission,
  findCode,
  type InviteCode,
  insertCode,
  insertUse,
  lockCode,
  rehashCode,
  revokeCodeRow,
} from './store.ts';

const DAY_MS = 86_400_000;
export const USES_MAX = 10_000;
export const DAYS_MAX = 365;
const DAYS_DEFAULT = 30;

/** Why a code lets nobody in. */
export type CodeFault = 'unknown' | 'revoked' | 'expired' | 'used_up';
const sentences: Readonly<Record<CodeFault, string>> = {
  unknown: 'There is no such invite code. Look for a mistyped character.',
  revoked: 'This invite code was revoked. Ask for a new one.',
  expired: 'This invite code has expired. Ask for a new one.',
  used_up: 'This invite code has been used up. Ask for a new one.',
};

/** What keeps a code from letting somebody in at `at`; null: nothing. */
export function faultOf(code: InviteCode | null, at: Date): CodeFault | null {
  if (code === null) return 'unknown';
  if (code.revoked_at !== null) return 'revoked';
  if (code.expires_at.getTime() <= at.getTime()) return 'expired';
  return code.uses >= code.max_uses ? 'used_up' : null;
}

function refusal(reason: CodeFault): ServiceError {
  return new ServiceError('invite_required', sentences[reason], {
    param: 'invite_code',
    details: { reason },
  });
}

/** `code`, when it lets somebody in at `at`. @throws ServiceError invite_required. */
function usable(code: InviteCode | null, at: Date): InviteCode {
  const fault = faultOf(code, at);
  if (code === null || fault !== null) throw refusal(fault ?? 'unknown');
  return code;
}

/** @throws ServiceError invite_required: while sign-up is closed no code lets anybody in. */
async function refuseClosed(context: Context): Promise<void> {
  if ((await signUpMode(context)) !== 'closed') return;
  throw new ServiceError('invite_required', 'Invite codes are not taken here. Ask for access.', {
    param: 'invite_code',
  });
}

/**
 * The code that a person typed, when it lets somebody in. Codes that do not exist are counted per network address.
 * @throws ServiceError invite_required, too_many_attempts.
 */
export async function takeCode(context: Context, text: string): Promise<InviteCode> {
  await refuseClosed(context);
  const attempt = await beginLinkAttempt(context);
  const { root_key } = context.services;
  const found = await findCode(context.db, hashesOfCode(root_key, 'invite code', text));
  if (found === null) throw refusal('unknown');
  await attempt.withdraw();
  const { hash, ...code } = found;
  const now = hashCode(root_key, 'invite code', text);
  // It may be used for months: so it does not hold a former key back for longer than until its next use.
  if (!now.hash.equals(hash)) await rehashCode(context.db, { id: code.id, ...now });
  // Who uses the code of somebody else at a reseller's address would become a customer where they did not look.
  const seller = await sellerOf(context);
  if (seller !== null && code.reseller_id !== seller.org_id) throw refusal('unknown');
  return usable(code, context.now());
}

/**
 * Lets a person, whose row is locked, make an organization: the code of which one use is to be counted with it, null where
 * none is needed. `given` is the code that was typed now; else it is the one that the account was made with, of which a
 * reseller's counts where none is needed too: whom it invited becomes its customer.
 * @throws ServiceError invite_required.
 */
export async function admitFounder(
  context: Context,
  { user_id, given }: { user_id: Id<'user'>; given: InviteCode | null },
): Promise<InviteCode | null> {
  const { db } = context;
  const mode = await signUpMode(context);
  const admission = await findAdmission(db, user_id);
  // Whom we let in may not be a customer of everybody: a reseller asks for its own code.
  const is_ours = (await sellerOf(context)) === null;
  const is_free = mode === 'open' || (is_ours && admission?.is_admitted === true);
  const kept = admission?.is_admitted === true ? null : (admission?.invite_code_id ?? null);
  const id = given?.id ?? kept;
  if (id === null) {
    if (is_free) return null;
    const how = mode === 'closed' ? 'Join the waitlist.' : 'Give an invite code, or join the waitlist.';
    throw new ServiceError('invite_required', `Organizations are made by invitation. ${how}`, {
      param: 'invite_code',
    });
  }
  const code = await lockCode(db, id);
  const at = context.now();
  if (is_free && given === null && (code?.reseller_id == null || faultOf(code, at) !== null)) return null;
  await refuseClosed(context);
  return usable(code, at);
}

/** Counts a use of a code, which is locked, and lets its person in for good. */
export async function countUse(
  { db, now }: Context,
  use: { id: Id<'invite_code'>; org_id: Id<'org'>; user_id: Id<'user'> },
): Promise<void> {
  const at = now();
  await insertUse(db, { ...use, at });
  await admitPerson(db, { id: use.user_id, at });
}

const targetOf = ({ id, hint }: Pick<InviteCode, 'id' | 'hint'>) => ({
  type: 'invite_code',
  id,
  display: hint,
});

const actionOf = (reseller_id: Id<'org'> | null, act: 'create' | 'revoke') =>
  reseller_id === null ? `staff.invite_codes.${act}` : `reseller.invites.${act}`;

/**
 * Makes a code, which is shown in this answer alone. @throws ServiceError invalid_request.
 */
export function makeInviteCode(
  context: Context,
  args: {
    reseller_id: Id<'org'> | null;
    note: string;
    max_uses?: number;
    expires_days?: number;
    root_key: RootKeyRing;
  },
): Promise<InviteCode & { readonly code: string }> {
  const { reseller_id, note, max_uses = 1, expires_days = DAYS_DEFAULT, root_key } = args;
  if (max_uses < 1 || max_uses > USES_MAX)
    throw invalid('max_uses', 'range', `A code has 1 to ${USES_MAX} uses.`);
  if (expires_days < 1 || expires_days > DAYS_MAX)
    throw invalid('expires_days', 'range', `A code lives 1 to ${DAYS_MAX} days.`);
  return context.transaction(async (context) => {
    const at = context.now();
    const code = newCode('INV');
    const row = {
      ...{ id: context.newId('invite_code'), reseller_id, hint: hintOf(code), note, max_uses },
      expires_at: new Date(at.getTime() + expires_days * DAY_MS),
      created_by: actorOf(context.caller).display,
      created_at: at,
    };
    await insertCode(context.db, { ...row, ...hashCode(root_key, 'invite code', code) });
    await writeAudit(context, {
      ...{ action: actionOf(reseller_id, 'create'), org_id: reseller_id, target: targetOf(row) },
      after: { note, max_uses, expires_at: row.expires_at.toISOString() },
    });
    return { ...row, uses: 0, revoked_at: null, code };
  });
}

/** Revokes a code; organizations that were made with it stay. @throws ServiceError not_found, state_conflict. */
export function revokeInviteCode(
  context: Context,
  { id, reason, reseller_id }: { id: Id<'invite_code'>; reason?: string; reseller_id: Id<'org'> | null },
): Promise<InviteCode> {
  return context.transaction(async (context) => {
    const at = context.now();
    const code = await lockCode(context.db, id);
    if (code === null || code.reseller_id !== reseller_id) throw notFound();
    if (code.revoked_at !== null)
      throw new ServiceError('state_conflict', 'The code is revoked already.', {
        details: { state: 'revoked' },
      });
    await revokeCodeRow(context.db, { id, at });
    await writeAudit(context, {
      ...{ action: actionOf(reseller_id, 'revoke'), org_id: reseller_id, target: targetOf(code) },
      ...(reason === undefined ? {} : { reason }),
    });
    return { ...code, revoked_at: at };
  });
}
