// What the workflow `refund` does step by step. Each step may be repeated and decides from the row, so that a worker
// killed anywhere leaves no refund sent twice and none forgotten.
import type { Context, Id } from '../kernel/index.ts';
import { addStaffItem, lockTopup, RailError, type RefundFact, railOrRefuse } from '../topups/index.ts';
import { keepFact } from './rail-refunds.ts';
import { getRefund, hasCredits } from './request.ts';
import { applyRefundFact, failRefund } from './settle.ts';
import { markSent } from './store.ts';
import type { Refund, RefundStatus } from './types.ts';

/** What a workflow needs to know of a refund: ids and integers only. */
export interface RefundProgress {
  readonly refund_id: Id<'refund'>;
  readonly status: RefundStatus;
  /** The rail has it. */
  readonly at_rail: boolean;
  readonly created_at_ms: number;
}

function progressOf(refund: Refund): RefundProgress {
  return {
    refund_id: refund.id,
    status: refund.status,
    at_rail: refund.gateway_ref !== null,
    created_at_ms: refund.created_at.getTime(),
  };
}

interface Args {
  readonly refund_id: Id<'refund'>;
}

/** Where a refund stands. @throws ServiceError not_found. */
export async function readRefund(context: Context, { refund_id }: Args): Promise<RefundProgress> {
  return progressOf(await getRefund(context, refund_id));
}

/** Applies what the rail answered about `refund`. */
async function apply(context: Context, refund: Refund, fact: RefundFact): Promise<RefundProgress> {
  await context.transaction(async (context) => {
    const topup = await lockTopup(context.db, refund.topup_id);
    if (topup === null) throw new Error(`${refund.topup_id} has gone`);
    await keepFact(context, { rail: refund.gateway, topup_id: topup.id }, fact);
    await applyRefundFact(context, topup, await getRefund(context, refund.id), fact);
  });
  return readRefund(context, { refund_id: refund.id });
}

/** What the rail has of a refund that it may have been sent; null: it does not know of it. */
function askRail(context: Context, refund: Refund): Promise<RefundFact | null> {
  const rail = railOrRefuse(context, refund.gateway);
  return refund.gateway_ref === null
    ? rail.findRefund({ refund_id: refund.id, payment_ref: refund.payment_ref })
    : rail.readRefund(refund.gateway_ref);
}

async function decline(context: Context, refund: Refund, code: string): Promise<RefundProgress> {
  await context.transaction(async (context) => {
    await lockTopup(context.db, refund.topup_id);
    const now = await getRefund(context, refund.id);
    if (now.status === 'pending') await failRefund(context, now, code);
  });
  return readRefund(context, { refund_id: refund.id });
}

/**
 * Sends a pending refund to the rail, once: where it may have been sent before and the answer was lost, the rail is asked
 * for it first, and it is sent again only when the rail does not know of it. A refusal of the rail fails it.
 * @throws RailError when the rail cannot be asked now; ServiceError service_unavailable while the ledger is away.
 */
export async function sendRefund(context: Context, { refund_id }: Args): Promise<RefundProgress> {
  const refund = await getRefund(context, refund_id);
  if (refund.status !== 'pending' || !(await hasCredits(context, refund)))
    return readRefund(context, { refund_id });
  const is_first = await markSent(context.db, { id: refund_id, at: context.now() });
  // It may have ended meanwhile: by its callback, or because the payment is disputed.
  if (!is_first && (await getRefund(context, refund_id)).status !== 'pending')
    return readRefund(context, { refund_id });
  const known = is_first ? null : await askRail(context, refund);
  if (known !== null) return apply(context, refund, known);
  const rail = railOrRefuse(context, refund.gateway);
  const { payment_ref, total_minor, topup_id, org_id } = refund;
  try {
    const fact = await rail.createRefund({ refund_id, payment_ref, total_minor, topup_id, org_id });
    return await apply(context, refund, fact);
  } catch (error) {
    if (!(error instanceof RailError && error.declined)) throw error;
    return decline(context, refund, error.code ?? 'declined');
  }
}

/**
 * Asks the rail what became of a refund that it has, and books that, by the same function as the callback.
 * @throws RailError when the rail cannot be asked now.
 */
export async function pollRefund(context: Context, { refund_id }: Args): Promise<RefundProgress> {
  const refund = await getRefund(context, refund_id);
  if (refund.status !== 'pending') return progressOf(refund);
  const fact = await askRail(context, refund);
  return fact === null ? progressOf(refund) : apply(context, refund, fact);
}

/** Puts a refund that has had no end for long before the staff; it stays pending. */
export async function reportSilence(context: Context, { refund_id }: Args): Promise<RefundProgress> {
  const refund = await getRefund(context, refund_id);
  if (refund.status === 'pending') {
    const { gateway, gateway_ref, total_minor, currency } = refund;
    await addStaffItem(context.db, {
      kind: 'refund_silent',
      subject: refund_id,
      details: { rail: gateway, gateway_ref, total_minor, currency },
      at: context.now(),
    });
  }
  return progressOf(refund);
}
