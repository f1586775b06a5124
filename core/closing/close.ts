// The transaction that closes an organization. From its commit on keys are refused, nothing is debited, nobody is let in, and
// the workflow does the rest.
import { findMailboxes, revokeAllInvitations, writeAudit } from '../identity/index.ts';
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import { lockAllKeys, revokeAllKeys } from '../keys/index.ts';
import { sendMail } from '../mail/index.ts';
import { endAutoTopup } from '../mandates/index.ts';
import { changeTerms, lockOrg, type Org, readableUntil } from '../orgs/index.ts';
import { listByClosed } from '../resellers/index.ts';
import { closingWorkflowId } from '../topups/index.ts';
import { disableAllWebhooks } from '../webhooks/index.ts';
import { signalWorkflow, startWorkflow } from '../workflow-starts/index.ts';
import { countOpenClosings, putClosing } from './store.ts';

interface Wanted {
  readonly org_id: Id<'org'>;
  /** The slug, as whoever closes it has typed it; null: nobody was asked. */
  readonly confirm: string | null;
  readonly refund_requested: boolean;
  readonly action: 'orgs.close' | 'staff.orgs.close';
  readonly reason?: string;
  /** No mail: people were told that it will be erased, and will not be let in. */
  readonly is_quiet?: true;
}

function refuse(org: Org, confirm: string | null): void {
  if (org.status === 'closed') throw new ServiceError('org_closed', 'The organization is closed already.');
  if (confirm === null || confirm === org.slug) return;
  throw new ServiceError('confirm_mismatch', `Type the slug of the organization, ${org.slug}, to close it.`, {
    param: 'confirm',
  });
}

/**
 * Refuses to close a reseller that has customers, or whose customers' credit is not yet back. Call it with the organization
 * locked: no customer is made meanwhile. @throws ServiceError in_use.
 */
export async function refuseCustomers(context: Context, org: Pick<Org, 'id' | 'kind'>): Promise<void> {
  if (org.kind !== 'reseller') return;
  const { db } = context.acrossOrgs;
  const { open, closed } = await listByClosed(db, org.id);
  const customers = open.length;
  const closing = customers > 0 ? 0 : await countOpenClosings(db, closed);
  if (customers + closing === 0) return;
  const words =
    customers > 0
      ? `The reseller has ${customers === 1 ? 'a customer' : `${customers} customers`}. Their owners close them first, or staff of the service do.`
      : 'Credit of customers that were closed is on its way back. Close the reseller when it has come.';
  throw new ServiceError('in_use', words, { details: { customers, closing } });
}

async function tell(context: Context, org: Org, at: Date): Promise<void> {
  await sendMail(context, {
    template: 'org_closed',
    to: await findMailboxes(context.db, { org_id: org.id, roles: ['owner', 'admin'] }),
    org_id: org.id,
    reference: `${org.id}-${at.getTime()}`,
    data: { org: org.name, readable_until: readableUntil(at).toISOString() },
  });
}

/** Asks for the workflow; where one ran for an earlier closing, it runs once more. */
async function follow(context: Context, org_id: Id<'org'>, at: Date): Promise<void> {
  const workflow_id = closingWorkflowId(org_id);
  if (await startWorkflow(context.db, { workflow_id, type: 'orgClose', args: { org_id }, at })) return;
  await signalWorkflow(context.db, { workflow_id, name: 'closed', args: {}, at });
}

/**
 * Closes an organization: keys, endpoints, invitations and automatic top-up end in this transaction, and the workflow is asked
 * for. @throws ServiceError not_found, org_closed, confirm_mismatch; in_use for a reseller with customers.
 */
export function closeOrg(context: Context, wanted: Wanted): Promise<void> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { org_id, confirm, refund_requested, action, reason } = wanted;
    await endAutoTopup(context, org_id);
    await lockAllKeys(db, org_id);
    const org = await lockOrg(db, org_id);
    if (org === null) throw notFound();
    refuse(org, confirm);
    await refuseCustomers(context, org);
    const at = context.now();
    await changeTerms(context, org_id, { status: 'closed' });
    const keys = await revokeAllKeys(db, { org_id, at });
    const webhooks = await disableAllWebhooks(db, { org_id, at });
    const invitations = await revokeAllInvitations(db, { org_id, at });
    await putClosing(db, { org_id, closed_at: at, refund_requested });
    await writeAudit(context, {
      ...{ action, org_id, target: { type: 'org', id: org_id, display: org.slug } },
      before: { status: org.status },
      after: { status: 'closed', refund_requested, keys, webhooks, invitations },
      ...(reason === undefined ? {} : { reason }),
    });
    if (wanted.is_quiet !== true) await tell(context, org, at);
    await follow(context, org_id, at);
  });
}
