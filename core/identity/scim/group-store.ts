// SQL of the groups of directories.
import type { Db, Id } from '../../kernel/index.ts';

/** A group without its members. */
export interface ScimGroup {
  readonly id: Id<'group'>;
  readonly display_name: string;
  readonly external_id: string | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = 'id, display_name, external_id, version, created_at, updated_at';

/** Who is in which group. */
interface GroupMember {
  readonly group_id: Id<'group'>;
  readonly user_id: Id<'user'>;
}

/**
 * Changes of the groups of an organization take turns to the end of the transaction, before anything else is locked: who is
 * in a group then changes under nobody's hands but by leaving the organization.
 */
export async function takeGroupsTurn(db: Db, org_id: Id<'org'>): Promise<void> {
  await db.query({
    name: 'identity.take_scim_groups_turn',
    text: `select pg_advisory_xact_lock(hashtextextended('scim groups ' || $1, 0))`,
    values: [org_id],
  });
}

/** The groups of an organization, by id. */
export async function listGroups(db: Db, org_id: Id<'org'>): Promise<ScimGroup[]> {
  const { rows } = await db.query<ScimGroup>({
    name: 'identity.list_scim_groups',
    text: `select ${COLUMNS} from scim_group where org_id = $1 order by id`,
    values: [org_id],
  });
  return rows;
}

/** One group; null when the organization has none with this id. */
export async function findGroup(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<ScimGroup | null> {
  const { rows } = await db.query<ScimGroup>({
    name: 'identity.find_scim_group',
    text: `select ${COLUMNS} from scim_group where org_id = $1 and id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

interface GroupFacts {
  readonly org_id: Id<'org'>;
  readonly id: Id<'group'>;
  readonly display_name: string;
  readonly external_id: string | null;
  readonly at: Date;
}

/** Makes a group; false when another has the name. */
export async function insertGroup(db: Db, group: GroupFacts): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.insert_scim_group',
    text: `
      insert into scim_group (org_id, id, display_name, external_id, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $5)
      on conflict (org_id, lower(display_name)) do nothing`,
    values: [group.org_id, group.id, group.display_name, group.external_id, group.at],
  });
  return rowCount === 1;
}

/** Writes a group, which has changed; false when another has the name. In a turn of `takeGroupsTurn`. */
export async function updateGroup(db: Db, group: GroupFacts): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.update_scim_group',
    text: `
      update scim_group set display_name = $3, external_id = $4, version = version + 1, updated_at = $5
       where org_id = $1 and id = $2
         and not exists (select 1 from scim_group as other
                          where other.org_id = $1 and other.id <> $2 and lower(other.display_name) = lower($3))`,
    values: [group.org_id, group.id, group.display_name, group.external_id, group.at],
  });
  return rowCount === 1;
}

/** Deletes a group with who is in it. */
export async function deleteGroup(db: Db, args: { org_id: Id<'org'>; id: Id<'group'> }): Promise<void> {
  await db.query({
    name: 'identity.delete_scim_group',
    text: 'delete from scim_group where org_id = $1 and id = $2',
    values: [args.org_id, args.id],
  });
}

/** Who is in these groups, by id. */
export async function listGroupMembers(
  db: Db,
  args: { org_id: Id<'org'>; group_ids: readonly string[] },
): Promise<GroupMember[]> {
  const { rows } = await db.query<GroupMember>({
    name: 'identity.list_scim_group_members',
    text: `
      select group_id, user_id from scim_group_member
       where org_id = $1 and group_id = any($2) order by group_id, user_id`,
    values: [args.org_id, args.group_ids],
  });
  return rows;
}

/** In which groups these users are, by name. */
export async function listGroupsOf(
  db: Db,
  args: { org_id: Id<'org'>; user_ids: readonly string[] },
): Promise<(GroupMember & { readonly display_name: string })[]> {
  const { rows } = await db.query<GroupMember & { readonly display_name: string }>({
    name: 'identity.list_scim_groups_of',
    text: `
      select member.group_id, member.user_id, scim_group.display_name
        from scim_group_member as member
        join scim_group on scim_group.org_id = member.org_id and scim_group.id = member.group_id
       where member.org_id = $1 and member.user_id = any($2)
       order by scim_group.display_name, member.group_id`,
    values: [args.org_id, args.user_ids],
  });
  return rows;
}

interface SomeMembers {
  readonly org_id: Id<'org'>;
  readonly group_id: Id<'group'>;
  readonly user_ids: readonly string[];
}

/** Adds users to a group; returns how many were not in it. */
export async function addGroupMembers(db: Db, { org_id, group_id, user_ids }: SomeMembers): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.add_scim_group_members',
    text: `
      insert into scim_group_member (org_id, group_id, user_id) select $1, $2, unnest($3::text[])
      on conflict do nothing`,
    values: [org_id, group_id, user_ids],
  });
  return rowCount;
}

/** Takes users out of a group; returns how many were in it. */
export async function removeGroupMembers(
  db: Db,
  { org_id, group_id, user_ids }: SomeMembers,
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.remove_scim_group_members',
    text: 'delete from scim_group_member where org_id = $1 and group_id = $2 and user_id = any($3)',
    values: [org_id, group_id, user_ids],
  });
  return rowCount;
}
