// Where an organization asks its people to come by single sign-on: who may still use a password, and whose sessions end
// when it begins to ask.
import { type Context, type Db, type Id, ServiceError } from '../../kernel/index.ts';
import { emailKey } from '../../mail/index.ts';
import { listMembers, listMemberships } from '../../orgs/index.ts';
import { endPasswordSessions } from '../sessions/store.ts';
import { findPeople, findPerson } from '../store.ts';
import type { Person } from '../types.ts';
import { findActiveByDomain, findConnection } from './connection-store.ts';
import { domainOf } from './domain-name.ts';
import { listDomains } from './domain-store.ts';

interface Enforced {
  readonly org_id: Id<'org'>;
  readonly alias: string;
}

/** The organization that rules sign-ins with this address; null when none does. */
export async function findEnforced(db: Db, email_key: string | null): Promise<Enforced | null> {
  const found = email_key === null ? null : await findActiveByDomain(db, domainOf(email_key));
  return found?.enforce === true ? found : null;
}

/** What a password is answered with where single sign-on is asked for, whether it was right or wrong. */
export function ssoRequired({ alias }: Pick<Enforced, 'alias'>): ServiceError {
  return new ServiceError(
    'sso_required',
    'Your organization asks for single sign-on. Owners with a second factor: check the password.',
    { details: { alias } },
  );
}

/**
 * Whether `person` may use a password all the same: an owner with a second factor, so that a provider that is down or
 * wrongly set up does not lock an organization out for good.
 */
export async function hasWayBack(
  db: Db,
  person: Pick<Person, 'id' | 'totp_secret'>,
  { org_id }: Enforced,
): Promise<boolean> {
  if (person.totp_secret === null) return false;
  const memberships = await listMemberships(db, person.id);
  return memberships.some((one) => one.org_id === org_id && one.role === 'owner');
}

/** Whether somebody is left to come in by password when the provider does not work. */
export async function hasOwnerWithFactor(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const members = await listMembers(db, org_id);
  const owners = members.filter(({ role, status }) => role === 'owner' && status === 'active');
  const people = await findPeople(
    db,
    owners.map(({ user_id }) => user_id),
  );
  return people.some(({ totp_secret }) => totp_secret !== null);
}

/**
 * Ends the sessions by password of members whom an enforced connection rules, in the open transaction; owners keep
 * theirs. Returns how many ended.
 */
export async function endRuledSessions({ db }: Context, org_id: Id<'org'>): Promise<number> {
  const connection = await findConnection(db, org_id);
  if (connection?.status !== 'active' || !connection.enforce) return 0;
  const proved = (await listDomains(db, org_id)).filter(({ verified_at }) => verified_at !== null);
  const domains = new Set(proved.map(({ domain }) => domain));
  const members = (await listMembers(db, org_id)).filter(({ role }) => role !== 'owner');
  const people = await findPeople(
    db,
    members.map(({ user_id }) => user_id),
  );
  const ruled = people.filter(({ email }) => {
    const key = emailKey(email);
    return key !== null && domains.has(domainOf(key));
  });
  return endPasswordSessions(
    db,
    ruled.map(({ id }) => id),
  );
}

/**
 * Refuses a session by password to a person whose organization asks for single sign-on, whatever led to it: a password,
 * an invitation, a registration. @throws ServiceError sso_required.
 */
export async function refuseRuled(db: Db, { id, email }: { id: Id<'user'>; email: string }): Promise<void> {
  const enforced = await findEnforced(db, emailKey(email));
  if (enforced === null) return;
  const person = await findPerson(db, id);
  if (person === null || !(await hasWayBack(db, person, enforced))) throw ssoRequired(enforced);
}
