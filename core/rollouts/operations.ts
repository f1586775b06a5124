// What a policy would change, measured by the calls of the last hours.
import { type Static, Type } from 'typebox';
import { readerOf } from '../analytics/index.ts';
import {
  type Context,
  idOf,
  isId,
  named,
  notFound,
  nullable,
  operation,
  orgCaller,
  Time,
} from '../kernel/index.ts';
import { findOrg, findProject } from '../orgs/index.ts';
import {
  activePolicy,
  findPolicyText,
  readRulingPolicies,
  readStoredPolicy,
  ScopeInput,
  textInput,
} from '../policies/index.ts';
import { listCanariesOperation } from './canary-operations.ts';
import { compareCalls } from './compare.ts';
import { listExperimentsOperation } from './experiments/experiment-operations.ts';
import { listShadowsOperation } from './shadows/shadow-operations.ts';
import { type Move, sumUp } from './sum.ts';
import { hoursBefore } from './window.ts';

const CALLS_MAX = 1_000;
const MOVES_MAX = 100;

const Input = Type.Object({
  name: Type.String(),
  ...textInput,
  scope: ScopeInput,
  hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 24, description: 'how far back; 24 unless given' }),
  ),
});
type DiffInput = Static<typeof Input>;

const Place = named(
  'PolicyDiffEndpoint',
  Type.Object({ endpoint_id: idOf('endpoint'), provider: Type.String(), region: Type.String() }),
);

const DiffMove = named(
  'PolicyDiffMove',
  Type.Object({
    model: Type.String(),
    from: nullable(Place),
    to: nullable(Place),
    calls: Type.Integer(),
    before_micro_usd: Type.Integer(),
    after_micro_usd: Type.Integer(),
    difference_micro_usd: Type.Integer({ description: 'below zero: cheaper' }),
  }),
);

export const PolicyDiff = named(
  'PolicyDiff',
  Type.Object({
    policy: Type.String(),
    version: Type.Integer({ description: '0 for a text that is not stored' }),
    from: Time,
    to: Time,
    calls: Type.Integer({ description: 'answered in that time in the scope, with keys of the pool' }),
    compared: Type.Integer({ description: `the newest of them, at most ${CALLS_MAX}` }),
    moved: Type.Integer({ description: 'would be tried elsewhere first' }),
    newly_refused: Type.Integer({ description: 'of those: would be refused' }),
    before_micro_usd: Type.Integer({ description: 'cost of what was compared, by what rules now' }),
    after_micro_usd: Type.Integer({ description: 'its cost by the policy in question' }),
    difference_micro_usd: Type.Integer({ description: 'below zero: cheaper' }),
    moves: Type.Array(DiffMove, { description: `most calls first, at most ${MOVES_MAX}` }),
  }),
);

/** What is compared with what rules. */
async function candidateOf(context: Context, input: DiffInput) {
  const { version, yaml } = await findPolicyText(context, input);
  return activePolicy(input.name, version, readStoredPolicy(yaml));
}

/** The project that is the scope; null: the organization. @throws ServiceError not_found. */
async function scopeOf(context: Context, scope: DiffInput['scope']): Promise<string | null> {
  const id = scope?.project_id ?? null;
  if (id === null) return null;
  const { org_id } = orgCaller(context);
  const project = isId('project', id) ? await findProject(context.db, { org_id, id }) : null;
  if (project === null) throw notFound();
  return project.id;
}

function viewOf(move: Move): Static<typeof DiffMove> {
  const placeOf = (place: Move['from']) =>
    place === null ? null : { endpoint_id: place.id, provider: place.provider, region: place.region };
  const { model, from, to, calls, before_micro_usd, after_micro_usd } = move;
  return {
    ...{ model, from: placeOf(from), to: placeOf(to), calls, before_micro_usd, after_micro_usd },
    difference_micro_usd: after_micro_usd - before_micro_usd,
  };
}

const example: Static<typeof PolicyDiff> = {
  ...{ policy: 'eu-private', version: 4 },
  ...{ from: '2026-11-20T10:00:00.000Z', to: '2026-11-21T10:00:00.000Z' },
  ...{ calls: 5_210, compared: 1_000, moved: 120, newly_refused: 0 },
  ...{ before_micro_usd: 812_400, after_micro_usd: 790_100, difference_micro_usd: -22_300 },
  moves: [
    {
      model: 'acme/large',
      from: { endpoint_id: 'ep_0000000000000000000000000A', provider: 'acme', region: 'us' },
      to: { endpoint_id: 'ep_0000000000000000000000000B', provider: 'beta', region: 'eu' },
      ...{ calls: 120, before_micro_usd: 92_300, after_micro_usd: 70_000, difference_micro_usd: -22_300 },
    },
  ],
};

export const diffPolicyOperation = operation({
  name: 'policies.diff',
  method: 'POST',
  path: '/v1/policies/:name/diff',
  summary: 'Show which calls of the last 24 hours a policy would route elsewhere, and what that costs',
  audience: { kind: 'key', scopes: ['manage:policies'], session: ['owner', 'admin', 'developer'] },
  input: Input,
  output: PolicyDiff,
  errors: ['invalid_policy'],
  request: { version: 4, scope: { project_id: null } },
  example,
  async run(context, input) {
    const { org_id, environment } = orgCaller(context);
    const candidate = await candidateOf(context, input);
    const project_id = await scopeOf(context, input.scope);
    const org = await findOrg(context.db, org_id);
    if (org === null) throw notFound();
    const ruling = await readRulingPolicies(context.db, org_id);
    const to = context.now();
    const from = hoursBefore(to, input.hours ?? 24);
    const without = project_id === null ? [...ruling.projects.keys()] : [];
    const { rows, total } = await readerOf(context).listAnswered({
      ...{ org_id, environment, project_id, without, from, to },
      limit: CALLS_MAX,
    });
    const compared = await compareCalls(context, rows, {
      ...{ data_policy: org.data_policy, candidate },
      rulingNow: (project) => ruling.projects.get(project) ?? ruling.org,
    });
    const { moves, ...sum } = sumUp(compared);
    return {
      ...{ policy: input.name, version: candidate.version },
      ...{ from: from.toISOString(), to: to.toISOString(), calls: total, ...sum },
      difference_micro_usd: sum.after_micro_usd - sum.before_micro_usd,
      moves: moves.slice(0, MOVES_MAX).map(viewOf),
    };
  },
});

export const rolloutOperations = [
  diffPolicyOperation,
  listCanariesOperation,
  listExperimentsOperation,
  listShadowsOperation,
];
