// Letting in whom a provider has signed in: the person, the membership, the role and the session, in one transaction
// that leaves nothing behind when it refuses.
import { type Context, type Id, type Role, ServiceError } from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { emailKey } from '../../mail/index.ts';
import { findMember, findOrg, type Member, putMember, setMemberRole } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { memberKeysOf } from '../members/member-keys.ts';
import { findIdByUserName } from '../scim/store.ts';
import { openSession } from '../sessions/sessions.ts';
import { findPerson, findPersonByEmail } from '../store.ts';
import { takePerson } from '../take-person.ts';
import type { Person, SessionRow, SignInMethod } from '../types.ts';
import { domainOf } from './domain-name.ts';
import { findDomainOwner } from './domain-store.ts';
import { roleOf } from './roles.ts';
import type { Asserted, Connection } from './types.ts';

function notProvisioned(message: string): ServiceError {
  return new ServiceError('user_not_provisioned', message);
}

/** The address as people are compared. @throws ServiceError sso_domain_unverified for one of another's domain. */
async function ownAddress(context: Context, connection: Connection, email: string): Promise<string> {
  const key = emailKey(email);
  const owner = key === null ? null : await findDomainOwner(context.db, domainOf(key));
  if (key !== null && owner === connection.org_id) return key;
  throw new ServiceError(
    'sso_domain_unverified',
    'The organization has not proved the domain of this address. An admin can do that.',
  );
}

/** Who comes: whom the directory calls by this address, else the person who has it. */
async function findWhoComes(context: Context, org_id: Id<'org'>, email_key: string): Promise<Person | null> {
  const named = await findIdByUserName(context.db, { org_id, user_name_key: email_key });
  return named === null ? findPersonByEmail(context.db, email_key) : findPerson(context.db, named);
}

async function join(
  context: Context,
  connection: Connection,
  { person, role }: { person: Person; role: Role },
): Promise<void> {
  const { org_id } = connection;
  const at = context.now();
  await putMember(context.db, { org_id, user_id: person.id, role, source: 'sso', at });
  await memberKeysOf(context).came(context, { org_id, user_id: person.id });
  const payload = { user_id: person.id, email: person.email, role, source: 'sso' };
  await writeEvent(context.db, { org_id, topic: 'member.added', payload, at });
  const target = { type: 'user', id: person.id, display: person.email };
  await writeAudit(context, { action: 'members.add', org_id, target, after: { role, source: 'sso' } });
}

/** Sets the role that the provider's groups give now; owners are changed by nobody but owners. */
async function follow(
  context: Context,
  { org_id, user_id, role: before }: Member,
  role: Role | null,
): Promise<void> {
  if (role === null || role === before || before === 'owner') return;
  await setMemberRole(context.db, { org_id, user_id, role, at: context.now() });
  const target = { type: 'user', id: user_id };
  await writeAudit(context, {
    ...{ action: 'members.update', org_id, target, before: { role: before }, after: { role } },
    reason: 'groups of the identity provider',
  });
}

/**
 * Signs in whom the provider of `connection` asserts, and makes them a member where the connection does that.
 * @throws ServiceError sso_domain_unverified, user_not_provisioned; then no row is left.
 */
export function enterBySso(
  context: Context,
  connection: Connection,
  { asserted, method }: { asserted: Asserted; method: Exclude<SignInMethod, 'password'> },
): Promise<{ session: SessionRow; token: string }> {
  return context.transaction(async (context) => {
    const { org_id } = connection;
    const email_key = await ownAddress(context, connection, asserted.email);
    const known = await findWhoComes(context, org_id, email_key);
    const is_new = known === null || (await findMember(context.db, { org_id, user_id: known.id })) === null;
    if (is_new && !connection.config.jit)
      throw notProvisioned('You are not a member yet. An admin of the organization can invite you.');
    const { email, name } = asserted;
    const person = await takePerson(context, known, { email, email_key, name });
    // Read again under the person's lock: a directory may have suspended the membership meanwhile.
    const member = await findMember(context.db, { org_id, user_id: person.id });
    if (member?.status === 'suspended') throw notProvisioned('Your membership is suspended. Ask an admin.');
    const role = roleOf(connection, asserted.groups);
    if (member === null) await join(context, connection, { person, role: role ?? connection.default_role });
    else await follow(context, member, role);
    return open(context, connection, { person, asserted, method });
  });
}

async function open(
  context: Context,
  { org_id }: Connection,
  made: { person: Person; asserted: Asserted; method: Exclude<SignInMethod, 'password'> },
): Promise<{ session: SessionRow; token: string }> {
  const { person, asserted, method } = made;
  const counts = await countsAsFactor(context, org_id);
  const proved_ms = Math.min(
    asserted.proved_at?.getTime() ?? Number.POSITIVE_INFINITY,
    context.now().getTime(),
  );
  const opened = await openSession(context, person, {
    ...{ method, transport: 'cookie', two_factor: asserted.mfa || counts, sso_org_id: org_id },
    login: asserted.login,
    proved_at: new Date(proved_ms),
  });
  const { session } = opened;
  await writeAudit(context, {
    ...{ action: 'auth.login', org_id, target: { type: 'session', id: session.id } },
    after: { method, two_factor: session.two_factor },
    actor: { type: 'user', id: person.id, display: person.email },
  });
  return opened;
}

/** Whether the organization takes its provider's word as a second factor, as it does unless told otherwise. */
async function countsAsFactor(context: Context, org_id: Id<'org'>): Promise<boolean> {
  const org = await findOrg(context.db, org_id);
  return org?.settings.security?.sso_counts_as_2fa !== false;
}
