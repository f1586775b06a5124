// Makes, gives back and hands over gifts. The ledger may be another database, so that a gift is written down first, its
// credit is taken after the commit, and only then the code is shown. A gift whose code nobody was shown goes back.
import {
  type Context,
  hashCode,
  hintOf,
  type Id,
  type MicroUsd,
  microUsd,
  newCode,
  notFound,
  ServiceError,
} from '../kernel/index.ts';
import {
  debitOutcome,
  orderCredit,
  orderDebit,
  orderRestore,
  readBalance,
  readLots,
} from '../ledger/index.ts';
import { findOrg, type Org } from '../orgs/index.ts';
import { hasPaymentHold } from '../topups/index.ts';
import {
  cancelFrom,
  closeRedeemed,
  deletePending,
  findByCode,
  findGift,
  insertGift,
  listDue,
  openGift,
} from './store.ts';
import type { Gift } from './types.ts';

const DAY_MS = 86_400_000;
/** A gift is open for so long; then its credit goes back. */
const OPEN_DAYS = 90;
/** Credit that was paid in the last days may still be asked back by who paid it. */
const PAID_DAYS_AGO = 7;
/** Credit of a gift ends so long after it was redeemed. */
const CREDIT_DAYS = 365;
/** A gift that is pending for longer lost the process that would have shown its code. */
const PENDING_MS = 5 * 60_000;

function referenceOf(id: Id<'gift'>): string {
  return `gift gift ${id}`;
}

/** Paid credit of `org` that can be given away now, at most what no call holds. */
async function giftable(context: Context, org: Org, before: Date): Promise<number> {
  const ledger = context.shards.at(org.shard);
  const { available_micro_usd } = await readBalance(ledger, org.live_book_id);
  const lots = await readLots(ledger, { book_id: org.live_book_id, open: true });
  const old = lots.filter(({ kind, created_at }) => kind === 'paid' && created_at < before);
  return Math.min(
    available_micro_usd,
    old.reduce((sum, lot) => sum + lot.remaining_micro_usd, 0),
  );
}

/**
 * Makes a gift out of paid credit that is older than seven days, and returns it with its code.
 * @throws ServiceError payment_hold, insufficient_credits; service_unavailable where the ledger does not answer: what it takes later goes
 * back by itself.
 */
export async function makeGift(
  context: Context,
  org: Org,
  wanted: { amount_micro_usd: number; note: string },
): Promise<{ gift: Gift; code: string }> {
  const code = newCode('GIFT');
  const { hash: code_hash, hash_key_id } = hashCode(context.services.root_key, 'credit code', code);
  const id = context.newId('gift');
  const at = context.now();
  const before = new Date(at.getTime() - PAID_DAYS_AGO * DAY_MS);
  const amount_micro_usd: MicroUsd = microUsd(wanted.amount_micro_usd);
  if (await hasPaymentHold(context.db, org.id))
    throw new ServiceError('payment_hold', 'A payment of the organization is disputed, or was lost.');
  await context.transaction(async (context) => {
    await insertGift(context.db, {
      ...{ id, org_id: org.id, amount_micro_usd, note: wanted.note, created_at: at },
      ...{ hint: hintOf(code), code_hash, hash_key_id },
      expires_at: new Date(at.getTime() + OPEN_DAYS * DAY_MS),
    });
    await orderDebit(context, org.shard, {
      ...{ book_id: org.live_book_id, kind: 'gift', amount_micro_usd, ref_type: 'gift', ref_id: id },
      ...{ paid_only: true, created_before: before },
    });
  });
  const outcome = await debitOutcome(context, { book_id: org.live_book_id, reference: referenceOf(id) });
  if (outcome?.status === 'refused') {
    await deletePending(context.db, id);
    throw new ServiceError(
      'insufficient_credits',
      'Gifts are made of paid credit that is older than seven days, and there is not as much.',
      {
        details: {
          required_micro: wanted.amount_micro_usd,
          available_micro: await giftable(context, org, before),
        },
      },
    );
  }
  const gift = outcome === null ? null : await openGift(context.db, id);
  if (gift !== null) return { gift, code };
  throw new ServiceError('service_unavailable', 'The ledger does not answer. Nothing was given away.', {
    retry_after_ms: 5_000,
  });
}

/** Cancels a gift in the open transaction and orders its credit back; null when it is not in `from` any more. */
async function giveBack(
  context: Context,
  org: Org,
  gift: { id: Id<'gift'>; from: 'pending' | 'open' },
): Promise<Gift | null> {
  const cancelled = await cancelFrom(context.db, { ...gift, org_id: org.id, at: context.now() });
  if (cancelled === null) return null;
  await orderRestore(context, org.shard, {
    ...{ book_id: org.live_book_id, debit_kind: 'gift', ref_type: 'gift', ref_id: gift.id },
  });
  return cancelled;
}

/** Cancels an open gift of `org`, whose credit goes back where it was. @throws ServiceError not_found, state_conflict. */
export function cancelGift(context: Context, org: Org, id: Id<'gift'>): Promise<Gift> {
  return context.transaction(async (context) => {
    const cancelled = await giveBack(context, org, { id, from: 'open' });
    if (cancelled !== null) return cancelled;
    const gift = await findGift(context.db, { id, org_id: org.id });
    if (gift === null) throw notFound();
    throw new ServiceError('state_conflict', 'The gift is not open any more.', {
      details: { state: gift.status },
    });
  });
}

/** What redeeming a gift gives: ordered in the transaction that closed it. */
interface TakenGift {
  readonly gift_id: Id<'gift'>;
  readonly amount_micro_usd: number;
  readonly credit_expires_at: Date;
}

/**
 * Hands the gift with this code to `org` in the open transaction; null when there is no such gift.
 * @throws ServiceError gift_own_org, code_already_used, token_expired.
 */
export async function takeGift(
  context: Context,
  org: Org,
  code_hashes: readonly Buffer[],
): Promise<TakenGift | null> {
  // The gift is a row of the organization that gave it.
  const { db } = context.acrossOrgs;
  const gift = await findByCode(db, code_hashes);
  if (gift === null) return null;
  if (gift.org_id === org.id)
    throw new ServiceError('gift_own_org', 'An organization cannot redeem its own gift. Cancel it instead.');
  const at = context.now();
  if (!(await closeRedeemed(db, { id: gift.id, redeemed_by: org.id, at }))) {
    const closed = await findByCode(db, code_hashes);
    throw closed?.status === 'redeemed'
      ? new ServiceError('code_already_used', 'This gift was redeemed before.')
      : new ServiceError('token_expired', 'This gift was taken back or has expired.');
  }
  const credit_expires_at = new Date(at.getTime() + CREDIT_DAYS * DAY_MS);
  await orderCredit(context, org.shard, {
    ...{ book_id: org.live_book_id, kind: 'gift_redeem', amount_micro_usd: microUsd(gift.amount_micro_usd) },
    ...{ granted: true, expires_at: credit_expires_at, ref_type: 'gift', ref_id: gift.id },
  });
  return { gift_id: gift.id, amount_micro_usd: gift.amount_micro_usd, credit_expires_at };
}

async function settleOne(context: Context, gift: Gift): Promise<boolean> {
  const org = await findOrg(context.db, gift.org_id);
  if (org === null) return false;
  const from = gift.status === 'pending' ? 'pending' : 'open';
  if (from === 'pending') {
    const reference = referenceOf(gift.id);
    const outcome = await debitOutcome(context, { book_id: org.live_book_id, reference });
    // The ledger has not answered yet: it is looked at again.
    if (outcome === null) return false;
    if (outcome.status === 'refused') {
      await deletePending(context.db, gift.id);
      return true;
    }
  }
  return context.transaction(
    async (context) => (await giveBack(context, org, { id: gift.id, from })) !== null,
  );
}

/** Gives back the credit of gifts that nobody redeemed in time, and of those whose code was never shown. A job. */
export async function settleGifts(context: Context, limit = 200): Promise<number> {
  const at = context.now();
  const pending_before = new Date(at.getTime() - PENDING_MS);
  let settled = 0;
  for (const gift of await listDue(context.db, { at, pending_before, limit })) {
    if (await settleOne(context, gift)) settled++;
  }
  return settled;
}
