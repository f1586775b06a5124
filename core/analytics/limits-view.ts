// GET /v1/limits: what plan, projects and keys allow, what is left of it now, and what was refused within a day.
import { type Static, Type } from 'typebox';
import {
  type Context,
  type Environment,
  idOf,
  named,
  notFound,
  nullable,
  operation,
  orgCaller,
} from '../kernel/index.ts';
import { KeyBudget, type KeyRow, keysInUse } from '../keys/index.ts';
import { readKeySpend } from '../ledger/index.ts';
import {
  type LimitStore,
  planSubject,
  subjectOfKey,
  subjectOfPlan,
  subjectOfProject,
} from '../limits/index.ts';
import {
  findOrg,
  keysPerHour,
  limitsOf,
  listProjects,
  type Project,
  projectLimits,
  trialRates,
} from '../orgs/index.ts';
import { readerOf } from './engine/postgres.ts';

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** The limit store; absent in programs that take no calls. */
    readonly limits?: LimitStore;
  }
}

const DAY_MS = 86_400_000;
const Limit = nullable(Type.Integer());
const Rates = { rpm: Limit, tpm: Limit, concurrency: Limit };

const LiveRates = named(
  'LiveLimits',
  Type.Object(
    { rpm_remaining: Limit, tpm_remaining: Limit, concurrency_in_use: Type.Integer() },
    {
      description: 'what is left now under the strictest of the limits that bound it, and how many calls run',
    },
  ),
);

const View = named(
  'Limits',
  Type.Object({
    plan: Type.Object({ ...Rates, keys: Limit, projects: Limit, live: LiveRates }),
    new_org: named(
      'NewOrganizationLimits',
      Type.Object(
        {
          rpm: nullable(
            Type.Integer({
              description: 'requests a minute with all live keys together, until the first top-up is paid',
            }),
          ),
          rpm_until: nullable(Type.Literal('first_topup_paid', { description: 'what lifts `rpm`' })),
          keys_per_hour: nullable(Type.Integer({ description: 'keys that can be created in an hour' })),
        },
        { description: 'of an organization that was made by signing up; null: no such limit' },
      ),
    ),
    projects: Type.Array(
      Type.Object({
        project_id: idOf('project'),
        configured: Type.Object(Rates, { description: 'limits of all its keys together; null: no bound' }),
        live: LiveRates,
      }),
    ),
    keys: Type.Array(
      Type.Object({
        key_id: idOf('key'),
        name: Type.String(),
        project_id: idOf('project'),
        status: Type.String(),
        configured: Type.Object(Rates, {
          description: 'limits of the key itself; null: those of project and plan',
        }),
        budget: KeyBudget,
        live: LiveRates,
        spend_today_micro: Type.Integer(),
        spend_month_micro: Type.Integer(),
      }),
    ),
    rejected_24h: Type.Object({ rpm: Type.Integer(), tpm: Type.Integer(), concurrency: Type.Integer() }),
    upstream_capacity_24h: Type.Integer({
      description: 'calls that every endpoint refused as throttled or overloaded',
    }),
    live: Type.Boolean({ description: 'false: the counters cannot be read, or only those of one process' }),
    analytics: Type.Boolean({ description: 'false: request rows cannot be read' }),
  }),
);
type View = Static<typeof View>;
type Live = Static<typeof LiveRates>;

const NOTHING: Live = { rpm_remaining: null, tpm_remaining: null, concurrency_in_use: 0 };
const NONE = { rpm: 0, tpm: 0, concurrency: 0 };

/** What is looked at: the limits of the organization, of its projects and of its keys. */
interface Seen {
  readonly environment: Environment;
  readonly plan: ReturnType<typeof limitsOf>;
  readonly trial: ReturnType<typeof trialRates>;
  readonly projects: readonly Project[];
  readonly keys: readonly KeyRow[];
}

interface Counters {
  readonly plan: Live;
  readonly projects: readonly Live[];
  readonly keys: readonly Live[];
  readonly rejected: View['rejected_24h'];
  /** False where the counters are incomplete. */
  readonly live: boolean;
}

/** Calls that run now of the keys of `project`, each rotation chain once. */
function runningOf(project: Project, keys: readonly KeyRow[], lives: readonly Live[]): number {
  const chains = new Map(
    keys.flatMap((key, i) => (key.project_id === project.id ? [[key.chain_no, lives[i]] as const] : [])),
  );
  return [...chains.values()].reduce((sum, live) => sum + (live?.concurrency_in_use ?? 0), 0);
}

async function readCounters(limits: LimitStore, org_id: string, seen: Seen): Promise<Counters> {
  const { environment, plan, trial, projects, keys } = seen;
  const shared = { trial, plan };
  const bounds = new Map(projects.map((project) => [project.id, projectLimits(project)]));
  const [rejected, of_plan, of_projects, of_keys] = await Promise.all([
    limits.rejections({ plan: planSubject(org_id, environment) }),
    limits.look(subjectOfPlan({ org_id, environment }, shared)),
    Promise.all(
      projects.map(({ id: project_id, rpm, tpm, concurrency }) => {
        const project = { rpm, tpm, concurrency };
        return limits.look(subjectOfProject({ org_id, environment, project_id }, { project, ...shared }));
      }),
    ),
    Promise.all(
      keys.map((key) =>
        limits.look(subjectOfKey(key, { project: bounds.get(key.project_id) ?? null, ...shared })),
      ),
    ),
  ]);
  const projects_live = of_projects.map((live, i) => {
    const project = projects[i] as Project;
    // Without limits nothing counts the calls of a project together.
    if (projectLimits(project) !== null) return live;
    return { ...live, concurrency_in_use: runningOf(project, keys, of_keys) };
  });
  return {
    ...{ plan: of_plan, projects: projects_live, keys: of_keys, rejected },
    live: limits.mode === 'exact',
  };
}

/** What is left of the limits, and what was refused. */
async function counters(context: Context, seen: Seen): Promise<Counters> {
  const { limits } = context.services;
  const none = { plan: NOTHING, projects: [], keys: [], rejected: NONE, live: false };
  if (limits === undefined) return none;
  try {
    return await readCounters(limits, orgCaller(context).org_id, seen);
  } catch (error) {
    context.log.warn({ error }, 'limits cannot be read');
    return none;
  }
}

/** The projects of `environment`, and others that have keys of it. */
async function projectsSeen(
  context: Context,
  environment: Environment,
  keys: readonly KeyRow[],
): Promise<Project[]> {
  const { org_id } = orgCaller(context);
  const with_keys = new Set(keys.map(({ project_id }) => project_id));
  const all = await listProjects(context.db, { org_id, environment: null, id: null });
  return all.filter((project) => project.environment === environment || with_keys.has(project.id));
}

/** Calls without capacity within a day; `analytics` false where rows cannot be read. */
async function capacityOf(context: Context, environment: Environment) {
  const { org_id } = orgCaller(context);
  const since = new Date(context.now().getTime() - DAY_MS);
  try {
    return {
      capacity: await readerOf(context).countCapacity({ org_id, environment, since }),
      analytics: true,
    };
  } catch (error) {
    context.log.warn({ error }, 'usage cannot be read');
    return { capacity: 0, analytics: false };
  }
}

export const getLimitsOperation = operation({
  name: 'limits.get',
  method: 'GET',
  path: '/v1/limits',
  summary: 'Show limits, what is left of them, and what they refused',
  audience: {
    kind: 'key',
    scopes: ['read:usage', 'manage:keys'],
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: Type.Object({}),
  output: View,
  errors: [],
  example: {
    plan: {
      ...{ rpm: 300, tpm: 1_000_000, concurrency: 20, keys: 20, projects: 5 },
      live: { rpm_remaining: 261, tpm_remaining: 996_412, concurrency_in_use: 3 },
    },
    new_org: { rpm: 20, rpm_until: 'first_topup_paid', keys_per_hour: 20 },
    projects: [
      {
        project_id: 'prj_0000000000000000000000000A',
        configured: { rpm: 200, tpm: null, concurrency: 10 },
        live: { rpm_remaining: 171, tpm_remaining: 996_412, concurrency_in_use: 2 },
      },
    ],
    keys: [
      {
        key_id: 'key_0000000000000000000000000A',
        name: 'server',
        project_id: 'prj_0000000000000000000000000A',
        status: 'active',
        configured: { rpm: 120, tpm: null, concurrency: null },
        budget: { daily_micro: 5_000_000, hard: true },
        live: { rpm_remaining: 118, tpm_remaining: 996_412, concurrency_in_use: 1 },
        spend_today_micro: 41_216,
        spend_month_micro: 902_118,
      },
    ],
    rejected_24h: { rpm: 3, tpm: 0, concurrency: 0 },
    upstream_capacity_24h: 0,
    live: true,
    analytics: true,
  },
  async run(context) {
    const { org_id, environment } = orgCaller(context);
    const org = await findOrg(context.db, org_id);
    if (org === null) throw notFound();
    const plan = limitsOf(org);
    const trial = trialRates(org, environment);
    const found = await keysInUse(context, environment);
    const keys = found.map(({ key }) => key);
    // From the ledger, like budgets: request rows come a moment later, so a month from them could be less than its last
    // day.
    const spend = await readKeySpend(context.shards.at(org.shard), [
      ...new Set(keys.map((key) => key.chain_no)),
    ]);
    const spent = new Map(spend.map((one) => [one.no, one]));
    const projects = await projectsSeen(context, environment, keys);
    const left = await counters(context, { environment, plan, trial, projects, keys });
    const { capacity, analytics } = await capacityOf(context, environment);
    return {
      plan: { ...plan, live: left.plan },
      new_org: {
        rpm: trial?.rpm ?? null,
        rpm_until: trial === null ? null : ('first_topup_paid' as const),
        keys_per_hour: keysPerHour(org),
      },
      projects: projects.map(({ id, rpm, tpm, concurrency }, i) => ({
        ...{ project_id: id, configured: { rpm, tpm, concurrency } },
        live: left.projects[i] ?? NOTHING,
      })),
      keys: found.map(({ key, status }, i) => ({
        key_id: key.id,
        name: key.name,
        project_id: key.project_id,
        status,
        configured: { rpm: key.rpm, tpm: key.tpm, concurrency: key.concurrency },
        budget: { daily_micro: key.budget_daily_micro, hard: key.budget_hard },
        live: left.keys[i] ?? NOTHING,
        spend_today_micro: spent.get(key.chain_no)?.today_micro_usd ?? 0,
        spend_month_micro: spent.get(key.chain_no)?.month_micro_usd ?? 0,
      })),
      rejected_24h: left.rejected,
      upstream_capacity_24h: capacity,
      live: left.live,
      analytics,
    };
  },
});
