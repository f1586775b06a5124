// Automatic top-up as its people see it: what they set, what happens next, and why it does not.
import type { Static } from 'typebox';
import { type Context, type Id, notFound, ServiceError } from '../kernel/index.ts';
import { type Billing, findBilling } from '../orgs/index.ts';
import { currencyOf, findTopup, moneyIn, priceForSale, railOf, readTerms } from '../topups/index.ts';
import { findAuto, lastAttempt, lockAuto, putAuto } from './auto-store.ts';
import { type AutoTopupConfig, type AutoTopupView, viewMandate } from './schema.ts';
import { findCurrent } from './store.ts';
import { readMethodTerms } from './terms.ts';
import type { Attempt, AutoTopup, Mandate } from './types.ts';

type Config = Static<typeof AutoTopupConfig>;

/** What nobody has changed yet: off, and as much as most begin with. */
function configOf(auto: AutoTopup | null, min_amount_minor: number): Config {
  if (auto === null) return { enabled: false, threshold_micro: 10_000_000, amount_minor: min_amount_minor };
  const { enabled, threshold_micro, amount_minor } = auto;
  return { enabled, threshold_micro, amount_minor };
}

/** What people have set, as mandates show it. */
export async function readConfigOf(context: Context, org_id: Id<'org'>): Promise<Config> {
  const { db } = context;
  const billing = await findBilling(db, org_id);
  if (billing === null) throw notFound();
  const terms = await readTerms(db);
  return configOf(await findAuto(db, org_id), terms.minimums_minor[currencyOf(billing)]);
}

/** Times that end a block by themselves; others are judged again every few minutes. */
const TIMED: readonly string[] = ['too_soon', 'daily_limit'];

function nextOf(auto: AutoTopup | null, last: Attempt | null): AutoTopupView['next'] {
  const nothing = { reason: '', at: null, topup_id: null, total_minor: null, can_skip: false };
  if (last !== null && last.ended_at === null) {
    const { status, topup_id, due_at, sent_at } = last;
    const step = status as 'announcing' | 'waiting' | 'charging';
    const at = due_at?.toISOString() ?? null;
    return { ...nothing, step, at, topup_id, can_skip: sent_at === null };
  }
  if (auto === null || !auto.enabled) return { ...nothing, step: 'off', reason: auto?.disabled_reason ?? '' };
  if (auto.blocked_reason === null) return { ...nothing, step: 'watching' };
  const { blocked_reason: reason, blocked_until } = auto;
  const at = TIMED.includes(reason) ? (blocked_until?.toISOString() ?? null) : null;
  return { ...nothing, step: 'blocked', reason, at };
}

async function lastOf(
  context: Context,
  auto: AutoTopup | null,
  last: Attempt | null,
): Promise<AutoTopupView['last_attempt']> {
  const { blocked_reason, blocked_at } = auto ?? { blocked_reason: null, blocked_at: null };
  if (blocked_reason !== null && blocked_at !== null) {
    const at = blocked_at.toISOString();
    return { topup_id: null, status: 'blocked', reason: blocked_reason, message: '', at };
  }
  if (last === null) return null;
  const { topup_id, status, created_at, ended_at } = last;
  const topup = await findTopup(context.db, { id: topup_id, org_id: null });
  const failed = status === 'failed' ? topup : null;
  return {
    ...{ topup_id, status },
    reason: failed?.failure_code ?? '',
    message: failed?.failure_message ?? '',
    at: (ended_at ?? created_at).toISOString(),
  };
}

/** What the amount costs with its tax now; null where no price can be made. */
async function totalOf(context: Context, billing: Billing, amount_minor: number): Promise<number | null> {
  try {
    return (await priceForSale(context, billing, amount_minor)).quote.total_minor;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Automatic top-up of an organization. @throws ServiceError not_found. */
export async function readAutoTopup(context: Context, org_id: Id<'org'>): Promise<AutoTopupView> {
  const { db } = context;
  const billing = await findBilling(db, org_id);
  if (billing === null) throw notFound();
  const rail = railOf(billing.country);
  const currency = currencyOf(billing);
  const { minimums_minor } = await readTerms(db);
  const [auto, last] = [await findAuto(db, org_id), await lastAttempt(db, org_id)];
  const { in_force, pending } = await findCurrent(db, org_id);
  const shown: Mandate | null = in_force ?? pending;
  const config = configOf(auto, minimums_minor[currency]);
  const methods = [...(moneyIn(context).rails[rail]?.mandates?.methods ?? [])];
  const [first] = methods;
  const terms = first === undefined ? null : await readMethodTerms(db, rail, first);
  const next = nextOf(auto, last);
  return {
    mandate: shown === null ? null : viewMandate(context, shown, config),
    ...{ config, rail, methods, currency },
    cap_minor: shown?.max_amount_minor ?? terms?.cap_minor ?? null,
    notify_hours: shown?.notify_hours ?? terms?.notify_hours ?? null,
    min_amount_minor: minimums_minor[currency],
    next: { ...next, total_minor: await totalOf(context, billing, config.amount_minor) },
    last_attempt: await lastOf(context, auto, last),
  };
}

async function checkAmount(context: Context, billing: Billing, args: Config): Promise<void> {
  const { in_force: mandate } = await findCurrent(context.db, billing.org_id);
  if (args.enabled && mandate?.status !== 'active') {
    throw new ServiceError('state_conflict', 'No mandate is active. Register one first.', {
      details: { state: mandate?.status ?? 'none' },
    });
  }
  const { quote } = await priceForSale(context, billing, args.amount_minor);
  const cap_minor = mandate?.max_amount_minor ?? null;
  if (cap_minor === null || quote.total_minor <= cap_minor) return;
  throw new ServiceError('amount_above_cap', 'The mandate does not allow so much in one debit.', {
    param: 'amount_minor',
    details: { cap_minor, total_minor: quote.total_minor },
  });
}

/**
 * Sets automatic top-up of an organization; it takes effect at the next look at its balance.
 * @throws ServiceError state_conflict without an active mandate, amount_above_cap, amount_too_small, amount_too_large.
 */
export async function setAutoTopup(
  context: Context,
  args: Config & { readonly org_id: Id<'org'> },
): Promise<void> {
  const { org_id, ...config } = args;
  const billing = await findBilling(context.db, org_id);
  if (billing === null) throw notFound();
  await lockAuto(context.db, org_id);
  await checkAmount(context, billing, config);
  await putAuto(context.db, { org_id, ...config, at: context.now() });
}
