// Documents of every kind, as rows: small and large amounts, names and addresses of any length and script.
import { DEMO_SUPPLIER, type Invoice, type Supplier } from '@svc/core/invoices/index.ts';
import { newId } from '@svc/core/kernel/index.ts';
import type { BillingChange } from '@svc/core/orgs/index.ts';
import type { World } from './world.ts';

const long_name =
  'The Extraordinarily Long Named Integrated Telecommunications, Analytics and Machine Learning Infrastructure ' +
  'Development Corporation of Southern India Private Limited';
const long_line =
  'Unit 1204–1208, 12th Floor, Tower B, Prestige Example Technology Park, Outer Ring Road, Marathahalli–Sarjapur ' +
  'Junction, Kadubeesanahalli Village, Varthur Hobli, next to the old water tower';
const unregistered: Supplier = { ...DEMO_SUPPLIER, gstin: null, pan: null, lut: null };

interface Sample {
  readonly country: string;
  readonly billing: BillingChange;
  readonly amount_minor?: number;
  readonly supplier?: Supplier;
}

const sales: Readonly<Record<string, Sample>> = {
  'one state': {
    country: 'IN',
    billing: {
      legal_name: 'Acme Analytics LLP',
      gstin: '29AABCU9603R1ZJ',
      billing_address: {
        line1: '2 Example Road',
        city: 'Bengaluru',
        state_code: '29',
        postal_code: '560002',
      },
    },
  },
  'two states': { country: 'IN', billing: { gstin: '27AAPFU0939F1ZV' } },
  'union territory': {
    country: 'IN',
    billing: { billing_address: { state_code: '35', city: 'Port Blair' } },
    supplier: { ...DEMO_SUPPLIER, state_code: '35' },
  },
  'special economic zone': {
    country: 'IN',
    billing: { gstin: '29AABCU9603R1ZJ', tax_status: 'sez' },
  },
  'special economic zone, taxed': {
    country: 'IN',
    billing: { gstin: '29AABCU9603R1ZJ', tax_status: 'sez' },
    supplier: { ...DEMO_SUPPLIER, lut: null },
  },
  abroad: {
    country: 'DE',
    billing: {
      legal_name: 'Müller & Søn Größenwahn GmbH',
      billing_address: { line1: 'Straße des 17. Juni 135', city: 'Berlin', postal_code: '10623' },
    },
    amount_minor: 5_000,
  },
  'abroad, taxed': {
    country: 'US',
    billing: {},
    amount_minor: 2_500,
    supplier: { ...DEMO_SUPPLIER, lut: null },
  },
  'pounds, other letters': { country: 'GB', billing: { legal_name: 'Чехов — Αθήνα — 株式会社' } },
  yen: { country: 'JP', billing: {}, amount_minor: 5_000 },
  receipt: { country: 'IN', billing: { billing_address: { state_code: '29' } }, supplier: unregistered },
  'the least': { country: 'IN', billing: { billing_address: { state_code: '29' } }, amount_minor: 1 },
  'the most, long names': {
    country: 'IN',
    billing: {
      legal_name: long_name,
      billing_address: { line1: long_line, city: 'Bengaluru Urban', state_code: '29', postal_code: '560103' },
    },
    // With tax 99,99,99,999.99 rupees.
    amount_minor: 84_745_762_711,
  },
};

/** The documents of `sales` as the database has them, and what can follow from them. */
export async function sampleDocuments(world: World): Promise<ReadonlyMap<string, Invoice>> {
  const made = new Map<string, Invoice>();
  for (const [name, { country, billing, ...sale }] of Object.entries(sales)) {
    const at = world.at('2026-11-21T10:00:00Z');
    made.set(name, await world.issue(await world.org(country, billing), { ...sale, context: at }));
  }
  const first = made.get('two states') as Invoice;
  const number = 'CINV/26-27/00001';
  const original = { original_number: first.number, original_issued_at: first.issued_at };
  const note = { ...first, id: newId('credit_note'), kind: 'credit_note' as const, number, ...original };
  made.set('credit note', note);
  made.set('registered', {
    ...(made.get('one state') as Invoice),
    irn: 'a5c12dca80e743321740b001fd70953e8738d109865d28ba4013750f2046f229',
    irn_qr: `eyJhbGciOiJSUzI1NiJ9.${'eyJkYXRhIjoi'.repeat(40)}.${'Ab3_'.repeat(86)}`,
    ack_no: '112610012345678',
    ack_at: new Date('2026-11-21T10:00:05Z'),
  });
  const lines = Array.from({ length: 40 }, (_, i) => ({
    ...{ description: `Line ${i + 1} of a long document`, kind: 'other', sac: '998315', quantity: 1 },
    ...{ unit_minor: 2_500, amount_minor: 2_500 },
  }));
  made.set('two pages', { ...(made.get('one state') as Invoice), lines });
  return made;
}
