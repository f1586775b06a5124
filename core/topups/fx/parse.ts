// What a source of exchange rates answers, as a table of a day. Pure. A day is taken whole or not at all.
import { isObject, mulDivHalfUp } from '../../kernel/index.ts';
import { type Currency, currencies } from '../currency.ts';
import type { RateTable } from './rates.ts';

/** A day of rates as a source gave it. */
export interface FetchedDay {
  readonly fx_day: string;
  readonly rates: RateTable;
}

const ONE_E8 = 100_000_000;
/** The dirham is fixed to the dollar; the bank does not list it. */
const AED_E8 = 367_250_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DECIMAL = /^(\d{1,7})(?:\.(\d{1,8})\d*)?$/;

/** A positive decimal times 1e8, further places cut off. @throws RangeError. */
function e8(text: string, currency: string): number {
  const match = DECIMAL.exec(text);
  const value = match === null ? 0 : Number(match[1]) * ONE_E8 + Number((match[2] ?? '').padEnd(8, '0'));
  if (value <= 0) throw new RangeError(`not a rate of ${currency}: ${text.slice(0, 40)}`);
  return value;
}

function dayOf(text: unknown): string {
  if (typeof text !== 'string' || !DAY.test(text) || Number.isNaN(Date.parse(text))) {
    throw new RangeError('the answer names no day');
  }
  return text;
}

function tableOf(rateOf: (currency: Currency) => number | undefined): RateTable {
  const missing = currencies.filter((currency) => rateOf(currency) === undefined);
  if (missing.length > 0) throw new RangeError(`the answer lacks ${missing.join(', ')}`);
  return Object.fromEntries(currencies.map((name) => [name, rateOf(name)])) as unknown as RateTable;
}

/**
 * The daily XML of the European Central Bank: units per euro, turned into units per dollar, each rounded half up once.
 * @throws RangeError when it is anything else or lacks a currency.
 */
export function parseEcb(xml: string): FetchedDay {
  const days = [...xml.matchAll(/<Cube\s+time=['"]([^'"]*)['"]/g)];
  if (days.length !== 1) throw new RangeError(`expected one day, got ${days.length}`);
  const per_euro = new Map<string, number>();
  for (const [, currency, rate] of xml.matchAll(
    /<Cube\s+currency=['"]([A-Z]{3})['"]\s+rate=['"]([^'"]*)['"]/g,
  )) {
    per_euro.set(currency as string, e8(rate as string, currency as string));
  }
  const dollar = per_euro.get('USD');
  if (dollar === undefined) throw new RangeError('the answer lacks USD');
  per_euro.set('EUR', ONE_E8);
  const rates = tableOf((currency) => {
    if (currency === 'AED') return AED_E8;
    const rate = per_euro.get(currency);
    return rate === undefined ? undefined : mulDivHalfUp(rate, ONE_E8, dollar);
  });
  return { fx_day: dayOf(days[0]?.[1]), rates };
}

/**
 * JSON `{"day": "2026-11-20", "base": "USD", "rates": {"INR": "88.70", …}}`: units per dollar as decimals, in text or as
 * numbers; dollar and dirham may be left out. @throws RangeError when it is anything else or lacks a currency.
 */
export function parseJsonRates(text: string): FetchedDay {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new RangeError('the answer is not JSON');
  }
  if (!isObject(answer) || answer['base'] !== 'USD' || !isObject(answer['rates'])) {
    throw new RangeError('expected {"day", "base": "USD", "rates"}');
  }
  const given = answer['rates'];
  const rates = tableOf((currency) => {
    const rate = given[currency];
    if (rate === undefined && currency === 'USD') return ONE_E8;
    if (rate === undefined && currency === 'AED') return AED_E8;
    return rate === undefined ? undefined : e8(String(rate), currency);
  });
  if (rates.USD !== ONE_E8) throw new RangeError('a dollar is a dollar');
  return { fx_day: dayOf(answer['day']), rates };
}
