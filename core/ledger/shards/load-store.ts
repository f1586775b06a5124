// How many calls each ledger takes: readings of the servers' own counts, kept for a day.
import type { Db } from '../../kernel/index.ts';

/** Metering records that the server of this ledger has counted as written; no table is read. */
export async function readCount(ledger: Db): Promise<number> {
  const { rows } = await ledger.query<{ counted: number }>({
    name: 'ledger.read_count',
    text: `select coalesce(sum(pg_stat_get_tuples_inserted(inhrelid)), 0)::bigint as counted
             from pg_inherits where inhparent = 'ledger.meter'::regclass`,
  });
  return rows[0]!.counted;
}

/** Puts a reading behind the last one of its shard. */
export async function addReading(
  db: Db,
  reading: { shard: string; place: string; at: Date; counted: number },
): Promise<void> {
  await db.query({
    name: 'ledger.add_reading',
    text: `insert into ledger_load (shard, read_at, place, counted, calls)
           select $1, $2, $3, $4::bigint, coalesce(
             (select case when l.place = $3 then greatest(0, $4::bigint - l.counted) end from ledger_load l
               where l.shard = $1 and l.read_at < $2 order by l.read_at desc limit 1), 0)
           on conflict do nothing`,
    values: [reading.shard, reading.at, reading.place, reading.counted],
  });
}

/** Forgets readings of before `at`; returns how many. */
export async function purgeReadings(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'ledger.purge_readings',
    text: 'delete from ledger_load where read_at < $1',
    values: [at],
  });
  return rowCount;
}

/** Calls of each shard since `from`; one without readings is left out. */
export async function readLoad(db: Db, from: Date): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ shard: string; calls: number }>({
    name: 'ledger.read_load',
    text: 'select shard, sum(calls)::bigint as calls from ledger_load where read_at > $1 group by shard',
    values: [from],
  });
  return new Map(rows.map(({ shard, calls }) => [shard, calls]));
}
