// Whether an address leads to the server itself. Behind a pooler in transaction mode LISTEN hears nothing and a lock is
// held by a connection that others use: a program would be ready, and wrong now and then.
import pg from 'pg';
import type { DatabaseAddresses } from './address.ts';
import { refuseStandby } from './primary-store.ts';

/** How often two clients are asked which connection of the server they have; a session keeps its own. */
const LOOKS = 10;
const FAULT = 'leads through a connection pooler in transaction mode, where neither LISTEN nor locks work';
const HELP = 'set SVC_DATABASE_DIRECT_URL to the address of the server, or of a pooler in session mode';

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'svc-start',
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
  });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Which server process has `client` now, and which database of which server that is. */
async function lookAt(client: pg.Client): Promise<{ pid: number; place: string }> {
  const { rows } = await client.query<{ pid: number; place: string }>(`
    select pg_backend_pid() as pid, concat_ws(' ', oid, pg_postmaster_start_time()) as place
      from pg_database where datname = current_database()`);
  return rows[0] as { pid: number; place: string };
}

/** Whether each of two clients has a connection of the server for itself. */
async function keepsSessions(one: pg.Client, url: string): Promise<boolean> {
  // A server tells a client at its start which process it has; a pooler makes a number up.
  const { processID: said } = one as unknown as { processID: number };
  if ((await lookAt(one)).pid === said) return true;
  const other = await connect(url);
  try {
    const seen = [new Set<number>(), new Set<number>()] as const;
    for (let look = 0; look < LOOKS; look++) {
      seen[0].add((await lookAt(one)).pid);
      seen[1].add((await lookAt(other)).pid);
    }
    return seen[0].size === 1 && seen[1].size === 1 && seen[0].isDisjointFrom(seen[1]);
  } finally {
    await other.end();
  }
}

/** @throws Error when the login may not act as the role that callers of an organization act as. */
async function checkRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ who: string }>(`
    select current_user::text as who from pg_roles
     where rolname = 'svc_tenant' and not pg_has_role(current_user, oid, 'member')`);
  const [barred] = rows;
  if (barred === undefined) return;
  const { who } = barred;
  throw new Error(
    `The login ${who} of SVC_DATABASE_URL must be a member of svc_tenant: \`grant svc_tenant to ${who}\`.`,
  );
}

/**
 * Looks once, at the start of a program, whether the direct address can do what it is for, and whether the login of the
 * other has the rights of a program.
 * @throws Error when it has not, when it is a standby, when the direct address leads through a pooler in transaction mode or to another
 * database than the other address, or one of them cannot be reached.
 */
export async function checkAddresses({ url, direct_url }: DatabaseAddresses): Promise<void> {
  const direct = await connect(direct_url);
  try {
    await refuseStandby(direct);
    if (!(await keepsSessions(direct, direct_url))) {
      const name = url === direct_url ? 'SVC_DATABASE_URL' : 'SVC_DATABASE_DIRECT_URL';
      throw new Error(`${name} ${FAULT}: ${HELP}.`);
    }
    if (url === direct_url) return await checkRole(direct);
    const pooled = await connect(url);
    try {
      if ((await lookAt(pooled)).place !== (await lookAt(direct)).place)
        throw new Error('SVC_DATABASE_URL and SVC_DATABASE_DIRECT_URL lead to different databases.');
      await checkRole(pooled);
    } finally {
      await pooled.end();
    }
  } finally {
    await direct.end();
  }
}
