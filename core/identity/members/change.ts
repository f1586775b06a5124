// Changing the role of a member, removing one, and leaving.
import { type Context, type Id, isId, notFound, type Role, ServiceError } from '../../kernel/index.ts';
import { findMember, type Member, setMemberRole } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { lockPerson } from '../store.ts';
import type { Person } from '../types.ts';
import { sessionCaller } from '../view.ts';
import { dropMember, refuseLastOwner } from './depart.ts';
import { lockOwnOrg, presentRole } from './invite.ts';
import { memberKeysOf } from './member-keys.ts';
import { managesMembers, refuseOverOwners } from './rights.ts';
import { revokeInvitationsOf } from './store.ts';

interface Place {
  readonly org_id: Id<'org'>;
  readonly user_id: string;
}

/**
 * A member and the person, locked; the person first, as in every transaction that ends sessions, then the organization,
 * so that of changes at once each sees what the one before did. @throws ServiceError not_found.
 */
export async function lockMember(
  context: Context,
  { org_id, user_id }: Place,
): Promise<{ member: Member; person: Person }> {
  if (!isId('user', user_id)) throw notFound();
  const person = await lockPerson(context.db, user_id);
  await memberKeysOf(context).lock(context, { org_id, user_id });
  await lockOwnOrg(context, org_id);
  const member = await findMember(context.db, { org_id, user_id });
  if (person === null || member === null) throw notFound();
  return { member, person };
}

/**
 * Gives a member another role. It counts from the next request; the session gets no other right on the way.
 * @throws ServiceError not_found, permission_denied, last_owner.
 */
export function changeRole(
  context: Context,
  { role, ...place }: Place & { role: Role },
): Promise<{ member: Member; person: Person }> {
  return context.transaction(async (context) => {
    const { member, person } = await lockMember(context, place);
    refuseOverOwners(await presentRole(context, place.org_id), [member.role, role]);
    if (member.role === role) return { member, person };
    if (role !== 'owner') await refuseLastOwner(context, member);
    const { org_id, user_id } = member;
    const at = context.now();
    await setMemberRole(context.db, { org_id, user_id, role, at });
    const revoked = managesMembers(role) ? 0 : await revokeInvitationsOf(context.db, { org_id, user_id, at });
    await writeAudit(context, {
      ...{ action: 'members.update', org_id, before: { role: member.role } },
      ...{ after: { role, ...(revoked === 0 ? {} : { invitations_revoked: revoked }) } },
      target: { type: 'user', id: user_id, display: person.email },
    });
    return { member: { ...member, role }, person };
  });
}

/**
 * Removes a member, or lets one leave: the sessions that are in the organization end, and what the person invited is
 * revoked, so that nobody comes back by an invitation of their own.
 * @throws ServiceError not_found, permission_denied, last_owner.
 */
export function removeMember(context: Context, place: Place): Promise<void> {
  return context.transaction(async (context) => {
    const { member, person } = await lockMember(context, place);
    const { org_id, user_id, role } = member;
    const leaves = user_id === sessionCaller(context).user_id;
    if (!leaves) refuseOverOwners(await presentRole(context, org_id), [role]);
    await dropMember(context, { member, person }, { topic: 'member.removed', leaves });
  });
}

/**
 * Makes another member an owner and the caller an admin, in one step.
 * @throws ServiceError not_found, permission_denied, state_conflict.
 */
export function transferOwnership(context: Context, { org_id, user_id }: Place): Promise<void> {
  const own_id = sessionCaller(context).user_id;
  if (user_id === own_id) throw new ServiceError('state_conflict', 'You are an owner already.');
  return context.transaction(async (context) => {
    // Persons in the order of their ids, so that two transfers at once do not wait for each other.
    if (!isId('user', user_id)) throw notFound();
    for (const id of [own_id, user_id].sort()) await lockPerson(context.db, id as Id<'user'>);
    await lockOwnOrg(context, org_id);
    if ((await presentRole(context, org_id)) !== 'owner') refuseOverOwners('admin', ['owner']);
    const member = await findMember(context.db, { org_id, user_id });
    if (member === null || member.status !== 'active') throw notFound();
    const at = context.now();
    await setMemberRole(context.db, { org_id, user_id, role: 'owner', at });
    await setMemberRole(context.db, { org_id, user_id: own_id, role: 'admin', at });
    await writeAudit(context, {
      ...{ action: 'orgs.transfer', org_id, target: { type: 'user', id: user_id } },
      ...{ before: { role: member.role }, after: { role: 'owner', previous_owner_role: 'admin' } },
    });
  });
}
