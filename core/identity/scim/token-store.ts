// SQL of the tokens of directories, and of the log of what they asked.
import type { Db, Id } from '../../kernel/index.ts';

/** A token without its secret. */
export interface ScimToken {
  readonly id: Id<'scim_token'>;
  readonly org_id: Id<'org'>;
  readonly hint: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const COLUMNS = 'id, org_id, hint, created_at, last_used_at';

/** The tokens of an organization, oldest first. */
export async function listTokens(db: Db, org_id: Id<'org'>): Promise<ScimToken[]> {
  const { rows } = await db.query<ScimToken>({
    name: 'identity.list_scim_tokens',
    text: `select ${COLUMNS} from scim_token where org_id = $1 order by created_at, id`,
    values: [org_id],
  });
  return rows;
}

/** The token with this hash; null when there is none. The one look-up without an organization. */
export async function findTokenByHash(db: Db, hash: Buffer): Promise<ScimToken | null> {
  const { rows } = await db.query<ScimToken>({
    name: 'identity.find_scim_token_by_hash',
    text: `select ${COLUMNS} from scim_token where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** Stores a token. */
export async function insertToken(
  db: Db,
  token: Pick<ScimToken, 'id' | 'org_id' | 'hint' | 'created_at'> & { readonly hash: Buffer },
): Promise<void> {
  await db.query({
    name: 'identity.insert_scim_token',
    text: 'insert into scim_token (id, org_id, hash, hint, created_at) values ($1, $2, $3, $4, $5)',
    values: [token.id, token.org_id, token.hash, token.hint, token.created_at],
  });
}

/** Ends a token and returns it; null when the organization has none with this id. */
export async function deleteToken(
  db: Db,
  args: { org_id: Id<'org'>; id: string },
): Promise<ScimToken | null> {
  const { rows } = await db.query<ScimToken>({
    name: 'identity.delete_scim_token',
    text: `delete from scim_token where org_id = $1 and id = $2 returning ${COLUMNS}`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** Notes that a token was used; at most once a minute, and never waits for another such note. */
export async function touchToken(db: Db, args: { id: Id<'scim_token'>; at: Date }): Promise<void> {
  await db.query({
    name: 'identity.touch_scim_token',
    text: `
      update scim_token set last_used_at = $2
       where id in (select id from scim_token
                     where id = $1 and (last_used_at is null or last_used_at <= $2::timestamptz - interval '1 minute')
                       for no key update skip locked)`,
    values: [args.id, args.at],
  });
}

/** A request of a directory. */
export interface ScimLogRow {
  readonly id: number;
  readonly at: Date;
  readonly token_id: string;
  readonly method: string;
  readonly path: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly status: number;
  readonly reason: string;
}

/** Adds a request to the log. */
export async function insertLogRow(
  db: Db,
  row: Omit<ScimLogRow, 'id'> & { readonly org_id: Id<'org'> },
): Promise<void> {
  await db.query({
    name: 'identity.insert_scim_log_row',
    text: `
      insert into scim_log (org_id, token_id, at, method, path, resource_type, resource_id, status, reason)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      ...[row.org_id, row.token_id, row.at, row.method, row.path, row.resource_type, row.resource_id],
      ...[row.status, row.reason],
    ],
  });
}

/** What was asked, newest first, strictly before `before_id`. */
export async function listLogRows(
  db: Db,
  args: { org_id: string; before_id: number | null; limit: number },
): Promise<ScimLogRow[]> {
  const { rows } = await db.query<ScimLogRow>({
    name: 'identity.list_scim_log',
    text: `
      select id, at, token_id, method, path, resource_type, resource_id, status, reason
        from scim_log where org_id = $1 and ($2::bigint is null or id < $2) order by id desc limit $3`,
    values: [args.org_id, args.before_id, args.limit],
  });
  return rows;
}

/** Deletes what was asked before `before`; returns how many. */
export async function purgeLog(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_scim_log',
    text: 'delete from scim_log where at < $1',
    values: [before],
  });
  return rowCount;
}
