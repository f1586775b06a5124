// What an organization may spend and call: its limits, and the budgets of its projects and keys.
import { type Static, Type } from 'typebox';
import { viewProjects } from '../budgets/index.ts';
import { lookInto } from '../credits/index.ts';
import { nullable, oneOf, operation, Time } from '../kernel/index.ts';
import { listKeys, viewKeys } from '../keys/index.ts';
import { limitsOf, listProjects, type Org } from '../orgs/index.ts';

const Limit = nullable(Type.Integer());
const Limits = Type.Object({ rpm: Limit, tpm: Limit, concurrency: Limit });
/** As many keys as are read; plans allow fewer, except those by agreement. */
const KEYS_MAX = 200;

const BudgetLine = Type.Object({
  scope: oneOf(['project', 'key'], 'BudgetScope'),
  id: Type.String(),
  name: Type.String(),
  budget_micro: nullable(
    Type.Integer({ description: 'of a UTC month for a project, of a UTC day for a key; null: no budget' }),
  ),
  hard: Type.Boolean(),
  spend_micro: nullable(Type.Integer({ description: 'in the month, of a project' })),
  paused_until: nullable(Time),
  limits: Type.Object(Limits.properties, { description: "a key's own; of a project always null" }),
});

export const BudgetsView = Type.Object({
  limits: Type.Object(Limits.properties, { description: 'of all keys together: the plan and the overrides' }),
  overrides: Type.Object(Limits.properties, { description: 'granted beyond the plan' }),
  lines: Type.Array(BudgetLine),
});
type BudgetLine = Static<typeof BudgetLine>;

function viewLimits(org: Org): Pick<Static<typeof BudgetsView>, 'limits' | 'overrides'> {
  const { rpm, tpm, concurrency } = limitsOf(org);
  const { rpm: o_rpm = null, tpm: o_tpm = null, concurrency: o_concurrency = null } = org.limit_overrides;
  return {
    limits: { rpm, tpm, concurrency },
    overrides: { rpm: o_rpm, tpm: o_tpm, concurrency: o_concurrency },
  };
}

export const listStaffBudgetsOperation = operation({
  name: 'staff.budgets.list',
  method: 'GET',
  path: '/staff/orgs/:id/budgets',
  summary: 'Show the limits of an organization and the budgets of its projects and keys',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({
    id: Type.String(),
    environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
  }),
  output: BudgetsView,
  errors: [],
  example: {
    limits: { rpm: 900, tpm: 1_000_000, concurrency: 20 },
    overrides: { rpm: 900, tpm: null, concurrency: null },
    lines: [
      {
        ...{ scope: 'project', id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J', name: 'Default' },
        ...{ budget_micro: 500_000_000, hard: true, spend_micro: 41_022_000, paused_until: null },
        limits: { rpm: null, tpm: null, concurrency: null },
      },
    ],
  },
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, input.id, 'staff.budgets.list');
      const { id: org_id } = org;
      const environment = input.environment ?? 'live';
      const projects = await viewProjects(
        context,
        await listProjects(context.db, { org_id, environment, id: null }),
      );
      const found = await listKeys(context.db, {
        ...{ org_id, environment, project_id: null, status: 'active', now: context.now() },
        ...{ after: null, limit: KEYS_MAX },
      });
      const keys = await viewKeys(context, found);
      const none = { rpm: null, tpm: null, concurrency: null };
      const lines: BudgetLine[] = [
        ...projects.map((project) => ({
          ...{ scope: 'project' as const, id: project.id, name: project.name },
          ...{ budget_micro: project.budget.monthly_micro, hard: project.budget.hard },
          spend_micro: project.spend_month_micro,
          paused_until: project.paused?.resumes_at ?? null,
          limits: none,
        })),
        ...keys.map((key) => ({
          ...{ scope: 'key' as const, id: key.id, name: key.name },
          ...{ budget_micro: key.budget.daily_micro, hard: key.budget.hard, spend_micro: null },
          paused_until: key.paused?.resumes_at ?? null,
          limits: key.limits,
        })),
      ];
      return { ...viewLimits(org), lines };
    }),
});
