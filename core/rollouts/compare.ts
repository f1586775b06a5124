// The calls of a scope, each routed twice: by what rules it now and by the candidate.
import { setImmediate } from 'node:timers/promises';
import type { Answered } from '../analytics/index.ts';
import type { Endpoint } from '../catalog/index.ts';
import { type Context, orgCaller, ServiceError } from '../kernel/index.ts';
import type { OrgDataPolicy } from '../orgs/index.ts';
import { type ActivePolicy, type CallFacts, decide, policyDialects } from '../policies/index.ts';
import { price } from '../pricing/index.ts';
import { routeInputOf, tryRoute } from '../routing/index.ts';

/** Where a call goes first, and what it would cost there. */
interface Choice {
  readonly endpoint: Pick<Endpoint, 'id' | 'provider' | 'region'> | null;
  readonly cost_micro: number;
}

/** One call under both. */
export interface Compared {
  readonly model: string;
  readonly before: Choice;
  readonly after: Choice;
}

/** Calls between which other work of the process gets its turn. */
const TURN = 25;
const NOBODY: Choice = { endpoint: null, cost_micro: 0 };

function factsOf(call: Answered, environment: CallFacts['environment']): CallFacts {
  return {
    ...{ model: call.model, project_id: call.project_id, key_id: call.key_id, environment },
    dialect: policyDialects.find((dialect) => dialect === call.dialect_in) ?? policyDialects[0],
    modalities_in: call.has_images ? ['text', 'image'] : ['text'],
    modalities_out: ['text'],
    stream: call.stream,
    has: {
      ...{ tools: call.has_tools, json_schema: call.has_schema, images: call.has_images },
      reasoning: call.reasoning_tokens > 0,
      cache: call.cache_read_tokens + call.cache_write_tokens > 0,
      byok: false,
    },
    input_tokens: call.input_tokens + call.cache_read_tokens + call.cache_write_tokens,
    ...{ max_tokens: null, metadata: call.tags, app: call.app_id },
    now_ms: call.ts.getTime(),
  };
}

function choiceOf(
  context: Context,
  call: Answered,
  by: { readonly policy: ActivePolicy | null; readonly data_policy: OrgDataPolicy },
): Choice {
  const facts = factsOf(call, orgCaller(context).environment);
  const ruling = by.policy === null ? null : decide(by.policy, facts);
  const { request_id, model, output_tokens } = call;
  const input = routeInputOf(context, {
    ...{ request_id, model, policy: by.data_policy, facts, ruling, output_tokens },
    now_ms: context.now().getTime(),
  });
  const [first] = tryRoute(context, ruling, input).route.plan;
  if (first === undefined) return NOBODY;
  const { id, provider, region } = first.endpoint;
  const { cache_read_tokens, cache_write_tokens, reasoning_tokens, input_tokens } = call;
  const usage = { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens };
  const cost = price({ ...usage, source: 'provider' }, first.endpoint.price);
  return { endpoint: { id, provider, region }, cost_micro: cost.total_micro_usd };
}

/** Each of `calls` under both; those whose model the catalog no longer has are left out. */
export async function compareCalls(
  context: Context,
  calls: readonly Answered[],
  by: {
    readonly data_policy: OrgDataPolicy;
    readonly candidate: ActivePolicy;
    rulingNow(project_id: string): ActivePolicy | null;
  },
): Promise<readonly Compared[]> {
  const { data_policy, candidate } = by;
  const compared: Compared[] = [];
  for (const [i, call] of calls.entries()) {
    if (i % TURN === TURN - 1) await setImmediate();
    try {
      const before = choiceOf(context, call, { policy: by.rulingNow(call.project_id), data_policy });
      const after = choiceOf(context, call, { policy: candidate, data_policy });
      compared.push({ model: call.model, before, after });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'model_not_found') throw error;
    }
  }
  return compared;
}
