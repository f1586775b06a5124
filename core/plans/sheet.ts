// Staff change what plans cost and allow. Limits and words hold at once; a fee, the credit that comes with it and its days of
// grace hold from the beginning of a month on, so that a month that runs keeps the terms it began with.
import { type Static, Type } from 'typebox';
import { writeSetting } from '../db/index.ts';
import { writeAudit } from '../identity/index.ts';
import { type Context, invalid, lineOf, nullable, oneOf, operation, ServiceError } from '../kernel/index.ts';
import {
  monthOf,
  type Plan,
  type PlanFee,
  type PlanId,
  type PlanLimits,
  PlanOfferView,
  type PlanWords,
  planExample,
  planIds,
  planIn,
  plansAt,
  readPlansSetting,
} from '../orgs/index.ts';
import { FALLBACK } from './charge.ts';
import { riseBegins } from './notice.ts';
import { announceLimits, countOnPlans, hasPlanNow, lockSheet } from './store.ts';

const COUNT_MAX = 1_000_000_000;
/** A million dollars a month, in cents. */
const FEE_MAX_MINOR = 100_000_000;
/** A month's fee is paid or lapses well before the next one. */
const GRACE_DAYS_MAX = 20;

/** What is left out stays; a limit that is null is none. */
export interface SheetChange extends PlanFee, PlanWords {
  readonly plan_id: PlanId;
  /** First day of the month that the fee begins with; the next one when absent. */
  readonly from?: string;
  readonly limits?: Partial<PlanLimits>;
  readonly reason: string;
}

/** A change by when its parts hold. */
interface Parted {
  readonly plan_id: PlanId;
  readonly from: string | undefined;
  readonly fee: PlanFee;
  readonly limits: Partial<PlanLimits>;
  readonly words: PlanWords;
}

function parted({ plan_id, from, limits = {}, reason: _, ...rest }: SheetChange): Parted {
  const { monthly_minor, included_micro, grace_days, ...words } = rest;
  const fee = { monthly_minor, included_micro, grace_days };
  const given = Object.fromEntries(Object.entries(fee).filter(([, value]) => value !== undefined));
  return { plan_id, from, fee: given, limits, words };
}

const isEmpty = (facts: object): boolean => Object.keys(facts).length === 0;

/** @throws ServiceError invalid_request for what a plan cannot be. */
function check({ plan_id, from, fee, limits, words }: Parted): void {
  if (isEmpty(fee) && isEmpty(limits) && isEmpty(words))
    throw invalid('', 'missing', 'Nothing to change: name a fee, a limit or a word.');
  if (isEmpty(fee) && from !== undefined)
    throw invalid('from', 'unsupported', 'Only a fee begins with a month; limits and words hold at once.');
  const [param] = Object.keys(fee);
  if (param !== undefined && plan_id === FALLBACK)
    throw invalid(param, 'unsupported', 'Who does not pay for another plan is on this one: it has no fee.');
  if (param !== undefined && plan_id === 'enterprise')
    throw invalid(param, 'unsupported', 'The fee of this plan is by agreement, and not taken from credits.');
  if (plan_id === FALLBACK && words.public === false)
    throw invalid('public', 'unsupported', 'Everybody can be on this plan.');
}

/**
 * The first day of the month that a fee begins with. The month that runs can be named as long as nobody has the plan.
 * @throws ServiceError invalid_request, state_conflict.
 */
async function beginOf(context: Context, { plan_id, from }: Parted): Promise<string> {
  const { period, ends_at } = monthOf(context.now());
  const next = monthOf(ends_at).period;
  if (from === undefined) return next;
  if (!/^\d{4}-(0[1-9]|1[0-2])-01$/.test(from))
    throw invalid('from', 'pattern', 'A fee begins with a month: name its first day.');
  if (from < period) throw invalid('from', 'range', 'That month is over.');
  if (from === period && (await hasPlanNow(context.db, { plan_id, period }))) {
    const words = `Somebody has this plan: its fee of this month stays. From ${next} on it can change.`;
    throw new ServiceError('state_conflict', words, { param: 'from', details: { state: 'in_use' } });
  }
  return from;
}

/** What a change leaves of a plan, as the audit log has it. */
function factsOf(plan: Plan): Record<string, unknown> {
  const { id: _id, currency: _currency, features: _features, sort: _sort, ...facts } = plan;
  return facts;
}

/**
 * Changes the sheet of plans for everybody. Gateways follow a limit within a second; a month that runs keeps its fee.
 * @throws ServiceError invalid_request, state_conflict.
 */
export function changeSheet(context: Context, wanted: SheetChange): Promise<void> {
  return context.transaction(async (context) => {
    const { db } = context;
    const change = parted(wanted);
    const { plan_id, fee } = change;
    check(change);
    await lockSheet(db);
    const at = context.now();
    const before = await readPlansSetting(db);
    const begin = isEmpty(fee) ? null : await beginOf(context, change);
    const added = begin === null ? [] : [{ from: begin, plan_id, fee }];
    const after = {
      words: { ...before.words, [plan_id]: { ...before.words[plan_id], ...change.words } },
      limits: { ...before.limits, [plan_id]: { ...before.limits[plan_id], ...change.limits } },
      // The sort is stable: of two with one day the later one counts.
      fees: [...before.fees, ...added].sort((a, b) => a.from.localeCompare(b.from)),
    };
    await writeSetting(db, { name: 'plans', value: after, at });
    if (!isEmpty(change.limits)) await announceLimits(db, plan_id);
    const seen = begin === null ? at : new Date(begin);
    await writeAudit(context, {
      ...{ action: 'staff.plans.set', org_id: null, reason: wanted.reason },
      target: { type: 'plan', id: plan_id, ...(begin === null ? {} : { display: `from ${begin}` }) },
      before: factsOf(planIn(plansAt(before, seen), plan_id)),
      after: factsOf(planIn(plansAt(after, seen), plan_id)),
    });
  });
}

const Fee = {
  monthly_minor: Type.Integer({ minimum: 1, maximum: FEE_MAX_MINOR }),
  included_micro: Type.Integer({ minimum: 0, maximum: FEE_MAX_MINOR * 10_000 }),
  grace_days: Type.Integer({ minimum: 0, maximum: GRACE_DAYS_MAX }),
};

export const SheetView = Type.Object({
  plans: Type.Array(PlanOfferView),
  coming: Type.Array(
    Type.Object({
      plan_id: oneOf(planIds, 'PlanId'),
      from: Type.String({ format: 'date' }),
      monthly_minor: nullable(Fee.monthly_minor),
      included_micro: nullable(Fee.included_micro),
      grace_days: nullable(Fee.grace_days),
    }),
    { description: 'what changes with a coming month; null: stays' },
  ),
  on_plans: Type.Array(Type.Object({ plan_id: oneOf(planIds, 'PlanId'), orgs: Type.Integer() }), {
    description: 'how many organizations that are not closed are on each plan',
  }),
  period: Type.String({ format: 'date', description: 'first day of the month that runs' }),
  rise_begins_on: Type.String({
    format: 'date',
    description: 'first month from which who has a plan can pay more, if that is decided now',
  }),
});
export type SheetView = Static<typeof SheetView>;

/** The plans as they are, and what changes with coming months. */
export async function viewSheet(context: Context): Promise<SheetView> {
  const at = context.now();
  const setting = await readPlansSetting(context.db);
  const { period } = monthOf(at);
  return {
    plans: plansAt(setting, at).map((plan) => ({ ...plan, limits: { ...plan.limits } })),
    coming: setting.fees
      .filter(({ from }) => from > period)
      .map(({ from, plan_id, fee }) => ({
        ...{ plan_id, from, monthly_minor: fee.monthly_minor ?? null },
        ...{ included_micro: fee.included_micro ?? null, grace_days: fee.grace_days ?? null },
      })),
    on_plans: await countOnPlans(context.db),
    period,
    rise_begins_on: riseBegins(at),
  };
}

const coming = { plan_id: 'team', from: '2026-12-01', monthly_minor: 5_900 } as const;
const example = {
  plans: [planExample],
  coming: [{ ...coming, included_micro: 55_000_000, grace_days: null }],
  on_plans: [{ plan_id: 'team' as const, orgs: 12 }],
  period: '2026-11-01',
  rise_begins_on: '2027-01-01',
};

export const getSheetOperation = operation({
  name: 'staff.plans.get',
  method: 'GET',
  path: '/staff/plans',
  summary: 'Read the sheet of plans, and what changes with coming months',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({}),
  output: SheetView,
  errors: [],
  example,
  run: viewSheet,
});

const Bound = Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: COUNT_MAX })));

export const setSheetOperation = operation({
  name: 'staff.plans.set',
  method: 'POST',
  path: '/staff/plans/:plan_id',
  summary: 'Change a plan for everybody: limits and words at once, its fee from the beginning of a month on',
  audience: { kind: 'staff', roles: ['finance'] },
  input: Type.Object({
    plan_id: oneOf(planIds, 'PlanId'),
    from: Type.Optional(
      Type.String({ format: 'date', description: 'first day of a month; the next one when absent' }),
    ),
    monthly_minor: Type.Optional(Fee.monthly_minor),
    included_micro: Type.Optional(Fee.included_micro),
    grace_days: Type.Optional(Fee.grace_days),
    limits: Type.Optional(
      Type.Object(
        { rpm: Bound, tpm: Bound, concurrency: Bound, keys: Bound, projects: Bound },
        { description: 'what is left out stays; null: no bound' },
      ),
    ),
    name: Type.Optional(lineOf(60)),
    description: Type.Optional(lineOf(200)),
    public: Type.Optional(Type.Boolean({ description: 'false: staff alone put an organization on it' })),
    reason: lineOf(500),
  }),
  output: SheetView,
  errors: ['state_conflict'],
  request: { monthly_minor: 5_900, included_micro: 55_000_000, reason: 'the price list of 2027' },
  example,
  async run(context, change) {
    await changeSheet(context, change as SheetChange);
    return viewSheet(context);
  },
});

export const sheetOperations = [getSheetOperation, setSheetOperation] as const;
