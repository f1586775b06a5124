// GET /v1/limits: what plan and keys allow, what is left of it now, and what was refused within a day.
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
import { type LimitStore, planSubject, subjectOfKey } from '../limits/index.ts';
import { findOrg, limitsOf } from '../orgs/index.ts';
import { countCapacity } from './usage-store.ts';

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** The limit store; absent in programs that take no calls. */
    readonly limits?: LimitStore;
  }
}

const DAY_MS = 86_400_000;
const Limit = nullable(Type.Integer());
const Rates = { rpm: Limit, tpm: Limit, concurrency: Limit };

const View = named(
  'Limits',
  Type.Object({
    plan: Type.Object({ ...Rates, keys: Limit, projects: Limit }),
    keys: Type.Array(
      Type.Object({
        key_id: idOf('key'),
        name: Type.String(),
        project_id: idOf('project'),
        status: Type.String(),
        configured: Type.Object(Rates, { description: 'limits of the key itself; null: those of the plan' }),
        budget: KeyBudget,
        live: Type.Object({
          rpm_remaining: Limit,
          tpm_remaining: Limit,
          concurrency_in_use: Type.Integer(),
        }),
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
type Live = View['keys'][number]['live'];

const NOTHING: Live = { rpm_remaining: null, tpm_remaining: null, concurrency_in_use: 0 };
const NONE = { rpm: 0, tpm: 0, concurrency: 0 };

/** What is left of the limits of `keys`, and what was refused; `live` is false where the counters are incomplete. */
async function counters(
  context: Context,
  keys: readonly KeyRow[],
  of: { plan: ReturnType<typeof limitsOf>; environment: Environment },
): Promise<{ left: readonly Live[]; rejected: View['rejected_24h']; live: boolean }> {
  const { limits } = context.services;
  const left = keys.map(() => NOTHING);
  if (limits === undefined) return { left, rejected: NONE, live: false };
  const plan = planSubject(orgCaller(context).org_id, of.environment);
  try {
    const looks = keys.map((key) => limits.look(subjectOfKey(key, of.plan)));
    const [rejected, ...views] = await Promise.all([limits.rejections({ plan }), ...looks]);
    return { left: views, rejected, live: limits.mode === 'exact' };
  } catch (error) {
    context.log.warn({ error }, 'limits cannot be read');
    return { left, rejected: NONE, live: false };
  }
}

/** Calls without capacity within a day; `analytics` false where rows cannot be read. */
async function capacityOf(context: Context, environment: Environment) {
  const { org_id } = orgCaller(context);
  const since = new Date(context.now().getTime() - DAY_MS);
  try {
    return { capacity: await countCapacity(context.db, { org_id, environment, since }), analytics: true };
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
    plan: { rpm: 300, tpm: 1_000_000, concurrency: 20, keys: 20, projects: 5 },
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
    const found = await keysInUse(context, environment);
    const keys = found.map(({ key }) => key);
    // From the ledger, like budgets: request rows come a moment later, so a month from them could be less than its last
    // day.
    const spend = await readKeySpend(context.shards.at(org.shard), [
      ...new Set(keys.map((key) => key.chain_no)),
    ]);
    const spent = new Map(spend.map((one) => [one.no, one]));
    const { left, rejected, live } = await counters(context, keys, { plan, environment });
    const { capacity, analytics } = await capacityOf(context, environment);
    return {
      plan: { ...plan },
      keys: found.map(({ key, status }, i) => ({
        key_id: key.id,
        name: key.name,
        project_id: key.project_id,
        status,
        configured: { rpm: key.rpm, tpm: key.tpm, concurrency: key.concurrency },
        budget: { daily_micro: key.budget_daily_micro, hard: key.budget_hard },
        live: left[i] ?? NOTHING,
        spend_today_micro: spent.get(key.chain_no)?.today_micro_usd ?? 0,
        spend_month_micro: spent.get(key.chain_no)?.month_micro_usd ?? 0,
      })),
      rejected_24h: rejected,
      upstream_capacity_24h: capacity,
      live,
      analytics,
    };
  },
});
