// What a payment buys that is not what was asked for.
import { expect, test } from 'vitest';
import { type TaxTerms, taxOn } from '../../invoices/index.ts';
import { repriced } from './reprice.ts';

const decision = { rate_bps: 1_800, place_of_supply: '27-Maharashtra', kind: 'tax_invoice' };
const terms = (split: 'inter' | 'intra' | 'none', more: object = {}) => ({
  ...{ currency: 'INR', fx_rate: '90.03050000' },
  tax: {
    ...{ decision: { ...decision, split }, supplier: { legal_name: 'We' }, recipient: { name: 'You' } },
    ...{ cgst_minor: 1, sgst_minor: 2, igst_minor: 3 },
  } as unknown as TaxTerms,
  ...more,
});

test('between states it buys what is left without the tax, at the rate of its price', () => {
  const topup = terms('inter');
  expect(repriced(topup, 59_000)).toEqual({
    ...{ amount_minor: 50_000, tax_minor: 9_000, total_minor: 59_000, credits_micro: 5_553_673 },
    tax: { ...topup.tax, cgst_minor: 0, sgst_minor: 0, igst_minor: 9_000 },
  });
});

test('within a state the tax has two equal halves, and the unit that is left over is of the amount', () => {
  const topup = terms('intra');
  expect(repriced(topup, 117_999)).toEqual({
    ...{ amount_minor: 99_999, tax_minor: 18_000, total_minor: 117_999, credits_micro: 11_107_235 },
    tax: { ...topup.tax, cgst_minor: 9_000, sgst_minor: 9_000, igst_minor: 0 },
  });
});

test('without a tax it buys all that was paid', () => {
  const topup = terms('none', { currency: 'USD', fx_rate: '1.00000000' });
  expect(repriced(topup, 2_499)).toEqual({
    ...{ amount_minor: 2_499, tax_minor: 0, total_minor: 2_499, credits_micro: 24_990_000 },
    tax: { ...topup.tax, cgst_minor: 0, sgst_minor: 0, igst_minor: 0 },
  });
});

test.each(['inter', 'intra'] as const)(
  '%s: the tax is that of the largest amount that fits with it',
  (split) => {
    const topup = terms(split);
    const taxOf = (amount: number) => {
      const { cgst_minor, sgst_minor, igst_minor } = taxOn(amount, topup.tax.decision);
      return cgst_minor + sgst_minor + igst_minor;
    };
    let net = 0;
    for (let paid = 1; paid <= 1_000; paid++) {
      while (net + 1 + taxOf(net + 1) <= paid) net++;
      expect([paid, repriced(topup, paid)?.tax_minor]).toEqual([paid, taxOf(net)]);
    }
  },
);

test('nothing buys nothing, nor does less than a millionth of a dollar, nor a currency that is none of ours', () => {
  expect(repriced(terms('inter'), 0)).toBeNull();
  expect(repriced(terms('none', { fx_rate: '10000.00000000' }), 1)).toMatchObject({ credits_micro: 1 });
  expect(repriced(terms('none', { fx_rate: '10000.00000001' }), 1)).toBeNull();
  expect(repriced(terms('none', { currency: 'CHF' }), 2_500)).toBeNull();
});
