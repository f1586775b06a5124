// Books what becomes of a dispute: the only place where its state changes. Every caller has locked its top-up.
import { type Context, microUsd } from '../../kernel/index.ts';
import { orderChargeBack, orderDebit, orderRestore, writeEvent } from '../../ledger/index.ts';
import { readShard } from '../../orgs/index.ts';
import {
  addStaffItem,
  claimRailDispute,
  closeDispute,
  type Dispute,
  type DisputeParts,
  disputesOf,
  findDispute,
  insertDispute,
  noteLoss,
  type RailDispute,
  resolveStaffItem,
  type Topup,
} from '../../topups/index.ts';
import { signalWorkflow, startWorkflow } from '../../workflow-starts/index.ts';
import { addParts } from '../proportion.ts';
import { goneBack, soldOf } from '../request.ts';
import { failUnsent } from '../settle.ts';
import { refundsOf } from '../store.ts';
import { settleAfterCommit } from './loss.ts';
import { mailClosed, mailOpened } from './mail.ts';
import { partsOfDispute, takenBy } from './parts.ts';

/** Id of the workflow that follows a dispute. */
function disputeWorkflowId(id: Dispute['id']): string {
  return `dispute-${id}`;
}

type About = Pick<Dispute, 'org_id' | 'topup_id' | 'currency' | 'amount_minor'>;

function announce(
  context: Context,
  { org_id, topup_id, amount_minor, currency }: About,
  became: Pick<Dispute, 'status'>,
): Promise<void> {
  return writeEvent(context.db, {
    org_id,
    topic: became.status === 'open' ? 'dispute.opened' : 'dispute.closed',
    payload: { topup_id, amount_minor, currency, status: became.status },
    at: context.now(),
  });
}

/** The parts of a disputed amount of a locked top-up, after what went back and what `others` take. */
async function partsNow(
  context: Context,
  topup: Topup,
  disputed: { amount_minor: number; currency: string; others: readonly Dispute[] },
): Promise<DisputeParts> {
  const { amount_minor, currency, others } = disputed;
  const before = addParts(goneBack(await refundsOf(context.db, topup.id)), takenBy(others));
  const same_currency = currency === topup.currency;
  return partsOfDispute(await soldOf(context, topup), before, { amount_minor, same_currency });
}

/**
 * Books a dispute that a rail has of a paid top-up. Refunds that no rail was asked for yet fail first, so that what they took
 * is held too; then the credits are held, as far as they are there.
 */
export async function openDispute(context: Context, topup: Topup, found: RailDispute): Promise<Dispute> {
  const { db } = context;
  const at = context.now();
  const { org_id, book_id, id: topup_id, lot_id } = topup;
  if (lot_id === null) throw new Error(`${topup_id} is paid and has no lot`);
  await failUnsent(context, topup_id);
  const { rail, ref, payment_ref, phase, reason, currency, amount_minor, respond_by } = found;
  const others = (await disputesOf(db, topup_id)).filter(({ status }) => status !== 'won');
  const parts = await partsNow(context, topup, { amount_minor, currency, others });
  const id = context.newId('dispute');
  const about = { org_id, topup_id, book_id, payment_ref, phase, reason, currency, amount_minor, respond_by };
  await insertDispute(db, { ...about, ...parts, id, gateway: rail, gateway_ref: ref, opened_at: at });
  await claimRailDispute(db, { rail, ref, dispute_id: id });
  if (parts.credits_micro > 0) {
    await orderDebit(context, await readShard(db, org_id), {
      book_id,
      kind: 'dispute_hold',
      amount_micro_usd: microUsd(parts.credits_micro),
      lot_id,
      // What is spent or held by calls is not there any more.
      short: 'take_less',
      ref_type: 'dispute',
      ref_id: id,
    });
  }
  const differs = currency !== topup.currency || parts.excess_minor !== 0;
  await addStaffItem(db, {
    kind: differs ? 'dispute_differs' : 'dispute_opened',
    subject: id,
    details: {
      ...{ org_id, topup_id, rail, gateway_ref: ref, amount_minor, currency, phase, reason },
      respond_by: respond_by?.toISOString() ?? null,
    },
    at,
  });
  await announce(context, about, { status: 'open' });
  // The mail about an end that came with it says all.
  if (found.status === 'open') await mailOpened(context, { ...about, id });
  const workflow_id = disputeWorkflowId(id);
  await startWorkflow(db, { workflow_id, type: 'dispute', args: { dispute_id: id }, org_id, at });
  const dispute = await findDispute(db, id);
  if (dispute === null) throw new Error(`${id} has gone`);
  return dispute;
}

async function bookWon(context: Context, dispute: Dispute, at: Date): Promise<void> {
  const { db } = context;
  const { id, org_id, book_id } = dispute;
  await closeDispute(db, { ...dispute, status: 'won', at });
  const hold = { book_id, debit_kind: 'dispute_hold', ref_type: 'dispute', ref_id: id } as const;
  await orderRestore(context, await readShard(db, org_id), hold);
  await mailClosed(context, dispute, { outcome: 'won', loss: null });
}

/** The mail about a loss is sent when the ledger has said how much of it there is. */
async function bookLost(context: Context, topup: Topup, dispute: Dispute, at: Date): Promise<void> {
  const { db } = context;
  const { id, org_id, book_id, amount_minor, currency } = dispute;
  const all = await disputesOf(db, topup.id);
  const others = all.filter((other) => other.id !== id && other.status === 'lost');
  const parts = await partsNow(context, topup, { amount_minor, currency, others });
  await closeDispute(db, { ...dispute, ...parts, status: 'lost', at });
  const shard = await readShard(db, org_id);
  const of = { book_id, ref_type: 'dispute', ref_id: id } as const;
  if (parts.credits_micro === 0) {
    await orderRestore(context, shard, { ...of, debit_kind: 'dispute_hold' });
    await noteLoss(db, { id, written_off_micro: 0, at });
    return;
  }
  const amount_micro_usd = microUsd(parts.credits_micro);
  await orderChargeBack(context, shard, { ...of, amount_micro_usd, lot_id: topup.lot_id as `lot_${string}` });
  settleAfterCommit(context, id);
}

/**
 * Books the end of an open dispute: won, its credits are back; lost, they are taken, with the amount that the rail kept in
 * the end.
 */
export async function endDispute(
  context: Context,
  topup: Topup,
  open: Dispute,
  end: { readonly as: 'won' | 'lost'; readonly amount_minor: number },
): Promise<void> {
  const at = context.now();
  const dispute = end.as === 'lost' ? { ...open, amount_minor: end.amount_minor } : open;
  if (end.as === 'won') await bookWon(context, dispute, at);
  else await bookLost(context, topup, dispute, at);
  for (const kind of ['dispute_opened', 'dispute_due', 'dispute_silent'])
    await resolveStaffItem(context.db, { kind, subject: dispute.id, at });
  await announce(context, dispute, { status: end.as });
  const workflow_id = disputeWorkflowId(dispute.id);
  await signalWorkflow(context.db, { workflow_id, name: 'railDispute', args: {}, at });
}
