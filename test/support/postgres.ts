// PostgreSQL servers that tests start for themselves, to kill them or to configure them differently.
import { type Postgres, type PostgresOptions, startPostgres } from '@svc/cli/tools/postgres.ts';
import { endWithUs } from './watch.ts';

/** `startPostgres`, for a server that also ends when this process is killed. */
export async function startTestPostgres(options: PostgresOptions): Promise<Postgres> {
  const server = await startPostgres(options);
  endWithUs(server.pid, server.ended, 'QUIT');
  return server;
}
