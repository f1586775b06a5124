// What arrives after an erasure: rows of calls out of the spool of a gateway that had lost its database, and sums made of them.
import type { RowKeeper } from '../analytics/index.ts';
import type { Pool } from '../db/index.ts';
import { deleteAppSums, deleteUsage, eraseCalls, erasePayloadRows, listErasedSince } from './store.ts';

const BATCH = 1_000;
/** Whoever starts a gateway whose spool is older finds rows in it that belong to nobody. */
const WATCHED_MS = 90 * 86_400_000;

/** Deletes what arrived late of organizations that were erased; returns how many rows. A job. */
export async function sweepErasedOrgs(pool: Pool, at: Date, keeper?: RowKeeper): Promise<number> {
  let swept = 0;
  for (const org_id of await listErasedSince(pool, new Date(at.getTime() - WATCHED_MS))) {
    for (const erase of [erasePayloadRows, eraseCalls])
      for (let more = true; more; ) {
        const n = await erase(pool, { org_id, limit: BATCH });
        swept += n;
        more = n === BATCH;
      }
    const elsewhere = (await keeper?.countOrg(org_id)) ?? 0;
    if (elsewhere > 0) await keeper?.eraseOrg(org_id);
    swept += elsewhere + (await deleteUsage(pool, org_id)) + (await deleteAppSums(pool, org_id));
  }
  return swept;
}
