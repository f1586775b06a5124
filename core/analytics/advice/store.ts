// SQL of the calls that advice is made of.
import type { Db, Environment, Id, RequestId } from '../../kernel/index.ts';

/** What a call used and cost, and where else it could have gone. */
export interface AdvisedCall {
  readonly request_id: RequestId;
  readonly ts: Date;
  readonly key_id: Id<'key'>;
  readonly model: string;
  readonly endpoint_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly byok: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_micro: number;
  readonly price_version_id: string;
  /** Endpoints of the plan, best first: each was allowed, and not known to be ill. */
  readonly plan: readonly string[];
  /** Endpoints that were tried, in order. */
  readonly tried: readonly string[];
  /** Of the first attempt; null where none is noted. */
  readonly first_outcome: string | null;
}

/** The newest `limit` calls in `[from, to)` that reached an endpoint, newest first. */
export async function listAdvisedCalls(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment; from: Date; to: Date; limit: number },
): Promise<AdvisedCall[]> {
  const { rows } = await db.query<AdvisedCall>({
    name: 'analytics.list_advised_calls',
    text: `
      select request_id, ts, key_id, model, endpoint_id, status, attempts, byok, input_tokens, output_tokens,
             cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro, price_version_id,
             coalesce(jsonb_path_query_array(route_trace, '$.plan[*].endpoint_id'), '[]') as plan,
             coalesce(jsonb_path_query_array(route_trace, '$.attempts[*].endpoint_id'), '[]') as tried,
             route_trace #>> '{attempts,0,outcome}' as first_outcome
        from request_row
       where org_id = $1 and environment = $2 and ts >= $3 and ts < $4 and endpoint_id <> ''
       order by ts desc, request_id desc
       limit $5`,
    values: [args.org_id, args.environment, args.from, args.to, args.limit],
  });
  return rows;
}
