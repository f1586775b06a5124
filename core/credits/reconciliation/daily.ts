// The daily reconciliation: each morning every organization's last days are compared, and a day on which the ledger and
// the request rows differ is put before the staff. It goes away by itself when the two agree again, as they do when a
// call of that day is settled late.
import { readerOf } from '../../analytics/index.ts';
import type { Context, Id } from '../../kernel/index.ts';
import { listMovedBooks } from '../../ledger/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { putStaffItem, resolveStaffItem } from '../../topups/index.ts';
import { dayAfter, daysBetween } from './days.ts';
import { reconcile } from './report.ts';
import { lastReconciled, noteReconciled } from './store.ts';

const KIND = 'reconciliation_variance';
/** By then the calls of the day before have ended and their rows are written. */
const HOUR_UTC = 3;
/** Looked at again each day, because calls are settled late. */
const DAYS_AGAIN = 7;
const DAYS_MAX = 92;

/** Organizations with a movement or a call since `since`. */
async function organizationsSince(context: Context, since: Date): Promise<Id<'org'>[]> {
  const moved = await Promise.all(
    context.shards.names.map((name) => listMovedBooks(context.shards.at(name), since)),
  );
  return [...new Set([...moved.flat(), ...(await readerOf(context).listUsers(since))])].sort();
}

/** Compares `from` to `to` of one organization; returns on how many of these days the two differ. */
async function checkOrg(
  context: Context,
  { org_id, from, to }: { org_id: Id<'org'>; from: string; to: string },
): Promise<number> {
  const org = await findOrg(context.db, org_id);
  if (org === null) return 0;
  const { days, analytics } = await reconcile(context, { org, environment: 'live', from, to });
  if (!analytics) throw new Error('request rows cannot be read');
  const at = context.now();
  let variances = 0;
  for (const { day, charged_micro, usage_micro, requests, variance_micro } of days) {
    const subject = `${org_id} ${day}`;
    if (variance_micro === 0) {
      await resolveStaffItem(context.db, { kind: KIND, subject, at });
      continue;
    }
    variances++;
    const details = { org_id, slug: org.slug, day, charged_micro, usage_micro, requests, variance_micro };
    context.log.error(details, 'the ledger and the request rows of a day differ');
    await putStaffItem(context.db, { kind: KIND, subject, details, at });
  }
  return variances;
}

/**
 * Compares the days that are over, once a day from 03:00 UTC on; returns the number of organizations looked at, 0
 * where it was done before. A job.
 */
export async function reconcileDaily(context: Context): Promise<number> {
  const now = context.now();
  if (now.getUTCHours() < HOUR_UTC) return 0;
  const to = dayAfter(now.toISOString(), -1);
  const last = await lastReconciled(context.db);
  if (last !== null && last >= to) return 0;
  const missed = last === null ? DAYS_AGAIN : daysBetween(dayAfter(last, 1), to) + DAYS_AGAIN - 1;
  const from = dayAfter(to, 1 - Math.min(missed, DAYS_MAX));
  const org_ids = await organizationsSince(context, new Date(from));
  let variances = 0;
  for (const org_id of org_ids) variances += await checkOrg(context, { org_id, from, to });
  await noteReconciled(context.db, { day: to, organizations: org_ids.length, variances, at: now });
  return org_ids.length;
}
