// Wire shapes of the keys routes.
import { type Static, Type } from 'typebox';
import { documented, idOf, lineOf, named, nullable, oneOf, scopes, Time, TimeIn } from '../kernel/index.ts';
import { svcVersions } from './rights.ts';

export const keyStatuses = ['active', 'rotating', 'blocked', 'revoked', 'expired'] as const;

const Scopes = Type.Array(oneOf(scopes, 'Scope'), {
  minItems: 1,
  maxItems: scopes.length,
  uniqueItems: true,
});
const Limit = nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));
const closed = { additionalProperties: false } as const;
const LimitsIn = named(
  'KeyLimitsInput',
  Type.Object(
    { rpm: Type.Optional(Limit), tpm: Type.Optional(Limit), concurrency: Type.Optional(Limit) },
    closed,
  ),
);
const BudgetIn = named(
  'KeyBudgetInput',
  Type.Object(
    {
      daily_micro: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
      hard: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
);
const Alerts = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), { maxItems: 10, uniqueItems: true });
const Regions = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 100 });
const Policy = named(
  'KeyDataPolicy',
  Type.Object(
    {
      logging: Type.Optional(oneOf(['on', 'off'], 'OnOff')),
      zdr: Type.Optional(Type.Boolean()),
      no_train: Type.Optional(Type.Boolean()),
      regions: Type.Optional(Regions),
    },
    closed,
  ),
);
const BudgetPatch = named(
  'KeyBudgetPatch',
  Type.Object(
    { daily_micro: BudgetIn.properties.daily_micro, hard: Type.Optional(nullable(Type.Boolean())) },
    closed,
  ),
);
const PolicyPatch = named(
  'KeyDataPolicyPatch',
  Type.Object(
    {
      logging: Type.Optional(nullable(oneOf(['on', 'off'], 'OnOff'))),
      zdr: Type.Optional(nullable(Type.Boolean())),
      no_train: Type.Optional(nullable(Type.Boolean())),
      regions: Type.Optional(nullable(Regions)),
    },
    closed,
  ),
);
const Version = named(
  'SvcVersion',
  documented(Type.String({ description: 'API version, YYYY-MM-DD' }), { enum: [...svcVersions] }),
);
/** Whole hours of 1 to 17,520, two years. */
const HOURS = '^(?:[1-9]\\d{0,3}|1[0-6]\\d{3}|17[0-4]\\d{2}|175[01]\\d|17520)h$';

/** What a key may spend a day, micro-USD; null: no bound. */
export const KeyBudget = named(
  'KeyBudget',
  Type.Object({ daily_micro: nullable(Type.Integer()), hard: Type.Boolean() }),
);

export const KeyView = named(
  'Key',
  Type.Object({
    id: idOf('key'),
    project_id: idOf('project'),
    name: Type.String(),
    hint: Type.String({ description: 'prefix and last four characters of the secret' }),
    environment: oneOf(['live', 'test'], 'Environment'),
    scopes: Type.Array(oneOf(scopes, 'Scope')),
    status: oneOf(keyStatuses, 'KeyStatus'),
    limits: Type.Object({ rpm: Limit, tpm: Limit, concurrency: Limit }),
    budget: KeyBudget,
    alerts: Alerts,
    svc_version: Version,
    data_policy: nullable(Policy),
    paused: nullable(Type.Object({ reason: Type.Literal('budget'), since: Time, resumes_at: Time })),
    created_by: nullable(Type.String()),
    managed_by: nullable(Type.String()),
    rotated_from: nullable(Type.String()),
    created_at: Time,
    last_used_at: nullable(Time),
    expires_at: nullable(Time),
    revoked_at: nullable(Time),
  }),
);
export type KeyView = Static<typeof KeyView>;

/** A key with its secret: the answer that makes it, and no other. */
export const KeyWithSecret = named(
  'KeyWithSecret',
  Type.Intersect([KeyView, Type.Object({ secret: Type.String({ description: 'shown once' }) })]),
);

export const CreateKeyInput = Type.Object({
  project_id: idOf('project'),
  name: lineOf(120),
  scopes: Scopes,
  environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
  limits: Type.Optional(nullable(LimitsIn)),
  budget: Type.Optional(nullable(BudgetIn)),
  alerts: Type.Optional(Alerts),
  expires_in: Type.Optional(Type.String({ pattern: HOURS, description: 'whole hours, 1h to 17520h' })),
  svc_version: Type.Optional(Version),
  data_policy: Type.Optional(nullable(Policy)),
  service: Type.Optional(
    Type.Boolean({
      description:
        'bound to nobody: keeps its scopes whatever role its maker has later, and shows no created_by; owners and admins',
    }),
  ),
});

/** JSON merge patch (RFC 7396): absent is unchanged, null is the default where there is one. */
export const PatchKeyInput = Type.Object({
  id: idOf('key'),
  name: Type.Optional(lineOf(120)),
  scopes: Type.Optional(Scopes),
  limits: Type.Optional(nullable(LimitsIn)),
  budget: Type.Optional(nullable(BudgetPatch)),
  alerts: Type.Optional(nullable(Alerts)),
  expires_at: Type.Optional(
    Type.Union([TimeIn, Type.Null()], { description: 'a time to come; null: the key does not expire' }),
  ),
  svc_version: Type.Optional(nullable(Version)),
  data_policy: Type.Optional(nullable(PolicyPatch)),
});
export type PatchKeyInput = Static<typeof PatchKeyInput>;

export const keyExample = {
  id: 'key_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  project_id: 'prj_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  name: 'checkout service',
  hint: 'svc-live-...DVvb',
  environment: 'live',
  scopes: ['inference'],
  status: 'active',
  limits: { rpm: 120, tpm: null, concurrency: null },
  budget: { daily_micro: 5_000_000, hard: true },
  alerts: [50, 80, 100],
  svc_version: '2026-09-09',
  data_policy: null,
  paused: null,
  created_by: null,
  managed_by: null,
  rotated_from: null,
  created_at: '2026-11-21T10:00:00.000Z',
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
} satisfies KeyView;
