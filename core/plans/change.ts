// Changes of plan by the organization itself: larger at once and paid for, smaller when the month ends.
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import {
  findOrg,
  lockOrg,
  monthOf,
  type Org,
  type Plan,
  type PlanId,
  type PlanTerms,
  planIn,
  readPlanTerms,
  schedulePlan,
  unschedulePlan,
} from '../orgs/index.ts';
import {
  availableMicro,
  beginCharge,
  closeIfMoved,
  FALLBACK,
  movePlan,
  settleCharge,
  tryAgain,
} from './charge.ts';
import { compareOffers, upgradePrice } from './fee.ts';
import { plansOf } from './notice.ts';
import { countUpgrades, findOpenCharge } from './store.ts';
import { type Charge, type ChargeKey, refOf } from './types.ts';

function conflict(state: string, message: string): ServiceError {
  return new ServiceError('state_conflict', message, { details: { state } });
}

/** While a month's fee waits for credit, the plan can be given up or its fee tried again, and nothing else. */
async function changeInGrace(
  context: Context,
  org: Org,
  { charge, plan_id }: { charge: Charge; plan_id: PlanId },
): Promise<ChargeKey | null> {
  if (plan_id === org.plan_id) {
    await tryAgain(context, org, charge);
    return charge;
  }
  if (plan_id !== FALLBACK)
    throw conflict('grace', 'The fee of this month is not paid yet. Add credits first, or change to payg.');
  await movePlan(context, org, { plan_id, reference: `${refOf(charge)}-given-up` });
  await closeIfMoved(context, { ...org, plan_id }, charge);
  return null;
}

/** Orders what the larger plan costs more for the rest of the month. */
async function beginUpgrade(
  context: Context,
  org: Org,
  { plans, plan_id }: { plans: readonly Plan[]; plan_id: PlanId },
): Promise<ChargeKey> {
  const at = context.now();
  const { period } = monthOf(at);
  const no = (await countUpgrades(context.db, { org_id: org.id, period })) + 1;
  const price = upgradePrice(planIn(plans, org.plan_id), planIn(plans, plan_id), at);
  const key = { org_id: org.id, period, no };
  await beginCharge(context, org, { ...key, plan_id, ...price });
  return key;
}

/** @throws ServiceError invalid_request where customers cannot choose that plan; a plan that one has is always allowed. */
function refuseHidden({ plan_id: present }: PlanTerms, plan: Plan): void {
  if (plan.public || plan.id === present) return;
  throw new ServiceError('invalid_request', 'This plan is by agreement. Write to support about it.', {
    param: 'plan_id',
  });
}

/** Decides the change and writes it down; the charge whose answer decides it, or null when it is done. */
async function begin(context: Context, org_id: Id<'org'>, plan_id: PlanId): Promise<ChargeKey | null> {
  const org = await lockOrg(context.db, org_id);
  if (org === null) throw notFound();
  const at = context.now();
  const terms = await readPlanTerms(context.db, org_id);
  const plans = await plansOf(context, terms, at);
  refuseHidden(terms, planIn(plans, plan_id));
  const open = await findOpenCharge(context.db, org_id);
  if (open?.status === 'pending')
    throw conflict('pending', 'Another change of plan is under way. Try again shortly.');
  if (open !== null) return changeInGrace(context, org, { charge: open, plan_id });
  if (plan_id === terms.plan_id) {
    await unschedulePlan(context.db, { org_id, at });
    return null;
  }
  if (compareOffers(planIn(plans, terms.plan_id), planIn(plans, plan_id)) === 'upgrade')
    return beginUpgrade(context, org, { plans, plan_id });
  await schedulePlan(context.db, { org_id, next_plan_id: plan_id, next_plan_at: monthOf(at).ends_at, at });
  return null;
}

async function refuseUnpaid(context: Context, org_id: Id<'org'>, charge: Charge): Promise<never> {
  const org = await findOrg(context.db, org_id);
  if (org === null) throw notFound();
  const available_micro = await availableMicro(context, org);
  if (available_micro >= charge.fee_micro)
    throw conflict(
      charge.status,
      'The month or the balance has changed meanwhile. Read the plan and ask again.',
    );
  throw new ServiceError(
    'insufficient_credits',
    'There are not enough credits for the plan. Add credits, then change it again.',
    { details: { required_micro: charge.fee_micro, available_micro } },
  );
}

/**
 * Puts the organization on plan `plan_id`: a larger one at once, for what it costs more until the month ends; a smaller one
 * from the next month on. Its own plan again takes back that another one follows, or tries an unpaid fee once more.
 * @throws ServiceError invalid_request, insufficient_credits, state_conflict; service_unavailable where the ledger does not
 * answer: the change stands and is made as soon as it does.
 */
export async function requestPlan(context: Context, org_id: Id<'org'>, plan_id: PlanId): Promise<void> {
  const key = await context.transaction((context) => begin(context, org_id, plan_id));
  if (key === null) return;
  const charge = await settleCharge(context, key);
  if (charge?.status === 'paid') return;
  if (charge === null || charge.status === 'pending') {
    throw new ServiceError(
      'service_unavailable',
      'The ledger does not answer. The change is recorded and is made as soon as it does.',
      { retry_after_ms: 5_000 },
    );
  }
  await refuseUnpaid(context, org_id, charge);
}
