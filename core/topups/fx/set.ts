// Exchange rates that staff set for a day: proposed by one, confirmed by another. A day that is in force is never changed, and
// neither is one before it: what was sold by it has its rate.
import { writeAudit } from '../../identity/index.ts';
import { type Context, type Id, ServiceError } from '../../kernel/index.ts';
import type { Currency } from '../currency.ts';
import { moneyIn } from '../money-in.ts';
import { resolveStaffItem } from '../rail-store.ts';
import type { FetchedDay } from './parse.ts';
import { rateFromText, rateText } from './rates.ts';
import { jumpSubject } from './refresh.ts';
import { readRates } from './source.ts';
import { findDay, setDay } from './store.ts';

/** A rate is at most this much higher or lower than the one of before: more is a typing error. */
const FACTOR_MAX = 2;

/** What is asked for. */
export interface WantedRates {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly rates: readonly { readonly currency: Exclude<Currency, 'USD'>; readonly rate: string }[];
}

/** Rates of a day as they would be set. */
interface PlannedRates {
  readonly day: FetchedDay;
  /** The day that was in force, on which the other currencies stay. */
  readonly before: { readonly fx_day: string | null; readonly rates: FetchedDay['rates'] };
}

const refusal = (param: string, message: string) => new ServiceError('invalid_request', message, { param });

/** A decimal with up to eight places, times 1e8. */
function rateOf(text: string, place: number): number {
  const [whole = '', places = ''] = text.split('.');
  const rate_e8 = rateFromText(`${whole}.${places.padEnd(8, '0')}`);
  if (rate_e8 > 0) return rate_e8;
  throw refusal(`rates[${place}].rate`, 'A rate is above 0.');
}

function checkDay(day: string, of: { today: string; newest: string | null }): void {
  if (Number.isNaN(Date.parse(day)) || new Date(day).toISOString().slice(0, 10) !== day)
    throw refusal('day', 'Expected a day such as 2026-01-31.');
  if (day > of.today) throw refusal('day', `That day is yet to come; today is ${of.today}, in UTC.`);
  if (of.newest !== null && day <= of.newest)
    throw refusal('day', `Rates of ${of.newest} are in force, and a day that was in force is never changed.`);
}

/**
 * The rates that `wanted` makes of those in force, or of the day itself where it waits because a rate jumped.
 * @throws ServiceError invalid_request with the field.
 */
export async function planRates(context: Context, { day, rates }: WantedRates): Promise<PlannedRates> {
  const { db } = context;
  const source = moneyIn(context).fx;
  const now = context.now();
  const { fx_day, table } = await readRates(db, source, now);
  checkDay(day, { today: now.toISOString().slice(0, 10), newest: fx_day });
  const waiting = await findDay(db, { source: source.kind, fx_day: day });
  const set: { [K in Currency]?: number } = {};
  for (const [place, { currency, rate }] of rates.entries()) {
    if (set[currency] !== undefined) throw refusal(`rates[${place}].currency`, 'It is set twice.');
    const [fresh, old] = [rateOf(rate, place), table[currency]];
    if (fresh > old * FACTOR_MAX || fresh * FACTOR_MAX < old)
      throw refusal(
        `rates[${place}].rate`,
        `That is not within half and twice ${rateText(old)}, the rate of before.`,
      );
    set[currency] = fresh;
  }
  return {
    day: { fx_day: day, rates: { ...table, ...waiting?.rates, ...set } },
    before: { fx_day, rates: table },
  };
}

/**
 * Puts a day in force whose rates a second person confirmed; one that waited because of a jump is decided with it.
 * @throws ServiceError state_conflict where another day is in force by now.
 */
export async function setRates(
  context: Context,
  asked: WantedRates,
  approval: { readonly id: Id<'approval'>; readonly reason: string },
): Promise<void> {
  const { day, before } = await planRates(context, asked).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError('state_conflict', error.message, { param: error.param ?? 'day' });
  });
  const source = moneyIn(context).fx.kind;
  const at = context.now();
  const is_set = await setDay(context.db, { ...day, source, approval_id: approval.id, at });
  if (!is_set)
    throw new ServiceError('state_conflict', `Rates of ${day.fx_day} came meanwhile.`, { param: 'day' });
  await resolveStaffItem(context.db, { kind: 'fx_jump', subject: jumpSubject(source, day.fx_day), at });
  const currencies = asked.rates.map(({ currency }) => currency);
  const named = (rates: FetchedDay['rates']) =>
    Object.fromEntries(currencies.map((currency) => [currency, rateText(rates[currency])]));
  await writeAudit(context, {
    ...{ action: 'staff.fx.set', org_id: null, reason: approval.reason },
    target: { type: 'fx_day', id: day.fx_day, display: `${source} ${day.fx_day}` },
    before: { day: before.fx_day, ...named(before.rates) },
    after: named(day.rates),
  });
}
