// A plan on the wire: on the pricing sheet, and where an organization reads its own.
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf } from '../kernel/index.ts';
import { planIds } from './plans.ts';

const Bound = nullable(Type.Integer());

export const PlanOfferView = named(
  'PlanOffer',
  Type.Object({
    id: oneOf(planIds, 'PlanId'),
    name: Type.String(),
    monthly_minor: nullable(
      Type.Integer({ description: 'fee of a UTC month, taken from credits; null: by agreement' }),
    ),
    currency: Type.String(),
    included_micro: nullable(
      Type.Integer({ description: 'credit that comes with the fee and ends with the month' }),
    ),
    grace_days: Type.Integer({ description: 'how long an unpaid fee is tried again before the plan ends' }),
    limits: Type.Object({
      rpm: nullable(Type.Integer({ description: 'calls a minute' })),
      tpm: nullable(Type.Integer({ description: 'tokens a minute' })),
      concurrency: Bound,
      keys: Bound,
      projects: Bound,
    }),
    features: Type.Object({
      hedging: Type.Boolean(),
      sso: Type.Boolean(),
      scim: Type.Boolean(),
      audit_export: Type.Boolean(),
    }),
    description: Type.String(),
    public: Type.Boolean({ description: 'false: staff alone put an organization on it' }),
    sort: Type.Integer(),
  }),
);

/** What the documentation shows. */
export const planExample = {
  id: 'team',
  name: 'Team',
  monthly_minor: 4_900,
  currency: 'USD',
  included_micro: 45_000_000,
  grace_days: 3,
  limits: { rpm: 1_500, tpm: 5_000_000, concurrency: 100, keys: 100, projects: 25 },
  features: { hedging: false, sso: true, scim: true, audit_export: true },
  description: 'For a team in production, with credit each month.',
  public: true,
  sort: 2,
} satisfies Static<typeof PlanOfferView>;
