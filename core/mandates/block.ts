// Why an organization whose balance is below its threshold is not charged now.
import { type Context, ServiceError } from '../kernel/index.ts';
import { type Billing, findBilling, findOrg, type Org } from '../orgs/index.ts';
import { hasOpenDispute, moneyIn, type Priced, priceForSale } from '../topups/index.ts';
import { countSent, lastAttempt } from './auto-store.ts';
import { findCurrent } from './store.ts';
import type { Attempt, AutoTopup, BlockReason, Mandate } from './types.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** After a debit that was made: cards elsewhere soon, in India once a day. */
const REST_MS = { 'rail-a': DAY_MS, 'rail-b': 10 * MINUTE_MS } as const;
const PER_DAY_MAX = 5;
/** What no time ends is judged again after so long. */
const AGAIN_MS = 5 * MINUTE_MS;

/** All that a debit needs. */
export interface Ready {
  readonly mandate: Mandate;
  readonly billing: Billing;
  readonly priced: Priced;
}

/** `until`: when it may be over; null where no time ends it. */
export interface Block {
  readonly reason: BlockReason;
  readonly until: Date;
}

/** When the next attempt may begin after `last`; a debit that failed or was skipped rests for a day. */
function restEnds(last: Attempt, mandate: Mandate): Date {
  const ended_at = last.ended_at ?? last.created_at;
  const rest_ms =
    last.status === 'succeeded' || last.status === 'not_needed' ? REST_MS[mandate.gateway] : DAY_MS;
  return new Date(ended_at.getTime() + rest_ms);
}

async function blockOfTime(context: Context, auto: AutoTopup, mandate: Mandate): Promise<Block | null> {
  const now = context.now();
  const last = await lastAttempt(context.db, auto.org_id);
  if (last !== null) {
    const until = restEnds(last, mandate);
    if (until > now) return { reason: 'too_soon', until };
  }
  if (mandate.gateway !== 'rail-b') return null;
  const midnight_ms = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const sent = await countSent(context.db, { org_id: auto.org_id, since: new Date(midnight_ms) });
  return sent < PER_DAY_MAX ? null : { reason: 'daily_limit', until: new Date(midnight_ms + DAY_MS) };
}

/** Why a price cannot be made. */
function reasonOf(error: ServiceError): BlockReason {
  if (error.code === 'amount_too_small') return 'amount_too_small';
  if (error.code === 'amount_too_large') return 'amount_above_cap';
  if (error.code === 'legal_acceptance_required') return error.code;
  return error.code === 'rail_unavailable' ? 'rail_unavailable' : 'price_unavailable';
}

function mandateBlock(mandate: Mandate | null, org: Org, is_disputed: boolean): BlockReason | null {
  if (mandate === null) return 'no_active_mandate';
  if (mandate.status === 'paused') return 'mandate_paused';
  if (org.status !== 'active') return 'org_inactive';
  return is_disputed ? 'dispute_open' : null;
}

/**
 * What a debit of `auto` needs now, or why there is none. The caller holds the lock on the automatic top-up.
 */
export async function readyOrBlocked(context: Context, auto: AutoTopup): Promise<Ready | Block> {
  const { db } = context;
  const { org_id, amount_minor } = auto;
  const later = new Date(context.now().getTime() + AGAIN_MS);
  const blocked = (reason: BlockReason): Block => ({ reason, until: later });
  const [org, billing] = [await findOrg(db, org_id), await findBilling(db, org_id)];
  if (org === null || billing === null) throw new Error(`there is no organization ${org_id}`);
  const { in_force: mandate } = await findCurrent(db, org_id);
  const reason = mandateBlock(mandate, org, await hasOpenDispute(db, org_id));
  if (reason !== null || mandate === null) return blocked(reason ?? 'no_active_mandate');
  const resting = await blockOfTime(context, auto, mandate);
  if (resting !== null) return resting;
  if (moneyIn(context).rails[mandate.gateway]?.mandates == null) return blocked('rail_unavailable');
  try {
    const priced = await priceForSale(context, billing, amount_minor);
    const { quote } = priced;
    if (quote.rail !== mandate.gateway || quote.currency !== mandate.currency)
      return blocked('no_active_mandate');
    if (quote.total_minor > mandate.max_amount_minor) return blocked('amount_above_cap');
    return { mandate, billing, priced };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return blocked(reasonOf(error));
  }
}
