// The notice before a debit: ours by mail, and that of the rail where its rules ask for one.
import type { Context, Id } from '../kernel/index.ts';
import { nameOrder, RailError } from '../topups/index.ts';
import { signalWorkflow } from '../workflow-starts/index.ts';
import { findAttempt, lockAuto, moveAttempt } from './auto-store.ts';
import { endAttempt, failWith } from './end.ts';
import { mailNotice } from './mails.ts';
import { attemptWorkflowId } from './trigger.ts';
import { type AttemptName, callsOf, chargeRequest, readWhole, type Whole } from './whole.ts';

const HOUR_MS = 3_600_000;

/** Lets the rail make the order and give its notice; null where it needs neither. */
async function orderOf(context: Context, whole: Whole, earliest: Date): Promise<string | null> {
  const { mandate, topup } = whole;
  if (topup.gateway_ref !== null) return topup.gateway_ref;
  return callsOf(context, mandate).announce(await chargeRequest(context, whole), earliest);
}

/**
 * Gives notice of a debit: the rail's, whose delivery the debit waits for, or ours alone. Where nobody has to be told
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
    if (mandate.notify_hours > 0) await mailNotice(context, { ...whole, earliest });
    // Where the rail gives notice, the time runs from when it has.
    const waits = attempt.notified_at === null && callsOf(context, mandate).givesNotice(mandate.method);
    await moveAttempt(db, name, {
      status: 'waiting',
      ...(waits ? {} : { notified_at: at, due_at: attempt.due_at ?? earliest }),
    });
  });
}

/** Notes that the rail has given its notice, or could not: then nothing may be debited. */
export async function noteNotice(
  context: Context,
  args: { topup_id: Id<'topup'>; delivered: boolean },
): Promise<void> {
  const { db } = context;
  const found = await findAttempt(db, { topup_id: args.topup_id });
  if (found === null) return;
  await lockAuto(db, found.org_id);
  const { attempt, mandate } = await readWhole(context, found);
  if (attempt.ended_at !== null || attempt.notified_at !== null || attempt.notice_failed) return;
  const at = context.now();
  const { status } = attempt;
  if (args.delivered) {
    const due_at = new Date(at.getTime() + mandate.notify_hours * HOUR_MS);
    await moveAttempt(db, attempt, { status, notified_at: at, due_at });
  } else await moveAttempt(db, attempt, { status, notice_failed: true });
  await signalWorkflow(db, { workflow_id: attemptWorkflowId(attempt), name: 'noticed', args: {}, at });
}
