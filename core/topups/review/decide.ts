// Payments that differ from what was asked wait in review until a person decides: accepted, they buy what they pay for;
// refused, they go back at the rail (docs/money/review.md).
import { writeAudit } from '../../identity/index.ts';
import { type Context, type Id, microUsd, notFound, ServiceError } from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { bookPaid } from '../booking.ts';
import { addTask, findOpenItem, resolveStaffItem } from '../rail-store.ts';
import { findTopup, listInReview, lockTopup, moveTopup, nameTopups, repriceTopup } from '../store.ts';
import type { Topup } from '../types.ts';
import { type Repriced, repriced, termsOfNow } from './reprice.ts';

const ITEM = 'amount_mismatch';

/** What was paid, as the staff item keeps it. */
interface PaidFacts {
  readonly payment_ref: string;
  readonly paid_minor: number;
  readonly paid_currency: string;
  readonly method: string | null;
}

/** A top-up in review, with what was paid for it. */
export interface Review {
  readonly topup: Topup;
  /** What the organization is called. */
  readonly org_name: string;
  readonly paid_minor: number;
  readonly paid_currency: string;
  /** What the payment would buy; null where it is in another currency and can only be refused. */
  readonly offer: Repriced | null;
}

async function paidFor(context: Context, topup: Topup): Promise<PaidFacts> {
  const item = await findOpenItem(context.db, { kind: ITEM, subject: topup.id });
  if (item === null) throw new Error(`${topup.id} is in review and no item says what was paid`);
  return item.details as unknown as PaidFacts;
}

async function offerFor(context: Context, topup: Topup, paid: PaidFacts): Promise<Repriced | null> {
  if (paid.paid_currency !== topup.currency) return null;
  return repriced({ ...topup, tax: await termsOfNow(context, topup.tax) }, paid.paid_minor);
}

/** Top-ups in review, oldest first, at most 200. */
export async function listReviews(context: Context): Promise<Review[]> {
  const reviews: Review[] = [];
  const topups = await listInReview(context.db);
  const names = await nameTopups(
    context.db,
    topups.map(({ id }) => id),
  );
  for (const topup of topups) {
    const paid = await paidFor(context, topup);
    const { paid_minor, paid_currency } = paid;
    const org_name = names.get(topup.id)?.org_name ?? '';
    const offer = await offerFor(context, topup, paid);
    reviews.push({ topup, org_name, paid_minor, paid_currency, offer });
  }
  return reviews;
}

/** A top-up that is in review, locked in the open transaction. @throws ServiceError not_found, state_conflict. */
async function lockReview(context: Context, id: Id<'topup'>): Promise<Topup> {
  const topup = await lockTopup(context.db, id);
  if (topup === null) throw notFound();
  if (topup.status === 'review') return topup;
  throw new ServiceError('state_conflict', `The top-up is ${topup.status} and not in review.`, {
    details: { state: topup.status },
  });
}

/** Whose payment is in review, and what it would buy or what was asked, whichever is more; null when it is not in review. */
export async function readReviewWorth(
  context: Context,
  id: Id<'topup'>,
): Promise<{ org_id: Id<'org'>; amount_micro_usd: number } | null> {
  const topup = await findTopup(context.db, { id, org_id: null });
  if (topup?.status !== 'review') return null;
  const paid = await paidFor(context, topup);
  const offer = await offerFor(context, topup, paid);
  return {
    org_id: topup.org_id,
    amount_micro_usd: Math.max(topup.credits_micro, offer?.credits_micro ?? 0),
  };
}

async function conclude(
  context: Context,
  topup: Topup,
  act: { action: string; reason: string; after: Readonly<Record<string, unknown>> },
): Promise<void> {
  const { id, org_id, amount_minor, tax_minor, total_minor, credits_micro } = topup;
  await resolveStaffItem(context.db, { kind: ITEM, subject: id, at: context.now() });
  await writeAudit(context, {
    action: act.action,
    org_id,
    target: { type: 'topup', id, display: id },
    before: { amount_minor, tax_minor, total_minor, credits_micro },
    after: act.after,
    reason: act.reason,
  });
}

/**
 * Accepts what was paid: amount, tax and credits follow from it, at the exchange rate of the top-up, and it is booked as any payment
 * is, with its document. @throws ServiceError not_found, state_conflict (not in review, or paid in another currency).
 */
export function acceptReview(context: Context, args: { id: Id<'topup'>; reason: string }): Promise<Topup> {
  return context.transaction(async (context) => {
    const { db } = context;
    const topup = await lockReview(context, args.id);
    const paid = await paidFor(context, topup);
    const offer = await offerFor(context, topup, paid);
    if (offer === null) {
      const words = `A payment in ${paid.paid_currency} buys nothing here. Refuse it, and it goes back.`;
      throw new ServiceError('state_conflict', words, { details: { state: 'review' } });
    }
    const { tax: _, ...after } = offer;
    await repriceTopup(db, {
      id: topup.id,
      ...offer,
      credits_micro: microUsd(offer.credits_micro),
      at: context.now(),
    });
    const { payment_ref, paid_minor: amount_minor, paid_currency: currency, method } = paid;
    await bookPaid(
      context,
      { ...topup, ...offer },
      { kind: 'captured', payment_ref, amount_minor, currency, method },
    );
    await conclude(context, topup, { action: 'staff.topups.accept', reason: args.reason, after });
    return (await findTopup(db, { id: topup.id, org_id: null })) as Topup;
  });
}

/**
 * Refuses a payment: it goes back whole at the rail as soon as that can be reached, and the top-up has failed.
 * @throws ServiceError not_found, state_conflict.
 */
export function refuseReview(context: Context, args: { id: Id<'topup'>; reason: string }): Promise<Topup> {
  return context.transaction(async (context) => {
    const { db } = context;
    const at = context.now();
    const topup = await lockReview(context, args.id);
    const { payment_ref } = await paidFor(context, topup);
    const failure = {
      code: 'amount_mismatch',
      message: 'Another amount was paid than was asked. It goes back to where it came from.',
    };
    await moveTopup(db, { id: topup.id, status: 'failed', failure, at });
    await addTask(db, {
      rail: topup.gateway,
      kind: 'refund_payment',
      ref: payment_ref,
      topup_id: topup.id,
      at,
    });
    await writeEvent(db, {
      org_id: topup.org_id,
      topic: 'topup.failed',
      payload: {
        topup_id: topup.id,
        currency: topup.currency,
        total_minor: topup.total_minor,
        source: topup.source,
        failure_code: failure.code,
        failure_message: failure.message,
        consecutive_failures: 0,
      },
      at,
    });
    await conclude(context, topup, {
      action: 'staff.topups.refuse',
      reason: args.reason,
      after: { status: 'failed', refunded: payment_ref },
    });
    return (await findTopup(db, { id: topup.id, org_id: null })) as Topup;
  });
}
