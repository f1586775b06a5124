// Exchange rates and what they buy (docs/money/topups.md#what-credits-cost). Pure. A rate is an integer of 1e-8 units per US
// dollar; the release ships a table of them.
import { mulDivFloor, mulDivHalfUp, ServiceError } from '../../kernel/index.ts';
import { type Currency, exponentOf } from '../currency.ts';

/** Units of a currency per US dollar on a day, times 1e8. */
interface FxRate {
  readonly fx_day: string;
  readonly rate_e8: number;
}

/** Units per US dollar times 1e8, of every currency. */
export type RateTable = Readonly<Record<Currency, number>>;

/** Names of kinds of sources. */
export type FxKind = 'static' | 'ecb' | 'json';

/** The rates of one moment. */
export interface Rates {
  readonly source: FxKind;
  /** The day that they are of; null: none have come yet. */
  readonly fx_day: string | null;
  /** The newest rates, however old. */
  readonly table: RateTable;
  /** The newest day is older than it should be. */
  readonly stale: boolean;
  /** The mid rate to sell by. @throws ServiceError fx_stale when it is too old to quote with. US dollars need none. */
  midRate(currency: Currency): FxRate;
  /** The newest mid rate however old, to show a balance by; that of the release where none has come. */
  shownRate(currency: Currency): FxRate;
}

const DAY_MS = 86_400_000;
/** Banks rest on weekends and holidays: this old is usual at most. */
const STALE_DAYS = 4;
/** Older rates are not sold by. */
const QUOTE_DAYS = 8;

const STATIC_DAY = '2026-11-20';
const STATIC_E8: RateTable = {
  USD: 100_000_000,
  INR: 8_870_000_000,
  EUR: 86_120_000,
  GBP: 75_830_000,
  SGD: 130_250_000,
  AED: 367_250_000,
  AUD: 152_900_000,
  CAD: 139_800_000,
  JPY: 15_540_000_000,
};

const staticRate = (currency: Currency): FxRate => ({ fx_day: STATIC_DAY, rate_e8: STATIC_E8[currency] });

/** The table of the release; it has its day and never goes stale. */
export const staticRates: Rates = {
  source: 'static',
  fx_day: STATIC_DAY,
  table: STATIC_E8,
  stale: false,
  midRate: staticRate,
  shownRate: staticRate,
};

/** The table of the release, or the newest day that staff set in its place; neither goes stale. */
export function releaseRates(newest: { readonly fx_day: string; readonly rates: RateTable } | null): Rates {
  if (newest === null || newest.fx_day <= STATIC_DAY) return staticRates;
  const { fx_day, rates: table } = newest;
  const rate = (currency: Currency): FxRate => ({ fx_day, rate_e8: table[currency] });
  return { ...staticRates, fx_day, table, midRate: rate, shownRate: rate };
}

/** Rates of a source at `now`; `newest` is its newest day that is in force, null before there is one. */
export function ratesAt(
  source: FxKind,
  newest: { readonly fx_day: string; readonly rates: RateTable } | null,
  now: Date,
): Rates {
  const age_days = newest === null ? Infinity : (now.getTime() - Date.parse(newest.fx_day)) / DAY_MS;
  const today = now.toISOString().slice(0, 10);
  const shownRate = (currency: Currency): FxRate =>
    newest === null ? staticRate(currency) : { fx_day: newest.fx_day, rate_e8: newest.rates[currency] };
  return {
    source,
    fx_day: newest?.fx_day ?? null,
    table: newest?.rates ?? STATIC_E8,
    stale: age_days > STALE_DAYS,
    shownRate,
    midRate(currency) {
      if (currency === 'USD') return { fx_day: newest?.fx_day ?? today, rate_e8: STATIC_E8.USD };
      if (age_days <= QUOTE_DAYS) return shownRate(currency);
      throw new ServiceError(
        'fx_stale',
        'The exchange rates are too old to sell by. Pay in US dollars or try later.',
        { details: { fx_day: newest?.fx_day ?? null, currency } },
      );
    },
  };
}

/** What one US dollar of credits costs with the spread on top, times 1e8, rounded half up. US dollars have none. */
export function withSpread(rate_e8: number, currency: Currency, spread_bps: number): number {
  return currency === 'USD' ? rate_e8 : mulDivHalfUp(rate_e8, 10_000 + spread_bps, 10_000);
}

/** A rate as a decimal with eight places. */
export function rateText(rate_e8: number): string {
  return `${Math.floor(rate_e8 / 100_000_000)}.${String(rate_e8 % 100_000_000).padStart(8, '0')}`;
}

/** The integer behind a decimal with eight places. @throws RangeError for anything else. */
export function rateFromText(text: string): number {
  const match = /^(\d{1,7})\.(\d{8})$/.exec(text);
  if (match === null) throw new RangeError(`not a rate with eight places: ${text}`);
  return Number(match[1]) * 100_000_000 + Number(match[2]);
}

/** Micro-USD that `amount_minor` buys at `rate_e8`, rounded down: floor(amount × 10^14 ÷ (10^exponent × rate)). */
export function creditsFor(amount_minor: number, currency: Currency, rate_e8: number): number {
  return mulDivFloor(amount_minor, 1e14, 10 ** exponentOf(currency) * rate_e8);
}

/** What `micro_usd` is in the smallest unit of `currency` at `rate_e8`, rounded down. */
export function minorFor(micro_usd: number, currency: Currency, rate_e8: number): number {
  return mulDivFloor(micro_usd, 10 ** exponentOf(currency) * rate_e8, 1e14);
}
