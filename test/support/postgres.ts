// PostgreSQL servers that tests start for themselves, to kill them or to set them up in their own way.
import { type Postgres, type PostgresOptions, startPostgres } from '@svc/cli/tools/postgres.ts';
import { endWithUs } from './watch.ts';

/** `startPostgres`, ended with this process when that is killed before it stops the server. */
export async function startTestPostgres(options: PostgresOptions): Promise<Postgres> {
  const server = await startPostgres(options);
  endWithUs(server.pid, server.ended, 'QUIT');
  return server;
}
