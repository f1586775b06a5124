// A top-up that somebody else holds, so that what needs it waits and is met at that very point.
import pg from 'pg';

/** Holds the row of a top-up of the database at `url` while `work` runs; what `change` says of it is there when it ends. */
export async function holding<T>(
  url: string,
  topup_id: string,
  work: () => Promise<T>,
  change = 'select 1 from topup where id = $1 for update',
): Promise<T> {
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(change, [topup_id]);
    const result = await work();
    await holder.query('commit');
    return result;
  } finally {
    await holder.end();
  }
}

/** How many sessions of the database at `url` wait for a lock. */
export async function countWaiting(url: string): Promise<number> {
  const watcher = new pg.Client({ connectionString: url });
  await watcher.connect();
  const { rows } = await watcher.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  await watcher.end();
  return rows[0]?.n ?? 0;
}
