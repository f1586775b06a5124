// Creating a top-up: first the row and the start of its workflow, then the call to the rail, so that every event of the
// rail finds the row.
import { checkGstin } from '../invoices/index.ts';
import { type Context, type Id, invalid, microUsd, notFound, ServiceError } from '../kernel/index.ts';
import { type Billing, findBilling, lockOrg, refuseUnaccepted } from '../orgs/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';
import { applyFact, topupWorkflowId } from './booking.ts';
import { type Currency, formatCredits, formatMoney, isCurrency } from './currency.ts';
import { rateFromText } from './fx/rates.ts';
import { readRates } from './fx/source.ts';
import { moneyIn, railFailure, railOrRefuse } from './money-in.ts';
import { checkoutUrl, payUrl, returnUrl } from './pay-link.ts';
import { currencyOf, type Priced, priceTopup, type Quote, railOf } from './quote.ts';
import { addTask } from './rail-store.ts';
import type { Checkout, Rail } from './rails/types.ts';
import { RailError } from './rails/types.ts';
import { countRecent, findQuote, findTopup, insertTopup, keepQuote, lockTopup, nameOrder } from './store.ts';
import { type PriceFacts, readPriceFacts } from './terms.ts';
import type { Topup } from './types.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long the rate of a quote binds. */
const QUOTE_MS = 15 * MINUTE_MS;
/** Rail-b keeps a session for at most 24 hours. */
const OPEN_SECONDS = 23 * 3_600;
/** Limits per organization. */
const PENDING_MAX = 10;
const PER_DAY_MAX = 30;
const FAILED_PER_HOUR_MAX = 5;

async function billingOf(context: Context, org_id: Id<'org'>): Promise<Billing> {
  const billing = await findBilling(context.db, org_id);
  if (billing === null) throw notFound();
  return billing;
}

/**
 * The price of `amount_minor` for an organization, by the rate of the day, which then binds for 15 minutes.
 * @throws ServiceError amount_too_large, currency_not_supported, fx_stale.
 */
export async function quoteFor(
  context: Context,
  args: { org_id: Id<'org'>; amount_minor: number },
): Promise<Quote> {
  const billing = await billingOf(context, args.org_id);
  const facts: PriceFacts = {
    billing,
    ...(await readPriceFacts(context, moneyIn(context).fx, args.org_id)),
    promised: null,
  };
  const { quote } = priceTopup(facts, args.amount_minor);
  await keepQuote(context.db, {
    org_id: args.org_id,
    currency: quote.currency,
    amount_minor: quote.amount_minor,
    fx_day: quote.fx_day,
    fx_rate: quote.fx_rate,
    at: context.now(),
  });
  return quote;
}

function refuseUnknownState(priced: Priced, billing: Billing): void {
  if (billing.gstin !== null) {
    const verdict = checkGstin(billing.gstin);
    if (!verdict.valid) {
      throw new ServiceError(
        'invalid_gstin',
        'The GSTIN of the organization is not valid. Correct it first.',
        {
          param: 'gstin',
          details: { reason: verdict.reason },
        },
      );
    }
  }
  if (priced.tax.decision.state_known) return;
  const message = 'The state of the billing address decides the tax. Set it first.';
  throw invalid('billing_address.state_code', 'missing', message);
}

async function refuseTooMany(context: Context, org_id: Id<'org'>): Promise<void> {
  const now_ms = context.now().getTime();
  const counts = await countRecent(context.db, {
    org_id,
    day: new Date(now_ms - 24 * HOUR_MS),
    hour: new Date(now_ms - HOUR_MS),
  });
  const limits = [
    { limit: 'pending_topups', count: counts.pending, limit_value: PENDING_MAX, reset_ms: 15 * MINUTE_MS },
    { limit: 'topups_per_day', count: counts.made, limit_value: PER_DAY_MAX, reset_ms: HOUR_MS },
    {
      limit: 'failed_topups_per_hour',
      count: counts.failed,
      limit_value: FAILED_PER_HOUR_MAX,
      reset_ms: HOUR_MS,
    },
  ];
  const reached = limits.find(({ count, limit_value }) => count >= limit_value);
  if (reached === undefined) return;
  const { limit, limit_value, reset_ms } = reached;
  throw new ServiceError('rate_limit_exceeded', `An organization has at most ${limit_value} such top-ups.`, {
    details: { limit, scope: 'org', limit_value, reset_ms },
    retry_after_ms: reset_ms,
  });
}

/**
 * The price of a new top-up: the rate that an earlier quote promised, with everything else read again.
 * @throws ServiceError legal_acceptance_required, amount_too_small, amount_too_large, currency_not_supported,
 * rail_unavailable, fx_stale, service_unavailable, invalid_request (state unknown), invalid_gstin.
 */
export async function priceForSale(
  context: Context,
  billing: Billing,
  amount_minor: number,
): Promise<Priced> {
  const { db } = context;
  await refuseUnaccepted(context, billing.org_id);
  const currency = currencyOf(billing);
  const since = new Date(context.now().getTime() - QUOTE_MS);
  const kept = await findQuote(db, { org_id: billing.org_id, currency, amount_minor, since });
  const promised = kept === null ? null : { fx_day: kept.fx_day, rate_e8: rateFromText(kept.fx_rate) };
  const facts = await readPriceFacts(context, moneyIn(context).fx, billing.org_id);
  const priced = priceTopup({ billing, ...facts, promised }, amount_minor);
  const { min_amount_minor } = priced.quote;
  if (amount_minor < min_amount_minor) {
    throw new ServiceError(
      'amount_too_small',
      `The minimum amount is ${formatMoney(min_amount_minor, currency)}.`,
      {
        param: 'amount_minor',
        details: { min_amount_minor, currency },
      },
    );
  }
  refuseUnknownState(priced, billing);
  const rail = railOrRefuse(context, railOf(billing.country));
  if (rail.live && facts.is_demo) {
    throw new ServiceError(
      'service_unavailable',
      'No supplier is configured, so nothing can be sold for real money yet.',
      {
        details: { component: 'supplier' },
      },
    );
  }
  return priced;
}

/** Inserts the pending row of a top-up at a price. */
export async function insertPriced(
  context: Context,
  args: {
    readonly billing: Billing;
    readonly priced: Priced;
    readonly open_ms: number;
  } & Pick<Topup, 'source' | 'mandate_id' | 'attempt_no'>,
): Promise<Id<'topup'>> {
  const { billing, priced, open_ms, source, mandate_id, attempt_no } = args;
  const { quote, tax } = priced;
  const id = context.newId('topup');
  const at = context.now();
  await insertTopup(context.db, {
    id,
    org_id: billing.org_id,
    book_id: billing.live_book_id,
    gateway: quote.rail,
    currency: quote.currency,
    amount_minor: quote.amount_minor,
    tax_minor: quote.tax_minor,
    total_minor: quote.total_minor,
    fx_day: quote.fx_day,
    fx_rate: quote.fx_rate,
    credits_micro: microUsd(quote.credits_micro),
    tax,
    ...{ source, mandate_id, attempt_no },
    created_at: at,
    expires_at: new Date(at.getTime() + open_ms),
  });
  return id;
}

/** Writes the pending row and asks for its workflow, in one transaction. */
function beginTopup(
  context: Context,
  args: { org_id: Id<'org'>; amount_minor: number },
): Promise<Priced & { id: Id<'topup'>; billing: Billing }> {
  return context.transaction(async (context) => {
    const { db } = context;
    // Under the lock, so that of ten requests at once not every one counts nine open top-ups.
    if ((await lockOrg(db, args.org_id)) === null) throw notFound();
    const billing = await billingOf(context, args.org_id);
    const priced = await priceForSale(context, billing, args.amount_minor);
    await refuseTooMany(context, args.org_id);
    const id = await insertPriced(context, {
      ...{ billing, priced, source: 'checkout', mandate_id: null, attempt_no: null },
      open_ms: OPEN_SECONDS * 1_000,
    });
    const workflow_id = topupWorkflowId({ id, org_id: args.org_id, attempt_no: null });
    const { org_id } = args;
    const start = { workflow_id, type: 'topUp', args: { topup_id: id }, org_id };
    await startWorkflow(db, { ...start, at: context.now() });
    return { ...priced, id, billing };
  });
}

function checkoutAt(
  context: Context,
  rail: Rail,
  begun: { id: Id<'topup'>; quote: Quote; billing: Billing },
): Promise<Checkout> {
  const { id, quote, billing } = begun;
  return rail.createCheckout({
    topup_id: id,
    org_id: billing.org_id,
    total_minor: quote.total_minor,
    currency: quote.currency,
    description: `Prepaid API credits, ${formatCredits(quote.credits_micro)}`,
    email: billing.email,
    expires_in_seconds: OPEN_SECONDS,
    pay_url: payUrl(context, id),
    success_url: returnUrl(context, { slug: billing.slug, id, outcome: 'done' }),
    cancel_url: returnUrl(context, { slug: billing.slug, id, outcome: 'back' }),
  });
}

/**
 * Makes a top-up of `amount_minor` and returns it with the address to pay at. It runs in transactions of its own:
 * when the rail cannot be reached, the row stays as failed, so that a payment that the rail took nevertheless finds it.
 * @throws ServiceError amount_too_small, amount_too_large, currency_not_supported, rail_unavailable, conflict (the rail
 * refuses), fx_stale, rate_limit_exceeded, invalid_request (state unknown), invalid_gstin.
 */
export async function createTopup(
  context: Context,
  args: { org_id: Id<'org'>; amount_minor: number },
): Promise<{ topup: Topup; checkout_url: string; quote: Quote }> {
  const begun = await beginTopup(context, args);
  const { id, quote } = begun;
  const rail = railOrRefuse(context, quote.rail);
  let checkout: Checkout;
  try {
    checkout = await checkoutAt(context, rail, begun);
  } catch (error) {
    if (!(error instanceof RailError)) throw error;
    context.log.warn({ error, rail: rail.name, topup: id }, 'no checkout could be made');
    await failTopup(context, id, error.message);
    throw railFailure(error, { rail: rail.name, safe: 'Nothing was charged.', details: { topup_id: id } });
  }
  const { gateway_ref, checkout_url } = checkout;
  await nameOrder(context.db, { id, gateway_ref, checkout_url, at: context.now() });
  const topup = await findTopup(context.db, { id, org_id: args.org_id });
  if (topup === null) throw new Error(`${id} has gone`);
  // It was cancelled while the rail was being called, when the order to close was not known yet.
  if (topup.status === 'expired') {
    const { name } = rail;
    await addTask(context.db, {
      rail: name,
      kind: 'close_order',
      ref: gateway_ref,
      topup_id: id,
      at: context.now(),
    });
  }
  return { topup, checkout_url: checkoutUrl(context, { ...topup, checkout_url }), quote };
}

function failTopup(context: Context, id: Id<'topup'>, message: string): Promise<void> {
  return context.transaction(async (context) => {
    const topup = await lockTopup(context.db, id);
    if (topup !== null) await applyFact(context, topup, { kind: 'unreachable', message });
  });
}

/**
 * Cancels a pending top-up of `org_id`; its order is closed at the rail as soon as that can be reached. A payment that
 * came first is booked nevertheless. @throws ServiceError not_found, state_conflict.
 */
export function cancelTopup(context: Context, args: { org_id: Id<'org'>; id: Id<'topup'> }): Promise<Topup> {
  return context.transaction(async (context) => {
    const found = await findTopup(context.db, args);
    const topup = found === null ? null : await lockTopup(context.db, args.id);
    if (topup === null) throw notFound();
    if (topup.status !== 'pending') {
      throw new ServiceError('state_conflict', `The top-up is ${topup.status} and cannot be cancelled.`, {
        details: { state: topup.status },
      });
    }
    await applyFact(context, topup, { kind: 'cancelled' });
    return (await findTopup(context.db, args)) as Topup;
  });
}

/** A balance as an organization's people read it: in its currency at the mid rate, rounded down. */
export async function displayBalance(
  context: Context,
  args: { billing_country: string; billing_currency: string },
): Promise<{ currency: Currency; rate_e8: number }> {
  const wanted = args.billing_country === 'IN' ? 'INR' : args.billing_currency;
  const currency = isCurrency(wanted) ? wanted : 'USD';
  const rates = await readRates(context.db, moneyIn(context).fx, context.now());
  return { currency, rate_e8: rates.shownRate(currency).rate_e8 };
}
