// A ledger that is a schema of a Citus cluster: all its tables are at one of the cluster's servers, and its functions run there, each
// call as one transaction of that server. Programs know the coordinator alone, which plans the calls and moves the schema
// (docs/operate/citus.md).
// @see https://docs.citusdata.com/en/stable/develop/api_udf.html
import type pg from 'pg';

/**
 * Functions that stay at the coordinator, where tables are made; none of them is called for a call. All others that programs may call
 * write, and go to the server that has the tables.
 */
const AT_COORDINATOR = ['make_meter_partitions'];

async function ask<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values: unknown[] = [],
) {
  const { rows } = await client.query<Row>(text, values);
  return rows;
}

/** Whether the database belongs to a Citus cluster with servers for data. */
export async function isCluster(client: pg.Client): Promise<boolean> {
  const [row] = await ask(client, `select from pg_extension where extname = 'citus'`);
  if (row === undefined) return false;
  const nodes = await ask(client, `select from pg_dist_node where isactive and shouldhaveshards`);
  return nodes.length > 0;
}

/** Whether `schema` is one whose tables are at one of the servers. */
export async function isSpread(client: pg.ClientBase, schema: string): Promise<boolean> {
  const [known] = await ask<{ known: boolean }>(
    client,
    `select to_regclass('pg_catalog.pg_dist_schema') is not null as known`,
  );
  if (known?.known !== true) return false;
  const rows = await ask(client, 'select from pg_dist_schema where schemaid = to_regnamespace($1)', [schema]);
  return rows.length > 0;
}

/** Servers that confirm a commit before it is on disk: a settle that was answered could be lost there. */
export async function looseServers(client: pg.Client): Promise<readonly string[]> {
  const rows = await ask<{ server: string }>(
    client,
    `select format('%s:%s', nodename, nodeport) as server
       from run_command_on_workers('show synchronous_commit') where result = 'off'`,
  );
  return rows.map(({ server }) => server);
}

/** Programs that have a lease of the ledger: while its tables are put elsewhere some of their calls would fail. */
export async function livingProcesses(client: pg.Client, schema: string): Promise<readonly string[]> {
  const rows = await ask<{ process: string }>(
    client,
    `select distinct process from ${schema}.lease where expires_at > clock_timestamp() order by process`,
  );
  return rows.map(({ process }) => process);
}

/** Moves the tables of `schema`, with what is in them, to one of the servers; for the time of it nothing is written there. */
export async function spreadSchema(client: pg.Client, schema: string): Promise<void> {
  await client.query('select citus_schema_distribute($1::regnamespace)', [schema]);
}

/**
 * What a batch is run under by its transaction elsewhere (core/ledger/batch/target.ts), in which there may be nothing else here. Plans
 * are the planner's choice: Citus refuses a generic one of `insert … select` from parameters ("could not create distributed plan").
 */
const SETTINGS = ['enable_seqscan=off', 'jit=off', 'plan_cache_mode=auto'];

interface LedgerFunction {
  readonly name: string;
  readonly has_settings: boolean;
  readonly stays: boolean;
  /** The statement that makes it. */
  readonly definition: string;
}

/** Those that programs may call and that write. */
function readCalled(client: pg.Client, schema: string): Promise<readonly LedgerFunction[]> {
  return ask<LedgerFunction>(
    client,
    `
      select p.oid::regprocedure::text as name, coalesce(p.proconfig @> $3::text[], false) as has_settings,
             p.prosrc like '%.stay();%' as stays, pg_get_functiondef(p.oid) as definition
        from pg_proc p
       where p.pronamespace = $1::regnamespace and p.provolatile = 'v' and p.prosecdef and p.proname <> all ($2)
         and has_function_privilege('svc_runtime', p.oid, 'execute')
       order by name`,
    [schema, AT_COORDINATOR, SETTINGS],
  );
}

/** Whether Citus has `name` on record for all servers, and whether calls of it run at the server that has the tables. */
async function readKnown(client: pg.Client): Promise<ReadonlyMap<string, { readonly delegated: boolean }>> {
  const rows = await ask<{ name: string; delegated: boolean }>(
    client,
    `
      select objid::regprocedure::text as name, colocationid is not null as delegated
        from pg_dist_object where classid = 'pg_proc'::regclass`,
  );
  return new Map(rows.map(({ name, delegated }) => [name, { delegated }]));
}

/**
 * Keeps the ledger at its server until the transaction ends. While the engine moves a schema it waits for transactions that have
 * written, but not for those that have only locked rows: what such a one has locked at the old server it would then write at the new one,
 * beside others. Our functions lock books first and write sums that they have worked out, so they take the lock of writers first.
 */
function stayFunction(schema: string): string {
  return `
    create or replace function ${schema}.stay() returns void
    language plpgsql set search_path = pg_catalog, pg_temp as $$
    declare
      v_shard bigint;
    begin
      select shardid into v_shard from pg_dist_shard where logicalrelid = '${schema}.book'::regclass;
      if found then perform lock_shard_metadata(${SHARE_LOCK}, array[v_shard]); end if;
    end $$`;
}

/** PostgreSQL's number of the mode that writers of Citus take. */
const SHARE_LOCK = 5;

/** Makes the functions of `schema` right in a cluster, wherever they run and whatever their transaction has set. */
export async function prepareFunctions(client: pg.Client, schema: string): Promise<void> {
  const called = await readCalled(client, schema);
  if (called.some(({ stays }) => !stays)) {
    await client.query(stayFunction(schema));
    await client.query(`revoke all on function ${schema}.stay from public`);
  }
  for (const { name, has_settings, stays, definition } of called) {
    if (!stays) {
      const staying = definition.replace(/^begin$/m, `begin\n  perform ${schema}.stay();`);
      if (staying === definition) throw new Error(`${name} has no line that says "begin"`);
      await client.query(staying);
    }
    if (!has_settings)
      await client.query(`alter function ${name} ${SETTINGS.map((one) => `set ${one}`).join(' ')}`);
  }
}

/**
 * Gives the functions of `schema` to all servers, and has calls of those that programs may call and that write run where its tables are.
 * Nothing changes of a function of which that is so.
 */
export async function delegateFunctions(client: pg.Client, schema: string): Promise<void> {
  const all = await ask<{ name: string }>(
    client,
    'select oid::regprocedure::text as name from pg_proc where pronamespace = $1::regnamespace order by name',
    [schema],
  );
  const known = await readKnown(client);
  // What others call first: a delegated function runs where it finds them.
  for (const { name } of all)
    if (!known.has(name)) await ask(client, 'select create_distributed_function($1::regprocedure)', [name]);
  for (const { name } of await readCalled(client, schema))
    if (known.get(name)?.delegated !== true)
      await ask(client, 'select create_distributed_function($1::regprocedure, colocate_with := $2)', [
        name,
        `${schema}.book`,
      ]);
}

/** What programs act as. The first is made first: the second is a member of it. */
const ROLES = ['svc_runtime', 'svc_tenant'] as const;

/** Runs `body`, of PL/pgSQL, at each of the servers and there alone. @throws Error when one could not. */
async function atServers(client: pg.Client, body: string): Promise<void> {
  const block = `
    do $$
    begin
      perform set_config('citus.enable_ddl_propagation', 'off', true);
      ${body}
    -- Roles are of the server, so several databases may race to say so.
    exception when duplicate_object or unique_violation or internal_error then null;
    end $$`;
  const [failed] = await ask<{ failure: string }>(
    client,
    `select format('%s:%s: %s', nodename, nodeport, result) as failure
       from run_command_on_workers($1) where not success`,
    [block],
  );
  if (failed !== undefined) throw new Error(failed.failure);
}

/**
 * Makes the roles of the coordinator that programs act as at the servers that lack them. Citus hands on what is made in a database of the
 * cluster; where another database of the coordinator had them first (an installation's, before Citus) they are at the coordinator alone.
 */
export async function shareRoles(client: pg.Client): Promise<void> {
  const made = await ask<{ name: string }>(
    client,
    'select rolname as name from pg_roles where rolname = any($1)',
    [ROLES],
  );
  for (const role of ROLES) {
    if (!made.some(({ name }) => name === role)) continue;
    const group = role === 'svc_tenant' ? 'grant svc_runtime to svc_tenant;' : '';
    await atServers(
      client,
      `if to_regrole('${role}') is null then create role ${role} nologin; grant ${role} to current_user; ${group} end if;`,
    );
  }
}

/**
 * Lets the roles that programs act as connect from server to server, which Citus does as the role of the transaction. They get no
 * password: how servers know each other is theirs to say (`pg_hba.conf`, `pg_dist_authinfo`).
 */
export async function letRolesConnect(client: pg.Client): Promise<void> {
  for (const role of ROLES) {
    const body = `if exists (select from pg_roles where rolname = '${role}' and not rolcanlogin) then alter role ${role} login; end if;`;
    await client.query(`do $$ begin ${body} end $$`);
    // Citus hands that on where the role was made in this database.
    await atServers(client, body);
  }
}

/** The server that has the tables of `schema`. */
export async function serverOf(client: pg.Client, schema: string): Promise<string> {
  const [row] = await ask<{ server: string }>(
    client,
    `
      select format('%s:%s', n.nodename, n.nodeport) as server
        from pg_dist_partition t
        join pg_dist_shard s on s.logicalrelid = t.logicalrelid
        join pg_dist_placement p on p.shardid = s.shardid
        join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
       where t.logicalrelid = format('%I.book', $1::text)::regclass`,
    [schema],
  );
  return row?.server ?? '';
}
