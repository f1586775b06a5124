// Projects and their budgets on the wire.
import { type Static, Type } from 'typebox';
import { idOf, lineOf, named, nullable, oneOf, Time } from '../kernel/index.ts';

export const projectStatuses = ['active', 'archived'] as const;
export const DEFAULT_ALERTS = [50, 80, 100] as const;

const closed = { additionalProperties: false } as const;
const Micro = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Limit = nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));
const LimitsIn = named(
  'ProjectLimitsInput',
  Type.Object(
    { rpm: Type.Optional(Limit), tpm: Type.Optional(Limit), concurrency: Type.Optional(Limit) },
    closed,
  ),
);
const Alerts = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), { maxItems: 10, uniqueItems: true });

/** Why calls are refused, since when, and when they go on by themselves. */
const Paused = named(
  'Paused',
  Type.Object({ reason: Type.Literal('budget'), since: Time, resumes_at: Time }),
);

export const ProjectView = named(
  'Project',
  Type.Object({
    id: idOf('project'),
    org_id: idOf('org'),
    slug: Type.String(),
    name: Type.String(),
    environment: oneOf(['live', 'test'], 'Environment'),
    status: oneOf(projectStatuses, 'ProjectStatus'),
    budget: Type.Object({
      monthly_micro: nullable(Type.Integer({ description: 'micro-USD of a UTC month; null: no budget' })),
      hard: Type.Boolean({ description: 'calls beyond it are refused; else only events are sent' }),
    }),
    limits: Type.Object(
      { rpm: Limit, tpm: Limit, concurrency: Limit },
      { description: 'of all its keys together; null: those of each key and of the plan alone' },
    ),
    alerts: Type.Array(Type.Integer(), { description: 'percentages at which `budget.threshold` is sent' }),
    paused: nullable(Paused),
    spend_today_micro: Type.Integer({ description: 'of all its keys this UTC day' }),
    spend_month_micro: Type.Integer({ description: 'of calls that began in this UTC month' }),
    managed_by: nullable(Type.String({ description: 'the Kubernetes object that keeps it' })),
    created_at: Time,
  }),
);
export type ProjectView = Static<typeof ProjectView>;

export const projectExample = {
  id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  slug: 'default',
  name: 'default',
  environment: 'live',
  status: 'active',
  budget: { monthly_micro: 500_000_000, hard: true },
  limits: { rpm: 1_200, tpm: null, concurrency: null },
  alerts: [50, 80, 100],
  paused: null,
  spend_today_micro: 1_204_117,
  spend_month_micro: 41_022_000,
  managed_by: null,
  created_at: '2026-11-21T10:00:00.000Z',
} satisfies ProjectView;

export const CreateProjectInput = Type.Object({
  slug: Type.String({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$' }),
  name: lineOf(120),
  environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
  budget: Type.Optional(
    named(
      'ProjectBudgetInput',
      Type.Object(
        { monthly_micro: Type.Optional(nullable(Micro)), hard: Type.Optional(Type.Boolean()) },
        closed,
      ),
    ),
  ),
  limits: Type.Optional(nullable(LimitsIn)),
  alerts: Type.Optional(Alerts),
});
export type CreateProjectInput = Static<typeof CreateProjectInput>;

export const PatchProjectInput = Type.Object({
  id: idOf('project'),
  name: Type.Optional(lineOf(120)),
  budget: Type.Optional(
    nullable(
      named(
        'ProjectBudgetPatch',
        Type.Object(
          { monthly_micro: Type.Optional(nullable(Micro)), hard: Type.Optional(nullable(Type.Boolean())) },
          closed,
        ),
      ),
    ),
  ),
  limits: Type.Optional(nullable(LimitsIn)),
  alerts: Type.Optional(nullable(Alerts)),
});
export type PatchProjectInput = Static<typeof PatchProjectInput>;
