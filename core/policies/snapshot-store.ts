// SQL of the snapshots that route calls: what is active, what changed, and what this process has seen of it.
import type { Db, Id } from '../kernel/index.ts';

export interface ActiveText {
  readonly project_id: Id<'project'> | null;
  readonly name: string;
  readonly version: number;
  readonly yaml: string;
}

/** The texts that rule the organisation and its projects now. */
export async function readActiveTexts(db: Db, org_id: Id<'org'>): Promise<ActiveText[]> {
  const { rows } = await db.query<ActiveText>({
    name: 'policies.read_active_texts',
    text: `
      select activation.project_id, activation.name, activation.version, version.yaml
        from policy_activation as activation
        join policy_version as version using (org_id, name, version)
       where activation.org_id = $1 and activation.ended_at is null`,
    values: [org_id],
  });
  return rows;
}

/**
 * Organisations whose policies changed in a transaction that a reader with the snapshot `since` did not see, and the
 * snapshot of this look.
 */
export async function readPolicyChanges(
  db: Db,
  since: string,
): Promise<{ snapshot: string; orgs: Id<'org'>[] }> {
  const { rows } = await db.query<{ snapshot: string; org_id: Id<'org'> | null }>({
    name: 'policies.read_changes',
    text: `
      select pg_current_snapshot()::text as snapshot, change.org_id
        from (select 1) as one
        left join policy_change as change
          on change.xid >= pg_snapshot_xmin($1::text::pg_snapshot)
         and not pg_visible_in_snapshot(change.xid, $1::text::pg_snapshot)`,
    values: [since],
  });
  return {
    snapshot: rows[0]?.snapshot ?? since,
    orgs: rows.flatMap((row) => (row.org_id === null ? [] : [row.org_id])),
  };
}

/** Notes that the process is alive and has seen `snapshot` (database clock: a lease). */
export async function noteGateway(
  db: Db,
  gateway: { gateway_id: string; process_name: string; snapshot: string },
): Promise<void> {
  await db.query({
    name: 'policies.note_gateway',
    text: `
      insert into policy_gateway (gateway_id, process_name, seen, seen_at)
      values ($1, $2, $3::text::pg_snapshot, clock_timestamp())
      on conflict (gateway_id) do update set seen = excluded.seen, seen_at = excluded.seen_at`,
    values: [gateway.gateway_id, gateway.process_name, gateway.snapshot],
  });
}

/** Takes the process out of the list. */
export async function forgetGateway(db: Db, gateway_id: string): Promise<void> {
  await db.query({
    name: 'policies.forget_gateway',
    text: 'delete from policy_gateway where gateway_id = $1',
    values: [gateway_id],
  });
}

/** Forgets announcements older than an hour and processes gone for a minute. */
export async function prunePolicyChanges(db: Db): Promise<void> {
  await db.query({
    name: 'policies.prune_changes',
    text: `delete from policy_change where at < clock_timestamp() - interval '1 hour'`,
  });
  await db.query({
    name: 'policies.prune_gateways',
    text: `delete from policy_gateway where seen_at < clock_timestamp() - interval '1 minute'`,
  });
}
