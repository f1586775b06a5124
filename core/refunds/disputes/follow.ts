// What the workflow `dispute` does step by step. Each step may be repeated and decides from the row. Credits, mails and
// events are booked with the rail's fact; the workflow only asks the rail, and reminds people.
import { type Context, type Id, notFound } from '../../kernel/index.ts';
import {
  addStaffItem,
  type Dispute,
  type DisputeStatus,
  findDispute,
  railOrRefuse,
} from '../../topups/index.ts';
import { settleLoss } from './loss.ts';
import { takeDisputeFact } from './take.ts';

/** What a workflow needs to know of a dispute: ids and integers only. */
export interface DisputeProgress {
  readonly dispute_id: Id<'dispute'>;
  readonly status: DisputeStatus;
  /** Nothing is left to be booked: it is not lost, or what it cost is known. */
  readonly settled: boolean;
  /** Until when the rail takes an answer; null: it has not said so. */
  readonly respond_by_ms: number | null;
  readonly opened_at_ms: number;
}

interface Args {
  readonly dispute_id: Id<'dispute'>;
}

async function get(context: Context, { dispute_id }: Args): Promise<Dispute> {
  const dispute = await findDispute(context.db, dispute_id);
  if (dispute === null) throw notFound();
  return dispute;
}

/** Where a dispute stands. @throws ServiceError not_found. */
export async function readDispute(context: Context, args: Args): Promise<DisputeProgress> {
  const { id, status, written_off_micro, respond_by, opened_at } = await get(context, args);
  return {
    dispute_id: id,
    status,
    settled: status !== 'lost' || written_off_micro !== null,
    respond_by_ms: respond_by?.getTime() ?? null,
    opened_at_ms: opened_at.getTime(),
  };
}

/**
 * Asks the rail what became of an open dispute, and books that by the same function as the callback.
 * @throws RailError when the rail cannot be asked now.
 */
export async function pollDispute(context: Context, args: Args): Promise<DisputeProgress> {
  const { status, gateway, gateway_ref } = await get(context, args);
  if (status === 'open') {
    const fact = await railOrRefuse(context, gateway).readDispute(gateway_ref);
    await context.transaction((context) => takeDisputeFact(context, gateway, fact));
  }
  return readDispute(context, args);
}

/** Notes what a lost dispute cost, as soon as the ledger has answered. */
export async function settleDispute(context: Context, args: Args): Promise<DisputeProgress> {
  await settleLoss(context, args.dispute_id);
  return readDispute(context, args);
}

/**
 * Puts an open dispute before the staff: `dispute_due`, the rail takes an answer for a few days more; `dispute_silent`, it
 * has had no end for long. The dispute stays open.
 */
export async function remindOfDispute(
  context: Context,
  args: Args & { readonly kind: 'dispute_due' | 'dispute_silent' },
): Promise<DisputeProgress> {
  const dispute = await get(context, args);
  if (dispute.status === 'open') {
    const { org_id, topup_id, gateway: rail, gateway_ref, amount_minor, currency } = dispute;
    const respond_by = dispute.respond_by?.toISOString() ?? null;
    const details = { org_id, topup_id, rail, gateway_ref, amount_minor, currency, respond_by };
    await addStaffItem(context.db, {
      ...{ kind: args.kind, subject: dispute.id, details },
      at: context.now(),
    });
  }
  return readDispute(context, args);
}
