// The plan of an organization as it is shown, with what every change would cost now.
import { type Static, Type } from 'typebox';
import { type Context, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { readLots } from '../ledger/index.ts';
import {
  monthOf,
  type Org,
  type Plan,
  PlanOfferView,
  type PlanTerms,
  planExample,
  planIds,
  planIn,
  readPlanTerms,
} from '../orgs/index.ts';
import { FALLBACK } from './charge.ts';
import { compareOffers, isFree, monthlyPrice, upgradePrice } from './fee.ts';
import { comingRise, plansOf } from './notice.ts';
import { findOpenCharge } from './store.ts';
import type { Charge } from './types.ts';

/** `keep` is the present plan: it takes back that another one follows, or tries a fee again that is not paid. */
export const changeKinds = ['upgrade', 'downgrade', 'keep'] as const;

export const PlanChangeView = named(
  'PlanChange',
  Type.Object({
    plan: PlanOfferView,
    kind: oneOf(changeKinds, 'PlanChangeKind'),
    effective_at: Time,
    fee_micro: Type.Integer({ description: 'taken from the credits now' }),
    included_micro: Type.Integer({ description: 'credit that comes now and ends with the month' }),
  }),
);
type PlanChangeView = Static<typeof PlanChangeView>;

export const OrgPlanView = named(
  'OrganizationPlan',
  Type.Object({
    plan: PlanOfferView,
    since: Time,
    period_start: Time,
    period_end: Time,
    next_plan_id: nullable(oneOf(planIds, 'PlanId')),
    next_charge_micro: Type.Integer({ description: 'taken when the next month begins' }),
    free_until: nullable(
      Type.String({
        format: 'date-time',
        description: 'months that begin before have no fee and bring no credit: staff gave them',
      }),
    ),
    coming_rise: nullable(
      Type.Object(
        {
          begins_at: Time,
          fee_micro: Type.Integer({ description: 'of a month, from then on' }),
          included_micro: Type.Integer(),
        },
        { description: 'the fee rises, and the organization was told by mail; null: none is to come' },
      ),
    ),
    included_left_micro: Type.Integer({ description: 'what is left of the included credit of this month' }),
    grace: nullable(
      Type.Object(
        { fee_micro: Type.Integer(), until: Time },
        { description: 'the fee of this month is not paid: when the plan ends, unless there is credit' },
      ),
    ),
    changes: Type.Array(PlanChangeView, {
      description: 'plans that can be chosen, and what each costs today',
    }),
  }),
);
export type OrgPlanView = Static<typeof OrgPlanView>;

/** What the documentation shows. */
export const orgPlanExample = {
  plan: planExample,
  since: '2026-11-21T10:00:00.000Z',
  period_start: '2026-11-01T00:00:00.000Z',
  period_end: '2026-12-01T00:00:00.000Z',
  next_plan_id: null,
  next_charge_micro: 49_000_000,
  free_until: null,
  coming_rise: null,
  included_left_micro: 15_000_000,
  grace: null,
  changes: [],
} satisfies OrgPlanView;

const NOTHING = { fee_micro: 0, included_micro: 0 };

/** The plans of the sheet: as they are now, and as they will be when the month has ended. */
interface Sheets {
  readonly now: readonly Plan[];
  readonly next: readonly Plan[];
}

/** The changes that an organization can ask for at `at` whose fee is paid. */
function changesFrom(
  { now: plans, next }: Sheets,
  { present, next_plan_id, at }: { present: Plan; next_plan_id: string | null; at: Date },
): PlanChangeView[] {
  const [now, later] = [at.toISOString(), monthOf(at).ends_at.toISOString()];
  return plans.flatMap((plan): PlanChangeView[] => {
    if (plan.id === present.id)
      return next_plan_id === null ? [] : [{ plan, kind: 'keep', effective_at: now, ...NOTHING }];
    if (!plan.public) return [];
    const kind = compareOffers(present, plan);
    if (kind === 'downgrade') return [{ plan: planIn(next, plan.id), kind, effective_at: later, ...NOTHING }];
    return [{ plan, kind, effective_at: now, ...upgradePrice(present, plan, at) }];
  });
}

/** Those of one whose fee waits for credit: it is tried again, or the plan is given up at once. */
function changesInGrace(plans: readonly Plan[], charge: Charge, at: Date): PlanChangeView[] {
  const { fee_micro, included_micro } = charge;
  const effective_at = at.toISOString();
  return plans.flatMap((plan): PlanChangeView[] => {
    if (plan.id === charge.plan_id) return [{ plan, kind: 'keep', effective_at, fee_micro, included_micro }];
    return plan.id === FALLBACK ? [{ plan, kind: 'downgrade', effective_at, ...NOTHING }] : [];
  });
}

/** What is left of the credit that plans brought this month; credit that has ended is left out before it is booked so. */
async function includedLeft(context: Context, org: Org, at: Date): Promise<number> {
  const lots = await readLots(context.shards.at(org.shard), { book_id: org.live_book_id, open: true });
  return lots
    .filter(({ source_type, expires_at }) => source_type === 'plan' && expires_at !== null && expires_at > at)
    .reduce((sum, lot) => sum + lot.remaining_micro_usd, 0);
}

/** What is taken when the month ends: the fee of the plan that follows, else of the present one where it is not given. */
function nextCharge(next: Sheets['next'], terms: PlanTerms, ends_at: Date): number {
  if (terms.next_plan_id === null && isFree(terms, ends_at)) return 0;
  return monthlyPrice(planIn(next, terms.next_plan_id ?? terms.plan_id)).fee_micro;
}

/** The rise as it is shown. */
function viewRise(rise: Awaited<ReturnType<typeof comingRise>>): OrgPlanView['coming_rise'] {
  return rise && { begins_at: rise.begins_at.toISOString(), ...monthlyPrice(rise.plan) };
}

/** The plan of `org`. */
export async function viewPlan(context: Context, org: Org): Promise<OrgPlanView> {
  const at = context.now();
  const terms = await readPlanTerms(context.db, org.id);
  const open = await findOpenCharge(context.db, org.id);
  const { starts_at, ends_at } = monthOf(at);
  const sheets = { now: await plansOf(context, terms, at), next: await plansOf(context, terms, ends_at) };
  const plan = planIn(sheets.now, terms.plan_id);
  return {
    plan,
    since: terms.since.toISOString(),
    period_start: starts_at.toISOString(),
    period_end: ends_at.toISOString(),
    next_plan_id: terms.next_plan_id,
    next_charge_micro: nextCharge(sheets.next, terms, ends_at),
    free_until: terms.free_until !== null && terms.free_until > at ? terms.free_until.toISOString() : null,
    coming_rise: viewRise(await comingRise(context, terms, at)),
    included_left_micro: await includedLeft(context, org, at),
    grace:
      open?.grace_until == null ? null : { fee_micro: open.fee_micro, until: open.grace_until.toISOString() },
    changes:
      open?.grace_until == null
        ? changesFrom(sheets, { present: plan, next_plan_id: terms.next_plan_id, at })
        : changesInGrace(sheets.now, open, at),
  };
}
