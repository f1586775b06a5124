// What staff decide about an organization: kind, plan, status.
import type { Context } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import type { PlanId } from './plans.ts';
import { lockOrg, setOrgStatus, setTerms } from './store.ts';
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
