// The calls that advice is made of, in ClickHouse.
import type { Environment, Id } from '../../kernel/index.ts';
import type { AdvisedCall } from '../advice/store.ts';
import type { ClickHouse } from './client.ts';
import { at } from './filter-store.ts';

type Read = Omit<AdvisedCall, 'ts' | 'plan' | 'tried' | 'first_outcome'> & {
  readonly ts_ms: number;
  readonly route_trace: string;
};

/** What a trace of a route holds, of what advice is made of. */
interface Trace {
  readonly plan?: readonly { readonly endpoint_id?: string }[];
  readonly attempts?: readonly { readonly endpoint_id?: string; readonly outcome?: string }[];
}

const idsOf = (list: Trace['plan'] = []) => list.flatMap(({ endpoint_id }) => endpoint_id ?? []);

/** The newest `limit` calls in `[from, to)` that reached an endpoint, newest first. */
export async function listAdvisedCalls(
  db: ClickHouse,
  args: {
    readonly org_id: Id<'org'>;
    readonly environment: Environment;
    readonly from: Date;
    readonly to: Date;
    readonly limit: number;
  },
): Promise<AdvisedCall[]> {
  const { org_id, environment, from, to, limit } = args;
  const rows = await db.query<Read>({
    name: 'analytics.list_advised_calls',
    text: `
      select request_id, toUnixTimestamp64Milli(ts) as ts_ms, key_id, model, endpoint_id, status, attempts, byok, input_tokens,
             output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro, price_version_id, route_trace
        from request_row final
       where org_id = {org_id:String} and environment = {environment:String}
         and ts >= ${at('from')} and ts < ${at('to')} and endpoint_id <> ''
       order by ts desc, request_id desc limit {limit:UInt32}`,
    values: { org_id, environment, from: from.getTime(), to: to.getTime(), limit },
  });
  return rows.map(({ ts_ms, route_trace, ...row }) => {
    const trace: Trace = route_trace === '' ? {} : (JSON.parse(route_trace) as Trace);
    return {
      ...row,
      ts: new Date(ts_ms),
      plan: idsOf(trace.plan),
      tried: idsOf(trace.attempts),
      first_outcome: trace.attempts?.[0]?.outcome ?? null,
    };
  });
}
