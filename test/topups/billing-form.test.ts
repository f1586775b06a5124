// The form of the billing facts that a request may change, and which facts it changes.

import { nameOf } from '@svc/core/kernel/index.ts';
import { billingChangeIn, billingMembers } from '@svc/core/topups/index.ts';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';

const form = Compile(Type.Object(billingMembers, { additionalProperties: false }));
const GSTIN = '29AABCU9603R1ZJ';

test.each<[string, object]>([
  ['nothing', {}],
  ['no name', { legal_name: null }],
  ['a name of one letter', { legal_name: 'x' }],
  ['a name of two hundred letters', { legal_name: 'x'.repeat(200) }],
  ...['INR', 'USD', 'JPY'].map((billing_currency): [string, object] => [
    billing_currency,
    { billing_currency },
  ]),
  ['a GSTIN', { gstin: GSTIN }],
  ['no GSTIN', { gstin: null }],
  ...['gst_registered', 'unregistered', 'sez', 'overseas'].map((tax_status): [string, object] => [
    tax_status,
    { tax_status },
  ]),
  ['an address of mail', { billing_email: 'money@acme.example' }],
  ['no address of mail', { billing_email: null }],
  ['an address without anything', { billing_address: {} }],
  ['no address', { billing_address: null }],
  ['an address', { billing_address: { line1: '1 Main St', city: 'X', state_code: '29', postal_code: '1' } }],
  ['the longest state', { billing_address: { state_code: 'x'.repeat(40) } }],
  ['the longest line', { billing_address: { line1: 'x'.repeat(200) } }],
])('%s may be said', (_, change) => {
  expect(form.Check(change)).toBe(true);
});

test.each<[string, object]>([
  ['an empty name', { legal_name: '' }],
  ['a name of 201 letters', { legal_name: 'x'.repeat(201) }],
  ['a name that is none', { legal_name: 1 }],
  ['an unknown currency', { billing_currency: 'CHF' }],
  ['no currency', { billing_currency: null }],
  ['a GSTIN of fourteen letters', { gstin: GSTIN.slice(1) }],
  ['a GSTIN of sixteen letters', { gstin: `${GSTIN}1` }],
  ['an unknown tax status', { tax_status: '' }],
  ['no tax status', { tax_status: null }],
  ['an address of mail without a host', { billing_email: 'nobody' }],
  ['an empty line', { billing_address: { line1: '' } }],
  ['a city of 101 letters', { billing_address: { city: 'x'.repeat(101) } }],
  ['an empty state', { billing_address: { state_code: '' } }],
  ['a state of 41 letters', { billing_address: { state_code: 'x'.repeat(41) } }],
  ['a postal code of 21 letters', { billing_address: { postal_code: 'x'.repeat(21) } }],
  ['a place that addresses do not have', { billing_address: { planet: 'Mars' } }],
])('%s may not be said', (_, change) => {
  expect(form.Check(change)).toBe(false);
});

test('an address of mail has at most 254 letters', () => {
  const of = (length: number) =>
    `${'x'.repeat(60)}@${'y'.repeat(60)}.${'z'.repeat(60)}.${'w'.repeat(60)}.`.padEnd(length, 'v');
  expect([form.Check({ billing_email: of(254) }), form.Check({ billing_email: of(255) })]).toEqual([
    true,
    false,
  ]);
});

test('documents know its forms by name', () => {
  const { billing_currency, tax_status, billing_address } = billingMembers;
  const [address] = billing_address.anyOf;
  expect([billing_currency, tax_status, address].map(nameOf)).toEqual([
    'BillingCurrency',
    'TaxStatus',
    'BillingAddressChange',
  ]);
});

test('a request changes the facts that it names, null among them, and no others', () => {
  const request = { slug: 'acme', legal_name: null, gstin: GSTIN };
  expect(billingChangeIn(request)).toEqual({ legal_name: null, gstin: GSTIN });
  const all: Parameters<typeof billingChangeIn>[0] = {
    ...{ legal_name: 'Acme', billing_currency: 'USD', gstin: null, tax_status: 'overseas' },
    ...{ billing_email: null, billing_address: { city: 'Berlin' } },
  };
  expect(billingChangeIn(all)).toEqual(all);
});

test('a request that names none of them changes none', () => {
  expect(billingChangeIn({})).toBeNull();
  expect(billingChangeIn({ slug: 'acme' } as object)).toBeNull();
});
