// The steps of the workflow `orgClose`. Each decides from rows what is left to do, so that it can be repeated and be killed
// anywhere; none does anything for an organization that staff made active again.
import { endOrgSessions } from '../identity/index.ts';
import { type Context, type Id, monotonicMs, notFound, ServiceError } from '../kernel/index.ts';
import { catchUp, endGrants, readBalance, readUnused } from '../ledger/index.ts';
import { cancelMandatesOf } from '../mandates/index.ts';
import { findOrg, lockOrg, type Org } from '../orgs/index.ts';
import { type Refund, refundsOf, requestRefund } from '../refunds/index.ts';
import { reclaimAll } from '../resellers/index.ts';
import { openTicketOf } from '../support/index.ts';
import { addStaffItem, listPaid, type Topup } from '../topups/index.ts';
import { findClosing, hasTicket, markEnded } from './store.ts';
import type { Closing, ClosingProgress } from './types.ts';

interface Args {
  readonly org_id: Id<'org'>;
}

/** Of refunds that can succeed later, so that they are tried again and are no matter for a person. */
const PASSING = ['refund_in_progress', 'rail_unavailable', 'service_unavailable'];

/** Failure of a refund whose credits a call took at the same moment: not the rail's, so it is asked for again. */
const CREDITS_USED = 'credits_used';
/** Gateways know of a closing within a second; until all do, a call may still begin. */
const SETTLING_MS = 5_000;
/** What one run of a step takes on; the next look does the rest. */
const RUN_MS = 20_000;

interface Found {
  readonly org: Org;
  readonly closing: Closing;
}

/** @throws ServiceError not_found for an organization that was never closed. */
async function getClosing(context: Context, org_id: Id<'org'>): Promise<Found> {
  const org = await findOrg(context.db, org_id);
  const closing = await findClosing(context.db, org_id);
  if (org === null || closing === null) throw notFound();
  return { org, closing };
}

const isHeld = async ({ shards }: Context, { shard, live_book_id }: Org) =>
  (await readBalance(shards.at(shard), live_book_id)).held_micro_usd > 0;

function progress(
  context: Context,
  { org, closing }: Found,
  now: Partial<Pick<ClosingProgress, 'status' | 'refunds_open' | 'held'>>,
): ClosingProgress {
  const age_ms = context.now().getTime() - closing.closed_at.getTime();
  const status = org.status === 'closed' ? 'waiting' : 'reopened';
  return { org_id: org.id, status, refunds_open: 0, held: false, ...now, age_ms };
}

/** Cancels mandates, whose own workflows take them back at the rail, and ends the sessions that were there at the closing. */
export async function endAccess(context: Context, { org_id }: Args): Promise<ClosingProgress> {
  const found = await getClosing(context, org_id);
  if (found.org.status !== 'closed') return progress(context, found, {});
  await cancelMandatesOf(context, [org_id]);
  await endOrgSessions(context.db, { org_id, before: found.closing.closed_at });
  return progress(context, found, { held: await isHeld(context, found.org) });
}

/** The refunds of a payment that this closing asked for. */
function ownRefunds(refunds: readonly Refund[], key: string): readonly Refund[] {
  return refunds.filter(({ idempotency_key }) => idempotency_key?.startsWith(key) === true);
}

/** One ticket for a payment that cannot go back by itself, whatever the number of looks. */
async function ask(context: Context, { org, closing }: Found, topup: Topup, why: string): Promise<void> {
  await context.transaction(async (context) => {
    await lockOrg(context.db, org.id);
    const { id: topup_id } = topup;
    if (await hasTicket(context.db, { org_id: org.id, topup_id, since: closing.closed_at })) return;
    await openTicketOf(context, {
      ...{
        org_id: org.id,
        kind: 'refund',
        subject: `Refund of ${topup_id} after the closing of ${org.slug}`,
      },
      body: { text: `The unused credit of this payment could not go back by itself: ${why}.`, topup_id },
    });
  });
}

/** Sends back what is unused of a payment. Whether something of it is still under way. */
async function giveBack(context: Context, found: Found, topup: Topup): Promise<boolean> {
  const { org, closing } = found;
  const key = `close-${closing.closed_at.getTime()}-`;
  const refunds = await refundsOf(context.db, topup.id);
  if (refunds.some(({ status }) => status === 'pending')) return true;
  const unused = await readUnused(context.shards.at(org.shard), {
    ...{ book_id: topup.book_id, lot_id: topup.lot_id as Id<'lot'> },
  });
  if (unused === 0 || topup.disputed) return false;
  const own = ownRefunds(refunds, key);
  if (own.some(({ status, failure_code }) => status === 'failed' && failure_code !== CREDITS_USED)) {
    await ask(context, found, topup, 'the rail refused the refund');
    return false;
  }
  try {
    await requestRefund(context, {
      ...{ org_id: org.id, topup_id: topup.id, amount_minor: null, reason: 'The organization was closed.' },
      idempotency_key: `${key}${own.length}`,
    });
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (PASSING.includes(error.code)) return true;
    // Less than the smallest unit of money is left.
    if (error.code === 'refund_exceeds_unused') return false;
    await ask(context, found, topup, error.code);
    return false;
  }
}

/** Returns how many payments are still under way. One that meets a fault keeps no other from going back. */
async function giveAllBack(context: Context, found: Found): Promise<number> {
  const until_ms = monotonicMs() + RUN_MS;
  let open = 0;
  let fault: unknown = null;
  for (const topup of await listPaid(context.db, found.org.id)) {
    if (monotonicMs() > until_ms) return open + 1;
    try {
      open += Number(await giveBack(context, found, topup));
    } catch (error) {
      fault ??= error;
    }
  }
  if (fault !== null) throw fault;
  return open;
}

/**
 * Gives paid credit back where that was asked for, what a reseller gave to the reseller, and lets other given credit expire, once no call is under way. `waiting` until
 * nothing is left to do.
 */
export async function endCredit(context: Context, { org_id }: Args): Promise<ClosingProgress> {
  const found = await getClosing(context, org_id);
  const { org, closing } = found;
  if (org.status !== 'closed') return progress(context, found, {});
  await catchUp(context, org.live_book_id);
  const is_settling = context.now().getTime() - closing.closed_at.getTime() < SETTLING_MS;
  if (is_settling || (await isHeld(context, org))) {
    await markEnded(context.db, { org_id, at: null });
    return progress(context, found, { held: true });
  }
  const { parent_org_id } = org;
  // What its reseller gave is paid credit of the reseller, and goes back before given credit ends.
  if (parent_org_id !== null && !(await reclaimAll(context, { id: org_id, parent_org_id }))) {
    await markEnded(context.db, { org_id, at: null });
    return progress(context, found, {});
  }
  await endGrants(context.shards.at(org.shard), org.live_book_id);
  const refunds_open = closing.refund_requested ? await giveAllBack(context, found) : 0;
  const is_done = refunds_open === 0;
  await markEnded(context.db, { org_id, at: is_done ? context.now() : null });
  return progress(context, found, { status: is_done ? 'done' : 'waiting', refunds_open });
}

/** Puts a closing that has not come to its end in time before the staff; it goes on all the same. */
export async function reportClosing(context: Context, { org_id }: Args): Promise<ClosingProgress> {
  const found = await getClosing(context, org_id);
  const held = await isHeld(context, found.org);
  if (found.org.status === 'closed' && found.closing.ended_at === null)
    await addStaffItem(context.db, {
      kind: 'closing_waits',
      subject: `${org_id} ${found.closing.closed_at.toISOString()}`,
      details: { org_id, slug: found.org.slug, held },
      at: context.now(),
    });
  return progress(context, found, { held });
}
