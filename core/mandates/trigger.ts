// Begins automatic top-ups: a job looks at the balances of those who have it switched on, so that no settle does.
import { type Context, type Id, isId } from '../kernel/index.ts';
import { findBelow, readBalance } from '../ledger/index.ts';
import { listClosedOrgs, readShard } from '../orgs/index.ts';
import { insertPriced } from '../topups/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';
import {
  blockAuto,
  disableAuto,
  findAttempt,
  insertAttempt,
  lastAttempt,
  listWatched,
  lockAuto,
  nextAttemptNo,
  unblockAuto,
  type Watched,
} from './auto-store.ts';
import { type Block, readyOrBlocked } from './block.ts';
import { announce, changeMandate, lockWithAuto } from './change.ts';
import { findCurrent, listEnded, listOpenOf } from './store.ts';
import type { Attempt, AutoTopup } from './types.ts';

const HOUR_MS = 3_600_000;
/** After the notice, how long a debit may take to be booked. */
const BOOKING_HOURS = 36;

/** Id of the workflow that carries out an attempt. */
export function attemptWorkflowId({ org_id, attempt_no }: Pick<Attempt, 'org_id' | 'attempt_no'>): string {
  return `auto-${org_id}-${attempt_no}`;
}

/** Whether available and held credit together are below the threshold: holds come and go. */
export async function isBelow(
  context: Context,
  auto: Pick<AutoTopup, 'org_id' | 'threshold_micro'>,
  book_id: number,
): Promise<boolean> {
  const shard = await readShard(context.db, auto.org_id);
  const { available_micro_usd, held_micro_usd } = await readBalance(context.shards.at(shard), book_id);
  return available_micro_usd + held_micro_usd < auto.threshold_micro;
}

/** Notes a block. Its event is written when it begins, and when its reason changes. */
async function block(context: Context, auto: AutoTopup, { reason, until }: Block): Promise<void> {
  const { db } = context;
  const { org_id } = auto;
  await blockAuto(db, { org_id, reason, until, at: context.now() });
  if (auto.blocked_reason === reason) return;
  const { in_force: mandate } = await findCurrent(db, org_id);
  const status = mandate?.status ?? 'none';
  await announce(context, 'auto_topup.blocked', { mandate, org_id, status, reason });
}

async function begin(context: Context, auto: AutoTopup): Promise<Attempt | null> {
  const { db } = context;
  const { org_id } = auto;
  const ready = await readyOrBlocked(context, auto);
  if ('reason' in ready) {
    await block(context, auto, ready);
    return null;
  }
  const { mandate, billing, priced } = ready;
  const attempt_no = await nextAttemptNo(db, org_id);
  const topup_id = await insertPriced(context, {
    ...{ billing, priced, source: 'auto', mandate_id: mandate.id, attempt_no },
    open_ms: (mandate.notify_hours + BOOKING_HOURS) * HOUR_MS,
  });
  const created_at = context.now();
  await insertAttempt(db, { org_id, attempt_no, mandate_id: mandate.id, topup_id, created_at });
  const workflow_id = attemptWorkflowId({ org_id, attempt_no });
  await startWorkflow(db, { workflow_id, type: 'autoTopup', args: { org_id, attempt_no }, at: created_at });
  return findAttempt(db, { org_id, attempt_no });
}

/**
 * Begins the automatic top-up of an organization whose balance is below its threshold, or notes why not; null where
 * there is none to begin. Of any number at once, one begins.
 */
export async function beginAttempt(
  context: Context,
  args: { org_id: Id<'org'>; book_id: number },
): Promise<Attempt | null> {
  return context.transaction(async (context) => {
    const auto = await lockAuto(context.db, args.org_id);
    if (auto === null || !auto.enabled) return null;
    const last = await lastAttempt(context.db, args.org_id);
    if (last !== null && last.ended_at === null) return null;
    if (await isBelow(context, auto, args.book_id)) return begin(context, auto);
    await unblockAuto(context.db, [args.org_id]);
    return null;
  });
}

function byShard(watched: readonly Watched[]): ReadonlyMap<string, readonly Watched[]> {
  return Map.groupBy(watched, ({ shard }) => shard);
}

/**
 * Looks at every balance that is watched, and begins what is due; returns how many began. A job: what it costs does not
 * depend on how many calls are settled.
 */
export async function lookAtBalances(context: Context): Promise<number> {
  const watched = await listWatched(context.db, context.now());
  let begun = 0;
  const recovered: Id<'org'>[] = [];
  for (const [shard, group] of byShard(watched)) {
    const below = new Set(
      await findBelow(context.shards.at(shard), {
        books: group.map(({ book_id }) => book_id),
        marks: group.map(({ threshold_micro }) => threshold_micro),
      }),
    );
    for (const { org_id, book_id, is_blocked } of group) {
      if (!below.has(book_id)) {
        if (is_blocked) recovered.push(org_id);
      } else if ((await beginAttempt(context, { org_id, book_id })) !== null) begun++;
    }
  }
  await unblockAuto(context.db, recovered);
  return begun;
}

/** Ends mandates whose leave is over; returns how many. A job. */
export async function endMandates(context: Context): Promise<number> {
  const ended = (await listEnded(context.db, context.now())).filter((id) => isId('mandate', id));
  for (const id of ended) {
    await context.transaction(async (context) => {
      const mandate = await lockWithAuto(context, { id, org_id: null });
      await changeMandate(context, mandate, 'ended', 'ended_at_rail');
    });
  }
  return ended.length;
}

/** Closings are looked at for this long, whatever was off meanwhile. */
const CLOSED_MS = 90 * 86_400_000;

/**
 * Cancels the mandates of organizations that were closed; their workflow takes them back at the rail. A job, so that it
 * happens whoever closes an organization. Returns how many.
 */
export async function cancelOfClosed(context: Context): Promise<number> {
  const since = new Date(context.now().getTime() - CLOSED_MS);
  const closed = await listClosedOrgs(context.db, since);
  return closed.length === 0 ? 0 : cancelMandatesOf(context, closed);
}

/** Cancels the mandates of organizations that are closed, each in a transaction of its own; returns how many. */
export async function cancelMandatesOf(context: Context, org_ids: readonly Id<'org'>[]): Promise<number> {
  const ids = await listOpenOf(context.db, org_ids);
  for (const id of ids) {
    await context.transaction(async (context) => {
      const mandate = await lockWithAuto(context, { id, org_id: null });
      await changeMandate(context, mandate, 'cancelled', 'org_closed');
    });
  }
  return ids.length;
}

/** Switches automatic top-up off because the organization is being closed; the first lock of its closing. */
export async function endAutoTopup(context: Context, org_id: Id<'org'>): Promise<void> {
  await lockAuto(context.db, org_id);
  await disableAuto(context.db, { org_id, reason: 'org_closed', at: context.now() });
}
