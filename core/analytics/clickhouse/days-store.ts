// Sums of UTC days in ClickHouse: endpoints, apps, and all calls.
import { SANDBOX } from '../../catalog/index.ts';
import { excusedOf, STEP } from '../days/store.ts';
import type { AppDaySum, EndpointDaySum } from '../engine/types.ts';
import type { ClickHouse } from './client.ts';
import { at } from './filter-store.ts';

const DAY_MS = 86_400_000;
const EXCUSED = excusedOf('');

const dayOf = (day: string) => ({ from: Date.parse(day), to: Date.parse(day) + DAY_MS, sandbox: SANDBOX });

interface Steps {
  readonly endpoint_id: string;
  readonly kind: 'ttft' | 'tpot';
  readonly step: number;
  readonly n: number;
}

function countsOf(steps: readonly Steps[], kind: Steps['kind']): Record<string, number> {
  return Object.fromEntries(steps.filter((one) => one.kind === kind).map(({ step, n }) => [step, n]));
}

/** What live attempts of calls of a UTC day did. */
export async function sumEndpoints(db: ClickHouse, day: string): Promise<EndpointDaySum[]> {
  const attempts = `
    select endpoint_id, outcome = 'ok' as ok, ${EXCUSED} and outcome <> 'ok' as excused,
           if(outcome = 'ok', ttft_ms, null) as ttft,
           if(outcome = 'ok' and output_tokens > 1 and duration_ms > ttft_ms,
              (duration_ms - ttft_ms) / (output_tokens - 1) * 1000, null) as tpot
      from request_attempt final
     where call_ts >= ${at('from')} and call_ts < ${at('to')} and environment = 'live' and endpoint_id <> ''
       and provider <> {sandbox:String}`;
  const values = dayOf(day);
  const [sums, steps] = await Promise.all([
    db.query<Omit<EndpointDaySum, 'ttft_counts' | 'tpot_counts'>>({
      name: 'analytics.sum_endpoint_day',
      text: `
        select endpoint_id, count() as attempts, countIf(ok) as ok, countIf(excused) as excused,
               quantileExactInclusiveOrNull(0.5)(ttft) as ttft_p50_ms,
               quantileExactInclusiveOrNull(0.95)(ttft) as ttft_p95_ms,
               quantileExactInclusiveOrNull(0.5)(tpot) / 1000 as tpot_p50_ms
          from (${attempts}) group by endpoint_id`,
      values,
    }),
    db.query<Steps>({
      name: 'analytics.sum_endpoint_steps',
      text: `
        select endpoint_id, time.1 as kind, toInt32(floor(log(greatest(assumeNotNull(time.2), 1)) / log(${STEP}))) as step,
               count() as n
          from (${attempts}) array join [('ttft', ttft), ('tpot', tpot)] as time
         where time.2 is not null group by endpoint_id, kind, step`,
      values,
    }),
  ]);
  const of_endpoint = Map.groupBy(steps, ({ endpoint_id }) => endpoint_id);
  return sums.map((sum) => {
    const own = of_endpoint.get(sum.endpoint_id) ?? [];
    return { ...sum, ttft_counts: countsOf(own, 'ttft'), tpot_counts: countsOf(own, 'tpot') };
  });
}

/** The answered live calls of a UTC day by organization, app and model. */
export async function sumAppCalls(db: ClickHouse, day: string): Promise<AppDaySum[]> {
  const rows = await db.query<Omit<AppDaySum, 'first_at'> & { first_ms: number }>({
    name: 'analytics.sum_app_day',
    text: `
      select org_id, app_id, model, count() as requests,
             sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) as tokens,
             toUnixTimestamp64Milli(min(ts)) as first_ms
        from request_row final
       where ts >= ${at('from')} and ts < ${at('to')} and environment = 'live' and status = 'ok'
         and provider <> {sandbox:String}
       group by org_id, app_id, model`,
    values: dayOf(day),
  });
  return rows.map(({ first_ms, ...row }) => ({ ...row, first_at: new Date(first_ms) }));
}

/** Count and cost of a UTC day, of all organizations. */
export async function sumOfDay(db: ClickHouse, day: string): Promise<{ rows: number; cost_micro: number }> {
  const { from, to } = dayOf(day);
  const [sum] = await db.query<{ rows: number; cost_micro: number }>({
    name: 'analytics.sum_of_day',
    text: `
      select count() as rows, sum(cost_micro) as cost_micro from request_row final
       where ts >= ${at('from')} and ts < ${at('to')}`,
    values: { from, to },
  });
  return sum ?? { rows: 0, cost_micro: 0 };
}
