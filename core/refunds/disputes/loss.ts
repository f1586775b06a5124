// What a lost dispute cost. The ledger says how much of the credits was there; the rest is a loss, and the organization
// makes no calls until staff lift that or it was paid.
import { writeAudit } from '../../identity/index.ts';
import { type Context, notFound, ServiceError } from '../../kernel/index.ts';
import { chargeBackOutcome } from '../../ledger/index.ts';
import { liftPaymentHold, suspendForPayments } from '../../orgs/index.ts';
import {
  addStaffItem,
  type Dispute,
  endLoss,
  findDispute,
  formatCredits,
  hasLoss,
  lockTopup,
  noteLoss,
  resolveStaffItem,
  unansweredLosses,
} from '../../topups/index.ts';
import { mailClosed } from './mail.ts';

async function note(context: Context, dispute: Dispute, written_off_micro: number): Promise<void> {
  const { db } = context;
  const { id, org_id, topup_id } = dispute;
  const at = context.now();
  await lockTopup(db, topup_id);
  if (!(await noteLoss(db, { id, written_off_micro, at }))) return;
  const is_loss = written_off_micro > 0;
  if (is_loss) {
    await suspendForPayments(context, org_id);
    const details = { org_id, topup_id, written_off_micro, credits_micro: dispute.credits_micro };
    await addStaffItem(db, { kind: 'dispute_loss', subject: id, details, at });
  }
  const loss = is_loss ? formatCredits(written_off_micro) : null;
  await mailClosed(context, dispute, { outcome: 'lost', loss });
}

/** Notes what a lost dispute cost, once; false as long as the ledger has not answered. */
export async function settleLoss(context: Context, id: Dispute['id']): Promise<boolean> {
  const dispute = await findDispute(context.db, id);
  if (dispute === null || dispute.status !== 'lost' || dispute.written_off_micro !== null) return true;
  const { book_id, credits_micro } = dispute;
  const outcome = await chargeBackOutcome(context, { book_id, reference: `charge_back dispute ${id}` });
  if (outcome === null) return false;
  const written_off_micro = credits_micro - outcome.taken_micro_usd;
  await context.transaction((context) => note(context, dispute, written_off_micro));
  return true;
}

/** The same as soon as the open transaction is committed and its orders are carried out; what fails is the job's. */
export function settleAfterCommit(context: Context, id: Dispute['id']): void {
  void context.afterCommit(async (context) => {
    try {
      await settleLoss(context, id);
    } catch (error) {
      context.log.warn({ dispute_id: id, error }, 'the loss of a dispute waits for the job');
    }
  });
}

/** Notes the losses that the ledger has answered since; returns how many. A job. */
export async function settleLosses(context: Context, limit = 50): Promise<number> {
  let settled = 0;
  for (const id of await unansweredLosses(context.db, limit)) if (await settleLoss(context, id)) settled++;
  return settled;
}

const ACTIONS = { lifted: 'staff.disputes.lift', paid: 'staff.disputes.paid' } as const;

/**
 * Ends what a loss keeps an organization from: `lifted`, it makes calls again and the loss stays unpaid; `paid`, all of it.
 * @throws ServiceError not_found, state_conflict where the dispute cost nothing or this was done before.
 */
export function endLossBy(
  context: Context,
  args: { readonly id: Dispute['id']; readonly by: 'lifted' | 'paid'; readonly reason: string },
): Promise<Dispute> {
  return context.transaction(async (context) => {
    const { db } = context;
    const { id, by, reason } = args;
    const at = context.now();
    const dispute = await findDispute(db, id);
    if (dispute === null) throw notFound();
    const { org_id, topup_id } = dispute;
    await lockTopup(db, topup_id);
    if (!(await endLoss(db, { id, by, at })))
      throw new ServiceError('state_conflict', 'The dispute has no loss that waits for this.', {
        details: { state: dispute.status },
      });
    if (!(await hasLoss(db, org_id))) await liftPaymentHold(context, org_id);
    if (by === 'paid') await resolveStaffItem(db, { kind: 'dispute_loss', subject: id, at });
    const target = { type: 'dispute', id, display: dispute.gateway_ref };
    await writeAudit(context, { action: ACTIONS[by], org_id, target, reason, after: { [by]: true } });
    return (await findDispute(db, id)) ?? dispute;
  });
}
