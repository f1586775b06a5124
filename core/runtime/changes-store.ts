// SQL of the announcements that rows changed which processes remember: each of its tables has the transaction and the
// organization of a change beside the time, `grant_change` also the key.
import type { Db, Id } from '../kernel/index.ts';

/** What changed: an organization's keys, its routing policies, or its own provider keys. */
export type Topic = 'grant' | 'policy' | 'byok';

export interface Change {
  readonly topic: Topic;
  readonly org_id: Id<'org'>;
  /** The one key that changed; null where everything of the organization may have. */
  readonly key_id: Id<'key'> | null;
}

/** Changes in transactions that a reader with the snapshot `since` did not see, and the snapshot of this look. */
export async function readChanges(db: Db, since: string): Promise<{ snapshot: string; changes: Change[] }> {
  const { rows } = await db.query<{ snapshot: string } & (Change | { topic: null })>({
    name: 'db.read_changes',
    text: `
      select pg_current_snapshot()::text as snapshot, change.topic, change.org_id, change.key_id
        from (select 1) as one
        left join (
          select 'grant' as topic, xid, org_id, key_id from grant_change
           where xid >= pg_snapshot_xmin($1::text::pg_snapshot)
          union all
          select 'policy', xid, org_id, null from policy_change
           where xid >= pg_snapshot_xmin($1::text::pg_snapshot)
          union all
          select 'byok', xid, org_id, null from byok_change
           where xid >= pg_snapshot_xmin($1::text::pg_snapshot)
        ) as change on not pg_visible_in_snapshot(change.xid, $1::text::pg_snapshot)`,
    values: [since],
  });
  return {
    snapshot: rows[0]?.snapshot ?? since,
    changes: rows.flatMap((row) => (row.topic === null ? [] : [row])),
  };
}

/** Forgets announcements older than an hour; who slept longer starts empty (database clock: as they were stamped). */
export async function pruneChanges(db: Db): Promise<void> {
  await db.query({
    name: 'db.prune_changes',
    text: `
      with grants as (delete from grant_change where at < clock_timestamp() - interval '1 hour'),
           policies as (delete from policy_change where at < clock_timestamp() - interval '1 hour')
      delete from byok_change where at < clock_timestamp() - interval '1 hour'`,
  });
}
