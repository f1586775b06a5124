// SQL of experiments: what the calls of either arm showed, by bucket since the version began and by hour.
import type { Db, Environment, Id } from '../../kernel/index.ts';
import type { Moments } from './comparison.ts';

/** First-token times fall in the same bin where they differ by less than 5 %. */
export const TTFT_BIN_RATIO = 1.05;

/**
 * Counts the calls that nobody has counted, and returns how many: they are gone with the transaction, and there again
 * when it fails. Those of versions that are gone are dropped.
 */
export async function countSamples(db: Db): Promise<number> {
  const { rows } = await db.query<{ taken: number }>({
    name: 'rollouts.count_samples',
    text: `
      with gone as (delete from experiment_sample returning *),
      taken as (
        select gone.* from gone join policy_version using (org_id, name, version)),
      bucket as (
        insert into experiment_bucket as b (org_id, environment, name, version, experiment, arm, bucket, calls, errors,
                                            cost_micro, ttft_calls, ttft_ms)
        select org_id, environment, name, version, experiment, arm, bucket, count(*), count(*) filter (where failed),
               sum(cost_micro), count(ttft_ms), coalesce(sum(ttft_ms), 0)
          from taken group by 1, 2, 3, 4, 5, 6, 7
        on conflict (org_id, environment, name, version, experiment, arm, bucket) do update
           set calls = b.calls + excluded.calls, errors = b.errors + excluded.errors,
               cost_micro = b.cost_micro + excluded.cost_micro,
               ttft_calls = b.ttft_calls + excluded.ttft_calls, ttft_ms = b.ttft_ms + excluded.ttft_ms),
      hour as (
        insert into experiment_hour as h (org_id, environment, name, version, experiment, arm, hour, ttft_bin,
                                          requests, errors, cost_micro, output_tokens)
        select org_id, environment, name, version, experiment, arm, hour,
               coalesce(round(ln(greatest(ttft_ms, 1)) / ln($1::float8)), -1)::int,
               count(*), count(*) filter (where failed), sum(cost_micro), sum(output_tokens)
          from taken group by 1, 2, 3, 4, 5, 6, 7, 8
        on conflict (org_id, environment, name, version, experiment, arm, hour, ttft_bin) do update
           set requests = h.requests + excluded.requests, errors = h.errors + excluded.errors,
               cost_micro = h.cost_micro + excluded.cost_micro,
               output_tokens = h.output_tokens + excluded.output_tokens)
      select count(*) as taken from taken`,
    values: [TTFT_BIN_RATIO],
  });
  return rows[0]?.taken ?? 0;
}

/** Drops the hours before `before`, which no reader asks for any more; returns how many rows went. */
export async function dropHours(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'rollouts.drop_hours',
    text: 'delete from experiment_hour where hour < $1',
    values: [before],
  });
  return rowCount ?? 0;
}

export interface ExperimentOf {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
  /** Of the policy. */
  readonly name: string;
}

/** What is compared: of `sum` in how many calls. */
export const metrics = ['error_rate', 'cost_micro', 'ttft_ms'] as const;
export type Metric = (typeof metrics)[number];

const columnsOf: Readonly<Record<Metric, { readonly calls: string; readonly sum: string }>> = {
  error_rate: { calls: 'calls', sum: 'errors' },
  cost_micro: { calls: 'calls', sum: 'cost_micro' },
  ttft_ms: { calls: 'ttft_calls', sum: 'ttft_ms' },
};

export interface ArmMoments extends Moments {
  readonly version: number;
  readonly experiment: string;
  readonly arm: string;
}

/** The moments of every arm of the policy over its buckets. */
export async function readMoments(db: Db, of: ExperimentOf, metric: Metric): Promise<ArmMoments[]> {
  const { calls, sum } = columnsOf[metric];
  const { rows } = await db.query<ArmMoments>({
    name: `rollouts.read_moments_${metric}`,
    text: `
      select version, experiment, arm, sum(c) as calls, sum(x) as sum, sum(c * c) as calls_squared,
             sum(x * x) as sum_squared, sum(c * x) as calls_by_sum
        from (select version, experiment, arm, ${calls}::float8 as c, ${sum}::float8 as x from experiment_bucket
               where org_id = $1 and environment = $2 and name = $3) as bucket
       group by version, experiment, arm`,
    values: [of.org_id, of.environment, of.name],
  });
  return rows;
}

export interface ArmHours {
  readonly version: number;
  readonly experiment: string;
  readonly arm: string;
  readonly ttft_bin: number;
  readonly requests: number;
  readonly errors: number;
  readonly cost_micro: number;
  readonly output_tokens: number;
}

/** What came in every arm of the policy since `since`, by first-token time, shortest first. */
export async function readHours(db: Db, of: ExperimentOf, since: Date): Promise<ArmHours[]> {
  const { rows } = await db.query<ArmHours>({
    name: 'rollouts.read_hours',
    text: `
      select version, experiment, arm, ttft_bin, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
             sum(cost_micro)::bigint as cost_micro, sum(output_tokens)::bigint as output_tokens
        from experiment_hour
       where org_id = $1 and environment = $2 and name = $3 and hour >= $4
       group by version, experiment, arm, ttft_bin
       order by ttft_bin`,
    values: [of.org_id, of.environment, of.name, since],
  });
  return rows;
}
