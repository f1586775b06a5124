// The beginning of a month: the plan that was to follow applies, and the fee is taken. Nothing of it waits for a workflow.
import type { Context, Id } from '../kernel/index.ts';
import {
  listOnPlans,
  lockOrg,
  monthOf,
  type Plan,
  type PlanTerms,
  planIn,
  readPlans,
  readPlanTerms,
} from '../orgs/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';
import { beginCharge, movePlan, settleCharge } from './charge.ts';
import { isFree, monthlyPrice } from './fee.ts';
import { stepGrace } from './grace.ts';
import { plansOf, tellRises } from './notice.ts';
import { listCharged, listOverdue, listPending } from './store.ts';
import { type ChargeKey, refOf } from './types.ts';

const PAGE = 500;

/** The plan that follows and from when, where its time has come. */
function dueChange({ next_plan_id, next_plan_at }: PlanTerms, at: Date) {
  if (next_plan_id === null || next_plan_at === null || next_plan_at > at) return null;
  return { plan_id: next_plan_id, since: next_plan_at };
}

/**
 * Whether the month of `at` has a fee for who stands on these terms: for those on a plan since before the month. Who came
 * later has paid for the change or was put there by staff, who may have given this month too. One that is suspended cannot
 * use what it would pay for.
 */
function hasFee(
  terms: Pick<PlanTerms, 'plan_id' | 'since' | 'status' | 'free_until'>,
  { plans, at }: { plans: readonly Plan[]; at: Date },
): boolean {
  const { starts_at } = monthOf(at);
  if (terms.status !== 'active' || isFree(terms, starts_at)) return false;
  return monthlyPrice(planIn(plans, terms.plan_id)).fee_micro > 0 && terms.since <= starts_at;
}

/**
 * Begins the month that runs now for one organization, once: applies the plan that was to follow, writes the fee down,
 * orders it and starts its workflow. Months that passed before are not made up for. Returns whether anything was due.
 */
export async function openPeriod(context: Context, org_id: Id<'org'>): Promise<boolean> {
  const at = context.now();
  const key: ChargeKey = { org_id, period: monthOf(at).period, no: 0 };
  const is_due = await context.transaction(async (context) => {
    const org = await lockOrg(context.db, org_id);
    if (org === null || org.status === 'closed') return false;
    const terms = await readPlanTerms(context.db, org_id);
    const next = dueChange(terms, at);
    if (next !== null) await movePlan(context, org, { ...next, reference: `${refOf(key)}-next` });
    const present = { ...terms, ...next, ...(next === null ? {} : { free_until: null }) };
    const plans = await plansOf(context, present, at);
    if (!hasFee(present, { plans, at })) return next !== null;
    const { plan_id } = present;
    const price = monthlyPrice(planIn(plans, plan_id));
    const begun = await beginCharge(context, org, { ...key, plan_id, ...price });
    if (!begun) return next !== null;
    await startWorkflow(context.db, {
      ...{ workflow_id: refOf(key), type: 'planPeriod', at },
      args: { org_id, period: key.period },
    });
    return true;
  });
  if (is_due) await settleCharge(context, key);
  return is_due;
}

/** Does `work`, and says whether it did anything; what fails for one organization keeps no other waiting. */
async function alone(context: Context, org_id: Id<'org'>, work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    context.log.warn({ org_id, error }, 'plans: a step of a charge failed, it is tried again');
    return false;
  }
}

/** Draws what the ledger answered late, and ends the grace that is over, where no workflow runs to do so. */
async function settleOpen(context: Context): Promise<void> {
  for (const charge of await listPending(context.db, PAGE))
    await alone(context, charge.org_id, async () => (await settleCharge(context, charge)) !== null);
  for (const charge of await listOverdue(context.db, { at: context.now(), limit: PAGE }))
    await alone(context, charge.org_id, async () => {
      await stepGrace(context, charge);
      return true;
    });
}

/**
 * Begins the month for every organization for which it has not begun, and brings charges to their end that nobody else
 * does. A job.
 */
export async function openPeriods(context: Context): Promise<number> {
  const at = context.now();
  const { period } = monthOf(at);
  let opened = 0;
  await settleOpen(context);
  await tellRises(context);
  const plans = await readPlans(context.db, at);
  for (let after = ''; ; ) {
    const page = await listOnPlans(context.db, { after, limit: PAGE });
    const due = page.filter((terms) => dueChange(terms, at) !== null || hasFee(terms, { plans, at }));
    const org_ids = due.map(({ org_id }) => org_id);
    const charged = new Set(org_ids.length === 0 ? [] : await listCharged(context.db, { period, org_ids }));
    for (const terms of due) {
      if (charged.has(terms.org_id) && dueChange(terms, at) === null) continue;
      if (await alone(context, terms.org_id, () => openPeriod(context, terms.org_id))) opened++;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.org_id;
  }
  return opened;
}
