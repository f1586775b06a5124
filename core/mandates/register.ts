// Registering a mandate at a rail, and what people do with one: pause, resume, cancel.
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import { type Billing, findBilling, lockOrg, refuseUnaccepted } from '../orgs/index.ts';
import {
  checkoutUrl,
  currencyOf,
  type MandateMethod,
  moneyIn,
  payUrl,
  RailError,
  railFailure,
  railOf,
  railOrRefuse,
} from '../topups/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';
import { lockAuto } from './auto-store.ts';
import { changeMandate, lockWithAuto, mandateWorkflowId } from './change.ts';
import { findCurrent, findMandate, insertMandate, nameSetup } from './store.ts';
import { readMethodTerms } from './terms.ts';
import type { Mandate } from './types.ts';

/** How long somebody may take to register. */
const OPEN_SECONDS = 24 * 3_600;
/** Rails take at most a day, counted by their clock. */
const OPEN_AT_RAIL_SECONDS = 23 * 3_600;

interface Asked {
  readonly org_id: Id<'org'>;
  readonly method: MandateMethod;
}

function begin(context: Context, { org_id, method }: Asked): Promise<{ mandate: Mandate; billing: Billing }> {
  return context.transaction(async (context) => {
    const { db } = context;
    if ((await lockOrg(db, org_id)) === null) throw notFound();
    await refuseUnaccepted(context, org_id);
    const billing = (await findBilling(db, org_id)) as Billing;
    const gateway = railOf(billing.country);
    const rail = railOrRefuse(context, gateway);
    const terms = await readMethodTerms(db, gateway, method);
    if (terms === null || !rail.mandates?.methods.includes(method)) {
      throw new ServiceError('invalid_request', `Nobody can be debited by ${method} over ${gateway} here.`, {
        param: 'method',
        details: {
          rail: gateway,
          reason: 'method_not_available',
          methods: [...(rail.mandates?.methods ?? [])],
        },
      });
    }
    const { pending } = await findCurrent(db, org_id);
    if (pending !== null) {
      throw new ServiceError('mandate_exists', 'A registration is open already. Finish or cancel it.', {
        details: { mandate_id: pending.id },
      });
    }
    const at = context.now();
    const id = context.newId('mandate');
    await insertMandate(db, {
      ...{ id, org_id, gateway, method, currency: currencyOf(billing), created_at: at },
      max_amount_minor: terms.cap_minor,
      notify_hours: terms.notify_hours,
      expires_at: new Date(at.getTime() + OPEN_SECONDS * 1_000),
    });
    await startWorkflow(db, {
      ...{ workflow_id: mandateWorkflowId(id), type: 'mandate', args: { mandate_id: id }, org_id, at },
    });
    return { mandate: (await findMandate(db, { id, org_id })) as Mandate, billing };
  });
}

/** Where somebody comes back to in the console. */
export function consoleUrl(
  context: Context,
  slug: string,
  id: Id<'mandate'>,
  outcome: 'done' | 'back',
): string {
  return `${moneyIn(context).console_url}/${slug}/live/credits?mandate=${id}&outcome=${outcome}`;
}

async function setUp(context: Context, begun: { mandate: Mandate; billing: Billing }): Promise<void> {
  const { mandate, billing } = begun;
  const { id, org_id, gateway, method, max_amount_minor, currency } = mandate;
  const calls = railOrRefuse(context, gateway).mandates;
  if (calls === null) throw new RailError('The rail takes no mandates.', { declined: true });
  const setup = await calls.createSetup({
    ...{ mandate_id: id, org_id, method, max_amount_minor, currency },
    name: billing.name,
    email: billing.email,
    expires_in_seconds: OPEN_AT_RAIL_SECONDS,
    page_url: payUrl(context, id),
    success_url: consoleUrl(context, billing.slug, id, 'done'),
    cancel_url: consoleUrl(context, billing.slug, id, 'back'),
  });
  await nameSetup(context.db, { id, ...setup, at: context.now() });
}

/**
 * Begins the registration of a mandate and returns it with the address to register at. Another one that is in force stays
 * so until this one is. It runs in transactions of its own: the row is there before the rail is asked.
 * @throws ServiceError mandate_exists, invalid_request (no such method here), rail_unavailable, conflict (the rail refuses),
 * currency_not_supported, not_found.
 */
export async function createMandate(
  context: Context,
  asked: Asked,
): Promise<{ mandate: Mandate; registration_url: string }> {
  const begun = await begin(context, asked);
  const { id, org_id, gateway } = begun.mandate;
  try {
    await setUp(context, begun);
  } catch (error) {
    if (!(error instanceof RailError)) throw error;
    context.log.warn({ error, rail: gateway, mandate: id }, 'no registration could be begun');
    const reason = error.declined ? 'declined' : 'rail_unavailable';
    await context.transaction(async (context) => {
      const mandate = await lockWithAuto(context, { id, org_id });
      await changeMandate(context, mandate, 'rejected', reason);
    });
    throw railFailure(error, { rail: gateway, safe: 'Nothing was registered.', details: { mandate_id: id } });
  }
  const mandate = await findMandate(context.db, { id, org_id });
  if (mandate?.registration_url == null) throw new Error(`${id} has no registration`);
  const { registration_url: checkout_url } = mandate;
  return { mandate, registration_url: checkoutUrl(context, { id, gateway, checkout_url }) };
}

const CHANGES = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' } as const;

/** Pauses, resumes or cancels a mandate. @throws ServiceError not_found, state_conflict. */
export function actOnMandate(
  context: Context,
  args: { org_id: Id<'org'>; id: Id<'mandate'>; act: keyof typeof CHANGES },
): Promise<Mandate> {
  const { org_id, id, act } = args;
  return context.transaction(async (context) => {
    await lockAuto(context.db, org_id);
    const mandate = await lockWithAuto(context, { id, org_id });
    const after = await changeMandate(context, mandate, CHANGES[act], 'by_people');
    if (after.status !== mandate.status) return after;
    throw new ServiceError('state_conflict', `The mandate is ${mandate.status}.`, {
      details: { state: mandate.status },
    });
  });
}
