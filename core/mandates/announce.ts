// The notice before a debit: ours by mail, and that of the rail where its rules ask for one.
import type { Context, Id } from '../kernel/index.ts';
import { readDelivery } from '../mail/index.ts';
import { moneyIn, nameOrder, RailError } from '../topups/index.ts';
import { signalWorkflow } from '../workflow-starts/index.ts';
import { findAttempt, lockAuto, moveAttempt } from './auto-store.ts';
import { endAttempt, failWith } from './end.ts';
import { mailNotice, NOTICE } from './mails.ts';
import { attemptWorkflowId } from './trigger.ts';
import type { Mandate } from './types.ts';
import { type AttemptName, callsOf, chargeRequest, readWhole, type Whole } from './whole.ts';

const HOUR_MS = 3_600_000;
/** The clock of the process that hears of a rail's notice may be behind the rail's: a debit is never early by that. */
const CLOCKS_MS = 60_000;

/** Lets the rail make the order and give its notice; null where it needs neither. */
async function orderOf(context: Context, whole: Whole, earliest: Date): Promise<string | null> {
  const { mandate, topup } = whole;
  if (topup.gateway_ref !== null) return topup.gateway_ref;
  return callsOf(context, mandate).announce(await chargeRequest(context, whole), earliest);
}

/**
 * Whether our mail is the notice: where one has to be given, and the rail gives none. False where the rail is not
 * configured any more: then nothing is debited.
 */
function isByMail(context: Pick<Context, 'services'>, mandate: Mandate): boolean {
  const calls = moneyIn(context).rails[mandate.gateway]?.mandates ?? null;
  return mandate.notify_hours > 0 && calls !== null && !calls.givesNotice(mandate.method);
}

/**
 * Gives notice of a debit: the rail's, or ours alone; the debit waits until it has arrived. Where nobody has to be told
 * beforehand the debit is due at once. Repeated, it gives one notice. A rail that refuses fails the attempt.
 * @throws RailError when the rail cannot be asked now.
 */
export async function announceAttempt(context: Context, name: AttemptName): Promise<void> {
  const whole = await readWhole(context, name);
  const { mandate, topup } = whole;
  if (whole.attempt.status !== 'announcing') return;
  const earliest = new Date(context.now().getTime() + mandate.notify_hours * HOUR_MS);
  let order: string | null;
  try {
    order = await orderOf(context, whole, earliest);
  } catch (error) {
    if (!(error instanceof RailError) || !error.declined) throw error;
    await failWith(context, topup.id, { code: error.code ?? 'declined', message: error.message });
    return endAttempt(context, name);
  }
  await context.transaction(async (context) => {
    const { db } = context;
    await lockAuto(db, name.org_id);
    const attempt = await findAttempt(db, name);
    if (attempt?.status !== 'announcing') return;
    const at = context.now();
    if (order !== null) await nameOrder(db, { id: topup.id, gateway_ref: order, checkout_url: null, at });
    const mails = mandate.notify_hours > 0 ? await mailNotice(context, { ...whole, earliest }) : 0;
    const is_by_mail = isByMail(context, mandate);
    const waits = is_by_mail || callsOf(context, mandate).givesNotice(mandate.method);
    // The rail may have reported its notice before its answer came.
    const is_due = !waits && attempt.notified_at === null;
    await moveAttempt(db, name, {
      status: 'waiting',
      ...(is_due ? { notified_at: at, due_at: earliest } : {}),
      notice_failed: is_by_mail && mails === 0,
    });
  });
}

/**
 * Notes that a notice has arrived, or cannot: then nothing may be debited. One that a rail gave is of an order; null: it was our
 * mail. Of an order that will not be debited it says nothing: where two workers ask at once, a rail makes one for each.
 */
export async function noteNotice(
  context: Pick<Context, 'db' | 'now'>,
  args: { topup_id: Id<'topup'>; order_ref: string | null; delivered: boolean },
): Promise<void> {
  const { db } = context;
  const found = await findAttempt(db, { topup_id: args.topup_id });
  if (found === null) return;
  await lockAuto(db, found.org_id);
  const { attempt, mandate, topup } = await readWhole(context, found);
  if (attempt.ended_at !== null || attempt.notified_at !== null || attempt.notice_failed) return;
  const at = context.now();
  const { order_ref: gateway_ref } = args;
  if (gateway_ref !== null) {
    // The rail may be faster than our note of its order, which then is this one.
    if ((topup.gateway_ref ?? gateway_ref) !== gateway_ref) return;
    await nameOrder(db, { id: topup.id, gateway_ref, checkout_url: null, at });
  }
  const { status } = attempt;
  if (args.delivered) {
    const more_ms = gateway_ref === null ? 0 : CLOCKS_MS;
    const due_at = new Date(at.getTime() + mandate.notify_hours * HOUR_MS + more_ms);
    await moveAttempt(db, attempt, { status, notified_at: at, due_at });
  } else await moveAttempt(db, attempt, { status, notice_failed: true });
  await signalWorkflow(db, { workflow_id: attemptWorkflowId(attempt), name: 'noticed', args: {}, at });
}

/**
 * Takes the end of a mail that gave notice of the debit of `topup_id`, in the transaction that notes it. Where the mail is
 * the notice, the first that a mail server took is its arrival; when none is left that may go, it has failed.
 */
export async function noteMailedNotice(
  context: Pick<Context, 'db' | 'now' | 'services'>,
  topup_id: Id<'topup'>,
): Promise<void> {
  const { db } = context;
  const found = await findAttempt(db, { topup_id });
  if (found === null) return;
  // The last two of several mails may end at once: the second sees the end of the first.
  await lockAuto(db, found.org_id);
  const { mandate } = await readWhole(context, found);
  if (!isByMail(context, mandate)) return;
  const { sent, waiting } = await readDelivery(db, { template: NOTICE, reference: topup_id });
  if (sent > 0 || waiting === 0)
    await noteNotice(context, { topup_id, order_ref: null, delivered: sent > 0 });
}

/** Whether the notice of a debit that is due did not reach anybody after all: all its mails came back. */
export async function hasComeBack(context: Context, { mandate, topup }: Whole): Promise<boolean> {
  if (!isByMail(context, mandate)) return false;
  return (await readDelivery(context.db, { template: NOTICE, reference: topup.id })).sent === 0;
}
