// How a membership is suspended, taken up again and ended, whoever does it. The person and then the organization are locked
// (ID10), and what follows from it is done in the same transaction.
import { type Context, ServiceError } from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { countOwners, deleteMember, type Member, setMemberStatus } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { endMemberSessions } from '../sessions/store.ts';
import type { Person } from '../types.ts';
import { memberKeysOf } from './member-keys.ts';
import { revokeInvitationsOf } from './store.ts';

export interface Locked {
  readonly member: Member;
  readonly person: Pick<Person, 'id' | 'email'>;
}

type Topic = 'member.added' | 'member.removed' | 'member.deprovisioned';

/** @throws ServiceError last_owner when `member` is the only active owner: an organization never goes without. */
export async function refuseLastOwner(context: Context, { org_id, role, status }: Member): Promise<void> {
  if (role !== 'owner' || status !== 'active') return;
  if ((await countOwners(context.db, org_id)) > 1) return;
  throw new ServiceError('last_owner', 'This is the last owner. Make somebody else an owner first.');
}

/**
 * Ends the member's sessions in the organization, takes their invitations back, and does to their keys what the organization
 * wants; returns how many sessions.
 */
async function endTraces(context: Context, { org_id, user_id }: Member): Promise<number> {
  await revokeInvitationsOf(context.db, { org_id, user_id, at: context.now() });
  await memberKeysOf(context).left(context, { org_id, user_id });
  return endMemberSessions(context.db, { org_id, user_id });
}

function tell(context: Context, topic: Topic, { member, person }: Locked): Promise<void> {
  const { org_id, user_id, role, source } = member;
  const payload = { user_id, email: person.email, role, source };
  return writeEvent(context.db, { org_id, topic, payload, at: context.now() });
}

const targetOf = ({ person }: Locked) => ({ type: 'user', id: person.id, display: person.email });

/** Suspends an active member: sessions in the organization end at once, the role is kept. @throws ServiceError last_owner. */
export async function suspendMember(context: Context, locked: Locked): Promise<void> {
  const { org_id, user_id } = locked.member;
  await refuseLastOwner(context, locked.member);
  await setMemberStatus(context.db, { org_id, user_id, status: 'suspended', at: context.now() });
  const sessions = await endTraces(context, locked.member);
  await tell(context, 'member.deprovisioned', locked);
  await writeAudit(context, {
    ...{ action: 'members.suspend', org_id, target: targetOf(locked) },
    ...{ before: { status: 'active' }, after: { status: 'suspended', sessions } },
  });
}

/** Lets a suspended member back in, with the role held before. */
export async function restoreMember(context: Context, locked: Locked): Promise<void> {
  const { org_id, user_id } = locked.member;
  await setMemberStatus(context.db, { org_id, user_id, status: 'active', at: context.now() });
  await memberKeysOf(context).came(context, { org_id, user_id });
  await tell(context, 'member.added', locked);
  await writeAudit(context, {
    ...{ action: 'members.restore', org_id, target: targetOf(locked) },
    ...{ before: { status: 'suspended' }, after: { status: 'active' } },
  });
}

/** Ends a membership. @throws ServiceError last_owner. */
export async function dropMember(
  context: Context,
  locked: Locked,
  { topic, leaves }: { topic: 'member.removed' | 'member.deprovisioned'; leaves: boolean },
): Promise<void> {
  const { member } = locked;
  const { org_id, user_id, role } = member;
  await refuseLastOwner(context, member);
  await deleteMember(context.db, { org_id, user_id });
  const sessions = await endTraces(context, member);
  await tell(context, topic, locked);
  await writeAudit(context, {
    ...{ action: 'members.remove', org_id, before: { role }, after: { leaves, sessions } },
    target: targetOf(locked),
  });
}
