// What a rail lists and we may not have heard of: payments, refunds and disputes whose events never came. Each is booked by
// the function that its event would have called.
import type { Context } from '../kernel/index.ts';
import { takeDisputeFact, takeRefundFact } from '../refunds/index.ts';
import {
  type DisputeFact,
  noteFee,
  type Rail,
  type RailPayment,
  type RefundFact,
  takeNamed,
} from '../topups/index.ts';
import { isPaymentAsked, knownPayments, knownStates } from './store.ts';
import type { Finding } from './types.ts';

/** A finding about something at `rail`. */
export function findingOf(
  rail: Pick<Rail, 'name'>,
  kind: Finding['kind'],
  ref: string,
  details: Finding['details'],
): Finding {
  return { kind, subject: `${rail.name} ${ref}`, details: { rail: rail.name, ...details } };
}

async function takeBy(
  context: Context,
  rail: Rail,
  paid: RailPayment,
  names: Pick<RailPayment, 'order_ref' | 'topup_id'>,
) {
  const { payment, fee_minor } = paid;
  return context.transaction(async (context) => {
    const answer = await takeNamed(context, rail.name, { ...names, fact: payment });
    if ('topup' in answer && answer.topup !== null && answer.invoice !== null && fee_minor !== null)
      await noteFee(context.db, { id: answer.topup, fee_minor });
    return answer;
  });
}

/** Takes one payment that no top-up has; null where there is nothing to say of it. */
async function takePayment(context: Context, rail: Rail, paid: RailPayment): Promise<Finding | null> {
  const { payment, order_ref, topup_id } = paid;
  const { payment_ref, amount_minor, currency } = payment;
  let answer = await takeBy(context, rail, paid, { order_ref, topup_id });
  if ('trouble' in answer && answer.trouble === 'unknown_topup' && order_ref !== null) {
    const order = await rail.books.readOrder(order_ref);
    // The first payment of a mandate proves the method, and goes back.
    if (order.mandate_id !== null) return null;
    if (order.topup_id !== null)
      answer = await takeBy(context, rail, paid, { order_ref, topup_id: order.topup_id });
  }
  const about = { payment_ref, order_ref, amount_minor, currency };
  if ('trouble' in answer) {
    const is_asked = await isPaymentAsked(context.db, { rail: rail.name, payment_ref });
    if (paid.returned || is_asked) return null;
    return findingOf(rail, answer.trouble, payment_ref, about);
  }
  const { invoice, replay, topup } = answer;
  if (replay) return null;
  const kind = invoice === null ? 'payment_taken' : 'payment_booked';
  return findingOf(rail, kind, payment_ref, { ...about, topup_id: topup, invoice });
}

/** Takes the payments that no top-up has. */
export async function takePayments(
  context: Context,
  rail: Rail,
  payments: readonly RailPayment[],
): Promise<Finding[]> {
  const refs = payments.map(({ payment }) => payment.payment_ref);
  const known = await knownPayments(context.db, { rail: rail.name, refs });
  const findings: Finding[] = [];
  for (const paid of payments) {
    if (known.has(paid.payment.payment_ref)) continue;
    const finding = await takePayment(context, rail, paid);
    if (finding !== null) findings.push(finding);
  }
  return findings;
}

/** Whether `status` is later than what was known: a failure of a refund is final, and what ended does not open again. */
function isNews(known: string | undefined, status: string): boolean {
  if (known === undefined) return true;
  if (known === 'failed' || known === status) return false;
  return status !== 'pending' && status !== 'open';
}

/** Takes refunds that the rail has in another state than it reported. */
export async function takeRefunds(
  context: Context,
  rail: Rail,
  refunds: readonly RefundFact[],
): Promise<Finding[]> {
  const refs = refunds.map(({ ref }) => ref);
  const known = await knownStates(context.db, { of: 'refund', rail: rail.name, refs });
  const findings: Finding[] = [];
  for (const fact of refunds) {
    if (!isNews(known.get(fact.ref), fact.status)) continue;
    const { topup } = await context.transaction((context) => takeRefundFact(context, rail.name, fact));
    if (topup === null) continue;
    const { ref, payment_ref, amount_minor, currency, status } = fact;
    const details = { topup_id: topup, payment_ref, amount_minor, currency, status };
    findings.push(findingOf(rail, 'refund_taken', ref, details));
  }
  return findings;
}

/** Takes disputes that the rail has in another state than it reported. */
export async function takeDisputes(
  context: Context,
  rail: Rail,
  disputes: readonly DisputeFact[],
): Promise<Finding[]> {
  const refs = disputes.map(({ ref }) => ref);
  const known = await knownStates(context.db, { of: 'dispute', rail: rail.name, refs });
  const findings: Finding[] = [];
  for (const fact of disputes) {
    if (!isNews(known.get(fact.ref), fact.status)) continue;
    const { topup } = await context.transaction((context) => takeDisputeFact(context, rail.name, fact));
    if (topup === null) continue;
    const { ref, payment_ref, amount_minor, currency, status } = fact;
    const details = { topup_id: topup, payment_ref, amount_minor, currency, status };
    findings.push(findingOf(rail, 'dispute_taken', ref, details));
  }
  return findings;
}
