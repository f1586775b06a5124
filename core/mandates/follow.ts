// What the workflow `mandate` does step by step: asks the rail, lets a registration lapse, takes back at the rail what is
// over here. Each step may be repeated and decides from the row.
import { type Context, type Id, notFound } from '../kernel/index.ts';
import { addStaffItem, type RailMandates, railOrRefuse } from '../topups/index.ts';
import { applyMandateFact, changeMandate, lockWithAuto, returnProof } from './change.ts';
import { findMandate, markReleased } from './store.ts';
import type { Mandate, MandateStatus } from './types.ts';

const OVER: readonly MandateStatus[] = ['cancelled', 'rejected', 'expired'];

/** What a workflow needs to know of a mandate: ids, integers and words of ours only. */
export interface MandateProgress {
  readonly mandate_id: Id<'mandate'>;
  readonly status: MandateStatus;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  /** It is over here, and the rail may still allow something. */
  readonly to_release: boolean;
  /** The rail may still take the payment that proves it, or has taken one that nobody has told us of. */
  readonly setup_open: boolean;
}

interface Named {
  readonly mandate_id: Id<'mandate'>;
}

function progressOf(
  mandate: Mandate,
  { calls, is_paid = false }: { calls: RailMandates | null; is_paid?: boolean },
): MandateProgress {
  const { id, status, created_at, expires_at, setup_ref, token_ref, released_at } = mandate;
  const is_known = setup_ref !== null || token_ref !== null;
  return {
    mandate_id: id,
    status,
    created_at_ms: created_at.getTime(),
    expires_at_ms: expires_at.getTime(),
    to_release: OVER.includes(status) && is_known && released_at === null,
    setup_open: setup_ref !== null && calls?.closes_setups === false && !is_paid,
  };
}

async function getMandate(context: Context, { mandate_id }: Named): Promise<Mandate> {
  const mandate = await findMandate(context.db, { id: mandate_id, org_id: null });
  if (mandate === null) throw notFound();
  return mandate;
}

function callsOf(context: Context, mandate: Mandate): RailMandates | null {
  return railOrRefuse(context, mandate.gateway).mandates;
}

/** Where a mandate stands. @throws ServiceError not_found. */
export async function readMandate(context: Context, named: Named): Promise<MandateProgress> {
  const mandate = await getMandate(context, named);
  return progressOf(mandate, { calls: callsOf(context, mandate) });
}

/**
 * Asks the rail what became of a registration, and applies it. Where the rail closes none, also of one that has ended here:
 * of what proved it and goes back only a lost event may have told. @throws RailError when it cannot be asked now.
 */
export async function pollMandate(context: Context, named: Named): Promise<MandateProgress> {
  const mandate = await getMandate(context, named);
  const { status, setup_ref } = mandate;
  const calls = callsOf(context, mandate);
  if (setup_ref === null || calls === null || (status !== 'pending' && calls.closes_setups))
    return progressOf(mandate, { calls });
  const fact = await calls.readSetup(setup_ref);
  if (fact === null) return progressOf(mandate, { calls });
  // Its token cannot be read: what proved it goes back, and nothing else is known.
  if (fact.change === 'completed') {
    await returnProof(context, mandate, fact);
    return progressOf(mandate, { calls, is_paid: true });
  }
  const after = await context.transaction((context) => applyMandateFact(context, mandate.id, fact));
  return progressOf(after, { calls, is_paid: true });
}

/** Lets a registration lapse whose time is over; before that it changes nothing. */
export async function lapseMandate(context: Context, named: Named): Promise<MandateProgress> {
  return context.transaction(async (context) => {
    const mandate = await lockWithAuto(context, { id: named.mandate_id, org_id: null });
    const calls = callsOf(context, mandate);
    if (context.now() < mandate.expires_at) return progressOf(mandate, { calls });
    return progressOf(await changeMandate(context, mandate, 'lapsed', 'not_registered_in_time'), { calls });
  });
}

/** Takes back at the rail what a mandate allowed that is over here. @throws RailError when it cannot be asked now. */
export async function releaseMandate(context: Context, named: Named): Promise<MandateProgress> {
  const mandate = await getMandate(context, named);
  const calls = callsOf(context, mandate);
  const progress = progressOf(mandate, { calls });
  if (!progress.to_release || calls === null) return progress;
  const { customer_ref, token_ref, setup_ref } = mandate;
  if (token_ref !== null && customer_ref !== null) await calls.cancelToken({ customer_ref, token_ref });
  else if (setup_ref !== null) await calls.closeSetup(setup_ref);
  await markReleased(context.db, { id: mandate.id, at: context.now() });
  return readMandate(context, named);
}

/** Puts a mandate before the staff that the rail could not be made to forget for a week. */
export async function reportMandate(context: Context, named: Named): Promise<MandateProgress> {
  const { id, org_id, gateway, token_ref } = await getMandate(context, named);
  await addStaffItem(context.db, {
    kind: 'mandate_not_released',
    subject: id,
    details: { rail: gateway, org_id, token_ref },
    at: context.now(),
  });
  return readMandate(context, named);
}
