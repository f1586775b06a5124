// From a charge to its end. The ledger may be another database, so a charge is written down with its order, the ledger
// carries it out after the commit, and what became of it is drawn from its answer, once, under the organization's lock.
import { findBillingMailboxes } from '../identity/index.ts';
import type { Context } from '../kernel/index.ts';
import { orderPlanCharge, planChargeOutcome, readBalance } from '../ledger/index.ts';
import { sendMail } from '../mail/index.ts';
import {
  changePlan,
  findOrg,
  lockOrg,
  monthOf,
  type Org,
  type PlanId,
  planIn,
  readPlans,
} from '../orgs/index.ts';
import { formatCredits } from '../topups/index.ts';
import { monthlyPrice } from './fee.ts';
import { askAgain, closeCharge, findCharge, insertCharge, keepInGrace } from './store.ts';
import { type Charge, type ChargeKey, refOf } from './types.ts';

const DAY_MS = 86_400_000;
/** The plan of those who do not pay for another. */
export const FALLBACK: PlanId = 'payg';

/** A charge as it is asked for. */
type NewCharge = Pick<Charge, 'org_id' | 'period' | 'no' | 'plan_id' | 'fee_micro' | 'included_micro'>;

function endOf({ period }: ChargeKey): Date {
  return monthOf(new Date(period)).ends_at;
}

async function orderIt(context: Context, org: Org, charge: NewCharge & { tries: number }): Promise<void> {
  await orderPlanCharge(context, org.shard, {
    ...{ book_id: org.live_book_id, ref_id: refOf(charge), attempt: charge.tries },
    ...{ fee_micro_usd: charge.fee_micro, included_micro_usd: charge.included_micro },
    ends_at: endOf(charge),
  });
}

/**
 * Writes a charge down and orders it, inside a transaction that holds the lock of `org`; false, and nothing, when there is
 * one of that name or another one is open.
 */
export async function beginCharge(context: Context, org: Org, charge: NewCharge): Promise<boolean> {
  if (!(await insertCharge(context.db, { ...charge, at: context.now() }))) return false;
  await orderIt(context, org, { ...charge, tries: 1 });
  return true;
}

/** Asks the ledger once more for a charge that is in its days of grace; under the lock of `org`. */
export async function tryAgain(context: Context, org: Org, charge: Charge): Promise<void> {
  await askAgain(context.db, charge);
  await orderIt(context, org, { ...charge, tries: charge.tries + 1 });
}

/** Puts `org` on a plan, with the event and a mail; under its lock. `reference` names the change, once. */
export async function movePlan(
  context: Context,
  org: Org,
  { reference, ...to }: { plan_id: PlanId; reference: string; since?: Date; free_until?: Date | null },
): Promise<void> {
  const { plan_id } = to;
  await changePlan(context, org, to);
  const plans = await readPlans(context.db, context.now());
  const offer = planIn(plans, plan_id);
  await sendMail(context, {
    template: 'plan_changed',
    to: await findBillingMailboxes(context.db, org.id),
    org_id: org.id,
    reference,
    data: {
      ...{ org: org.name, slug: org.slug, plan: offer.name, previous: planIn(plans, org.plan_id).name },
      fee: offer.monthly_minor === null ? 'by agreement' : formatCredits(monthlyPrice(offer).fee_micro),
    },
  });
}

async function mailGrace(context: Context, org: Org, charge: Charge, until: Date): Promise<void> {
  const plans = await readPlans(context.db, context.now());
  const balance = await readBalance(context.shards.at(org.shard), org.live_book_id);
  await sendMail(context, {
    template: 'plan_grace',
    to: await findBillingMailboxes(context.db, org.id),
    org_id: org.id,
    reference: `${refOf(charge)}-${charge.mails + 1}`,
    data: {
      ...{ org: org.name, slug: org.slug, plan: planIn(plans, charge.plan_id).name },
      ...{ fee: formatCredits(charge.fee_micro), available: formatCredits(balance.available_micro_usd) },
      ...{ ends_at: until.toISOString(), falls_to: planIn(plans, FALLBACK).name },
    },
  });
}

/**
 * Ends a charge that was not paid. Its plan ends with it, unless the month has: then the next one is charged for itself.
 * Under the lock of `org`.
 */
export async function lapse(context: Context, org: Org, charge: Charge): Promise<void> {
  const at = context.now();
  await closeCharge(context.db, charge, { status: 'lapsed', at });
  if (org.plan_id !== charge.plan_id || org.status === 'closed' || at >= endOf(charge)) return;
  await movePlan(context, org, { plan_id: FALLBACK, reference: `${refOf(charge)}-lapsed` });
}

/** Ends a charge whose organization has another plan by now, or none; false where it has not. Under the lock of `org`. */
export async function closeIfMoved(context: Context, org: Org, charge: Charge): Promise<boolean> {
  if (org.plan_id === charge.plan_id && org.status !== 'closed') return false;
  await closeCharge(context.db, charge, { status: 'lapsed', at: context.now() });
  return true;
}

/** Until when a charge waits for credit: for as long as its plan did when the month began, and not beyond the month. */
async function graceEnd(context: Context, charge: Charge): Promise<Date> {
  const plan = planIn(await readPlans(context.db, new Date(charge.period)), charge.plan_id);
  const end_ms = charge.created_at.getTime() + plan.grace_days * DAY_MS;
  return new Date(Math.min(end_ms, endOf(charge).getTime()));
}

/**
 * Keeps a month's charge open that the credit did not cover for the days of grace of its plan, with a mail on each; after
 * that it lapses. Under the lock of `org`.
 */
export async function waitForCredit(context: Context, org: Org, charge: Charge): Promise<void> {
  const at = context.now();
  const began_ms = charge.created_at.getTime();
  const until = charge.grace_until ?? (await graceEnd(context, charge));
  if (at >= until) return lapse(context, org, charge);
  const is_due = at.getTime() >= began_ms + charge.mails * DAY_MS;
  if (is_due) await mailGrace(context, org, charge, until);
  await keepInGrace(context.db, charge, { grace_until: until, mails: charge.mails + Number(is_due) });
}

/** Draws what follows from the ledger's answer; under the lock of `org`. */
async function conclude(
  context: Context,
  org: Org,
  charge: Charge,
  answer: 'taken' | 'refused' | 'over',
): Promise<void> {
  const at = context.now();
  const is_upgrade = charge.no > 0;
  if (answer === 'taken') {
    await closeCharge(context.db, charge, { status: 'paid', at });
    if (is_upgrade) await movePlan(context, org, { plan_id: charge.plan_id, reference: refOf(charge) });
  } else if (is_upgrade) await closeCharge(context.db, charge, { status: 'refused', at });
  else if (answer === 'over') await closeCharge(context.db, charge, { status: 'lapsed', at });
  else await waitForCredit(context, org, charge);
}

/** The organization of a charge, locked, and the charge as it stands. @throws Error when either is missing. */
export async function lockCharge(context: Context, key: ChargeKey): Promise<{ org: Org; charge: Charge }> {
  const org = await lockOrg(context.db, key.org_id);
  const charge = await findCharge(context.db, key);
  if (org === null || charge === null) throw new Error(`there is no charge ${refOf(key)}`);
  return { org, charge };
}

/**
 * Brings a charge to what the ledger has answered, after the transaction that asked it; again it does nothing. Returns the
 * charge, `pending` as long as the ledger does not answer; null when there is none.
 */
export async function settleCharge(context: Context, key: ChargeKey): Promise<Charge | null> {
  const before = await findCharge(context.db, key);
  if (before === null || before.status !== 'pending') return before;
  const org = await findOrg(context.db, key.org_id);
  if (org === null) return before;
  const { live_book_id: book_id } = org;
  const answer = await planChargeOutcome(context, { book_id, ref_id: refOf(key), attempt: before.tries });
  if (answer === null) return before;
  return context.transaction(async (context) => {
    const { org, charge } = await lockCharge(context, key);
    if (charge.status !== 'pending' || charge.tries !== before.tries) return charge;
    await conclude(context, org, charge, answer.status);
    return findCharge(context.db, key);
  });
}

/** What of the credit of `org` no call holds, in micro-USD, as the ledger says now. */
export async function availableMicro(
  context: Context,
  org: Pick<Org, 'shard' | 'live_book_id'>,
): Promise<number> {
  return (await readBalance(context.shards.at(org.shard), org.live_book_id)).available_micro_usd;
}
