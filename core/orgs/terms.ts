// What staff decide about an organization: kind and status; what follows from a plan that changes.
import { type Context, microUsd, ServiceError } from '../kernel/index.ts';
import { orderLowMark, writeEvent } from '../ledger/index.ts';
import { setPlan } from './plan-store.ts';
import type { PlanId } from './plans.ts';
import {
  findOrg,
  hasChildren,
  isErased,
  isSuspendedForPayments,
  lockOrg,
  setKind,
  setLowBalance,
  setOrgStatus,
} from './store.ts';
import type { Org, OrgStatus } from './types.ts';

const DAY_MS = 86_400_000;
/** How long owners can sign in to a closed organization, to read invoices and ledger. */
const READABLE_DAYS = 90;

/** Until when the owners of an organization that was closed at `closed_at` can read it. */
export function readableUntil(closed_at: Date): Date {
  return new Date(closed_at.getTime() + READABLE_DAYS * DAY_MS);
}

interface Terms {
  readonly kind?: Org['kind'];
  readonly status?: OrgStatus;
}

/**
 * Puts an organization on another plan now and writes the event; whatever plan was to follow does not. No fee is taken:
 * that is for the caller to decide (core/plans). Call inside a transaction that holds the organization's lock.
 */
export async function changePlan(
  { db, now }: Pick<Context, 'db' | 'now'>,
  org: Pick<Org, 'id' | 'plan_id'>,
  { plan_id, since = now(), free_until = null }: { plan_id: PlanId; since?: Date; free_until?: Date | null },
): Promise<void> {
  const at = now();
  await setPlan(db, { org_id: org.id, plan_id, since, free_until, at });
  const payload = { plan_id, previous_plan_id: org.plan_id };
  await writeEvent(db, { org_id: org.id, topic: 'plan.changed', payload, at });
}

/**
 * Refuses what no organization can become: one level only, so a child stays one, and a reseller with children too.
 * @throws ServiceError state_conflict, in_use.
 */
async function refuseKind(context: Context, org: Org, kind: Org['kind']): Promise<void> {
  if (org.kind === kind) return;
  if (org.kind === 'child' || kind === 'child')
    throw new ServiceError('state_conflict', 'The customer of a reseller is made as one, and stays one.', {
      details: { state: org.kind },
    });
  if (org.kind === 'reseller' && (await hasChildren(context.db, org.id)))
    throw new ServiceError('in_use', 'The reseller has customers, so it stays one.', {
      details: { state: org.kind },
    });
}

/**
 * Refuses to open a customer of a reseller that is closed: nobody would sell to it. The reseller is locked before the customer,
 * as where one is made. @throws ServiceError state_conflict.
 */
async function refuseOrphan({ acrossOrgs: { db } }: Context, org_id: Org['id']): Promise<void> {
  const org = await findOrg(db, org_id);
  if (org === null || org.status !== 'closed' || org.parent_org_id === null) return;
  if ((await lockOrg(db, org.parent_org_id))?.status !== 'closed') return;
  throw new ServiceError('state_conflict', 'Its reseller is closed, so it stays closed.', {
    details: { state: 'closed' },
  });
}

/**
 * Changes what is given, in a transaction of `context`, and writes the event of a closing. False when there is no such
 * organization. @throws ServiceError state_conflict for one under erasure, which stays closed, and for the kind of a
 * child; in_use for that of a reseller with children.
 */
export function changeTerms(context: Context, org_id: Org['id'], terms: Terms): Promise<boolean> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { status, kind } = terms;
    if (status !== undefined && status !== 'closed') await refuseOrphan(context, org_id);
    const org = await lockOrg(db, org_id);
    if (org === null) return false;
    const at = context.now();
    if (kind !== undefined) {
      await refuseKind(context, org, kind);
      await setKind(db, { org_id, kind, at });
    }
    if (status === undefined) return true;
    if (status !== 'closed' && (await isErased(db, { org_id, at })))
      throw new ServiceError('state_conflict', 'The organization is being erased and stays closed.', {
        details: { state: 'erased' },
      });
    await setOrgStatus(db, { org_id, status, at });
    if (status === 'closed' && org.status !== 'closed') {
      const payload = { closed_at: at.toISOString() };
      await writeEvent(db, { org_id, topic: 'org.closed', payload, at });
    }
    return true;
  });
}

/** Suspends an organization whose payment was lost, in the open transaction; one that is not active stays as it is. */
export async function suspendForPayments(context: Context, org_id: Org['id']): Promise<void> {
  const { db } = context;
  const org = await lockOrg(db, org_id);
  if (org?.status !== 'active') return;
  await setOrgStatus(db, { org_id, status: 'suspended', suspended_for: 'payment_hold', at: context.now() });
}

/** Ends that suspension, and none that a person made. */
export async function liftPaymentHold(context: Context, org_id: Org['id']): Promise<void> {
  const { db } = context;
  await lockOrg(db, org_id);
  if (!(await isSuspendedForPayments(db, org_id))) return;
  await setOrgStatus(db, { org_id, status: 'active', at: context.now() });
}

/**
 * Changes below which balance an organization is told, in the row and, by an order, at the ledger; 0 is never. Call
 * inside a transaction that holds the organization's lock.
 */
export async function changeLowBalance(
  context: Context,
  org: Pick<Org, 'id' | 'shard' | 'live_book_id'>,
  low_balance_micro: number,
): Promise<void> {
  await setLowBalance(context.db, { org_id: org.id, low_balance_micro, at: context.now() });
  const low_mark_micro_usd = low_balance_micro === 0 ? null : microUsd(low_balance_micro);
  await orderLowMark(context, org.shard, { book_id: org.live_book_id, low_mark_micro_usd });
}
