// SQL of the announcements that an organisation's rows changed: a table of xid, org_id and at beside what it announces.
import type { Db, Id } from '../kernel/index.ts';

/** `table`: a name of the code's own, never of a caller. */
type ChangeTable = 'policy_change' | 'byok_change';

/**
 * Organisations with a change in a transaction that a reader with the snapshot `since` did not see, and the snapshot of
 * this look.
 */
export async function readOrgChanges(
  db: Db,
  table: ChangeTable,
  since: string,
): Promise<{ snapshot: string; orgs: Id<'org'>[] }> {
  const { rows } = await db.query<{ snapshot: string; org_id: Id<'org'> | null }>({
    name: `db.read_${table}`,
    text: `
      select pg_current_snapshot()::text as snapshot, change.org_id
        from (select 1) as one
        left join ${table} as change
          on change.xid >= pg_snapshot_xmin($1::text::pg_snapshot)
         and not pg_visible_in_snapshot(change.xid, $1::text::pg_snapshot)`,
    values: [since],
  });
  return {
    snapshot: rows[0]?.snapshot ?? since,
    orgs: rows.flatMap((row) => (row.org_id === null ? [] : [row.org_id])),
  };
}

/** Forgets announcements older than an hour. */
export async function pruneOrgChanges(db: Db, table: ChangeTable): Promise<void> {
  await db.query({
    name: `db.prune_${table}`,
    text: `delete from ${table} where at < clock_timestamp() - interval '1 hour'`,
  });
}
