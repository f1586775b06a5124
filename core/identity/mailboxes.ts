// Whom mails about an organization go to.
import type { Db, Id, Role } from '../kernel/index.ts';
import { findBilling, listMembers } from '../orgs/index.ts';
import { findPeople } from './store.ts';

/** Addresses of the active members of an organization with one of `roles`, and of the person `also`. */
export async function findMailboxes(
  db: Db,
  { org_id, roles, also = null }: { org_id: Id<'org'>; roles: readonly Role[]; also?: string | null },
): Promise<string[]> {
  const members = (await listMembers(db, org_id)).filter(
    ({ user_id, role, status }) => status === 'active' && (roles.includes(role) || user_id === also),
  );
  const people = await findPeople(
    db,
    members.map(({ user_id }) => user_id),
  );
  return people.map(({ email }) => email);
}

/** Where documents of an organization go: to its billing address, else to its owners. */
export async function findBillingMailboxes(db: Db, org_id: Id<'org'>): Promise<string[]> {
  const email = (await findBilling(db, org_id))?.email ?? null;
  return email === null ? findMailboxes(db, { org_id, roles: ['owner'] }) : [email];
}
