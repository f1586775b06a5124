// What the workflow `mandate` does step by step: asks the rail, lets a registration lapse, takes back at the rail what is
// over here. Each step may be repeated and decides from the row.
import { type Context, type Id, notFound } from '../kernel/index.ts';
import { addStaffItem, type RailMandates, railOrRefuse } from '../topups/index.ts';
import { applyMandateFact, changeMandate, lockWithAuto } from './change.ts';
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
}

interface Named {
  readonly mandate_id: Id<'mandate'>;
}

function progressOf(mandate: Mandate): MandateProgress {
  const { id, status, created_at, expires_at, setup_ref, token_ref, released_at } = mandate;
  const is_known = setup_ref !== null || token_ref !== null;
  return {
    mandate_id: id,
    status,
    created_at_ms: created_at.getTime(),
    expires_at_ms: expires_at.getTime(),
    to_release: OVER.includes(status) && is_known && released_at === null,
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
  return progressOf(await getMandate(context, named));
}

/** Asks the rail what became of a registration, and applies it. @throws RailError when it cannot be asked now. */
export async function pollMandate(context: Context, named: Named): Promise<MandateProgress> {
  const mandate = await getMandate(context, named);
  const calls = callsOf(context, mandate);
  if (mandate.status !== 'pending' || mandate.setup_ref === null || calls === null)
    return progressOf(mandate);
  const fact = await calls.readSetup(mandate.setup_ref);
  if (fact === null) return progressOf(mandate);
  return progressOf(await context.transaction((context) => applyMandateFact(context, mandate.id, fact)));
}

/** Lets a registration lapse whose time is over; before that it changes nothing. */
export async function lapseMandate(context: Context, named: Named): Promise<MandateProgress> {
  return context.transaction(async (context) => {
    const mandate = await lockWithAuto(context, { id: named.mandate_id, org_id: null });
    if (context.now() < mandate.expires_at) return progressOf(mandate);
    return progressOf(await changeMandate(context, mandate, 'lapsed', 'not_registered_in_time'));
  });
}

/** Takes back at the rail what a mandate allowed that is over here. @throws RailError when it cannot be asked now. */
export async function releaseMandate(context: Context, named: Named): Promise<MandateProgress> {
  const mandate = await getMandate(context, named);
  const calls = callsOf(context, mandate);
  if (!progressOf(mandate).to_release || calls === null) return progressOf(mandate);
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
