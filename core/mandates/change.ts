// Applies what happened to a mandate: the only place where its state changes. Every caller has locked the automatic top-up
// of its organization, and the mandate.
import { type Context, type Id, notFound } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { addRailTask, type MandateFact } from '../topups/index.ts';
import { signalWorkflow } from '../workflow-starts/index.ts';
import { disableAuto, lockAuto, unblockAuto } from './auto-store.ts';
import { type MandateChange, nextStatus } from './decide.ts';
import { mailDisabled } from './mails.ts';
import { findCurrent, findMandate, lockMandate, moveMandate } from './store.ts';
import type { Mandate, MandateStatus } from './types.ts';

const OVER: readonly MandateStatus[] = ['cancelled', 'rejected', 'expired'];

/** Id of the workflow that follows a mandate. */
export function mandateWorkflowId(id: Mandate['id']): string {
  return `mandate-${id}`;
}

/** Asks the mandate's workflow to look at its row. */
function wakeMandate(
  context: Context,
  id: Mandate['id'],
  name: 'confirmed' | 'rejected' | 'paused' | 'resumed' | 'cancelled',
): Promise<void> {
  return signalWorkflow(context.db, {
    workflow_id: mandateWorkflowId(id),
    name,
    args: {},
    at: context.now(),
  });
}

/** The event of a change of a mandate, or of automatic top-up being switched off. */
export function announce(
  context: Context,
  topic: 'mandate.updated' | 'auto_topup.disabled' | 'auto_topup.blocked',
  args: { mandate: Mandate | null; org_id: Id<'org'>; status: string; reason: string },
): Promise<void> {
  const { mandate, org_id, status, reason } = args;
  const payload = {
    mandate_id: mandate?.id ?? null,
    status,
    reason,
    consecutive_failures: mandate?.consecutive_failures ?? 0,
  };
  return writeEvent(context.db, { org_id, topic, payload, at: context.now() });
}

/** Switches automatic top-up off for a reason, and says so; nothing where it is off. */
export async function switchOff(
  context: Context,
  mandate: Mandate,
  args: { status: MandateStatus; reason: 'three_failures' | 'mandate_cancelled' | 'mandate_expired' },
): Promise<void> {
  const { org_id } = mandate;
  if (!(await disableAuto(context.db, { org_id, reason: args.reason, at: context.now() }))) return;
  await announce(context, 'auto_topup.disabled', { mandate, org_id, ...args });
  await mailDisabled(context, mandate, args.reason);
}

const SIGNALS: Readonly<
  Record<MandateStatus, 'confirmed' | 'rejected' | 'paused' | 'resumed' | 'cancelled'>
> = {
  pending: 'confirmed',
  active: 'confirmed',
  paused: 'paused',
  cancelled: 'cancelled',
  rejected: 'rejected',
  expired: 'cancelled',
};

interface Names {
  readonly token_ref: string | null;
  readonly customer_ref: string | null;
  readonly ends_at: Date | null;
}

const NO_NAMES: Names = { token_ref: null, customer_ref: null, ends_at: null };

async function replaceFormer(context: Context, by: Mandate): Promise<void> {
  const { in_force } = await findCurrent(context.db, by.org_id);
  if (in_force === null || in_force.id === by.id) return;
  const former = await lockMandate(context.db, in_force.id);
  if (former !== null) await changeMandate(context, former, 'replaced', 'replaced');
}

/** A registration that was finished after the mandate had ended: what the rail allows is taken back. */
async function keepLate(context: Context, mandate: Mandate, names: Names): Promise<Mandate> {
  if (!OVER.includes(mandate.status) || mandate.token_ref !== null || names.token_ref === null)
    return mandate;
  const { id, status, reason } = mandate;
  await moveMandate(context.db, { id, status, reason, ...names, at: context.now() });
  await wakeMandate(context, id, 'cancelled');
  return (await findMandate(context.db, { id, org_id: null })) as Mandate;
}

/**
 * Changes a locked mandate, with every effect: the former one is replaced, automatic top-up is switched off with its last
 * mandate, the event, the signal. What changes nothing leaves no trace. Returns the mandate as it then is.
 */
export async function changeMandate(
  context: Context,
  mandate: Mandate,
  change: MandateChange,
  reason: string,
  names: Names = NO_NAMES,
): Promise<Mandate> {
  const { db } = context;
  const { id, org_id } = mandate;
  const status = nextStatus(mandate.status, change);
  if (status === null) return keepLate(context, mandate, names);
  if (status === 'active' && change === 'confirmed') await replaceFormer(context, mandate);
  const kept = status === 'active' ? null : reason;
  await moveMandate(db, { id, status, reason: kept, ...names, at: context.now() });
  const after = (await findMandate(db, { id, org_id: null })) as Mandate;
  await announce(context, 'mandate.updated', { mandate: after, org_id, status, reason });
  await unblockAuto(db, [org_id]);
  const lost = mandate.status === 'active' || mandate.status === 'paused';
  if (lost && OVER.includes(status) && change !== 'replaced') {
    const why = status === 'expired' ? 'mandate_expired' : 'mandate_cancelled';
    await switchOff(context, after, { status, reason: why });
  }
  await wakeMandate(context, id, change === 'resumed' ? 'resumed' : SIGNALS[status]);
  return after;
}

/** Locks a mandate with what is locked before it. @throws ServiceError not_found. */
export async function lockWithAuto(
  context: Context,
  args: { id: Id<'mandate'>; org_id: Id<'org'> | null },
): Promise<Mandate> {
  const found = await findMandate(context.db, args);
  if (found === null) throw notFound();
  await lockAuto(context.db, found.org_id);
  return (await lockMandate(context.db, args.id)) as Mandate;
}

/** Gives back what proved a registration, once. */
export async function returnProof(context: Context, mandate: Mandate, fact: MandateFact): Promise<void> {
  if (fact.first_payment === null) return;
  await addRailTask(context.db, {
    rail: mandate.gateway,
    kind: 'refund_payment',
    ref: fact.first_payment,
    topup_id: null,
    at: context.now(),
  });
}

/** Applies what a rail says of a mandate, in the transaction of its event or of a poll. */
export async function applyMandateFact(
  context: Context,
  id: Id<'mandate'>,
  fact: MandateFact,
): Promise<Mandate> {
  const mandate = await lockWithAuto(context, { id, org_id: null });
  const { token_ref, customer_ref, ends_at } = fact;
  await returnProof(context, mandate, fact);
  const has_token = token_ref !== null && (customer_ref ?? mandate.customer_ref) !== null;
  // Which method was kept is not in every event: the workflow asks.
  if (fact.change === 'completed' || (fact.change === 'confirmed' && !has_token)) {
    if (mandate.status === 'pending') await wakeMandate(context, id, 'confirmed');
    return mandate;
  }
  const names = { token_ref, customer_ref, ends_at };
  return changeMandate(context, mandate, fact.change, `${fact.change}_at_rail`, names);
}
