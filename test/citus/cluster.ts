// Databases in a Citus cluster that an operator names (`make citus`): the same name at each of its servers, made for a run and dropped
// after it.
import pg from 'pg';
import { cluster, withClient } from '../support/books.ts';

/** The servers for data behind the coordinator at `address`, each under the login of that address, the coordinator first. */
export function serversOf(address: string): Promise<string[]> {
  return withClient(address, async (client) => {
    const { rows: known } = await client.query(`select from pg_extension where extname = 'citus'`);
    if (known.length === 0) throw new Error(`no Citus in the database of ${new URL(address).pathname}`);
    const { rows } = await client.query<{ nodename: string; nodeport: number }>(
      `select nodename, nodeport from pg_dist_node
        where isactive and shouldhaveshards and noderole = 'primary' and groupid <> 0 order by nodeid`,
    );
    if (rows.length < 2) throw new Error('the cluster has fewer than two servers for data');
    return [
      address,
      ...rows.map(({ nodename, nodeport }) => {
        const url = new URL(address);
        url.host = `${nodename}:${nodeport}`;
        return url.href;
      }),
    ];
  });
}

export interface ClusterDatabase {
  /** At the coordinator. */
  readonly url: string;
  /** At the servers for data. */
  readonly servers: readonly URL[];
  /** Ends all connections of programs and between servers, in the middle of whatever they do. */
  cut(): Promise<void>;
  drop(): Promise<void>;
}

async function at(address: string, ...statements: readonly string[]): Promise<void> {
  await withClient(address, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** A new database of the cluster; `template` is one of the coordinator's, without Citus. */
export async function openClusterDatabase(name: string, template?: string): Promise<ClusterDatabase> {
  const [coordinator, ...servers] = cluster.map((address) => new URL(`/${name}`, address)) as [URL, ...URL[]];
  const quoted = pg.escapeIdentifier(name);
  for (const [i, address] of cluster.entries())
    await at(
      address,
      `create database ${quoted}${i === 0 && template !== undefined ? ` template ${template}` : ''}`,
    );
  for (const url of [coordinator, ...servers]) await at(url.href, 'create extension citus');
  await withClient(coordinator.href, async (client) => {
    const { hostname, port } = coordinator;
    await client.query('select citus_set_coordinator_host($1, $2)', [hostname, Number(port || 5432)]);
    for (const server of servers)
      await client.query('select citus_add_node($1, $2)', [server.hostname, Number(server.port || 5432)]);
  });
  return {
    url: coordinator.href,
    servers,
    async cut() {
      for (const url of [coordinator, ...servers])
        await at(
          url.href,
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
        );
    },
    async drop() {
      // What a move that was ended leaves (slots, subscriptions) keeps a database from being dropped.
      await at(coordinator.href, 'call citus_cleanup_orphaned_resources()');
      for (const address of cluster) await at(address, `drop database if exists ${quoted} with (force)`);
    },
  };
}
