// SQL of identity providers: the word in their addresses, the connection, and sign-ins that were begun.
import type { Db, Id } from '../../kernel/index.ts';
import type { Connection, LastTest, SamlFacts } from './types.ts';

const COLUMNS = `
  org_id, kind, display_name, status, enforce, default_role, role_map, config, metadata, client_secret, last_test,
  created_at, updated_at, metadata_at, metadata_fault, host`;

/** The word in an organization's addresses; null before it has one. */
export async function findAlias(db: Db, org_id: Id<'org'>): Promise<string | null> {
  const { rows } = await db.query<{ alias: string }>({
    name: 'identity.find_sso_alias',
    text: 'select alias from sso_alias where org_id = $1',
    values: [org_id],
  });
  return rows[0]?.alias ?? null;
}

/** The organization whose word `alias` is; null when it is nobody's. */
export async function findOrgOfAlias(db: Db, alias: string): Promise<Id<'org'> | null> {
  const { rows } = await db.query<{ org_id: Id<'org'> }>({
    name: 'identity.find_org_of_sso_alias',
    text: 'select org_id from sso_alias where alias = $1',
    values: [alias],
  });
  return rows[0]?.org_id ?? null;
}

/** Gives an organization its word; false when another has it. An organization that has one keeps it. */
export async function insertAlias(db: Db, args: { org_id: Id<'org'>; alias: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.insert_sso_alias',
    text: 'insert into sso_alias (org_id, alias) values ($1, $2) on conflict do nothing',
    values: [args.org_id, args.alias],
  });
  return rowCount === 1;
}

/** The connection of the organization whose word `alias` is; null when there is none. */
export async function findConnectionByAlias(db: Db, alias: string): Promise<Connection | null> {
  const { rows } = await db.query<Connection>({
    name: 'identity.find_sso_connection_by_alias',
    text: `
      select ${COLUMNS} from sso_connection
       where org_id = (select org_id from sso_alias where alias = $1)`,
    values: [alias],
  });
  return rows[0] ?? null;
}

/** The connection of an organization; null when it has none. */
export async function findConnection(db: Db, org_id: Id<'org'>): Promise<Connection | null> {
  const { rows } = await db.query<Connection>({
    name: 'identity.find_sso_connection',
    text: `select ${COLUMNS} from sso_connection where org_id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** The connection in force of the organization that has proved `domain`; null when there is none. */
export async function findActiveByDomain(
  db: Db,
  domain: string,
): Promise<{ org_id: Id<'org'>; alias: string; enforce: boolean } | null> {
  const { rows } = await db.query<{ org_id: Id<'org'>; alias: string; enforce: boolean }>({
    name: 'identity.find_active_sso_by_domain',
    text: `
      select connection.org_id, sso_alias.alias, connection.enforce
        from sso_domain_proof as proof
        join sso_connection as connection on connection.org_id = proof.org_id and connection.status = 'active'
        join sso_alias on sso_alias.org_id = proof.org_id
       where proof.domain = $1`,
    values: [domain],
  });
  return rows[0] ?? null;
}

type NewConnection = Omit<Connection, 'created_at' | 'updated_at' | 'metadata_fault'> & { readonly at: Date };

/** Stores the connection of an organization in the place of the one before. */
export async function putConnection(db: Db, connection: NewConnection): Promise<void> {
  const { org_id, kind, display_name, status, enforce, default_role, role_map, config, metadata } =
    connection;
  const { client_secret, last_test, metadata_at, host, at } = connection;
  await db.query({
    name: 'identity.put_sso_connection',
    text: `
      insert into sso_connection (org_id, display_name, status, enforce, default_role, role_map, config,
                                  metadata, client_secret, last_test, created_at, updated_at, kind, metadata_at,
                                  host)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14)
      on conflict (org_id) do update
         set display_name = $2, status = $3, enforce = $4, default_role = $5, role_map = $6, config = $7,
             metadata = $8, client_secret = $9, last_test = $10, updated_at = $11, kind = $12,
             metadata_at = $13, metadata_fault = null, host = $14`,
    values: [
      ...[org_id, display_name, status, enforce, default_role, JSON.stringify(role_map)],
      ...[JSON.stringify(config), JSON.stringify(metadata), client_secret],
      ...[last_test === null ? null : JSON.stringify(last_test), at, kind, metadata_at, host],
    ],
  });
}

/** SAML connections whose description was fetched last before `before`, oldest first. */
export async function listDueMetadata(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<Connection[]> {
  const { rows } = await db.query<Connection>({
    name: 'identity.list_due_metadata',
    text: `
      select ${COLUMNS} from sso_connection
       where kind = 'saml' and config ->> 'metadata_url' is not null and metadata_at < $1
       order by metadata_at
       limit $2`,
    values: [before, limit],
  });
  return rows;
}

/**
 * Notes what a fetch of the description brought: with `metadata` what is in force from now on, with `fault` why nothing
 * changes. Does nothing to a connection that was changed since `updated_at`; false then.
 */
export async function noteMetadata(
  db: Db,
  args: { org_id: Id<'org'>; updated_at: Date; metadata: SamlFacts | null; fault: string | null; at: Date },
): Promise<boolean> {
  const { org_id, updated_at, metadata, fault, at } = args;
  const { rowCount } = await db.query({
    name: 'identity.note_sso_metadata',
    text: `
      update sso_connection
         set metadata = coalesce($3::jsonb, metadata), metadata_fault = $4, metadata_at = $5
       where org_id = $1 and updated_at = $2`,
    values: [org_id, updated_at, metadata === null ? null : JSON.stringify(metadata), fault, at],
  });
  return rowCount === 1;
}

/** Removes the connection of an organization; false when it has none. */
export async function deleteConnection(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.delete_sso_connection',
    text: 'delete from sso_connection where org_id = $1',
    values: [org_id],
  });
  return rowCount === 1;
}

/** Notes what came of a trial of the connection as it was at `updated_at`; nothing when it was changed meanwhile. */
export async function noteTest(
  db: Db,
  args: { org_id: Id<'org'>; updated_at: Date; last_test: LastTest },
): Promise<void> {
  await db.query({
    name: 'identity.note_sso_test',
    text: 'update sso_connection set last_test = $3 where org_id = $1 and updated_at = $2',
    values: [args.org_id, args.updated_at, JSON.stringify(args.last_test)],
  });
}

/** Stores a sign-in that begins. */
export async function insertFlow(
  db: Db,
  flow: { hash: Buffer; org_id: Id<'org'>; browser: Buffer; sealed: Buffer; expires_at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.insert_sso_flow',
    text: `
      insert into sso_flow (hash, org_id, browser, sealed, expires_at) values ($1, $2, $3, $4, $5)`,
    values: [flow.hash, flow.org_id, flow.browser, flow.sealed, flow.expires_at],
  });
}

/** The sign-in of a request, which stays; null when there is none at `at`. */
export async function findFlow(
  db: Db,
  args: { hash: Buffer; org_id: Id<'org'>; at: Date },
): Promise<{ browser: Buffer; sealed: Buffer; expires_at: Date } | null> {
  const { rows } = await db.query<{ browser: Buffer; sealed: Buffer; expires_at: Date }>({
    name: 'identity.find_sso_flow',
    text: 'select browser, sealed, expires_at from sso_flow where hash = $1 and org_id = $2 and expires_at > $3',
    values: [args.hash, args.org_id, args.at],
  });
  return rows[0] ?? null;
}

/** Takes the sign-in of a state: it is gone, so that no state is good twice. Null when there is none at `at`. */
export async function takeFlow(
  db: Db,
  args: { hash: Buffer; org_id: Id<'org'>; at: Date },
): Promise<{ browser: Buffer; sealed: Buffer } | null> {
  const { rows } = await db.query<{ browser: Buffer; sealed: Buffer }>({
    name: 'identity.take_sso_flow',
    text: `
      delete from sso_flow where hash = $1 and org_id = $2 and expires_at > $3 returning browser, sealed`,
    values: [args.hash, args.org_id, args.at],
  });
  return rows[0] ?? null;
}

/** Deletes sign-ins whose answer never came; returns how many. */
export async function purgeFlows(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_sso_flows',
    text: 'delete from sso_flow where expires_at <= $1',
    values: [at],
  });
  return rowCount;
}
