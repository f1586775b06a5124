// The steps of an automatic top-up after its notice: skipped by a person, no longer needed, or charged. Each step decides
// from the rows, so that a worker killed anywhere leaves nothing half done.
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import { findOrg, type Org } from '../orgs/index.ts';
import {
  applyCharge,
  applyFact,
  type Charge,
  hasOpenDispute,
  lockTopup,
  moneyIn,
  putStaffItem,
  RailError,
} from '../topups/index.ts';
import { signalWorkflow } from '../workflow-starts/index.ts';
import { hasComeBack } from './announce.ts';
import { findAttempt, lockAuto, moveAttempt } from './auto-store.ts';
import { applyMandateFact } from './change.ts';
import { endAttempt, failWith } from './end.ts';
import { attemptWorkflowId, isBelow } from './trigger.ts';
import type { Attempt, AttemptStatus } from './types.ts';
import { type AttemptName, callsOf, chargeRequest, readWhole, type Whole } from './whole.ts';

const HOUR_MS = 3_600_000;
/** A notice that has not arrived by then does not count. */
const NOTICE_MS = 72 * HOUR_MS;
/** Rails forget idempotency keys after a day: what was not sent by then is not sent any more. */
const SEND_MS = 23 * HOUR_MS;

/** What a workflow needs to know of an attempt: ids, integers and words of ours only. */
export interface AttemptProgress {
  readonly org_id: Id<'org'>;
  readonly attempt_no: number;
  readonly topup_id: Id<'topup'>;
  readonly status: AttemptStatus;
  readonly paid: boolean;
  readonly fee_known: boolean;
  readonly created_at_ms: number;
  /** When the debit may be made, or what its notice is waited for until. */
  readonly due_at_ms: number;
  readonly sent_at_ms: number | null;
}

/** Where an attempt stands. @throws ServiceError not_found. */
export async function readAttempt(context: Context, name: AttemptName): Promise<AttemptProgress> {
  const { attempt, topup } = await readWhole(context, name);
  const { org_id, attempt_no, status, created_at, due_at, sent_at, notice_failed } = attempt;
  const created_at_ms = created_at.getTime();
  const waits_ms = notice_failed ? created_at_ms : created_at_ms + NOTICE_MS;
  return {
    ...{ org_id, attempt_no, topup_id: topup.id, status, created_at_ms },
    paid: topup.status === 'paid',
    fee_known: topup.fee_minor !== null,
    due_at_ms: due_at?.getTime() ?? waits_ms,
    sent_at_ms: sent_at?.getTime() ?? null,
  };
}

/** Ends an attempt of which nothing was debited; its top-up expires without failure. */
async function leave(context: Context, attempt: Attempt, status: 'skipped' | 'not_needed'): Promise<void> {
  const { db } = context;
  const at = context.now();
  const topup = await lockTopup(db, attempt.topup_id);
  if (topup?.status === 'pending') await applyFact(context, topup, { kind: 'lapsed' });
  const skipped = status === 'skipped' ? { skipped_at: at } : {};
  await moveAttempt(db, attempt, { status, ended_at: at, ...skipped });
}

async function isWanted(context: Context, { mandate, auto, topup }: Whole): Promise<boolean> {
  const org = (await findOrg(context.db, auto.org_id)) as Org;
  if (!auto.enabled || mandate.status !== 'active' || org.status !== 'active') return false;
  if (await hasOpenDispute(context.db, auto.org_id)) return false;
  return isBelow(context, auto, topup.book_id);
}

type Verdict =
  | { readonly do: 'nothing' | 'send' | 'send_again' }
  | { readonly do: 'refuse'; readonly code: string };

/** What is to be done now, under the lock; what is not wanted any more is left there. */
function judge(context: Context, name: AttemptName): Promise<Verdict> {
  return context.transaction(async (context): Promise<Verdict> => {
    const { db } = context;
    await lockAuto(db, name.org_id);
    const whole = await readWhole(context, name);
    const { attempt, topup } = whole;
    if (attempt.ended_at !== null || topup.status !== 'pending') return { do: 'nothing' };
    const at = context.now();
    if (attempt.sent_at !== null) {
      return at.getTime() - attempt.sent_at.getTime() < SEND_MS
        ? { do: 'send_again' }
        : { do: 'refuse', code: NO_OUTCOME.code };
    }
    if (attempt.notice_failed) return { do: 'refuse', code: 'notice_failed' };
    if (attempt.due_at === null) {
      const is_late = at.getTime() - attempt.created_at.getTime() >= NOTICE_MS;
      return is_late ? { do: 'refuse', code: 'notice_not_delivered' } : { do: 'nothing' };
    }
    if (attempt.due_at > at) return { do: 'nothing' };
    if (!(await isWanted(context, whole))) {
      await leave(context, attempt, 'not_needed');
      return { do: 'nothing' };
    }
    if (await hasComeBack(context, whole)) return { do: 'refuse', code: 'notice_failed' };
    await moveAttempt(db, attempt, { status: 'charging', sent_at: at });
    return { do: 'send' };
  });
}

const NO_OUTCOME = { code: 'no_outcome', message: 'The payment rail could not be reached for a day.' };
const REFUSALS: Readonly<Record<string, string>> = {
  notice_failed: 'Notice of the debit could not be given, so nothing was debited.',
  notice_not_delivered: 'The notice of the debit was not confirmed, so nothing was debited.',
};

/** Asks the rail; what it may have got before is asked for first, so that nothing is debited twice. */
async function send(context: Context, whole: Whole, verdict: Verdict): Promise<Charge | null> {
  const calls = callsOf(context, whole.mandate);
  const request = await chargeRequest(context, whole);
  const before = verdict.do === 'send' ? null : await calls.findCharge(request);
  if (before !== null) return before;
  return verdict.do === 'refuse' ? null : calls.charge(request);
}

/**
 * Asks the rail for the state of the leave before a debit that is due: the event of a payer who paused or cancelled at his
 * bank may have been lost, and a debit then would break a rule. Where it cannot be asked now, the debit is tried as it is.
 */
async function askLeave(context: Context, name: AttemptName): Promise<void> {
  const { attempt, mandate } = await readWhole(context, name);
  const { status, due_at, notice_failed } = attempt;
  const is_due = status === 'waiting' && !notice_failed && due_at !== null && due_at <= context.now();
  const { customer_ref, token_ref } = mandate;
  if (!is_due || mandate.status !== 'active' || customer_ref === null || token_ref === null) return;
  try {
    const calls = moneyIn(context).rails[mandate.gateway]?.mandates ?? null;
    const fact = (await calls?.readToken({ customer_ref, token_ref })) ?? null;
    if (fact === null || fact.change === 'confirmed') return;
    await context.transaction((context) => applyMandateFact(context, mandate.id, fact));
  } catch (error) {
    if (!(error instanceof RailError)) throw error;
  }
}

/**
 * Makes the debit of an attempt that is due, unless nobody wants it any more, and books what the rail answers. Before
 * its time it does nothing. @throws RailError when the rail cannot be asked now; ServiceError not_found.
 */
export async function chargeAttempt(context: Context, name: AttemptName): Promise<AttemptProgress> {
  await askLeave(context, name);
  const verdict = await judge(context, name);
  const whole = await readWhole(context, name);
  const { id } = whole.topup;
  if (verdict.do === 'refuse' && whole.attempt.sent_at === null) {
    await failWith(context, id, { code: verdict.code, message: REFUSALS[verdict.code] as string });
  } else if (verdict.do !== 'nothing') {
    try {
      const charge = await send(context, whole, verdict);
      if (charge !== null) await applyCharge(context, id, charge);
      else await failWith(context, id, NO_OUTCOME);
    } catch (error) {
      if (!(error instanceof RailError) || !error.declined) throw error;
      await failWith(context, id, { code: error.code ?? 'declined', message: error.message });
    }
  }
  await endAttempt(context, name);
  return readAttempt(context, name);
}

/** Puts a debit before the staff whose end the rail has not said for long. It stays open: no other one may be made. */
export async function reportAttempt(context: Context, name: AttemptName): Promise<AttemptProgress> {
  const { attempt, topup } = await readWhole(context, name);
  await putStaffItem(context.db, {
    kind: 'debit_silent',
    subject: topup.id,
    details: {
      rail: topup.gateway,
      org_id: topup.org_id,
      mandate_id: attempt.mandate_id,
      topup_id: topup.id,
    },
    at: context.now(),
  });
  return readAttempt(context, name);
}

/**
 * Skips a debit that was announced and not made yet. @throws ServiceError not_found, state_conflict.
 */
export async function skipAttempt(
  context: Context,
  args: { topup_id: Id<'topup'>; org_id: Id<'org'> | null },
): Promise<Attempt> {
  return context.transaction(async (context) => {
    const { db } = context;
    const found = await findAttempt(db, { topup_id: args.topup_id });
    if (found === null || (args.org_id !== null && found.org_id !== args.org_id)) throw notFound();
    await lockAuto(db, found.org_id);
    const attempt = (await findAttempt(db, found)) as Attempt;
    if (attempt.status === 'skipped') return attempt;
    if (attempt.ended_at !== null || attempt.sent_at !== null) {
      throw new ServiceError('state_conflict', 'The debit can no longer be skipped.', {
        details: { state: attempt.status },
      });
    }
    await leave(context, attempt, 'skipped');
    const workflow_id = attemptWorkflowId(attempt);
    await signalWorkflow(db, { workflow_id, name: 'skip', args: {}, at: context.now() });
    return (await findAttempt(db, found)) as Attempt;
  });
}
