// SQL of samples; what writes them stands with the rows (../store.ts), whose transaction they share. What takes those of
// experiments counts them in the same statement (core/rollouts/experiments).
import type { Db } from '../../kernel/index.ts';

/** Calls of both sides of a canary, and how many of them failed. */
export interface ArmCounts {
  readonly canary_calls: number;
  readonly canary_errors: number;
  readonly control_calls: number;
  readonly control_errors: number;
}

export interface CanarySamples extends ArmCounts {
  readonly org_id: string;
  readonly name: string;
  readonly version: number;
  readonly endpoint_id: string;
}

/** Takes the samples that nobody has taken: gone with the transaction of `db`, there again when it fails. */
export async function takeSamples(db: Db): Promise<CanarySamples[]> {
  const { rows } = await db.query<CanarySamples>({
    name: 'analytics.take_samples',
    text: `
      with taken as (delete from canary_sample returning *)
      select org_id, name, version, endpoint_id,
             sum(canary_calls)::bigint as canary_calls, sum(canary_errors)::bigint as canary_errors,
             sum(control_calls)::bigint as control_calls, sum(control_errors)::bigint as control_errors
        from taken
       group by org_id, name, version, endpoint_id
       order by org_id, name, version, endpoint_id`,
    values: [],
  });
  return rows;
}
