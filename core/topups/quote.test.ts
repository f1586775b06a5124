import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEMO_SUPPLIER } from '../invoices/index.ts';
import type { Billing } from '../orgs/index.ts';
import {
  type Currency,
  currencies,
  decimalOf,
  exponentOf,
  formatAmount,
  formatCredits,
  MINIMUMS_MINOR,
} from './currency.ts';
import { creditsFor, minorFor, rateFromText, rateText, staticRates, withSpread } from './fx/rates.ts';
import { currencyOf, priceTopup } from './quote.ts';
import type { PriceFacts, TopupTerms } from './terms.ts';

const terms: TopupTerms = {
  paid_credit_days: 0,
  spread_bps: 150,
  max_credits_micro: 10_000_000_000,
  minimums_minor: MINIMUMS_MINOR,
  fees: { 'rail-a': [{ method: 'upi', bps: 0 }], 'rail-b': [{ method: 'card', bps: 290, fixed_minor: 30 }] },
};
const billing = (other: Partial<Billing>): Billing => ({
  slug: 'acme',
  org_id: 'org_x',
  live_book_id: 1,
  name: 'Acme',
  country: 'US',
  currency: 'USD',
  gstin: null,
  tax_status: 'overseas',
  address: null,
  email: null,
  ...other,
});
const facts = (other: Partial<Billing>, promised: PriceFacts['promised'] = null): PriceFacts => ({
  billing: billing(other),
  terms,
  supplier: DEMO_SUPPLIER,
  gst_rate_bps: 1_800,
  fx: staticRates,
  promised,
});
const inState = (state_code: string): Partial<Billing> => ({
  country: 'IN',
  currency: 'INR',
  tax_status: 'unregistered',
  address: { state_code },
});
const abroad = (currency: Currency): Partial<Billing> => ({ country: 'DE', currency });

test.each([
  ['INR', inState('07'), 100_000, '90.03050000', 11_107_346, 18_000],
  ['INR', inState('29'), 100_000, '90.03050000', 11_107_346, 18_000],
  ['INR', inState('07'), 50_005, '90.03050000', 5_554_228, 9_001],
  ['INR', inState('29'), 50_005, '90.03050000', 5_554_228, 9_000],
  ['INR', inState('07'), 33_333, '90.03050000', null, 6_000],
  ['INR', inState('29'), 33_333, '90.03050000', null, 6_000],
  ['USD', abroad('USD'), 2_500, '1.00000000', 25_000_000, 0],
  ['EUR', abroad('EUR'), 5_000, '0.87411800', 57_200_515, 0],
  ['GBP', abroad('GBP'), 2_000, '0.76967450', 25_985_010, 0],
  ['AED', abroad('AED'), 10_000, '3.72758750', 26_827_002, 0],
  ['JPY', abroad('JPY'), 5_000, '157.73100000', 31_699_539, 0],
] as const)('%s %o: %i is quoted to the micro-dollar', (currency, who, amount, fx_rate, credits, tax) => {
  const { quote } = priceTopup(facts(who), amount);
  expect(quote).toMatchObject({ currency, fx_rate, tax_minor: tax, total_minor: amount + tax });
  if (credits !== null) expect(quote.credits_micro).toBe(credits);
});

test('a quote says in the words of the currency what is paid and what it buys', () => {
  const shown = (who: Partial<Billing>, amount: number) => priceTopup(facts(who), amount).quote.display;
  expect(shown(inState('07'), 100_000)).toBe('₹1,180.00 for $11.10 of credits');
  expect(shown(inState('29'), 10_000_000)).toBe('₹1,18,000.00 for $1,110.73 of credits');
  expect(shown(abroad('USD'), 2_500)).toBe('$25.00 for $25.00 of credits');
  expect(shown(abroad('JPY'), 5_000)).toBe('¥5,000 for $31.69 of credits');
  expect(shown(abroad('AED'), 10_000)).toBe('AED 100.00 for $26.82 of credits');
});

test('the rail and the currency follow the country', () => {
  expect(priceTopup(facts(inState('29')), 50_000).quote).toMatchObject({
    rail: 'rail-a',
    min_amount_minor: 50_000,
    fees: { rail: 'rail-a', items: terms.fees['rail-a'] },
  });
  expect(priceTopup(facts(abroad('EUR')), 500).quote).toMatchObject({
    rail: 'rail-b',
    min_amount_minor: 500,
    fees: { rail: 'rail-b', items: terms.fees['rail-b'] },
  });
  expect(currencyOf({ country: 'IN', currency: 'USD' })).toBe('INR');
  for (const currency of ['INR', 'CHF', 'usd', '']) {
    expect(() => currencyOf({ country: 'CH', currency })).toThrow(/cannot be paid in/);
  }
});

test('who cannot pay in a currency is told those that are sold outside India, rupees not among them', () => {
  expect(() => currencyOf({ country: 'CH', currency: 'CHF' })).toThrow(
    expect.objectContaining({
      code: 'currency_not_supported',
      details: { currencies: ['USD', 'EUR', 'GBP', 'SGD', 'AED', 'AUD', 'CAD', 'JPY'] },
    }),
  );
});

test('the document of a payment in another currency has its worth in rupees at mid rates; one in rupees has none', () => {
  const rate = (who: Partial<Billing>) => priceTopup(facts(who), 50_000).tax.inr_rate;
  expect(rate(abroad('USD'))).toBe('88.70000000');
  expect(rate(abroad('EUR'))).toBe('102.99581979');
  expect(rate(abroad('JPY'))).toBe('0.57078507');
  expect(rate(inState('07'))).toBeNull();
});

test('an amount below the least is quoted, one that buys more than the most is refused, to the minor unit', () => {
  expect(priceTopup(facts(abroad('USD')), 1).quote.credits_micro).toBe(10_000);
  expect(priceTopup(facts(abroad('USD')), 1_000_000).quote.credits_micro).toBe(10_000_000_000);
  for (const amount of [1_000_001, Number.MAX_SAFE_INTEGER]) {
    expect(() => priceTopup(facts(abroad('USD')), amount)).toThrow(
      expect.objectContaining({
        code: 'amount_too_large',
        param: 'amount_minor',
        details: { max_amount_minor: 1_000_000, currency: 'USD' },
      }),
    );
  }
});

test('a promised rate is used as it was promised', () => {
  const promised = { fx_day: '2026-11-01', rate_e8: 8_000_000_000 };
  expect(priceTopup(facts(inState('29'), promised), 80_000).quote).toMatchObject({
    fx_day: '2026-11-01',
    fx_rate: '80.00000000',
    credits_micro: 10_000_000,
  });
});

test('a balance is shown at the mid rate, rounded down', () => {
  expect(decimalOf(minorFor(11_107_346, 'INR', 8_870_000_000), 'INR')).toBe('985.22');
  expect(decimalOf(minorFor(0, 'JPY', 15_540_000_000), 'JPY')).toBe('0');
  expect(decimalOf(minorFor(9_999, 'USD', 100_000_000), 'USD')).toBe('0.00');
});

test('credits never exceed what was paid at the rate, and fall short by less than a micro-dollar', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...currencies),
      fc.integer({ min: 1, max: 100_000_000 }),
      fc.integer({ min: 0, max: 1_000 }),
      (currency, amount, spread_bps) => {
        const rate = withSpread(staticRates.midRate(currency).rate_e8, currency, spread_bps);
        const credits = BigInt(creditsFor(amount, currency, rate));
        const divisor = BigInt(10 ** exponentOf(currency)) * BigInt(rate);
        const paid = BigInt(amount) * 10n ** 14n;
        expect(credits * divisor <= paid && paid < (credits + 1n) * divisor).toBe(true);
        expect(rateFromText(rateText(rate))).toBe(rate);
      },
    ),
  );
});

test('an amount of a currency that is sold no more is still shown, and credits never as more than there are', () => {
  expect(formatAmount(118_000, 'INR')).toBe('₹1,180.00');
  expect(formatAmount(500, 'CHF')).toBe('500 CHF');
  expect(formatCredits(19_999)).toBe('$0.01');
  expect(formatCredits(20_000)).toBe('$0.02');
});
