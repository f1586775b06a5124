// Redeems a code of staff or a gift. Who guesses is stopped: attempts of one organization, and of one address, take
// turns on a counter, and after ten codes that do not exist even a right one is refused for an hour.
import { takeGift } from '../gifts/index.ts';
import { addressPrefix } from '../identity/index.ts';
import { type Context, hashesOfCode, microUsd, notFound, ServiceError, sha256Hex } from '../kernel/index.ts';
import { creditOutcome, orderCredit } from '../ledger/index.ts';
import { lockOrg, type Org } from '../orgs/index.ts';
import { hasPaid } from '../topups/index.ts';
import { addMiss, countRedeemed, insertRedemption, lockCode, lockMisses, noteSeq, useCode } from './store.ts';
import type { Batch, Redemption } from './types.ts';

const MISSES_MAX = 10;
const MISS_WINDOW_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Who tries: the organization, and the network that the request came from. In one order, so that locks never cross. */
function subjectsOf(context: Context, org: Org): string[] {
  const prefix = addressPrefix(context.client_ip);
  const all = [`org ${org.id}`, ...(prefix === null ? [] : [`address ${prefix}`])];
  return all.map((subject) => sha256Hex(subject)).sort();
}

/** Takes the turn of who tries. @throws ServiceError rate_limit_exceeded after too many misses, for a right code too. */
async function lockTurn(context: Context, subjects: readonly string[]): Promise<void> {
  const at = context.now();
  const since = new Date(at.getTime() - MISS_WINDOW_MS);
  for (const subject of subjects) {
    const counter = await lockMisses(context.db, { subject, at, since });
    if (counter.misses < MISSES_MAX) continue;
    const reset_ms = Math.max(1_000, counter.since.getTime() + MISS_WINDOW_MS - at.getTime());
    throw new ServiceError(
      'rate_limit_exceeded',
      'Too many codes that do not exist were tried. Wait, then try again.',
      {
        details: { limit: 'redeem_misses', limit_value: MISSES_MAX, reset_ms },
        retry_after_ms: reset_ms,
      },
    );
  }
}

/** @throws ServiceError with what keeps `org` from a code of `batch`. */
async function refuseUnfit(context: Context, org: Org, batch: Batch): Promise<void> {
  const { db } = context;
  if (batch.closed_at !== null || context.now() >= batch.valid_until)
    throw new ServiceError('token_expired', 'This code is not valid any more.', { param: 'code' });
  const { of_batch, of_all } = await countRedeemed(db, { org_id: org.id, batch_id: batch.batch_id });
  if (of_batch >= batch.max_per_org) {
    throw new ServiceError('code_already_used', 'The organization has redeemed its share of these codes.', {
      param: 'code',
      details: { reason: 'max_per_org', max_per_org: batch.max_per_org },
    });
  }
  const unfit = (reason: string, message: string) =>
    new ServiceError('permission_denied', message, { param: 'code', details: { reason } });
  if (batch.country !== null && batch.country !== org.billing_country)
    throw unfit('country', 'This code is for organizations of another country.');
  if (batch.new_org_only && (of_all > 0 || (await hasPaid(db, org.id))))
    throw unfit('new_org_only', 'This code is for new organizations.');
}

/** What was redeemed, and what its credit is ordered for. */
type Ordered = Omit<Redemption, 'ledger_seq'>;

/** Takes a code of staff for `org`, which is locked; null when there is no such code. */
async function takeCode(context: Context, org: Org, code_hashes: readonly Buffer[]): Promise<Ordered | null> {
  const found = await lockCode(context.db, code_hashes);
  if (found === null) return null;
  const { batch, code_hash, redemption_id } = found;
  if (redemption_id !== null)
    throw new ServiceError('code_already_used', 'This code was redeemed before.', { param: 'code' });
  await refuseUnfit(context, org, batch);
  const id = context.newId('redemption');
  const at = context.now();
  const { amount_micro_usd } = batch;
  const credit_expires_at = new Date(at.getTime() + batch.credit_days * DAY_MS);
  const made = { id, org_id: org.id, amount_micro_usd, credit_expires_at, created_at: at, gift_id: null };
  await useCode(context.db, { code_hash, redemption_id: id });
  await insertRedemption(context.db, { ...made, batch_id: batch.batch_id });
  await orderCredit(context, org.shard, {
    ...{ book_id: org.live_book_id, kind: 'redeem', amount_micro_usd: microUsd(amount_micro_usd) },
    ...{ granted: true, expires_at: credit_expires_at, ref_type: 'redemption', ref_id: id },
  });
  return { ...made, batch: batch.name };
}

/** Takes the gift with this code for `org`; null when there is none. */
async function takeGiftCode(
  context: Context,
  org: Org,
  code_hashes: readonly Buffer[],
): Promise<Ordered | null> {
  const taken = await takeGift(context, org, code_hashes);
  if (taken === null) return null;
  const made = { id: context.newId('redemption'), org_id: org.id, ...taken, created_at: context.now() };
  await insertRedemption(context.db, { ...made, batch_id: null });
  return { ...made, batch: null };
}

/** One turn: what was ordered, or null when the code does not exist and the miss is counted. */
function attempt(context: Context, org_id: Org['id'], code: string): Promise<Ordered | null> {
  const code_hashes = hashesOfCode(context.services.root_key, 'credit code', code);
  return context.transaction(async (context) => {
    // The organization first: its lock is the only one that other concepts take too.
    const org = await lockOrg(context.db, org_id);
    if (org === null) throw notFound();
    const subjects = subjectsOf(context, org);
    await lockTurn(context, subjects);
    const ordered =
      (await takeCode(context, org, code_hashes)) ?? (await takeGiftCode(context, org, code_hashes));
    if (ordered === null) await addMiss(context.db, subjects);
    return ordered;
  });
}

/**
 * Redeems `code` for the organization. Where the ledger does not answer at once the code is used all the same, so this is
 * a success without an entry: who was refused here would send again, and be told that the code was used before.
 * @throws ServiceError not_found, code_already_used, gift_own_org, token_expired, permission_denied, rate_limit_exceeded.
 */
export async function redeem(context: Context, org: Org, code: string): Promise<Redemption> {
  const ordered = await attempt(context, org.id, code);
  if (ordered === null) {
    throw new ServiceError('not_found', 'There is no such code. Check it and type it again.', {
      param: 'code',
    });
  }
  return withEntry(context, org, { ...ordered, ledger_seq: null });
}

/** A redemption with its entry, where the ledger has booked it since it was asked last. */
export async function withEntry(context: Context, org: Org, redemption: Redemption): Promise<Redemption> {
  if (redemption.ledger_seq !== null) return redemption;
  const { id, gift_id } = redemption;
  const reference = gift_id === null ? `redeem redemption ${id}` : `gift_redeem gift ${gift_id}`;
  const entry = await creditOutcome(context, { book_id: org.live_book_id, reference });
  if (entry === null) return redemption;
  await noteSeq(context.db, { id, ledger_seq: entry.seq });
  return { ...redemption, ledger_seq: entry.seq };
}
