// Exchange rates (docs/topups.md#what-credits-cost). The release ships a table; a rate is an integer of 1e-8 units
// per US dollar.
import { mulDivFloor, mulDivHalfUp } from '../kernel/index.ts';
import { type Currency, exponentOf } from './currency.ts';

/** Units of a currency per US dollar on a day, times 1e8. */
interface FxRate {
  readonly fx_day: string;
  readonly rate_e8: number;
}

export interface FxSource {
  readonly source: string;
  /** The mid rate of the newest day. @throws ServiceError fx_stale when it is too old to quote with. */
  midRate(currency: Currency): FxRate;
}

const STATIC_DAY = '2026-11-20';
const STATIC_E8: Readonly<Record<Currency, number>> = {
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

/** The table of the release; it has its day and never goes stale. */
export const staticRates: FxSource = {
  source: 'static',
  midRate: (currency) => ({ fx_day: STATIC_DAY, rate_e8: STATIC_E8[currency] }),
};

/** The source that `SVC_FX_SOURCE` names. @throws Error for one that this release does not have. */
export function openFx(source: string): FxSource {
  if (source === 'static') return staticRates;
  throw new Error(
    `SVC_FX_SOURCE=${source} is not available in this release. Leave it unset for the table that is shipped.`,
  );
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
