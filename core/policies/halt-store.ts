// SQL of canaries that were rolled back.
import type { Db, Id } from '../kernel/index.ts';

/** A canary: an endpoint on trial under one version of a policy. */
export interface CanaryKey {
  readonly org_id: Id<'org'>;
  readonly name: string;
  readonly version: number;
  readonly endpoint_id: string;
}

/** Takes the share from a canary for good: the next call of every process is routed without it. */
export async function haltCanary(db: Db, key: CanaryKey, at: Date): Promise<void> {
  await db.query({
    name: 'policies.halt_canary',
    text: `
      insert into policy_canary_halt (org_id, name, version, endpoint_id, halted_at) values ($1, $2, $3, $4, $5)
      on conflict do nothing`,
    values: [key.org_id, key.name, key.version, key.endpoint_id, at],
  });
}
