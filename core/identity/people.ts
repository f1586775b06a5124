// Making people and staff by hand (`svcctl`, the seed of `make up`), with generated passwords.
import {
  type Context,
  type Id,
  newId,
  type Role,
  type RootKeyRing,
  ServiceError,
  type StaffRole,
  secureText,
} from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { getEmailKey } from '../mail/index.ts';
import { putMember } from '../orgs/index.ts';
import { writeAudit } from './audit/audit.ts';
import { memberKeysOf } from './members/member-keys.ts';
import { openStaffSession } from './sessions/sessions.ts';
import { endSessions } from './sessions/store.ts';
import { hashPassword, refuseWeakPassword } from './sign-in/password.ts';
import { endChallenges } from './sign-in/store.ts';
import { base32, newTotpSecret, sealTotp } from './sign-in/totp.ts';
import { deleteResets } from './sign-up/store.ts';
import { insertStaff } from './staff-store.ts';
import { findPersonByEmail, insertPerson, setPassword } from './store.ts';

const LETTERS = '23456789abcdefghjkmnpqrstuvwxyz';
/** The token of `staff create` holds for twelve hours. */
const ENROLMENT_HOURS = 12;

/** A password of 99 bits in four groups. */
function newPassword(): string {
  return Array.from({ length: 4 }, () => secureText(LETTERS, 5)).join('-');
}

/**
 * Makes a person a member of an organization with `role`, and the person too where the address is new; then with
 * `password`, or a fresh one. The password is null for a person who had one already.
 * @throws ServiceError invalid_request, weak_password.
 */
export async function createPerson(
  context: Context,
  input: { email: string; name?: string; org_id: Id<'org'>; role: Role; password?: string },
): Promise<{ id: Id<'user'>; email: string; password: string | null }> {
  const { email, org_id, role } = input;
  const email_key = getEmailKey(email);
  const password = input.password ?? newPassword();
  if (input.password !== undefined) refuseWeakPassword(password, { email, param: 'password' });
  const password_hash = await hashPassword(password);
  return context.transaction(async (context) => {
    const at = context.now();
    const id = context.newId('user');
    const name = input.name ?? '';
    const made = await insertPerson(context.db, {
      id,
      email,
      email_key,
      name,
      password_hash,
      at,
      is_admitted: true,
    });
    const person = made ? { id, email } : await findPersonByEmail(context.db, email_key);
    if (person === null) throw new Error('a person is neither new nor there');
    const source = role === 'owner' ? 'owner' : 'invite';
    const added = await putMember(context.db, { org_id, user_id: person.id, role, source, at });
    if (added) {
      await memberKeysOf(context).came(context, { org_id, user_id: person.id });
      const payload = { user_id: person.id, email: person.email, role, source };
      await writeEvent(context.db, { org_id, topic: 'member.added', payload, at });
    }
    const target = { type: 'user', id: person.id, display: person.email };
    await writeAudit(context, { action: 'members.add', org_id, target, after: { role } });
    return { id: person.id, email: person.email, password: made ? password : null };
  });
}

/**
 * Gives the person with this address a fresh password, which is returned, and ends all their sessions.
 * @throws ServiceError invalid_request, not_found.
 */
export async function resetPassword(context: Context, email: string): Promise<string> {
  const person = await findPersonByEmail(context.db, getEmailKey(email));
  if (person === null) throw new ServiceError('not_found', 'There is no person with this address.');
  const password = newPassword();
  const password_hash = await hashPassword(password);
  await context.transaction(async (context) => {
    await setPassword(context.db, { id: person.id, password_hash, at: context.now() });
    await endSessions(context.db, { user_id: person.id, except: null });
    await endChallenges(context.db, person.id);
    await deleteResets(context.db, person.id);
    const target = { type: 'user', id: person.id, display: person.email };
    await writeAudit(context, { action: 'auth.password.reset', org_id: null, target });
  });
  return password;
}

/**
 * Makes a member of staff with password and second factor, and a session for scripts that holds twelve hours. All
 * secrets are in this answer and nowhere else.
 * @throws ServiceError already_exists, invalid_request.
 */
export async function createStaff(
  context: Context,
  root_key: RootKeyRing,
  input: { email: string; roles: readonly StaffRole[] },
): Promise<{ id: Id<'staff'>; email: string; password: string; totp_secret: string; token: string }> {
  const email_key = getEmailKey(input.email);
  const password = newPassword();
  const password_hash = await hashPassword(password);
  const secret = newTotpSecret();
  const id = newId('staff');
  return context.transaction(async (context) => {
    const made = await insertStaff(context.db, {
      id,
      email: input.email,
      email_key,
      password_hash,
      totp_secret: sealTotp(root_key, 'staff.totp_secret', { id, secret }),
      roles: input.roles,
      at: context.now(),
    });
    if (!made)
      throw new ServiceError('already_exists', 'A member of staff already has this address.', {
        param: 'email',
      });
    const hours = ENROLMENT_HOURS;
    const { token } = await openStaffSession(context, {
      staff_id: id,
      transport: 'bearer',
      hours,
      idle_hours: hours,
    });
    const target = { type: 'staff', id, display: input.email };
    await writeAudit(context, {
      action: 'staff.create',
      org_id: null,
      target,
      after: { roles: input.roles },
    });
    return { id, email: input.email, password, totp_secret: base32(secret), token };
  });
}
