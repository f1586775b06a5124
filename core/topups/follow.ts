// What the workflow `topUp` does step by step: poll, expire, ask for the receipt. Each step may be repeated and
// decides from the row, so that a worker killed anywhere leaves nothing half done.
import { isDatabaseFault } from '../db/index.ts';
import { findBillingMailboxes } from '../identity/index.ts';
import { findInvoice } from '../invoices/index.ts';
import { type Context, type Id, notFound } from '../kernel/index.ts';
import { type DataOf, sendMail } from '../mail/index.ts';
import { type Billing, findBilling } from '../orgs/index.ts';
import { applyFact } from './booking.ts';
import { formatAmount, formatCredits } from './currency.ts';
import { moneyIn } from './money-in.ts';
import {
  finishTask,
  postponeTask,
  putStaffItem,
  type RailTask,
  readSilence,
  takeTasks,
} from './rail-store.ts';
import { RailError } from './rails/types.ts';
import { findTopup, lockTopup, nameOrder, noteFee } from './store.ts';
import type { Topup, TopupFact, TopupStatus } from './types.ts';

/** What a workflow needs to know of a top-up: ids and integers only. */
export interface TopupProgress {
  readonly topup_id: Id<'topup'>;
  readonly status: TopupStatus;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly paid_at_ms: number | null;
  /** What the rail took is known. */
  readonly fee_known: boolean;
}

function progressOf(topup: Topup): TopupProgress {
  return {
    topup_id: topup.id,
    status: topup.status,
    created_at_ms: topup.created_at.getTime(),
    expires_at_ms: topup.expires_at.getTime(),
    paid_at_ms: topup.paid_at?.getTime() ?? null,
    fee_known: topup.fee_minor !== null,
  };
}

async function getTopup(context: Context, id: Id<'topup'>): Promise<Topup> {
  const topup = await findTopup(context.db, { id, org_id: null });
  if (topup === null) throw notFound();
  return topup;
}

/** Where a top-up stands. @throws ServiceError not_found. */
export async function readProgress(
  context: Context,
  args: { topup_id: Id<'topup'> },
): Promise<TopupProgress> {
  return progressOf(await getTopup(context, args.topup_id));
}

function apply(context: Context, id: Id<'topup'>, fact: TopupFact): Promise<Topup> {
  return context.transaction(async (context) => {
    const topup = await lockTopup(context.db, id);
    if (topup === null) throw notFound();
    await applyFact(context, topup, fact);
    return getTopup(context, id);
  });
}

/** Books what a rail answered about a debit, under the name that it gave it. @throws ServiceError not_found. */
export async function applyCharge(
  context: Context,
  id: Id<'topup'>,
  charge: { readonly gateway_ref: string | null; readonly facts: readonly TopupFact[] },
): Promise<Topup> {
  const { gateway_ref, facts } = charge;
  if (gateway_ref !== null)
    await nameOrder(context.db, { id, gateway_ref, checkout_url: null, at: context.now() });
  let after = await getTopup(context, id);
  for (const fact of facts) after = await apply(context, id, fact);
  return after;
}

/** From here on the silence of a rail is remarkable: it may have switched our address off after a day of failures. */
const SILENT_SECONDS = 3_600;

/** Puts a silent rail before the staff, when a poll has booked what no event reported. */
async function noteSilence(context: Context, topup: Topup, before: Topup): Promise<void> {
  if (before.status === 'paid' || topup.status !== 'paid') return;
  const at = context.now();
  // Of the top-up that was pending until now: it counts no more as one that waits.
  const silent_seconds = await readSilence(context.db, { rail: topup.gateway, since: topup.created_at, at });
  if (silent_seconds < SILENT_SECONDS) return;
  await putStaffItem(context.db, {
    kind: 'rail_silent',
    subject: topup.gateway,
    details: { silent_seconds, topup_id: topup.id },
    at,
  });
}

/**
 * Asks the rail for the state of a top-up's order and books it, by the same function as the callback; also learns
 * the fee. Where the rail was never reached, or is not configured any more, it only reads the row.
 * @throws RailError when the rail cannot be asked now; ServiceError not_found.
 */
export async function pollTopup(context: Context, args: { topup_id: Id<'topup'> }): Promise<TopupProgress> {
  const topup = await getTopup(context, args.topup_id);
  const rail = moneyIn(context).rails[topup.gateway];
  const wants_nothing = topup.status === 'review' || (topup.status === 'paid' && topup.fee_minor !== null);
  if (rail === null || topup.gateway_ref === null || wants_nothing) return progressOf(topup);
  const { facts, fees } = await rail.readCheckout(topup.gateway_ref);
  let after = topup;
  for (const fact of facts) after = await apply(context, topup.id, fact);
  await noteSilence(context, after, topup);
  const fee_minor = after.payment_ref === null ? undefined : fees[after.payment_ref];
  if (fee_minor === undefined || after.status !== 'paid') return progressOf(after);
  await noteFee(context.db, { id: after.id, fee_minor });
  return progressOf(await getTopup(context, after.id));
}

/**
 * Expires a pending top-up whose time is over, and asks for its order to be closed; before that, and in any other
 * state, it changes nothing. @throws ServiceError not_found.
 */
export async function expireTopup(context: Context, args: { topup_id: Id<'topup'> }): Promise<TopupProgress> {
  const topup = await getTopup(context, args.topup_id);
  if (topup.status !== 'pending' || context.now() < topup.expires_at) return progressOf(topup);
  return progressOf(await apply(context, topup.id, { kind: 'lapsed' }));
}

/** What the receipt of a paid top-up says. */
function receiptData(topup: Topup, number: string, { name: org, slug }: Billing): DataOf<'receipt'> {
  const { currency, amount_minor, tax_minor, total_minor, credits_micro, id: topup_id } = topup;
  const money = (minor: number) => formatAmount(minor, currency);
  const [amount, tax, total] = [money(amount_minor), money(tax_minor), money(total_minor)];
  return { org, slug, number, amount, tax, total, credits: formatCredits(credits_micro), topup_id };
}

/**
 * Asks for the receipt of a paid top-up to be mailed to the organization's billing address, else to its owners; its
 * document notes when it went. It is asked for once, however often this runs. `queued` false: nothing to send, or nobody
 * to send to. @throws ServiceError not_found.
 */
export async function receiptMail(
  context: Context,
  args: { topup_id: Id<'topup'> },
): Promise<{ queued: boolean; reason: '' | 'not_paid' | 'queued_before' | 'no_recipient' }> {
  return context.transaction(async (context) => {
    const { db } = context;
    const topup = await getTopup(context, args.topup_id);
    const { org_id, invoice_id } = topup;
    if (topup.status !== 'paid' || invoice_id === null) return { queued: false, reason: 'not_paid' };
    const [invoice, billing] = [
      await findInvoice(db, { org_id, id: invoice_id }),
      await findBilling(db, org_id),
    ];
    if (invoice === null || billing === null) throw new Error(`${topup.id} is paid and has no document`);
    if (invoice.sent_at !== null) return { queued: false, reason: 'queued_before' };
    const to = await findBillingMailboxes(db, org_id);
    if (to.length === 0) return { queued: false, reason: 'no_recipient' };
    const data = receiptData(topup, invoice.number, billing);
    // A document that has to be registered is mailed by itself, when it is.
    const has_file = invoice.irn_status === 'not_applicable';
    const asked = await sendMail(context, {
      ...{ template: 'receipt', to, org_id, reference: invoice.id, data },
      attachments: has_file ? [{ kind: 'invoice_pdf', id: invoice.id }] : [],
    });
    return asked > 0 ? { queued: true, reason: '' } : { queued: false, reason: 'queued_before' };
  });
}

const LEASE_MS = 120_000;
const RETRY_MS_MAX = 3_600_000;

async function runTask(context: Context, task: RailTask): Promise<void> {
  const rail = moneyIn(context).rails[task.rail];
  if (rail === null) throw new RailError(`${task.rail} is not configured`, { declined: false });
  if (task.kind === 'refund_payment') await rail.refundPayment(task.ref);
  else await rail.closeCheckout(task.ref);
}

/**
 * Carries out due rail tasks: second payments are refunded, orders of expired top-ups are closed. Returns how many were
 * done. Tasks that fail come again, later each time, up to an hour. A job; two at once take different tasks.
 */
export async function runRailTasks(context: Context, limit = 20): Promise<number> {
  const at = context.now();
  const lease_until = new Date(at.getTime() + LEASE_MS);
  const tasks = await takeTasks(context.db, { at, lease_until, limit });
  let done = 0;
  for (const task of tasks) {
    const { rail_task_id } = task;
    try {
      await runTask(context, task);
      await finishTask(context.db, { rail_task_id, at: context.now() });
      done++;
    } catch (error) {
      if (!(error instanceof Error) || isDatabaseFault(error)) throw error;
      // A defect delays its own task alone, so that refunds after it still go out.
      if (!(error instanceof RailError)) context.log.error({ error, rail_task_id }, 'rail task failed');
      const wait_ms = Math.min(RETRY_MS_MAX, 2_000 * 2 ** Math.min(task.attempts, 11));
      const next_at = new Date(context.now().getTime() + wait_ms);
      await postponeTask(context.db, { rail_task_id, error: error.message, next_at });
    }
  }
  return done;
}
