// What rails report of disputes: in any order, twice, and before the payment was booked.
import type { Context, Id } from '../../kernel/index.ts';
import {
  addStaffItem,
  type CallbackAnswer,
  type DisputeFact,
  disputesOf,
  earlyDisputes,
  keepRailDispute,
  lockTopup,
  noteDispute,
  type RailDispute,
  type RailName,
  type Topup,
  topupsWithEarlyDisputes,
} from '../../topups/index.ts';
import { findPaidTopup } from '../store.ts';
import { endDispute, openDispute } from './book.ts';
import { decideDispute } from './decide.ts';

const NOBODY: CallbackAnswer = { invoice: null, replay: false, topup: null };

/** Applies a fact about a dispute of a locked top-up; `kept` is what the rail has said of it in all. */
async function apply(
  context: Context,
  topup: Topup,
  { kept, fact }: { readonly kept: RailDispute; readonly fact: Pick<DisputeFact, 'status'> },
): Promise<void> {
  const { db } = context;
  const at = context.now();
  const { rail, ref, phase, reason, respond_by, amount_minor } = kept;
  const all = await disputesOf(db, topup.id);
  const dispute = all.find(({ gateway, gateway_ref }) => gateway === rail && gateway_ref === ref) ?? null;
  const decision = decideDispute(dispute, { fact, kept: kept.status });
  switch (decision.do) {
    case 'open': {
      const opened = await openDispute(context, topup, kept);
      if (decision.end !== null) await endDispute(context, topup, opened, { as: decision.end, amount_minor });
      return;
    }
    case 'note':
      if (dispute !== null) await noteDispute(db, { id: dispute.id, phase, reason, respond_by, at });
      return;
    case 'close':
      if (dispute !== null) await endDispute(context, topup, dispute, { as: decision.as, amount_minor });
      return;
    case 'ask':
      await addStaffItem(db, {
        kind: 'dispute_changed',
        subject: dispute?.id ?? ref,
        details: { topup_id: topup.id, rail, gateway_ref: ref, booked: kept.status, rail_says: fact.status },
        at,
      });
      return;
    case 'nothing':
  }
}

async function lock(context: Context, topup_id: Id<'topup'>): Promise<Topup> {
  const topup = await lockTopup(context.db, topup_id);
  if (topup === null) throw new Error(`${topup_id} has gone`);
  return topup;
}

/**
 * Takes a rail's fact about a dispute, in the transaction of its event or of a poll. One of a payment that is not booked is
 * kept until it is.
 */
export async function takeDisputeFact(
  context: Context,
  rail: RailName,
  fact: DisputeFact,
): Promise<CallbackAnswer> {
  const { db } = context;
  const topup_id = await findPaidTopup(db, { rail, payment_ref: fact.payment_ref });
  const topup = topup_id === null ? null : await lock(context, topup_id);
  const kept = await keepRailDispute(db, { rail, fact, at: context.now() });
  if (topup === null) return NOBODY;
  await apply(context, topup, { kept, fact });
  return { ...NOBODY, topup: topup.id };
}

/** Books the disputes that were reported before the payment of this top-up was booked, in the open transaction. */
export async function takeEarlyDisputes(context: Context, topup_id: Id<'topup'>): Promise<void> {
  const topup = await lock(context, topup_id);
  const { gateway: rail, payment_ref } = topup;
  if (payment_ref === null) return;
  for (const kept of await earlyDisputes(context.db, { rail, payment_ref }))
    await apply(context, topup, { kept, fact: kept });
}

/** The same of payments that were booked otherwise than by a callback; returns of how many top-ups. A job. */
export async function adoptEarlyDisputes(context: Context, limit = 50): Promise<number> {
  const found = await topupsWithEarlyDisputes(context.db, limit);
  for (const topup_id of found) await context.transaction((context) => takeEarlyDisputes(context, topup_id));
  return found.length;
}
