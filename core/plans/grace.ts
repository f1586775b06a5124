// The days of grace: the fee is tried again as soon as there is credit, a mail goes out each day, and when they are over the
// plan ends. The steps of the workflow `planPeriod`; each decides from the row and can be repeated.
import { type Context, type Id, ServiceError } from '../kernel/index.ts';
import { availableMicro, closeIfMoved, lockCharge, settleCharge, tryAgain, waitForCredit } from './charge.ts';
import { findCharge } from './store.ts';
import type { Charge, ChargeKey, ChargeStatus } from './types.ts';

/** Where the fee of a month stands: words and integers alone, because Temporal stores and shows them. */
export interface PeriodProgress {
  readonly org_id: Id<'org'>;
  readonly period: string;
  readonly status: ChargeStatus;
  readonly tries: number;
  /** By the product's clock; null without grace. */
  readonly grace_ends_in_ms: number | null;
}

function progressOf(context: Context, charge: Charge): PeriodProgress {
  const { org_id, period, status, tries, grace_until } = charge;
  const left =
    status === 'grace' && grace_until !== null ? grace_until.getTime() - context.now().getTime() : null;
  return { org_id, period, status, tries, grace_ends_in_ms: left };
}

/** Tries the fee again where there is credit for it, else sends the mail of the day or ends the plan. */
export async function stepGrace(context: Context, key: ChargeKey): Promise<void> {
  await context.transaction(async (context) => {
    const { org, charge } = await lockCharge(context, key);
    if (charge.status !== 'grace') return;
    if (await closeIfMoved(context, org, charge)) return;
    if ((await availableMicro(context, org)) >= charge.fee_micro) await tryAgain(context, org, charge);
    else await waitForCredit(context, org, charge);
  });
  await settleCharge(context, key);
}

/**
 * Takes the next step of the fee of a month, whatever it is, and says where it stands.
 * @throws ServiceError not_found when the month was not charged.
 */
export async function advancePeriod(
  context: Context,
  { org_id, period }: { org_id: Id<'org'>; period: string },
): Promise<PeriodProgress> {
  const key = { org_id, period, no: 0 };
  const settled = await settleCharge(context, key);
  if (settled?.status === 'grace') await stepGrace(context, key);
  const charge = await findCharge(context.db, key);
  if (charge === null) throw new ServiceError('not_found', 'This month was not charged.');
  return progressOf(context, charge);
}
