// How long content is kept (docs/data-policy.md#logging), and the job that deletes what is older.
import type { Pool } from '../db/index.ts';
import { findDataPolicy, type StoredDataPolicy } from '../orgs/index.ts';
import { deletePayloads, dropEmptyDays, findNextOrg } from './store.ts';

const DAY_MS = 86_400_000;
const BATCH = 1_000;

/**
 * Content of calls begun before `erased_ms` is gone because logging was switched off, before `expired_ms` by its age.
 */
export function voidBefore(
  policy: StoredDataPolicy,
  now_ms: number,
): { readonly erased_ms: number; readonly expired_ms: number } {
  const { logging, retention_days } = policy.data_policy;
  return {
    erased_ms: logging === 'off' ? now_ms + 1 : (policy.logging_off_at?.getTime() ?? 0),
    expired_ms: now_ms - retention_days * DAY_MS,
  };
}

/**
 * Deletes content that has expired or whose organization has switched logging off; returns how many payloads. An hourly
 * job.
 */
export async function purgePayloads(pool: Pool, now: Date): Promise<number> {
  let deleted = 0;
  for (let org_id = await findNextOrg(pool, ''); org_id !== null; org_id = await findNextOrg(pool, org_id)) {
    const policy = await findDataPolicy(pool, org_id);
    const gone = policy === null ? null : voidBefore(policy, now.getTime());
    // Clocks of two processes may differ by a moment; of an organization that logs no more everything goes.
    const is_off = policy === null || policy.data_policy.logging === 'off';
    const before = is_off ? now.getTime() + DAY_MS : Math.max(gone?.erased_ms ?? 0, gone?.expired_ms ?? 0);
    for (let more = true; more; ) {
      const n = await deletePayloads(pool, { org_id, before: new Date(before), limit: BATCH });
      deleted += n;
      more = n === BATCH;
    }
  }
  await dropEmptyDays(pool, new Date(now.getTime() - DAY_MS).toISOString().slice(0, 10));
  return deleted;
}
