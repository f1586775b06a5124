// Applies a fact to a top-up: the only place where its state changes and where a payment becomes credit. Callbacks,
// polls, cancellations and expiries all call it, each with the top-up locked in its transaction.
import { issueTopupInvoice } from '../invoices/index.ts';
import { type Context, microUsd } from '../kernel/index.ts';
import { orderCredit, writeEvent } from '../ledger/index.ts';
import { endTrial, readShard } from '../orgs/index.ts';
import { signalWorkflow } from '../workflow-starts/index.ts';
import { type Decision, decideTopup } from './decide.ts';
import { addStaffItem, addTask } from './rail-store.ts';
import { atRateOfNow } from './review/reprice.ts';
import { markPaid, moveTopup } from './store.ts';
import { readTerms } from './terms.ts';
import type { CallbackAnswer, Captured, Topup, TopupFact } from './types.ts';

const DAY_MS = 86_400_000;

/** Id of the workflow that follows a top-up: one that nobody is at is followed by that of its attempt. */
export function topupWorkflowId({
  id,
  org_id,
  attempt_no,
}: Pick<Topup, 'id' | 'org_id' | 'attempt_no'>): string {
  return attempt_no === null ? `topup-${id}` : `auto-${org_id}-${attempt_no}`;
}

/** Id of the workflow that does what follows from the closing of an organization (core/closing). */
export function closingWorkflowId(org_id: Topup['org_id']): string {
  return `close-${org_id}`;
}

/**
 * Books a captured payment for a top-up that is locked: order of the credit, document, event, signal. Only `applyFact` and the
 * decision of a person call it.
 */
export async function bookPaid(context: Context, asked: Topup, payment: Captured): Promise<CallbackAnswer> {
  const { db } = context;
  const topup = await atRateOfNow(context, asked);
  const at = context.now();
  const { paid_credit_days } = await readTerms(db);
  const credited = await orderCredit(context, await readShard(db, topup.org_id), {
    book_id: topup.book_id,
    kind: 'topup',
    amount_micro_usd: microUsd(topup.credits_micro),
    granted: false,
    expires_at: paid_credit_days === 0 ? null : new Date(at.getTime() + paid_credit_days * DAY_MS),
    ref_type: 'topup',
    ref_id: topup.id,
  });
  if (credited.replay) throw new Error(`${topup.id} was credited and is not paid`);
  const invoice = await issueTopupInvoice(context, {
    topup_id: topup.id,
    currency: topup.currency,
    amount_minor: topup.amount_minor,
    fx_rate: topup.fx_rate,
    credits_micro: topup.credits_micro,
    payment_ref: payment.payment_ref,
    terms: topup.tax,
  });
  const { payment_ref, method } = payment;
  await markPaid(db, {
    id: topup.id,
    payment_ref,
    method,
    invoice_id: invoice.id,
    lot_id: credited.lot_id,
    at,
  });
  await endTrial(db, topup.org_id);
  await writeEvent(db, {
    org_id: topup.org_id,
    topic: 'topup.completed',
    payload: {
      topup_id: topup.id,
      credits_micro: topup.credits_micro,
      currency: topup.currency,
      amount_minor: topup.amount_minor,
      tax_minor: topup.tax_minor,
      total_minor: topup.total_minor,
      method,
      source: topup.source,
      invoice_id: invoice.id,
      invoice_number: invoice.number,
    },
    at,
  });
  await signalWorkflow(db, { workflow_id: topupWorkflowId(topup), name: 'booked', args: {}, at });
  // Of an organization that was closed: what came after its closing goes back too, where that was asked for.
  await signalWorkflow(db, { workflow_id: closingWorkflowId(topup.org_id), name: 'booked', args: {}, at });
  return { invoice: invoice.number, replay: false, topup: topup.id };
}

async function review(context: Context, topup: Topup, payment: Captured): Promise<void> {
  const { db } = context;
  const at = context.now();
  await moveTopup(db, { id: topup.id, status: 'review', payment_ref: payment.payment_ref, at });
  await addStaffItem(db, {
    kind: 'amount_mismatch',
    subject: topup.id,
    details: {
      rail: topup.gateway,
      payment_ref: payment.payment_ref,
      expected_minor: topup.total_minor,
      expected_currency: topup.currency,
      paid_minor: payment.amount_minor,
      paid_currency: payment.currency,
      method: payment.method,
    },
    at,
  });
}

async function refundSecond(context: Context, topup: Topup, payment: Captured): Promise<void> {
  const { db } = context;
  const at = context.now();
  const { payment_ref } = payment;
  await addTask(db, {
    rail: topup.gateway,
    kind: 'refund_payment',
    ref: payment_ref,
    topup_id: topup.id,
    at,
  });
  await addStaffItem(db, {
    kind: 'second_payment',
    subject: `${topup.gateway} ${payment_ref}`,
    details: { topup_id: topup.id, amount_minor: payment.amount_minor, currency: payment.currency },
    at,
  });
}

async function fail(context: Context, topup: Topup, decision: Decision & { do: 'fail' }): Promise<void> {
  const { db } = context;
  const at = context.now();
  const failure = { code: decision.code, message: decision.message };
  await moveTopup(db, { id: topup.id, status: 'failed', failure, at });
  if (topup.source === 'auto') {
    // Told with the failures before it when its attempt is ended (core/mandates).
    await signalWorkflow(db, { workflow_id: topupWorkflowId(topup), name: 'failed', args: {}, at });
    return;
  }
  if (!decision.tell) return;
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
}

async function expire(context: Context, topup: Topup, fact: TopupFact): Promise<void> {
  const { db } = context;
  const at = context.now();
  await moveTopup(db, { id: topup.id, status: 'expired', at });
  if (topup.gateway_ref !== null) {
    await addTask(db, {
      rail: topup.gateway,
      kind: 'close_order',
      ref: topup.gateway_ref,
      topup_id: topup.id,
      at,
    });
  }
  if (fact.kind !== 'cancelled') return;
  await signalWorkflow(db, { workflow_id: topupWorkflowId(topup), name: 'cancelled', args: {}, at });
}

/**
 * Applies `fact` to a top-up that the caller has locked in the open transaction, with every effect of
 * docs/money/topups.md#states: entry, lot, document, events, tasks at the rail, staff items. Returns the answer to
 * a callback.
 */
export async function applyFact(context: Context, topup: Topup, fact: TopupFact): Promise<CallbackAnswer> {
  const answer: CallbackAnswer = { invoice: null, replay: false, topup: topup.id };
  const decision = decideTopup(topup, fact);
  switch (decision.do) {
    case 'book':
      return bookPaid(context, topup, decision.payment);
    case 'replay':
      return { ...answer, invoice: topup.invoice_number, replay: true };
    case 'review':
      await review(context, topup, decision.payment);
      return answer;
    case 'refund_second':
      await refundSecond(context, topup, decision.payment);
      return answer;
    case 'fail':
      await fail(context, topup, decision);
      return answer;
    case 'note_failure': {
      const failure = { code: decision.code, message: decision.message };
      await moveTopup(context.db, { id: topup.id, status: 'pending', failure, at: context.now() });
      return answer;
    }
    case 'expire':
      await expire(context, topup, fact);
      return answer;
    case 'nothing':
      return answer;
  }
}
