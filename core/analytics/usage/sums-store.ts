// What is answered of calls: the figures, and the end of each statement of PostgreSQL that sums them.
import type { Db } from '../../kernel/index.ts';

export interface UsageFigures {
  readonly requests: number;
  readonly ok: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_micro: number;
}

/** Of a bucket, which begins at `bucket`. */
interface BucketSum extends UsageFigures {
  readonly bucket: Date;
}
interface KeySum extends UsageFigures {
  readonly key: string;
}
/** Of a bucket and key. */
export interface UsageSum extends BucketSum, KeySum {}

/** The same calls twice, in no order: whichever are in `series` are in `groups`. */
export interface UsageApart {
  readonly series: readonly BucketSum[];
  /** Without a group one of all calls, under "". */
  readonly groups: readonly KeySum[];
}

/** What is summed, in the order of usage_hour's columns. */
export const SUMMED_FIGURES = [
  ...(['requests', 'ok', 'errors', 'input_tokens', 'output_tokens', 'cache_read_tokens'] as const),
  ...(['cache_write_tokens', 'reasoning_tokens', 'cost_micro'] as const),
] as const;

/** What callers say of a call: only rows know it, and there are as many groups as callers like. */
export const isSaid = (group: string | null) => ['tag', 'user', 'session'].includes(group ?? '');

/** The group of all that are not among those with the highest cost. */
export const OTHER = '__other';

const FIGURES = SUMMED_FIGURES.join(', ');
/** These figures taken back. */
export const NEGATED = SUMMED_FIGURES.map((name) => `-${name}`).join(', ');
const AGAIN = SUMMED_FIGURES.map((name) => `sum_bigint(${name}) as ${name}`).join(', ');

/** Parameters of a statement: the starts of the buckets, and `most` of `UsageBy`. */
interface Places {
  readonly starts: string;
  readonly most: string;
}

/**
 * Sums of `counted` (`ts`, `key` and figures), whose figures may be taken back by others: per bucket and key, or apart. What is summed
 * apart is read once, so that both have the same calls.
 */
export function answerText(counted: string, { starts, most }: Places, apart: boolean): string {
  const bucket = bucketOf(starts);
  if (!apart)
    return `
  summed as (select ${bucket} as bucket, key, ${AGAIN} from ${counted} group by 1, 2),
  greatest as (
    select key from summed group by key having sum(requests) > 0
     order by sum(cost_micro) desc, key collate "C" limit ${most})
  select bucket, case when ${most}::int is null or key in (select key from greatest) then key else '${OTHER}' end as key,
         ${AGAIN}
    from summed where requests > 0 group by 1, 2`;
  return `
  placed as (select ${bucket} as bucket, key, ${FIGURES} from ${counted}),
  summed as (
    select bucket, key, grouping(key) = 1 as is_bucket, ${AGAIN} from placed group by grouping sets ((bucket), (key))),
  series as (select bucket, ${FIGURES} from summed where is_bucket),
  keyed as (select key, ${FIGURES} from summed where not is_bucket),
  ${apartText(most)}`;
}

/** The start of the bucket of `ts`. */
export const bucketOf = (starts: string) =>
  `(${starts}::timestamptz[])[width_bucket(ts, ${starts}::timestamptz[])]`;

/**
 * One after another the sums of `series`, without a key, and those of `keyed`, without a bucket. Both are of the same calls, so that the
 * rest is what `series` has more than the keys that are shown.
 */
export function apartText(most: string): string {
  return `
  shown as materialized (
    select key, ${FIGURES} from keyed where requests > 0
     order by cost_micro desc, key collate "C" limit ${most}::int),
  rest as (select ${AGAIN} from (select ${FIGURES} from series union all select ${NEGATED} from shown) as one (${FIGURES}))
  select bucket, null::text as key, ${FIGURES} from series where requests > 0
  union all
  select null, key, ${FIGURES} from shown
  union all
  select null, '${OTHER}', ${FIGURES} from rest where requests > 0`;
}

/** What a statement that ends in sums apart says. */
export async function readApart(
  db: Db,
  statement: { readonly name: string; readonly text: string; readonly values: unknown[] },
): Promise<UsageApart> {
  const { rows } = await db.query<UsageFigures & { bucket: Date | null; key: string | null }>(statement);
  return {
    series: rows.flatMap(({ key: _, bucket, ...sum }) => (bucket === null ? [] : [{ bucket, ...sum }])),
    groups: rows.flatMap(({ bucket: _, key, ...sum }) => (key === null ? [] : [{ key, ...sum }])),
  };
}
