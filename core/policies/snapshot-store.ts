// SQL of the snapshots that route calls: what is active, and what this process has seen of it.
import type { Db, Id } from '../kernel/index.ts';

interface ActiveText {
  readonly project_id: Id<'project'> | null;
  readonly name: string;
  readonly version: number;
  readonly yaml: string;
  /** Endpoints of the version whose canary was rolled back. */
  readonly halted: readonly string[];
}

/** The texts that rule the organization and its projects now. */
export async function readActiveTexts(db: Db, org_id: Id<'org'>): Promise<ActiveText[]> {
  const { rows } = await db.query<ActiveText>({
    name: 'policies.read_active_texts',
    text: `
      select activation.project_id, activation.name, activation.version, version.yaml,
             array(select halt.endpoint_id from policy_canary_halt as halt
                    where (halt.org_id, halt.name, halt.version)
                          = (activation.org_id, activation.name, activation.version)) as halted
        from policy_activation as activation
        join policy_version as version using (org_id, name, version)
       where activation.org_id = $1 and activation.ended_at is null`,
    values: [org_id],
  });
  return rows;
}

/** Notes that the process is alive and has seen `snapshot` (database clock: a lease). */
export async function noteGateway(
  db: Db,
  gateway: { gateway_id: string; process_name: string; session_id: string | null; snapshot: string },
): Promise<void> {
  await db.query({
    name: 'policies.note_gateway',
    text: `
      insert into policy_gateway (gateway_id, process_name, seen, seen_at, session_id)
      values ($1, $2, $3::text::pg_snapshot, clock_timestamp(), $4)
      on conflict (gateway_id) do update
         set seen = excluded.seen, seen_at = excluded.seen_at, session_id = excluded.session_id`,
    values: [gateway.gateway_id, gateway.process_name, gateway.snapshot, gateway.session_id],
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

/** Takes out processes gone for a minute. */
export async function pruneGateways(db: Db): Promise<void> {
  await db.query({
    name: 'policies.prune_gateways',
    text: `delete from policy_gateway where seen_at < clock_timestamp() - interval '1 minute'`,
  });
}
