// What rails report of refunds: of ours, and of those that somebody made in the rail's own dashboard.
import { type Context, type Id, microUsd } from '../kernel/index.ts';
import { orderDebit } from '../ledger/index.ts';
import { readShard } from '../orgs/index.ts';
import {
  addStaffItem,
  type CallbackAnswer,
  disputesOf,
  lockTopup,
  type RailName,
  type RefundFact,
  type Topup,
} from '../topups/index.ts';
import { takenBy } from './disputes/parts.ts';
import { addParts, partOfTotal, totalOf } from './proportion.ts';
import { goneBack, soldOf } from './request.ts';
import { applyRefundFact, settleRefund } from './settle.ts';
import {
  claimRailRefund,
  earlyRailRefunds,
  findPaidTopup,
  findRailRefund,
  findRefund,
  insertRefund,
  keepRailRefund,
  type RailRefund,
  refundsOf,
  unclaimedRailRefunds,
} from './store.ts';
import type { Refund } from './types.ts';

/** So long a refund at the rail waits for one of ours to claim it; then it was made there. */
const CLAIM_MS = 10 * 60_000;
const NOBODY: CallbackAnswer = { invoice: null, replay: false, topup: null };

/** Keeps what a rail says of a refund. */
export function keepFact(
  context: Context,
  of: { readonly rail: RailName; readonly topup_id: Id<'topup'> | null },
  fact: RefundFact,
): Promise<void> {
  const { ref, payment_ref, amount_minor, currency, status } = fact;
  const about = { ref, payment_ref, amount_minor, currency, status };
  return keepRailRefund(context.db, { ...of, ...about, at: context.now() });
}

function ourRefund(refunds: readonly Refund[], fact: RefundFact): Refund | null {
  const named = refunds.find(({ gateway_ref }) => gateway_ref === fact.ref);
  return named ?? refunds.find(({ id }) => id === fact.refund_id) ?? null;
}

/**
 * Takes a rail's fact about a refund, in the transaction of its event. One of a payment that is not booked is kept until
 * it is; one that none of ours claims within ten minutes is booked by `adoptRailRefunds`.
 */
export async function takeRefundFact(
  context: Context,
  rail: RailName,
  fact: RefundFact,
): Promise<CallbackAnswer> {
  const { db } = context;
  const topup_id = await findPaidTopup(db, { rail, payment_ref: fact.payment_ref });
  if (topup_id === null) {
    await keepFact(context, { rail, topup_id }, fact);
    return NOBODY;
  }
  const topup = await lockTopup(db, topup_id);
  if (topup === null) throw new Error(`${topup_id} has gone`);
  await keepFact(context, { rail, topup_id }, fact);
  const refund = ourRefund(await refundsOf(db, topup_id), fact);
  if (refund !== null) await applyRefundFact(context, topup, refund, fact);
  return { ...NOBODY, topup: topup_id };
}

async function adopt(context: Context, topup: Topup, found: RailRefund): Promise<boolean> {
  const { db } = context;
  const refunds = await refundsOf(db, topup.id);
  // Its answer may still be on the way; the next turn looks again.
  if (refunds.some(({ status }) => status === 'pending')) return false;
  const at = context.now();
  const id = context.newId('refund');
  const { rail, ref, amount_minor: total_minor } = found;
  const lost = (await disputesOf(db, topup.id)).filter(({ status }) => status === 'lost');
  const before = addParts(goneBack(refunds), takenBy(lost));
  const part = partOfTotal(await soldOf(context, topup), before, { total_minor, at });
  const fits = found.currency === topup.currency && totalOf(part) === total_minor;
  await addStaffItem(db, {
    kind: fits ? 'refund_at_rail' : 'refund_differs',
    subject: `${rail} ${ref}`,
    details: { topup_id: topup.id, refund_id: fits ? id : null, total_minor, currency: found.currency },
    at,
  });
  if (!fits) return false;
  await insertRefund(db, {
    ...part,
    id,
    org_id: topup.org_id,
    topup_id: topup.id,
    book_id: topup.book_id,
    gateway: rail,
    payment_ref: topup.payment_ref as string,
    gateway_ref: ref,
    currency: topup.currency,
    total_minor,
    fx_rate: topup.fx_rate,
    source: 'rail',
    reason: 'rail',
    requested_minor: null,
    idempotency_key: null,
    created_at: at,
  });
  await claimRailRefund(db, { rail, ref, refund_id: id });
  await orderDebit(context, await readShard(db, topup.org_id), {
    book_id: topup.book_id,
    kind: 'refund',
    amount_micro_usd: microUsd(part.credits_micro),
    lot_id: topup.lot_id as Id<'lot'>,
    // The money is gone: what is not there any more is written off.
    short: 'write_off',
    ref_type: 'refund',
    ref_id: id,
  });
  const refund = await findRefund(db, { id, org_id: null });
  if (refund === null) throw new Error(`${id} has gone`);
  await settleRefund(context, topup, refund, ref);
  return true;
}

/** Hands the refunds that came before their payments to the top-ups that these have by now. */
async function takeEarlyRefunds(context: Context, limit: number): Promise<void> {
  for (const { rail, ...early } of await earlyRailRefunds(context.db, limit)) {
    const fact: RefundFact = { ...early, kind: 'refund', refund_id: null, failure_code: null };
    await context.transaction((context) => takeRefundFact(context, rail, fact));
  }
}

/**
 * Books refunds that were made at a rail and that nobody here asked for: credits are taken as far as they are there, the
 * rest is written off, and a person is told. Returns how many. A job; two at once take turns by the top-up's lock.
 */
export async function adoptRailRefunds(context: Context, limit = 50): Promise<number> {
  await takeEarlyRefunds(context, limit);
  const before = new Date(context.now().getTime() - CLAIM_MS);
  let adopted = 0;
  for (const { rail, ref, topup_id } of await unclaimedRailRefunds(context.db, { before, limit })) {
    const done = await context.transaction(async (context) => {
      const topup = await lockTopup(context.db, topup_id);
      const found = await findRailRefund(context.db, { rail, ref });
      if (topup === null || found === null || found.refund_id !== null) return false;
      return adopt(context, topup, found);
    });
    if (done) adopted++;
  }
  return adopted;
}
