// What a backup asks the server by SQL: the replication protocol does not say it.
import pg from 'pg';
import type { Backup } from './folder.ts';

async function ask<T extends object>(url: string, text: string): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'svcctl backup' });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows[0] as T;
  } finally {
    await client.end();
  }
}

/** Which database of the server is asked, its version, and how large the segments of its WAL are. */
export function readFacts(url: string): Promise<Pick<Backup, 'database' | 'version' | 'segment_bytes'>> {
  return ask(
    url,
    `select current_database() as database, current_setting('server_version_num')::int / 10000 as version,
            (select setting::int from pg_settings where name = 'wal_segment_size') as segment_bytes`,
  );
}

/** The clock of the server. */
export async function readClock(url: string): Promise<Date> {
  return (await ask<{ at: Date }>(url, 'select clock_timestamp() as at')).at;
}
