// Callbacks of a rail (docs/money/topups.md#callbacks): verified over the raw bytes, applied once, and booked in one
// transaction that makes no requests to other systems.
import { type Context, type Id, isId, machineMs } from '../kernel/index.ts';
import { applyFact } from './booking.ts';
import type { DisputeFact } from './disputes/types.ts';
import {
  addStaffItem,
  claimEvent,
  type EventFacts,
  findAnswer,
  keepAnswer,
  readAnswer,
} from './rail-store.ts';
import type { MandateFact, NoticeFact } from './rails/mandate-types.ts';
import type { RefundFact } from './rails/refund-types.ts';
import type { Callback, Rail, RailEvent } from './rails/types.ts';
import { findNamed, lockTopup, nameOrder } from './store.ts';
import type { CallbackAnswer, RailName, TopupFact } from './types.ts';

const NOBODY: CallbackAnswer = { invoice: null, replay: false, topup: null };
const IGNORED: CallbackAnswer = { ...NOBODY, ignored: true };

function paymentOf(fact: TopupFact | null): string | null {
  return fact?.kind === 'captured' ? fact.payment_ref : null;
}

function factsOf(event: RailEvent): EventFacts {
  const { fact, money_back, dispute, mandate, notice } = event;
  if (dispute !== undefined) {
    const { kind, ref, payment_ref, amount_minor, currency, status } = dispute;
    return { fact: kind, ref, payment_ref, amount_minor, currency, status };
  }
  if (mandate !== undefined) {
    const { kind, change, mandate_id, setup_ref, token_ref } = mandate;
    return { fact: kind, change, mandate_id, setup_ref, token_ref };
  }
  if (notice !== undefined)
    return { fact: notice.kind, order_ref: notice.order_ref, delivered: notice.delivered };
  if (money_back !== undefined) {
    const { kind, ref, payment_ref, amount_minor, currency, status } = money_back;
    return { fact: kind, ref, payment_ref, amount_minor, currency, status };
  }
  const money =
    fact?.kind === 'captured'
      ? { payment_ref: fact.payment_ref, amount_minor: fact.amount_minor, currency: fact.currency }
      : {};
  return { fact: fact?.kind ?? null, order_ref: event.order_ref, topup_id: event.topup_id, ...money };
}

/** The names by which a rail says what a fact is about. */
interface Names {
  readonly order_ref: string | null;
  readonly topup_id: string | null;
}

/** Why names lead to no top-up. */
interface Trouble {
  readonly trouble: 'unknown_topup' | 'names_disagree';
}

/** The top-up that names lead to. All of them must lead to the same one, of this rail. */
async function identify(
  context: Context,
  rail: RailName,
  { order_ref, topup_id, fact }: Names & { readonly fact: TopupFact },
): Promise<{ readonly topup: Id<'topup'> } | Trouble> {
  const found = await findNamed(context.db, {
    rail,
    order_ref,
    topup_id: topup_id !== null && isId('topup', topup_id) ? topup_id : null,
    payment_ref: paymentOf(fact),
  });
  const [topup] = found;
  if (topup === undefined) return { trouble: 'unknown_topup' };
  if (found.length > 1 || topup.gateway !== rail) return { trouble: 'names_disagree' };
  const disagrees =
    (topup_id !== null && topup_id !== topup.id) ||
    (order_ref !== null && topup.gateway_ref !== null && order_ref !== topup.gateway_ref);
  return disagrees ? { trouble: 'names_disagree' } : { topup: topup.id };
}

/**
 * Applies what a rail says of a payment to the top-up that its names lead to, in the open transaction; books nothing
 * where they lead to none, or to several.
 */
export async function takeNamed(
  context: Context,
  rail: RailName,
  named: Names & { readonly fact: TopupFact },
): Promise<CallbackAnswer | Trouble> {
  const { order_ref, fact } = named;
  const found = await identify(context, rail, named);
  if ('trouble' in found) return found;
  const topup = await lockTopup(context.db, found.topup);
  if (topup === null) throw new Error(`${found.topup} has gone`);
  const gateway_ref = topup.gateway_ref ?? order_ref;
  // The id of the order may have been stored between the look-up and the lock.
  if (order_ref !== null && order_ref !== gateway_ref) return { trouble: 'names_disagree' };
  if (topup.gateway_ref === null && order_ref !== null) {
    const at = context.now();
    await nameOrder(context.db, { id: topup.id, gateway_ref: order_ref, checkout_url: null, at });
  }
  return applyFact(context, { ...topup, gateway_ref }, fact);
}

async function trouble(
  context: Context,
  rail: Rail,
  event: RailEvent,
  kind: string,
): Promise<CallbackAnswer> {
  context.log.warn(
    { rail: rail.name, event_id: event.event_id, type: event.type, kind },
    'callback needs a person',
  );
  await addStaffItem(context.db, {
    kind,
    subject: `${rail.name} ${event.event_id}`,
    details: { type: event.type, ...factsOf(event) },
    at: context.now(),
  });
  return NOBODY;
}

async function take(context: Context, rail: Rail, event: RailEvent): Promise<CallbackAnswer> {
  const { fact, order_ref, topup_id } = event;
  if (fact === null) return trouble(context, rail, event, 'unreadable_event');
  const answer = await takeNamed(context, rail.name, { order_ref, topup_id, fact });
  return 'trouble' in answer ? trouble(context, rail, event, answer.trouble) : answer;
}

/** What other concepts do with an event, in its transaction. */
interface Takers {
  moneyBack(context: Context, rail: RailName, fact: RefundFact): Promise<CallbackAnswer>;
  dispute(context: Context, rail: RailName, fact: DisputeFact): Promise<CallbackAnswer>;
  mandate(context: Context, rail: RailName, fact: MandateFact): Promise<CallbackAnswer>;
  notice(context: Context, rail: RailName, fact: NoticeFact): Promise<CallbackAnswer>;
  /** After a payment of a top-up was booked; the top-up is locked. */
  booked(context: Context, topup_id: Id<'topup'>): Promise<void>;
}

async function takeAny(
  context: Context,
  rail: Rail,
  event: RailEvent,
  takers: Takers,
): Promise<CallbackAnswer> {
  const { money_back, dispute, mandate, notice } = event;
  if (money_back !== undefined) return takers.moneyBack(context, rail.name, money_back);
  if (dispute !== undefined) return takers.dispute(context, rail.name, dispute);
  if (mandate !== undefined) return takers.mandate(context, rail.name, mandate);
  if (notice !== undefined) return takers.notice(context, rail.name, notice);
  const answer = await take(context, rail, event);
  if (answer.topup !== null && answer.invoice !== null && !answer.replay)
    await takers.booked(context, answer.topup);
  return answer;
}

function saysNothing(event: RailEvent): boolean {
  const { fact, unreadable, money_back, dispute, mandate, notice } = event;
  const parts = [unreadable, money_back, dispute, mandate, notice];
  return fact === null && parts.every((part) => part === undefined);
}

/**
 * Handles a callback of `rail` and returns the answer to it. A repeat of an event, or another event about a payment
 * that was booked, answers `replay: true` with what the first one got.
 * @throws ServiceError signature_invalid, signature_expired, invalid_json; anything else means "send it again".
 */
export async function takeCallback(
  context: Context,
  rail: Rail,
  callback: Callback,
  takers: Takers,
): Promise<CallbackAnswer> {
  const event = rail.readCallback(callback, machineMs());
  const { money_back, dispute } = event;
  const about = money_back ?? dispute;
  if (saysNothing(event)) return IGNORED;
  const key = { rail: rail.name, event_id: event.event_id };
  // Rails send again in storms, after an outage of ours: a repeat costs one query and no transaction.
  const before = await findAnswer(context.db, key);
  if (before !== null) return { ...before, replay: true };
  return context.transaction(async (context) => {
    const { db } = context;
    const is_first = await claimEvent(db, {
      ...key,
      type: event.type,
      facts: factsOf(event),
      at: context.now(),
    });
    if (!is_first) return { ...(await readAnswer(db, key)), replay: true };
    const answer = await takeAny(context, rail, event, takers);
    // What names no payment of ours is forgotten after a while.
    const about_ref = answer.topup === null ? null : (about?.payment_ref ?? null);
    const payment_ref = paymentOf(event.fact) ?? about_ref;
    await keepAnswer(db, { ...key, payment_ref, answer });
    return answer;
  });
}
