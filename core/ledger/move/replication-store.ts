// The replication of a move: a publication and a slot at the old place, a subscription at the new one, all of one name.
// https://www.postgresql.org/docs/18/logical-replication.html
import pg from 'pg';
import { sha256Hex } from '../../kernel/index.ts';
import { listTables, type Place } from './place-store.ts';

/** Slots have one name per server, on which several installations may have ledgers of one name. */
export async function replicationName(source: Place, shard: string, to: string): Promise<string> {
  const [row] = await source.query<{ database: string }>('select current_database() as database');
  return `svc_move_${shard}_${sha256Hex(`${row!.database} ${source.schema} ${to}`).slice(0, 8)}`;
}

/** Of every table whose rows move. */
export async function makePublication(source: Place, name: string): Promise<void> {
  if ((await source.query('select from pg_publication where pubname = $1', [name])).length > 0) return;
  const tables = (await listTables(source)).map((table) => `ledger.${table}`);
  // Months are partitions of their own at each place.
  await source.query(
    `create publication ${name} for table ${tables.join(', ')} with (publish_via_partition_root = true)`,
  );
}

/** By itself, because a subscription to a database of its own server would wait for itself if it made the slot. */
export async function makeSlot(source: Place, name: string): Promise<void> {
  if ((await source.query('select from pg_replication_slots where slot_name = $1', [name])).length > 0)
    return;
  await source.query(`select pg_create_logical_replication_slot($1, 'pgoutput')`, [name]);
}

/** `source_url` is the old place as the server of the new one reaches it. */
export async function makeSubscription(target: Place, name: string, source_url: string): Promise<void> {
  if (await hasSubscription(target, name)) return;
  await target.query(
    `create subscription ${name} connection ${pg.escapeLiteral(libpqUrl(source_url))} publication ${name}
       with (create_slot = false, slot_name = ${name})`,
  );
}

/** The server's own library refuses parameters that are ours. */
function libpqUrl(url: string): string {
  const to = new URL(url);
  to.searchParams.delete('ledger_schema');
  to.searchParams.delete('prepared_statements');
  return to.href;
}

async function hasSubscription(target: Place, name: string): Promise<boolean> {
  const rows = await target.query(
    `select from pg_subscription where subname = $1
        and subdbid = (select oid from pg_database where datname = current_database())`,
    [name],
  );
  return rows.length > 0;
}

export interface Copying {
  readonly tables: number;
  readonly copied: number;
  /** Faults that the server has met while it copied or applied; it tries again by itself. */
  readonly faults: number;
}

/** How far the first copy is; no table at all where there is no subscription. */
export async function readCopying(target: Place, name: string): Promise<Copying> {
  const [row] = await target.query<Copying & pg.QueryResultRow>(
    `select count(*)::int as tables, count(*) filter (where r.srsubstate = 'r')::int as copied,
            coalesce((select x.apply_error_count + x.sync_error_count from pg_stat_subscription_stats x
                       where x.subid = s.oid), 0)::int as faults
       from pg_subscription s left join pg_subscription_rel r on r.srsubid = s.oid
      where s.subname = $1 group by s.oid`,
    [name],
  );
  return row ?? { tables: 0, copied: 0, faults: 0 };
}

/** Ends the subscription, and with it the slots that it has at the old place. `source_away`: those stay there. */
export async function dropSubscription(
  target: Place,
  name: string,
  { source_away }: { source_away: boolean },
): Promise<void> {
  if (!(await hasSubscription(target, name))) return;
  if (source_away) {
    await target.query(`alter subscription ${name} disable`);
    await target.query(`alter subscription ${name} set (slot_name = none)`);
  }
  await target.query(`drop subscription ${name}`);
}

/** What is left at the old place. */
export async function dropPublication(source: Place, name: string): Promise<void> {
  await source.query(`drop publication if exists ${name}`);
  await source.query(
    'select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1 and not active',
    [name],
  );
}
