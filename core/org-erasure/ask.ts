// Asking for the erasure of an organization, taking that back, and what is said of it until it is due.
import { refuseCustomers } from '../closing/index.ts';
import { findMailboxes, writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import { sendMail } from '../mail/index.ts';
import { lockOrg, type Org } from '../orgs/index.ts';
import { signalWorkflow, startWorkflow } from '../workflow-starts/index.ts';
import { findErasure, lockErasure, putErasure, setStatus, showErasure } from './store.ts';
import { readErasureTerms } from './terms.ts';
import type { OrgErasure } from './types.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Before the beginning; owners and admins are written to once at each that lies in the time of the notice. */
const REMINDERS_MS = [7 * DAY_MS, 48 * HOUR_MS] as const;

interface Wanted {
  readonly org_id: Id<'org'>;
  readonly refund_requested: boolean;
  readonly action: 'orgs.erasure.request' | 'staff.orgs.erasure.request';
  readonly reason?: string;
}

const workflowId = (org_id: Id<'org'>) => `orgerase-${org_id}`;

/** One mail to each owner and admin for each `mark`, whoever asks for it and however often. */
async function tell(
  context: Context,
  org: Pick<Org, 'id' | 'name' | 'slug'>,
  { requested_at, due_at, mark }: Pick<OrgErasure, 'requested_at' | 'due_at'> & { mark: string },
): Promise<void> {
  await sendMail(context, {
    template: 'org_erasure',
    to: await findMailboxes(context.db, { org_id: org.id, roles: ['owner', 'admin'] }),
    org_id: org.id,
    reference: `${org.id}-${requested_at.getTime()}-${mark}`,
    data: { org: org.name, slug: org.slug, due_at: due_at.toISOString() },
  });
}

/**
 * Asks for an erasure: the times in the organization's row, a mail and the workflow, in one transaction.
 * @throws ServiceError not_found, erasure_pending; in_use for a reseller with customers.
 */
export function requestOrgErasure(context: Context, wanted: Wanted): Promise<OrgErasure> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id, refund_requested, action, reason } = wanted;
    const org = await lockOrg(db, org_id);
    if (org === null) throw notFound();
    await refuseCustomers(context, org);
    const before = await findErasure(db, org_id);
    if (before !== null && before.status !== 'cancelled')
      throw new ServiceError('erasure_pending', 'The erasure of this organization was asked for already.', {
        details: { erasure_due_at: before.due_at.toISOString(), state: before.status },
      });
    const at = context.now();
    const { notice_days } = await readErasureTerms(db);
    const times = { requested_at: at, due_at: new Date(at.getTime() + notice_days * DAY_MS) };
    await putErasure(db, { org_id, refund_requested, ...times });
    await showErasure(db, { org_id, times, at });
    await writeAudit(context, {
      ...{ action, org_id, target: { type: 'org', id: org_id, display: org.slug } },
      after: { erasure_due_at: times.due_at.toISOString(), refund_requested },
      ...(reason === undefined ? {} : { reason }),
    });
    await tell(context, org, { ...times, mark: 'asked' });
    const workflow_id = workflowId(org_id);
    if (!(await startWorkflow(db, { workflow_id, type: 'orgErasure', args: { org_id }, at })))
      await signalWorkflow(db, { workflow_id, name: 'asked', args: {}, at });
    return (await findErasure(db, org_id)) as OrgErasure;
  });
}

/**
 * Takes an erasure back that has not begun.
 * @throws ServiceError not_found, state_conflict.
 */
export function cancelOrgErasure(
  context: Context,
  wanted: Pick<Wanted, 'org_id' | 'reason'> & { action: 'orgs.erasure.cancel' | 'staff.orgs.erasure.cancel' },
): Promise<void> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id, action, reason } = wanted;
    const org = await lockOrg(db, org_id);
    if (org === null) throw notFound();
    const erasure = await lockErasure(db, org_id);
    if (erasure?.status !== 'asked')
      throw new ServiceError('state_conflict', 'There is no erasure that could be taken back.', {
        details: { state: erasure?.status ?? 'none' },
      });
    const at = context.now();
    await setStatus(db, { org_id, status: 'cancelled', began_at: null });
    await showErasure(db, { org_id, times: null, at });
    await writeAudit(context, {
      ...{ action, org_id, target: { type: 'org', id: org_id, display: org.slug } },
      before: { erasure_due_at: erasure.due_at.toISOString() },
      ...(reason === undefined ? {} : { reason }),
    });
    await signalWorkflow(db, { workflow_id: workflowId(org_id), name: 'cancelled', args: {}, at });
  });
}

/** Sends the reminder whose time has come, and returns how long it is until the next one or the beginning. */
export async function remind(context: Context, org: Org, erasure: OrgErasure): Promise<number> {
  const due_ms = erasure.due_at.getTime();
  const left_ms = due_ms - context.now().getTime();
  // The mail at asking is the reminder of a week where the notice is a week.
  const notice_ms = due_ms - erasure.requested_at.getTime();
  const reminders = REMINDERS_MS.filter((before_ms) => before_ms < notice_ms);
  const late = reminders.filter((before_ms) => left_ms <= before_ms);
  // Where the workflow was away at the first, the later one is enough.
  const mark_ms = late.at(-1);
  if (mark_ms !== undefined) await tell(context, org, { ...erasure, mark: `${mark_ms / HOUR_MS}h` });
  const next_ms = reminders.find((before_ms) => left_ms > before_ms) ?? 0;
  return Math.max(0, left_ms - next_ms);
}
