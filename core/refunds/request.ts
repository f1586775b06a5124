// Asking for a refund: the credits are taken first, so that nobody spends what is on its way back, and only then is the
// rail asked, by the workflow.
import { findInvoice } from '../invoices/index.ts';
import { type Context, type Id, microUsd, notFound, ServiceError } from '../kernel/index.ts';
import { catchUp, debitOutcome, orderDebit, readUnused } from '../ledger/index.ts';
import { readShard } from '../orgs/index.ts';
import { hasPaymentHold, lockTopup, railOrRefuse, type Topup } from '../topups/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';
import { addParts, NOTHING, type Part, partOf, refundableMinor, type Sold, totalOf } from './proportion.ts';
import { failRefund, refundWorkflowId } from './settle.ts';
import { findRefund, insertRefund, refundsOf } from './store.ts';
import type { Refund } from './types.ts';

const DAY_MS = 86_400_000;
/** Rails rarely give back later. */
const WINDOW_DAYS = 180;
/** Of a refund whose credits were spent between the decision and the debit. */
const CREDITS_USED = 'credits_used';

interface RefundRequest {
  readonly org_id: Id<'org'>;
  readonly topup_id: Id<'topup'>;
  /** Without tax; null: all that can go back. */
  readonly amount_minor: number | null;
  readonly reason: string;
  readonly idempotency_key: string | null;
}

/** A top-up as it was sold, by its document. */
export async function soldOf(context: Context, topup: Topup): Promise<Sold> {
  const { org_id, invoice_id, credits_micro } = topup;
  const invoice = invoice_id === null ? null : await findInvoice(context.db, { org_id, id: invoice_id });
  if (invoice === null) throw new Error(`${topup.id} is paid and has no document`);
  const { taxable_minor, cgst_minor, sgst_minor, igst_minor, issued_at } = invoice;
  return { taxable_minor, cgst_minor, sgst_minor, igst_minor, issued_at, credits_micro };
}

/** What has gone back of a top-up, or is on its way. */
export function goneBack(refunds: readonly Refund[]): Part {
  const counted = refunds.filter(({ status }) => status !== 'failed');
  return counted.reduce<Part>(addParts, NOTHING);
}

/** The refund that was asked for with this key before; null when none was. @throws idempotency_conflict. */
function earlier(refunds: readonly Refund[], request: RefundRequest): Refund | null {
  if (request.idempotency_key === null) return null;
  const first = refunds.find(({ idempotency_key }) => idempotency_key === request.idempotency_key);
  if (first === undefined) return null;
  if (first.requested_minor === request.amount_minor && first.reason === request.reason) return first;
  throw new ServiceError(
    'idempotency_conflict',
    'This key was used for a refund of another amount or reason.',
    {
      param: 'idempotency_key',
    },
  );
}

async function refuseState(context: Context, topup: Topup, refunds: readonly Refund[]): Promise<void> {
  if (topup.status !== 'paid' || topup.paid_at === null || topup.lot_id === null) {
    throw new ServiceError(
      'state_conflict',
      `The top-up is ${topup.status}: there is nothing to give back.`,
      {
        details: { state: topup.status },
      },
    );
  }
  const pending = refunds.find(({ status }) => status === 'pending');
  if (pending !== undefined) {
    throw new ServiceError('refund_in_progress', 'A refund of this top-up is under way.', {
      details: { refund_id: pending.id },
    });
  }
  if (await hasPaymentHold(context.db, topup.org_id))
    throw new ServiceError('payment_hold', 'A payment of the organization is disputed, or was lost.');
  const age_ms = context.now().getTime() - topup.paid_at.getTime();
  if (age_ms < WINDOW_DAYS * DAY_MS) return;
  throw new ServiceError(
    'refund_window_closed',
    `A top-up can be refunded for ${WINDOW_DAYS} days after it was paid.`,
    { details: { paid_at: topup.paid_at.toISOString() } },
  );
}

function exceeds(refundable_minor: number): ServiceError {
  return new ServiceError(
    'refund_exceeds_unused',
    'Only credits of this top-up that are unused can be refunded.',
    { param: 'amount_minor', details: { refundable_minor } },
  );
}

/** What can go back of a locked top-up now, without tax. */
async function refundableNow(
  context: Context,
  topup: Topup,
  args: { sold: Sold; before: Part; shard: string },
): Promise<number> {
  const { book_id, lot_id } = topup;
  if (lot_id === null) throw new Error(`${topup.id} is paid and has no lot`);
  // A dispute was lost: the bank gave back what it gave back.
  if (topup.disputed) return 0;
  // With what earlier transactions have ordered done, so that a refund is not decided over credit that is gone.
  await catchUp(context, book_id);
  const unused = await readUnused(context.shards.at(args.shard), { book_id, lot_id });
  return refundableMinor(args.sold, args.before, unused);
}

async function begin(
  context: Context,
  request: RefundRequest,
): Promise<{ refund: Refund; replay: boolean; reference: string; shard: string }> {
  const { db } = context;
  const topup = await lockTopup(db, request.topup_id);
  if (topup === null || topup.org_id !== request.org_id) throw notFound();
  const shard = await readShard(db, topup.org_id);
  const refunds = await refundsOf(db, topup.id);
  const first = earlier(refunds, request);
  const referenceOf = (id: Id<'refund'>) => `refund refund ${id}`;
  if (first !== null) return { refund: first, replay: true, reference: referenceOf(first.id), shard };
  await refuseState(context, topup, refunds);
  railOrRefuse(context, topup.gateway);
  const [sold, before] = [await soldOf(context, topup), goneBack(refunds)];
  const most = await refundableNow(context, topup, { sold, before, shard });
  const amount_minor = request.amount_minor ?? most;
  if (amount_minor < 1 || amount_minor > most) throw exceeds(most);
  const at = context.now();
  const part = partOf(sold, before, { amount_minor, at });
  const id = context.newId('refund');
  await insertRefund(db, {
    ...part,
    id,
    org_id: topup.org_id,
    topup_id: topup.id,
    book_id: topup.book_id,
    gateway: topup.gateway,
    payment_ref: topup.payment_ref as string,
    gateway_ref: null,
    currency: topup.currency,
    total_minor: totalOf(part),
    fx_rate: topup.fx_rate,
    source: 'request',
    reason: request.reason,
    requested_minor: request.amount_minor,
    idempotency_key: request.idempotency_key,
    created_at: at,
  });
  const { reference } = await orderDebit(context, shard, {
    book_id: topup.book_id,
    kind: 'refund',
    amount_micro_usd: microUsd(part.credits_micro),
    lot_id: topup.lot_id as Id<'lot'>,
    ref_type: 'refund',
    ref_id: id,
  });
  const { org_id } = topup;
  await startWorkflow(db, {
    ...{ workflow_id: refundWorkflowId(id), type: 'refund', args: { refund_id: id }, org_id, at },
  });
  return { refund: await getRefund(context, id), replay: false, reference, shard };
}

/** A refund that must be there. @throws ServiceError not_found. */
export async function getRefund(context: Context, id: Id<'refund'>): Promise<Refund> {
  const refund = await findRefund(context.db, { id, org_id: null });
  if (refund === null) throw notFound();
  return refund;
}

/**
 * Whether the ledger has taken the credits of a refund. One that it refused, because they were spent meanwhile, is
 * failed here. @throws ServiceError service_unavailable as long as it has not answered.
 */
export async function hasCredits(context: Context, refund: Refund): Promise<boolean> {
  const { book_id, id } = refund;
  const outcome = await debitOutcome(context, { book_id, reference: `refund refund ${id}` });
  if (outcome === null)
    throw new ServiceError('service_unavailable', 'The ledger does not answer.', { retry_after_ms: 1_000 });
  if (outcome.status === 'taken') return true;
  await context.transaction(async (context) => {
    await lockTopup(context.db, refund.topup_id);
    const now = await getRefund(context, id);
    if (now.status === 'pending') await failRefund(context, now, CREDITS_USED);
  });
  return false;
}

/**
 * Asks for a refund of a top-up of `org_id`: one transaction with the row, the order of the debit and the start of the
 * workflow. The same key again returns the same refund.
 * @throws ServiceError not_found, state_conflict, payment_hold, refund_in_progress, refund_window_closed,
 * refund_exceeds_unused, idempotency_conflict, rail_unavailable, service_unavailable.
 */
export async function requestRefund(
  context: Context,
  request: RefundRequest,
): Promise<{ refund: Refund; replay: boolean }> {
  const { refund, replay, reference } = await context.transaction((context) => begin(context, request));
  if (replay) return { refund, replay };
  const outcome = await debitOutcome(context, { book_id: refund.book_id, reference });
  // Where the ledger is away the refund stays pending, and the workflow asks again.
  if (outcome?.status !== 'refused') return { refund, replay };
  await hasCredits(context, refund);
  throw exceeds(0);
}
