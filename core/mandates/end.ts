// The end of an attempt, decided from its top-up: failures are counted, and after three in a row nothing more is tried.
import type { Context, Id } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { applyCharge, type Topup } from '../topups/index.ts';
import { lockAuto, moveAttempt } from './auto-store.ts';
import { changeMandate, switchOff } from './change.ts';
import { mailFailed } from './mails.ts';
import { countFailures, lockMandate } from './store.ts';
import type { AttemptStatus, Mandate } from './types.ts';
import { type AttemptName, readWhole } from './whole.ts';

const FAILURES_MAX = 3;

async function announceFailure(context: Context, topup: Topup, consecutive_failures: number): Promise<void> {
  await writeEvent(context.db, {
    org_id: topup.org_id,
    topic: 'topup.failed',
    payload: {
      topup_id: topup.id,
      currency: topup.currency,
      total_minor: topup.total_minor,
      source: topup.source,
      failure_code: topup.failure_code ?? 'no_outcome',
      failure_message: topup.failure_message ?? '',
      consecutive_failures,
    },
    at: context.now(),
  });
  await mailFailed(context, topup, consecutive_failures);
}

async function countFailure(context: Context, topup: Topup, mandate: Mandate): Promise<void> {
  const { db } = context;
  const consecutive_failures = mandate.consecutive_failures + 1;
  await countFailures(db, { id: mandate.id, consecutive_failures, at: context.now() });
  await announceFailure(context, topup, consecutive_failures);
  if (consecutive_failures < FAILURES_MAX) return;
  const failing = { ...mandate, consecutive_failures };
  await changeMandate(context, failing, 'failing', 'three_failures');
  await switchOff(context, failing, { status: 'paused', reason: 'three_failures' });
}

/** How an attempt has ended by its top-up; null while that is open, and where the attempt has said so itself. */
function outcomeOf(topup: Topup, status: AttemptStatus): AttemptStatus | null {
  if (topup.status === 'paid') return status === 'succeeded' ? null : 'succeeded';
  if (['succeeded', 'failed', 'skipped', 'not_needed'].includes(status)) return null;
  return topup.status === 'failed' || topup.status === 'expired' ? 'failed' : null;
}

/**
 * Ends an attempt whose top-up is over, with its events and mails, once. A payment that came in after all counts as a
 * success. @throws ServiceError not_found.
 */
export async function endAttempt(context: Context, name: AttemptName): Promise<void> {
  await context.transaction(async (context) => {
    const { db } = context;
    await lockAuto(db, name.org_id);
    const { attempt, topup } = await readWhole(context, name);
    const status = outcomeOf(topup, attempt.status);
    if (status === null) return;
    const mandate = (await lockMandate(db, attempt.mandate_id)) as Mandate;
    const at = context.now();
    await moveAttempt(db, name, { status, ended_at: at });
    if (status === 'failed') return countFailure(context, topup, mandate);
    await countFailures(db, { id: mandate.id, consecutive_failures: 0, at });
  });
}

/** Fails the top-up of an attempt that the rail refuses, or that may not be debited. */
export async function failWith(
  context: Context,
  topup_id: Id<'topup'>,
  failure: { readonly code: string; readonly message: string },
): Promise<void> {
  const code = failure.code.slice(0, 64);
  const message = failure.message.slice(0, 500);
  const facts = [{ kind: 'failed', last: true, code, message }] as const;
  await applyCharge(context, topup_id, { gateway_ref: null, facts });
}
