// SQL of what directories say of users.
import type { Db, Id } from '../../kernel/index.ts';

/** A member as the directory describes them. */
export interface ScimUser {
  readonly user_id: Id<'user'>;
  readonly user_name: string;
  readonly user_name_key: string;
  readonly external_id: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = 'user_id, user_name, user_name_key, external_id, attributes, created_at, updated_at';

/** Of these members those of whom the directory has said something, in no order. */
export async function findScimUsers(
  db: Db,
  args: { org_id: Id<'org'>; user_ids: readonly string[] },
): Promise<ScimUser[]> {
  const { rows } = await db.query<ScimUser>({
    name: 'identity.find_scim_users',
    text: `select ${COLUMNS} from scim_user where org_id = $1 and user_id = any($2)`,
    values: [args.org_id, args.user_ids],
  });
  return rows;
}

/** Whom the directory of an organization calls by this name; null when it is nobody. */
export async function findIdByUserName(
  db: Db,
  args: { org_id: Id<'org'>; user_name_key: string },
): Promise<Id<'user'> | null> {
  const { rows } = await db.query<{ user_id: Id<'user'> }>({
    name: 'identity.find_id_by_scim_name',
    text: 'select user_id from scim_user where org_id = $1 and user_name_key = $2',
    values: [args.org_id, args.user_name_key],
  });
  return rows[0]?.user_id ?? null;
}

/** Whom the directory of an organization has under this id of its own. */
export async function findIdsByExternalId(
  db: Db,
  args: { org_id: Id<'org'>; external_id: string },
): Promise<Id<'user'>[]> {
  const { rows } = await db.query<{ user_id: Id<'user'> }>({
    name: 'identity.find_ids_by_scim_external_id',
    text: 'select user_id from scim_user where org_id = $1 and external_id = $2',
    values: [args.org_id, args.external_id],
  });
  return rows.map(({ user_id }) => user_id);
}

/** Stores what the directory says of a member, in the place of what it said before. */
export async function putScimUser(
  db: Db,
  user: Omit<ScimUser, 'created_at' | 'updated_at'> & { org_id: Id<'org'>; at: Date },
): Promise<void> {
  const { org_id, user_id, user_name, user_name_key, external_id, attributes, at } = user;
  await db.query({
    name: 'identity.put_scim_user',
    text: `
      insert into scim_user (org_id, user_id, user_name, user_name_key, external_id, attributes, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $7)
      on conflict (org_id, user_id) do update
         set user_name = $3, user_name_key = $4, external_id = $5, attributes = $6, updated_at = $7`,
    values: [org_id, user_id, user_name, user_name_key, external_id, JSON.stringify(attributes), at],
  });
}
