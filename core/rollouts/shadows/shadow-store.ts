// SQL of shadows: how copies went beside the calls that they were made of, by hour.
import type { Db, Environment, Id } from '../../kernel/index.ts';

/**
 * Counts the copies that nobody has counted, and returns how many: they are gone with the transaction, and there again
 * when it fails. Those of versions that are gone are dropped. Costs and times are of copies that were answered.
 */
export async function countSamples(db: Db): Promise<number> {
  const { rows } = await db.query<{ taken: number }>({
    name: 'rollouts.count_shadows',
    text: `
      with gone as (delete from shadow_sample returning *),
      taken as (
        select gone.*, not failed and primary_ttft_ms is not null and shadow_ttft_ms is not null as timed
          from gone join policy_version using (org_id, name, version)),
      hour as (
        insert into shadow_hour as h (org_id, environment, name, version, shadow_endpoint, primary_endpoint, bill, hour,
                                      runs, errors, stop_mismatch, primary_cost_micro, shadow_cost_micro, ttft_runs,
                                      primary_ttft_ms, shadow_ttft_ms)
        select org_id, environment, name, version, shadow_endpoint, primary_endpoint, bill, hour,
               count(*), count(*) filter (where failed), count(*) filter (where not failed and stop_mismatch),
               coalesce(sum(primary_cost_micro) filter (where not failed), 0),
               coalesce(sum(shadow_cost_micro) filter (where not failed), 0), count(*) filter (where timed),
               coalesce(sum(primary_ttft_ms) filter (where timed), 0),
               coalesce(sum(shadow_ttft_ms) filter (where timed), 0)
          from taken group by 1, 2, 3, 4, 5, 6, 7, 8
        on conflict (org_id, environment, name, version, shadow_endpoint, primary_endpoint, bill, hour) do update
           set runs = h.runs + excluded.runs, errors = h.errors + excluded.errors,
               stop_mismatch = h.stop_mismatch + excluded.stop_mismatch,
               primary_cost_micro = h.primary_cost_micro + excluded.primary_cost_micro,
               shadow_cost_micro = h.shadow_cost_micro + excluded.shadow_cost_micro,
               ttft_runs = h.ttft_runs + excluded.ttft_runs,
               primary_ttft_ms = h.primary_ttft_ms + excluded.primary_ttft_ms,
               shadow_ttft_ms = h.shadow_ttft_ms + excluded.shadow_ttft_ms)
      select count(*) as taken from taken`,
    values: [],
  });
  return rows[0]?.taken ?? 0;
}

/** Drops the hours before `before`, which no reader asks for any more; returns how many rows went. */
export async function dropHours(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'rollouts.drop_shadow_hours',
    text: 'delete from shadow_hour where hour < $1',
    values: [before],
  });
  return rowCount ?? 0;
}

/** Copies at one endpoint of calls that another one answered. */
export interface ShadowSums {
  readonly version: number;
  readonly shadow_endpoint: string;
  readonly primary_endpoint: string;
  readonly bill: 'org' | 'platform';
  readonly runs: number;
  readonly errors: number;
  readonly stop_mismatch: number;
  readonly primary_cost_micro: number;
  readonly shadow_cost_micro: number;
  /** Means of the copies in which both had a first token; null where none had. */
  readonly primary_ttft_ms: number | null;
  readonly shadow_ttft_ms: number | null;
}

/** What the shadows of the policy `name` showed since `since`, most copies first. */
export async function readSums(
  db: Db,
  of: { readonly org_id: Id<'org'>; readonly environment: Environment; readonly name: string },
  since: Date,
): Promise<ShadowSums[]> {
  const { rows } = await db.query<ShadowSums>({
    name: 'rollouts.read_shadows',
    text: `
      select version, shadow_endpoint, primary_endpoint, bill, sum(runs)::bigint as runs, sum(errors)::bigint as errors,
             sum(stop_mismatch)::bigint as stop_mismatch, sum(primary_cost_micro)::bigint as primary_cost_micro,
             sum(shadow_cost_micro)::bigint as shadow_cost_micro,
             sum(primary_ttft_ms) / nullif(sum(ttft_runs), 0)::float8 as primary_ttft_ms,
             sum(shadow_ttft_ms) / nullif(sum(ttft_runs), 0)::float8 as shadow_ttft_ms
        from shadow_hour
       where org_id = $1 and environment = $2 and name = $3 and hour >= $4
       group by version, shadow_endpoint, primary_endpoint, bill
       order by runs desc, primary_endpoint`,
    values: [of.org_id, of.environment, of.name, since],
  });
  return rows;
}
