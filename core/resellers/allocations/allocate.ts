// Credit from a reseller to a customer, and back. Both books may be in other databases than this one: what is decided is
// written down together with the order of its debit; what the debit took is credited once the ledger has said it, by this
// process or, where it died, by the job. So credit is in one book, in the other, or on its way; never in both.
import { actorOf, writeAudit } from '../../identity/index.ts';
import { type Context, type Id, isId, microUsd, notFound, ServiceError } from '../../kernel/index.ts';
import {
  creditOutcome,
  debitOutcome,
  orderCredit,
  orderDebit,
  readBalance,
  readLots,
  readTaken,
  readUnused,
} from '../../ledger/index.ts';
import { findOrg, type Org } from '../../orgs/index.ts';
import { hasPaymentHold } from '../../topups/index.ts';
import { getLockedChild } from '../audience.ts';
import {
  type Allocation,
  deletePending,
  endReclaim,
  findAllocation,
  insertAllocation,
  insertReclaim,
  listDue,
  listDueReclaims,
  listGiven,
  listOpenReclaims,
  lockAllocation,
  markBooked,
  markMade,
  type Reclaim,
} from './store.ts';

const DAY_MS = 86_400_000;
/** What is not booked by then lost the process that made it. */
const PENDING_MS = 60_000;

function away(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'The ledger does not answer. What was asked is recorded and will be booked as soon as it does.',
    { retry_after_ms: 1_000 },
  );
}

async function getOrg(context: Context, id: Id<'org'>): Promise<Org> {
  const org = await findOrg(context.db, id);
  if (org === null) throw new Error(`there is no organization ${id}`);
  return org;
}

/** What a reseller can give: its paid credit that no call holds. */
export async function givable(context: Context, org: Org): Promise<number> {
  const ledger = context.shards.at(org.shard);
  const { available_micro_usd } = await readBalance(ledger, org.live_book_id);
  const lots = await readLots(ledger, { book_id: org.live_book_id, open: true });
  const paid = lots.reduce((sum, lot) => (lot.kind === 'paid' ? sum + lot.remaining_micro_usd : sum), 0);
  return Math.min(available_micro_usd, paid);
}

const outOf = (id: string) => `allocation_out allocation ${id}`;
const into = (id: string) => `allocation_in allocation ${id}`;

/**
 * Takes an allocation as far as the ledgers have answered: `refused` where the reseller had not as much, `waiting` while
 * one has not answered. Again it changes nothing.
 */
async function advance(
  context: Context,
  place: Pick<Allocation, 'id' | 'org_id'>,
): Promise<'made' | 'refused' | 'waiting'> {
  const allocation = await findAllocation(context.db, place);
  if (allocation === null) return 'refused';
  const { id, org_id, child_org_id, amount_micro_usd, expires_at } = allocation;
  const parent = await getOrg(context, org_id);
  const child = await getOrg(context, child_org_id);
  if (allocation.status === 'pending') {
    const taken = await debitOutcome(context, { book_id: parent.live_book_id, reference: outOf(id) });
    if (taken === null) return 'waiting';
    if (taken.status === 'refused') {
      await deletePending(context.db, place);
      return 'refused';
    }
    const { seq: ledger_seq } = taken;
    await context.transaction(async (context) => {
      if (!(await markMade(context.db, { ...place, ledger_seq }))) return;
      await orderCredit(context, child.shard, {
        ...{ book_id: child.live_book_id, kind: 'allocation_in', granted: true, expires_at },
        ...{ amount_micro_usd: microUsd(amount_micro_usd), ref_type: 'allocation', ref_id: id },
      });
    });
  }
  const booked = await creditOutcome(context, { book_id: child.live_book_id, reference: into(id) });
  if (booked === null) return 'waiting';
  await markBooked(context.db, { ...place, child_ledger_seq: booked.seq, lot_id: booked.lot_id });
  return 'made';
}

interface Wanted {
  readonly child: string;
  readonly amount_micro_usd: number;
  readonly note: string;
  readonly expires_days: number;
}

/** Writes an allocation down and orders its debit, or finds the one that the same request wrote before. */
function begin(context: Context, org_id: Id<'org'>, wanted: Wanted): Promise<Id<'allocation'>> {
  const { amount_micro_usd, note, expires_days } = wanted;
  return context.transaction(async (context) => {
    const parent = await getOrg(context, org_id);
    const child = await getLockedChild(context, org_id, wanted.child);
    const at = context.now();
    const { id, is_new } = await insertAllocation(context.db, {
      ...{ id: context.newId('allocation'), org_id, child_org_id: child.id, amount_micro_usd, note },
      once: context.once ?? null,
      expires_at: new Date(at.getTime() + expires_days * DAY_MS),
      ...{ created_by: actorOf(context.caller).display, created_at: at },
    });
    if (!is_new) return id;
    if (child.status === 'closed')
      throw new ServiceError('state_conflict', 'The customer is closed.', { details: { state: 'closed' } });
    await orderDebit(context, parent.shard, {
      ...{ book_id: parent.live_book_id, kind: 'allocation_out', ref_type: 'allocation', ref_id: id },
      ...{ amount_micro_usd: microUsd(amount_micro_usd), paid_only: true },
    });
    await writeAudit(context, {
      ...{ action: 'reseller.allocations.create', org_id },
      target: { type: 'org', id: child.id, display: child.slug },
      after: { allocation_id: id, amount_micro: amount_micro_usd, expires_days },
    });
    return id;
  });
}

/**
 * Gives a customer of the reseller credit out of its paid credit.
 * @throws ServiceError not_found, state_conflict, payment_hold, insufficient_credits; service_unavailable where a ledger
 * does not answer: it is then booked by itself.
 */
export async function allocate(own: Context, org_id: Id<'org'>, wanted: Wanted): Promise<Allocation> {
  const context = own.acrossOrgs;
  if (await hasPaymentHold(context.db, org_id))
    throw new ServiceError('payment_hold', 'A payment of the organization is disputed, or was lost.');
  const place = { id: await begin(context, org_id, wanted), org_id };
  const state = await advance(context, place);
  const made = await findAllocation(context.db, place);
  if (state === 'refused' || made === null)
    throw new ServiceError(
      'insufficient_credits',
      'Customers are given paid credit, and there is not as much.',
      {
        details: {
          required_micro: wanted.amount_micro_usd,
          available_micro: await givable(context, await getOrg(context, org_id)),
        },
      },
    );
  if (made.status === 'pending') throw away();
  return made;
}

const backOf = ({ allocation_id, reclaim_no }: Reclaim) => `${allocation_id}-${reclaim_no}`;

/** Parts of credit by when it ends. */
type Parts = readonly { readonly expires_at: Date | null; readonly amount_micro_usd: number }[];

/** The last `amount` of `taken` before its last `behind`: what ends last goes back first. Pure. */
export function partsBack(taken: Parts, behind: number, amount: number): Parts {
  let skip = behind;
  let left = amount;
  const back = [];
  for (const { expires_at, amount_micro_usd } of [...taken].reverse()) {
    const skipped = Math.min(skip, amount_micro_usd);
    skip -= skipped;
    const part = Math.min(left, amount_micro_usd - skipped);
    left -= part;
    if (part > 0) back.push({ expires_at, amount_micro_usd: part });
  }
  if (left > 0) throw new RangeError('more goes back than was taken');
  return back;
}

/**
 * Books what a reclaim took from the customer to the reseller: as paid credit that ends when that ended of which the
 * allocation was made. False while the ledger has not answered.
 */
async function finishReclaim(context: Context, reclaim: Reclaim): Promise<boolean> {
  const { org_id, allocation_id: id } = reclaim;
  const allocation = await findAllocation(context.db, { id, org_id });
  if (allocation === null) throw new Error('a reclaim of no allocation');
  const child = await getOrg(context, allocation.child_org_id);
  const reference = `allocation_reclaim allocation ${backOf(reclaim)}`;
  const outcome = await debitOutcome(context, { book_id: child.live_book_id, reference });
  if (outcome === null) return false;
  const amount = outcome.status === 'refused' ? 0 : outcome.taken_micro_usd;
  const parent = await getOrg(context, org_id);
  const taken = await readTaken(context.shards.at(parent.shard), {
    ...{ book_id: parent.live_book_id, seq: allocation.ledger_seq as number },
  });
  await context.transaction(async (context) => {
    const locked = (await lockAllocation(context.db, { id, org_id })) as Allocation;
    if (!(await endReclaim(context.db, reclaim, amount))) return;
    const parts = partsBack(taken, locked.reclaimed_micro_usd, amount);
    for (const [at, { expires_at, amount_micro_usd }] of parts.entries())
      await orderCredit(context, parent.shard, {
        ...{ book_id: parent.live_book_id, kind: 'allocation_reclaim', granted: false, expires_at },
        ...{ amount_micro_usd: microUsd(amount_micro_usd), ref_type: 'allocation' },
        ref_id: at === 0 ? backOf(reclaim) : `${backOf(reclaim)}-${at}`,
      });
  });
  return true;
}

/** Orders that what is unused of an allocation comes back; null where nothing of it is left. */
function beginReclaim(
  context: Context,
  place: { org_id: Id<'org'>; child: string; allocation: string },
): Promise<Reclaim | null> {
  const { org_id } = place;
  return context.transaction(async (context) => {
    const child = await getLockedChild(context, org_id, place.child);
    const id = place.allocation as Id<'allocation'>;
    const found = isId('allocation', id) ? await lockAllocation(context.db, { id, org_id }) : null;
    if (found === null || found.child_org_id !== child.id || found.status !== 'made') throw notFound();
    const left = found.amount_micro_usd - found.reclaimed_micro_usd;
    if (left === 0) return null;
    if (found.lot_id === null) throw away();
    const created_by = actorOf(context.caller).display;
    const at = context.now();
    const reclaim = await insertReclaim(context.db, { allocation_id: id, org_id, created_by, at });
    await orderDebit(context, child.shard, {
      ...{ book_id: child.live_book_id, kind: 'allocation_reclaim', lot_id: found.lot_id },
      ...{ amount_micro_usd: microUsd(left), short: 'take_less' },
      ...{ ref_type: 'allocation', ref_id: backOf(reclaim) },
    });
    await writeAudit(context, {
      ...{ action: 'reseller.allocations.reclaim', org_id },
      target: { type: 'org', id: child.id, display: child.slug },
      after: { allocation_id: id },
    });
    return reclaim;
  });
}

/**
 * Takes back what is unused of an allocation: of its lot, and not what calls hold. What they give back can be taken later.
 * @throws ServiceError not_found; service_unavailable where a ledger does not answer: it is then booked by itself.
 */
export async function reclaim(
  own: Context,
  place: { org_id: Id<'org'>; child: string; allocation: string },
): Promise<Allocation> {
  const context = own.acrossOrgs;
  const { org_id, allocation } = place;
  // What an earlier process left is booked first, so that its lot is known.
  if (isId('allocation', allocation)) await advance(context, { id: allocation as Id<'allocation'>, org_id });
  const begun = await beginReclaim(context, place);
  if (begun !== null && !(await finishReclaim(context, begun))) throw away();
  const id = allocation as Id<'allocation'>;
  return (await findAllocation(context.db, { id, org_id })) as Allocation;
}

/**
 * Takes back what a customer has not used of all that its reseller gave it, for its closing: no call is under way. False while
 * a ledger has not answered; it can be asked again.
 */
export async function reclaimAll(
  own: Context,
  child: { readonly id: Id<'org'>; readonly parent_org_id: Id<'org'> },
): Promise<boolean> {
  const context = own.acrossOrgs;
  const place = { org_id: child.parent_org_id, child_org_id: child.id };
  let is_done = true;
  // What an earlier process began comes first, so that nothing of it is asked for twice.
  for (const begun of await listOpenReclaims(context.db, place))
    if (!(await finishReclaim(context, begun))) is_done = false;
  for (const given of await listGiven(context.db, { ...place, at: context.now() })) {
    const state = await advance(context, given);
    if (state === 'waiting') is_done = false;
    if (state !== 'made' || !(await isLeft(context, given))) continue;
    const wanted = { org_id: place.org_id, child: child.id, allocation: given.id };
    const begun = await beginReclaim(context, wanted);
    if (begun !== null && !(await finishReclaim(context, begun))) is_done = false;
  }
  return is_done;
}

/** Whether something of an allocation, which is booked, is unused. */
async function isLeft(context: Context, { id, org_id }: Pick<Allocation, 'id' | 'org_id'>): Promise<boolean> {
  const allocation = await findAllocation(context.db, { id, org_id });
  if (allocation === null || allocation.lot_id === null) return false;
  const { shard, live_book_id: book_id } = await getOrg(context, allocation.child_org_id);
  return (await readUnused(context.shards.at(shard), { book_id, lot_id: allocation.lot_id })) > 0;
}

/** Books what processes that died have left of allocations and reclaims; returns how many were ended. A job. */
export async function settleAllocations(context: Context, limit = 200): Promise<number> {
  const before = new Date(context.now().getTime() - PENDING_MS);
  let settled = 0;
  for (const place of await listDue(context.db, { before, limit }))
    if ((await advance(context, place)) !== 'waiting') settled++;
  for (const begun of await listDueReclaims(context.db, { before, limit }))
    if (await finishReclaim(context, begun)) settled++;
  return settled;
}
