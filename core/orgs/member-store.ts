// SQL of memberships.
import type { Db, Id, ResellerGrant, Role } from '../kernel/index.ts';
import type { Member, Membership } from './types.ts';

/** An active membership with what sign-in asks of the organization; null when `user_id` is no active member. */
export async function findMembership(
  db: Db,
  args: { org_id: string; user_id: Id<'user'> },
): Promise<Membership | null> {
  const { rows } = await db.query<Membership>({
    name: 'orgs.find_membership',
    text: `
      select org.id as org_id, org.slug, org.name, org.kind as org_kind,
             reseller_bps(org.id) as tier_bps, member.role, member.grants, member.source, org.status as org_status,
             org.closed_at, org.suspended_for, coalesce(org.settings -> 'security', '{}') as security
        from org_member as member join org on org.id = member.org_id
       where member.org_id = $1 and member.user_id = $2 and member.status = 'active'`,
    values: [args.org_id, args.user_id],
  });
  return rows[0] ?? null;
}

/** The active memberships of a person, longest first; closed organizations come last. */
export async function listMemberships(db: Db, user_id: Id<'user'>): Promise<Membership[]> {
  const { rows } = await db.query<Membership>({
    name: 'orgs.list_memberships',
    text: `
      select org.id as org_id, org.slug, org.name, org.kind as org_kind,
             reseller_bps(org.id) as tier_bps, member.role, member.grants, member.source, org.status as org_status,
             org.closed_at, org.suspended_for, coalesce(org.settings -> 'security', '{}') as security
        from org_member as member join org on org.id = member.org_id
       where member.user_id = $1 and member.status = 'active'
       order by org.status = 'closed', member.joined_at, org.id`,
    values: [user_id],
  });
  return rows;
}

/**
 * Whether a person has to do with a reseller: as a member of it or of a customer of it, or because they are nobody's member yet.
 */
export async function belongsAt(
  db: Db,
  { user_id, seller_id }: { user_id: Id<'user'>; seller_id: Id<'org'> },
): Promise<boolean> {
  const { rows } = await db.query<{ belongs: boolean }>({
    name: 'orgs.belongs_at',
    text: `
      select coalesce(bool_or(org.id = $2 or org.parent_org_id is not distinct from $2), true) as belongs
        from org_member as member join org on org.id = member.org_id
       where member.user_id = $1 and member.status = 'active'`,
    values: [user_id, seller_id],
  });
  return rows[0]?.belongs ?? true;
}

/** Makes a person an active member; one who is a member already gets `role`. Whether the person was none before. */
export async function putMember(
  db: Db,
  member: { org_id: Id<'org'>; user_id: Id<'user'>; role: Role; source: Member['source']; at: Date },
): Promise<boolean> {
  const { rows } = await db.query<{ added: boolean }>({
    name: 'orgs.put_member',
    text: `
      insert into org_member (org_id, user_id, role, source, joined_at, updated_at)
      values ($1, $2, $3, $4, $5, $5)
      on conflict (org_id, user_id) do update set role = $3, status = 'active', updated_at = $5
      returning xmax = 0 as added`,
    values: [member.org_id, member.user_id, member.role, member.source, member.at],
  });
  return rows[0]?.added === true;
}

/** The members of an organization, longest first. */
export async function listMembers(db: Db, org_id: Id<'org'>): Promise<Member[]> {
  const { rows } = await db.query<Member>({
    name: 'orgs.list_members',
    text: `
      select org_id, user_id, role, grants, status, source, joined_at
        from org_member where org_id = $1 order by joined_at, user_id`,
    values: [org_id],
  });
  return rows;
}

/** A part of the members of an organization, by id. */
export async function listMemberPart(
  db: Db,
  args: { org_id: Id<'org'>; offset: number; limit: number },
): Promise<Member[]> {
  const { rows } = await db.query<Member>({
    name: 'orgs.list_member_part',
    text: `
      select org_id, user_id, role, grants, status, source, joined_at
        from org_member where org_id = $1 order by user_id offset $2 limit $3`,
    values: [args.org_id, args.offset, args.limit],
  });
  return rows;
}

/** How many members an organization has, suspended ones too. */
export async function countMembers(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'orgs.count_members',
    text: 'select count(*)::int as n from org_member where org_id = $1',
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}

/** Those of `user_ids` that are members of an organization, suspended or not, by id. */
export async function findMembers(
  db: Db,
  args: { org_id: Id<'org'>; user_ids: readonly string[] },
): Promise<Member[]> {
  const { rows } = await db.query<Member>({
    name: 'orgs.find_members',
    text: `
      select org_id, user_id, role, grants, status, source, joined_at
        from org_member where org_id = $1 and user_id = any($2) order by user_id`,
    values: [args.org_id, args.user_ids],
  });
  return rows;
}

/** One member of an organization, suspended or not; null when there is none. */
export async function findMember(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'> },
): Promise<Member | null> {
  const { rows } = await db.query<Member>({
    name: 'orgs.find_member',
    text: `
      select org_id, user_id, role, grants, status, source, joined_at
        from org_member where org_id = $1 and user_id = $2`,
    values: [args.org_id, args.user_id],
  });
  return rows[0] ?? null;
}

/** How many active owners an organization has; under its lock when something depends on the number. */
export async function countOwners(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'orgs.count_owners',
    text: `
      select count(*)::int as n from org_member where org_id = $1 and role = 'owner' and status = 'active'`,
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}

/** Gives a member another role. */
export async function setMemberRole(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'>; role: Role; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_member_role',
    text: 'update org_member set role = $3, updated_at = $4 where org_id = $1 and user_id = $2',
    values: [args.org_id, args.user_id, args.role, args.at],
  });
}

/** Gives several members the same role. */
export async function setMemberRoles(
  db: Db,
  args: { org_id: Id<'org'>; user_ids: readonly Id<'user'>[]; role: Role; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_member_roles',
    text: 'update org_member set role = $3, updated_at = $4 where org_id = $1 and user_id = any($2)',
    values: [args.org_id, args.user_ids, args.role, args.at],
  });
}

/** Sets what a reseller gives a member besides the role. */
export async function setMemberGrants(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'>; grants: readonly ResellerGrant[]; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_member_grants',
    text: 'update org_member set grants = $3, updated_at = $4 where org_id = $1 and user_id = $2',
    values: [args.org_id, args.user_id, args.grants, args.at],
  });
}

/** Suspends a member, or lets one back in. */
export async function setMemberStatus(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'>; status: Member['status']; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_member_status',
    text: 'update org_member set status = $3, updated_at = $4 where org_id = $1 and user_id = $2',
    values: [args.org_id, args.user_id, args.status, args.at],
  });
}

/** Ends a membership. */
export async function deleteMember(db: Db, args: { org_id: Id<'org'>; user_id: Id<'user'> }): Promise<void> {
  await db.query({
    name: 'orgs.delete_member',
    text: 'delete from org_member where org_id = $1 and user_id = $2',
    values: [args.org_id, args.user_id],
  });
}
