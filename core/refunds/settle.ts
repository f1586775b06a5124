// Applies what became of a refund: the only place where its state changes. Every caller has locked its top-up.

import { findBillingMailboxes } from '../identity/index.ts';
import { issueCreditNote } from '../invoices/index.ts';
import type { Context } from '../kernel/index.ts';
import { orderRestore, writeEvent } from '../ledger/index.ts';
import { sendMail } from '../mail/index.ts';
import { findBilling, readShard } from '../orgs/index.ts';
import {
  addStaffItem,
  formatAmount,
  formatCredits,
  nameTopups,
  type RefundFact,
  type Topup,
} from '../topups/index.ts';
import { signalWorkflow } from '../workflow-starts/index.ts';
import { decideRefund } from './decide.ts';
import { taxOf } from './proportion.ts';
import { addRefunded, claimRailRefund, markFailed, markRefunded, nameRefund, refundsOf } from './store.ts';
import type { Refund } from './types.ts';

/** Id of the workflow that carries out a refund. */
export function refundWorkflowId(id: Refund['id']): string {
  return `refund-${id}`;
}

function announce(
  context: Context,
  refund: Refund,
  became: {
    topic: 'refund.completed' | 'refund.failed';
    credit_note_id: string | null;
    failure_code: string;
  },
): Promise<void> {
  const { topic, ...rest } = became;
  return writeEvent(context.db, {
    org_id: refund.org_id,
    topic,
    payload: {
      refund_id: refund.id,
      topup_id: refund.topup_id,
      amount_minor: refund.amount_minor,
      tax_minor: taxOf(refund),
      total_minor: refund.total_minor,
      currency: refund.currency,
      credits_micro: refund.credits_micro,
      ...rest,
    },
    at: context.now(),
  });
}

function tellWorkflow(context: Context, refund: Refund): Promise<void> {
  const workflow_id = refundWorkflowId(refund.id);
  return signalWorkflow(context.db, { workflow_id, name: 'railRefund', args: {}, at: context.now() });
}

/** Asks for the mail about the outcome, in the transaction that books it; `credit_note` is the number of its document. */
async function mailOutcome(
  context: Context,
  refund: Refund,
  outcome: { readonly credit_note: string } | null,
): Promise<void> {
  const { org_id, id: refund_id, topup_id, total_minor, credits_micro, currency } = refund;
  const billing = await findBilling(context.db, org_id);
  if (billing === null) throw new Error(`${org_id} has gone`);
  const to = await findBillingMailboxes(context.db, org_id);
  const [total, credits] = [formatAmount(total_minor, currency), formatCredits(credits_micro)];
  const invoice_number = (await nameTopups(context.db, [topup_id])).get(topup_id)?.invoice_number ?? null;
  const about = { org: billing.name, slug: billing.slug, total, credits, refund_id, invoice_number };
  const mail = { to, org_id, reference: refund_id };
  if (outcome === null) await sendMail(context, { ...mail, template: 'refund_failed', data: about });
  else
    await sendMail(context, {
      ...mail,
      template: 'refund_completed',
      data: { ...about, ...outcome, topup_id },
    });
}

/** Books that the money of a pending refund went back: sums of the top-up, credit note, event, mail. */
export async function settleRefund(
  context: Context,
  topup: Pick<Topup, 'invoice_id'>,
  refund: Refund,
  gateway_ref: string,
): Promise<void> {
  const { db } = context;
  const at = context.now();
  const { id, topup_id, total_minor, credits_micro } = refund;
  if (topup.invoice_id === null) throw new Error(`${topup_id} is paid and has no document`);
  await addRefunded(db, { topup_id, total_minor, credits_micro, at });
  const { cgst_minor, sgst_minor, igst_minor } = refund;
  const note = await issueCreditNote(context, {
    invoice_id: topup.invoice_id,
    org_id: refund.org_id,
    refund_id: id,
    amount_minor: refund.amount_minor,
    tax: { cgst_minor, sgst_minor, igst_minor },
    credits_micro,
    payment_ref: gateway_ref,
  });
  await markRefunded(db, { id, gateway_ref, credit_note_id: note.id, at });
  await announce(context, refund, { topic: 'refund.completed', credit_note_id: note.id, failure_code: '' });
  await mailOutcome(context, refund, { credit_note: note.number });
  await tellWorkflow(context, refund);
}

/**
 * Books that a pending refund failed for good: what it took goes back to where it came from. `unsent`: only where no rail
 * was asked for it.
 */
export async function failRefund(
  context: Context,
  refund: Refund,
  failure_code: string,
  unsent = false,
): Promise<void> {
  const { db } = context;
  const { id, book_id } = refund;
  const what = { id, failure_code: failure_code.slice(0, 64), unsent, at: context.now() };
  if (!(await markFailed(db, what))) return;
  const restoration = { book_id, debit_kind: 'refund', ref_type: 'refund', ref_id: id } as const;
  await orderRestore(context, await readShard(db, refund.org_id), restoration);
  await announce(context, refund, { topic: 'refund.failed', credit_note_id: null, failure_code });
  await mailOutcome(context, refund, null);
  await tellWorkflow(context, refund);
}

/** Fails the refunds of a locked top-up that no rail was asked for yet: its payment is disputed. */
export async function failUnsent(context: Context, topup_id: Topup['id']): Promise<void> {
  const refunds = await refundsOf(context.db, topup_id);
  for (const refund of refunds)
    if (refund.status === 'pending' && refund.sent_at === null)
      await failRefund(context, refund, 'payment_disputed', true);
}

/** Applies what the rail says of a refund of ours, with the top-up locked. False: it counts as another one's. */
export async function applyRefundFact(
  context: Context,
  topup: Topup,
  refund: Refund,
  fact: RefundFact,
): Promise<boolean> {
  const { db } = context;
  const decision = decideRefund(refund, fact);
  if (decision.do === 'not_ours') return false;
  await claimRailRefund(db, { rail: refund.gateway, ref: fact.ref, refund_id: refund.id });
  switch (decision.do) {
    case 'note':
      await nameRefund(db, { id: refund.id, gateway_ref: fact.ref, at: context.now() });
      break;
    case 'settle':
      await settleRefund(context, topup, refund, fact.ref);
      break;
    case 'fail':
      await nameRefund(db, { id: refund.id, gateway_ref: fact.ref, at: context.now() });
      await failRefund(context, refund, decision.code);
      break;
    case 'ask':
      await addStaffItem(db, {
        kind: decision.kind,
        subject: refund.id,
        details: {
          rail: refund.gateway,
          gateway_ref: fact.ref,
          expected_minor: refund.total_minor,
          rail_minor: fact.amount_minor,
          rail_currency: fact.currency,
        },
        at: context.now(),
      });
      break;
    case 'nothing':
      break;
  }
  return true;
}
