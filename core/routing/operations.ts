// The dry run of a policy: what a call would meet, without attempt, hold or charge.
import { type Static, Type } from 'typebox';
import {
  type Context,
  type Environment,
  idOf,
  isId,
  mulDivCeil,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
} from '../kernel/index.ts';
import { findOrg, findProject } from '../orgs/index.ts';
import {
  activePolicy,
  type CallFacts,
  decide,
  findPolicyText,
  judgePolicy,
  policyDialects,
  readStoredPolicy,
  textInput,
} from '../policies/index.ts';
import { reserve } from '../pricing/index.ts';
import type { Health } from './health/health.ts';
import { expectedNano } from './score.ts';
import { routeLine, routeOf } from './trace.ts';
import { routeInputOf, tryRoute } from './trial.ts';
import type { RouteInput, RoutePlan } from './types.ts';

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** What this process has seen of endpoints; absent where it routes no calls. */
    readonly health?: Health;
  }
}

const TYPICAL_INPUT = 1_000;
const Tokens = Type.Integer({ minimum: 0, maximum: 100_000_000 });
const Names = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 20 });

const Input = Type.Object({
  name: Type.String(),
  ...textInput,
  model: Type.String({ minLength: 1, maxLength: 200 }),
  est_input_tokens: Type.Optional(Tokens),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000 })),
  project_id: Type.Optional(idOf('project')),
  key_id: Type.Optional(idOf('key')),
  dialect: Type.Optional(oneOf(policyDialects, 'Dialect')),
  stream: Type.Optional(Type.Boolean()),
  has: Type.Optional(Names),
  modalities_in: Type.Optional(Names),
  modalities_out: Type.Optional(Names),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 512 }))),
  app: Type.Optional(Type.String({ maxLength: 64 })),
});
type SimulateInput = Static<typeof Input>;

const Output = named(
  'PolicyDryRun',
  Type.Object({
    policy: Type.String(),
    version: Type.Integer({ description: '0 for a text that is not stored' }),
    decision: Type.Object({
      sort: Type.String(),
      affinity: Type.String(),
      max_attempts: Type.Integer(),
      rule: Type.String({ description: 'names of the rules that match, - for none' }),
      denied: Type.Boolean(),
      notes: Type.Array(Type.String()),
    }),
    plan: Type.Array(
      Type.Object({
        attempt: Type.Integer(),
        endpoint_id: idOf('endpoint'),
        provider: Type.String(),
        region: Type.String(),
        model: Type.String(),
        score: Type.Number(),
        est_cost_micro: Type.Integer(),
        reason: Type.String(),
      }),
    ),
    excluded: Type.Array(
      Type.Object({ endpoint_id: idOf('endpoint'), provider: Type.String(), reason: Type.String() }),
    ),
    reserve_micro: nullable(Type.Integer({ description: 'what the call would hold; null when refused' })),
    trace: Type.String(),
  }),
);

async function projectOf(context: Context, asked_for: SimulateInput): Promise<string> {
  const caller = orgCaller(context);
  if (asked_for.project_id === undefined) return caller.kind === 'key' ? caller.project_id : '';
  if (!isId('project', asked_for.project_id)) throw notFound();
  const project = await findProject(context.db, { org_id: caller.org_id, id: asked_for.project_id });
  if (project === null) throw notFound();
  return project.id;
}

function factsOf(
  asked_for: SimulateInput,
  who: { project_id: string; key_id: string; environment: Environment },
  now_ms: number,
): CallFacts {
  const has = new Set(asked_for.has ?? []);
  return {
    ...who,
    model: asked_for.model,
    dialect: asked_for.dialect ?? 'chat',
    modalities_in: asked_for.modalities_in ?? ['text'],
    modalities_out: asked_for.modalities_out ?? ['text'],
    stream: asked_for.stream ?? false,
    has: {
      tools: has.has('tools'),
      json_schema: has.has('json_schema'),
      images: has.has('images') || (asked_for.modalities_in?.includes('image') ?? false),
      reasoning: has.has('reasoning'),
      cache: has.has('cache'),
      byok: has.has('byok'),
    },
    input_tokens: asked_for.est_input_tokens ?? TYPICAL_INPUT,
    max_tokens: asked_for.max_tokens ?? null,
    metadata: asked_for.metadata ?? {},
    app: asked_for.app ?? '',
    now_ms,
  };
}

/** An entry of the plan as it is answered. */
function shownAttempt(
  { endpoint, score, reason }: RoutePlan['plan'][number],
  attempt: number,
  asked: RouteInput,
) {
  return {
    attempt,
    endpoint_id: endpoint.id,
    provider: endpoint.provider,
    region: endpoint.region,
    model: endpoint.model_id,
    score,
    est_cost_micro: mulDivCeil(Math.ceil(expectedNano(endpoint, asked)), 1, 1_000),
    reason,
  };
}

export const dryRunPolicyOperation = operation({
  name: 'policies.dry_run',
  method: 'POST',
  path: '/v1/policies/:name/dry-run',
  summary: 'Show how a call would be routed under a policy; nothing is called, held or charged',
  audience: { kind: 'key', scopes: ['manage:policies'], session: ['owner', 'admin', 'developer'] },
  input: Input,
  output: Output,
  errors: ['model_not_found', 'invalid_policy'],
  request: { model: 'openai/gpt-4o-mini', est_input_tokens: 1_200, max_tokens: 400, has: ['tools'] },
  example: {
    policy: 'eu-private',
    version: 3,
    decision: {
      ...{ sort: 'price', affinity: 'off', max_attempts: 3, rule: 'long', denied: false },
      notes: ['ep_0000000000000000000000000A of acme is left out: region'],
    },
    plan: [
      {
        ...{ attempt: 1, endpoint_id: 'ep_0000000000000000000000000B', provider: 'acme', region: 'eu' },
        ...{ model: 'acme/large', score: 1, est_cost_micro: 4_250, reason: 'score' },
      },
    ],
    excluded: [{ endpoint_id: 'ep_0000000000000000000000000A', provider: 'acme', reason: 'region' }],
    reserve_micro: 41_216,
    trace:
      'v1; policy=eu-private/3; rule=long; sort=price; arm=-; canary=0; aff=-; cand=2; drop=-; plan=-; reserve=0',
  },
  async run(context, asked_for) {
    const caller = orgCaller(context);
    const { name } = asked_for;
    const { version, yaml } = await findPolicyText(context, asked_for);
    const project_id = await projectOf(context, asked_for);
    const org = await findOrg(context.db, caller.org_id);
    if (org === null) throw notFound();
    const { environment } = caller;
    const key_id = asked_for.key_id ?? (caller.kind === 'key' ? caller.key_id : '');
    const now_ms = context.now().getTime();
    const facts = factsOf(asked_for, { project_id, key_id, environment }, now_ms);
    const ruling = decide(activePolicy(name, version, readStoredPolicy(yaml)), facts);
    const asked = routeInputOf(context, {
      request_id: context.request_id,
      model: asked_for.model,
      policy: org.data_policy,
      facts,
      ruling,
      now_ms,
    });
    const { route, asked_for: held, refused } = tryRoute(context, ruling, asked);
    const endpoints = route.plan.map((item) => item.endpoint);
    const reserved =
      endpoints.length === 0 ? null : reserve(endpoints, { ...held, available_micro_usd: null });
    const reserve_micro = reserved?.status === 'ok' ? reserved.amount_micro_usd : null;
    const verdict = await judgePolicy(context, yaml, name);
    const remarks = verdict.valid ? verdict.notices : verdict.faults;
    const notes = [
      ...(refused === null ? [] : [refused.message]),
      ...route.warnings.map(({ message }) => message),
      ...remarks.map(({ path, message }) => `${path}: ${message}`),
    ];
    return {
      policy: name,
      version,
      decision: {
        sort: route.sort,
        affinity: route.affinity?.kind ?? 'off',
        max_attempts: route.max_attempts,
        rule: ruling.rule,
        denied: refused !== null,
        notes,
      },
      plan: route.plan.map((item, i) => shownAttempt(item, i + 1, asked)),
      excluded: route.excluded.map((item) => ({ ...item })),
      reserve_micro,
      trace: routeLine(
        routeOf(
          { route, catalog: context.services.catalog().version, reserve_micro_usd: reserve_micro ?? 0 },
          { attempts: null, winner: null },
        ),
      ),
    };
  },
});

export const routingOperations = [dryRunPolicyOperation];
