// What staff decide about an organization: kind, plan, status.
import { type Context, microUsd } from '../kernel/index.ts';
import { orderLowMark, writeEvent } from '../ledger/index.ts';
import type { PlanId } from './plans.ts';
import { lockOrg, setLowBalance, setOrgStatus, setTerms } from './store.ts';
import type { Org, OrgStatus } from './types.ts';

interface Terms {
  readonly kind?: Org['kind'];
  readonly plan_id?: PlanId;
  readonly status?: OrgStatus;
}

/**
 * Changes what is given, in a transaction of `context`, and writes the events of a plan that changed and of a closing.
 * False when there is no such organization.
 */
export function changeTerms(context: Context, org_id: Org['id'], terms: Terms): Promise<boolean> {
  return context.transaction(async (context) => {
    const { db } = context;
    const org = await lockOrg(db, org_id);
    if (org === null) return false;
    const at = context.now();
    const { status, ...kept } = terms;
    if (Object.keys(kept).length > 0) await setTerms(db, { org_id, ...kept, at });
    if (kept.plan_id !== undefined && kept.plan_id !== org.plan_id) {
      const payload = { plan_id: kept.plan_id, previous_plan_id: org.plan_id };
      await writeEvent(db, { org_id, topic: 'plan.changed', payload, at });
    }
    if (status === undefined) return true;
    await setOrgStatus(db, { org_id, status, at });
    if (status === 'closed' && org.status !== 'closed') {
      const payload = { closed_at: at.toISOString() };
      await writeEvent(db, { org_id, topic: 'org.closed', payload, at });
    }
    return true;
  });
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
