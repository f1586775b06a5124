// An attempt with all that it is about, and what its rail is asked.
import { type Context, type Id, notFound } from '../kernel/index.ts';
import { findBilling } from '../orgs/index.ts';
import {
  type ChargeRequest,
  findTopup,
  RailError,
  type RailMandates,
  railOrRefuse,
  type Topup,
} from '../topups/index.ts';
import { findAttempt, findAuto } from './auto-store.ts';
import { findMandate } from './store.ts';
import type { Attempt, AutoTopup, Mandate } from './types.ts';

/** An attempt with all that it is about. */
export interface Whole {
  readonly attempt: Attempt;
  readonly topup: Topup;
  readonly mandate: Mandate;
  readonly auto: AutoTopup;
}

export interface AttemptName {
  readonly org_id: Id<'org'>;
  readonly attempt_no: number;
}

/** Reads an attempt with all that it is about. @throws ServiceError not_found. */
export async function readWhole(context: Pick<Context, 'db'>, name: AttemptName): Promise<Whole> {
  const { db } = context;
  const attempt = await findAttempt(db, name);
  if (attempt === null) throw notFound();
  const [topup, mandate, auto] = [
    await findTopup(db, { id: attempt.topup_id, org_id: null }),
    await findMandate(db, { id: attempt.mandate_id, org_id: null }),
    await findAuto(db, attempt.org_id),
  ];
  if (topup === null || mandate === null || auto === null) throw new Error(`${attempt.topup_id} has gone`);
  return { attempt, topup, mandate, auto };
}

/** What the rail is asked for. @throws Error (a defect) for a mandate that was never registered. */
export async function chargeRequest(context: Context, { topup, mandate }: Whole): Promise<ChargeRequest> {
  const { customer_ref, token_ref } = mandate;
  if (customer_ref === null || token_ref === null) throw new Error(`${mandate.id} has no token`);
  const billing = await findBilling(context.db, topup.org_id);
  return {
    ...{ customer_ref, token_ref, topup_id: topup.id, mandate_id: mandate.id, org_id: topup.org_id },
    method: mandate.method,
    total_minor: topup.total_minor,
    currency: topup.currency,
    description: 'Prepaid API credits, automatic top-up',
    email: billing?.email ?? null,
    setup_ref: mandate.setup_ref,
    gateway_ref: topup.gateway_ref,
  };
}

/** The calls of a mandate's rail. @throws ServiceError rail_unavailable, RailError where it has none. */
export function callsOf(context: Context, mandate: Mandate): RailMandates {
  const { mandates } = railOrRefuse(context, mandate.gateway);
  if (mandates === null) throw new RailError('The rail takes no mandates.', { declined: true });
  return mandates;
}
