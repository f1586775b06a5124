// Who sells and at which rate of tax, as staff set it: documents show what held at their own moment.
import {
  type Invoice,
  issueCreditNote,
  readGstRate,
  readSupplier,
  refundedTax,
  setGstRate,
  setSupplier,
} from '@svc/core/invoices/index.ts';
import { type Id, newId, newRequestId, nowMs, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { quoteFor, type Topup } from '@svc/core/topups/index.ts';
import { afterAll, expect, test } from 'vitest';
import { eventsA, startWorld } from '../topups/world.ts';

const DAY_MS = 86_400_000;
const world = await startWorld();
const staff = createContext({
  request_id: newRequestId(),
  caller: { kind: 'staff', name: 'tests', staff_id: null, roles: ['super'] },
  pool: world.pool,
  log: silentLog,
  services: world.context.services,
});
afterAll(() => shiftClock(0));

/** The day in Kolkata, so many days from now. */
const dayIn = (days: number) =>
  new Date(nowMs() + 5.5 * 3_600_000 + days * DAY_MS).toISOString().slice(0, 10);

async function paid(topup: Topup): Promise<Invoice> {
  await world.deliverA(eventsA.captured(topup));
  const [invoice] = await world.rows<Invoice>('select * from invoice where topup_id = $1', [topup.id]);
  return invoice as Invoice;
}

test('a rate begins on its day in Kolkata; a price made before and paid after buys what is left after the new tax', async () => {
  const org = await world.indian('rates', '27');
  const before = await paid(await world.topup(org));
  const open = await world.topup(org);
  expect(open).toMatchObject({ amount_minor: 100_000, tax_minor: 18_000, total_minor: 118_000 });
  const from_day = dayIn(1);
  await setGstRate(staff, { from_day, rate_bps: 2_800 });
  const midnight = new Date(`${from_day}T00:00:00+05:30`);
  expect(await readGstRate(world.pool, new Date(midnight.getTime() - 1))).toBe(1_800);
  expect(await readGstRate(world.pool, midnight)).toBe(2_800);
  expect(await quoteFor(world.context, { org_id: org.id, amount_minor: 100_000 })).toMatchObject({
    tax_minor: 18_000,
  });

  shiftClock(DAY_MS);
  expect(await quoteFor(world.context, { org_id: org.id, amount_minor: 100_000 })).toMatchObject({
    tax_minor: 28_000,
  });
  const late = await paid(open);
  expect(late).toMatchObject({
    ...{ tax_rate_bps: 2_800, taxable_minor: 92_188, igst_minor: 25_812, total_minor: 118_000 },
  });
  expect(await world.read(open.id)).toMatchObject({
    ...{ status: 'paid', amount_minor: late.taxable_minor, tax_minor: late.igst_minor },
    credits_micro: late.credits_micro,
  });
  expect(late.credits_micro).toBeLessThan(open.credits_micro);

  const { refund_id, ...note } = {
    refund_id: newId('refund'),
    invoice_id: before.id as Id<'invoice'>,
    org_id: org.id,
    amount_minor: 50_000,
  };
  const tax = refundedTax(before, { before_minor: 0, amount_minor: 50_000, at: world.context.now() });
  const made = await world.context.transaction((context) =>
    issueCreditNote(context, { ...note, refund_id, tax, credits_micro: 1, payment_ref: null }),
  );
  expect(
    await world.rows('select tax_rate_bps, igst_minor::int from invoice where id = $1', [made.id]),
  ).toEqual([{ tax_rate_bps: 1_800, igst_minor: 9_000 }]);
  await world.expectRight();
});

test('a rate begins on no day that has documents, and on a day that exists', async () => {
  await expect(setGstRate(staff, { from_day: dayIn(0), rate_bps: 500 })).rejects.toMatchObject({
    code: 'conflict',
  });
  for (const from_day of ['2027-02-30', 'tomorrow']) {
    await expect(setGstRate(staff, { from_day, rate_bps: 500 })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  }
  // What was not in force yet may be set again.
  await setGstRate(staff, { from_day: dayIn(9), rate_bps: 500 });
  await setGstRate(staff, { from_day: dayIn(9), rate_bps: 1_200 });
  expect(await readGstRate(world.pool, new Date(nowMs() + 10 * DAY_MS))).toBe(1_200);
});

test('a supplier is whole or refused, and the next document shows it', async () => {
  const address = ['7 Residency Road', 'Bengaluru 560025'];
  await expect(setSupplier(staff, { legal_name: 'Acme Private Limited' })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  await expect(
    setSupplier(staff, { legal_name: 'Acme', address, gstin: '29AABCU9603R1ZX' }),
  ).rejects.toMatchObject({ code: 'invalid_gstin' });
  expect((await readSupplier(world.pool)).is_demo).toBe(true);

  await setSupplier(staff, { legal_name: 'Acme Private Limited', address, gstin: '29AABCU9603R1ZJ' });
  await setSupplier(staff, { series: 'ACM', lut: 'AD290427000001B' });
  const { supplier, is_demo } = await readSupplier(world.pool);
  expect(is_demo).toBe(false);
  expect(supplier).toMatchObject({ state_code: '29', pan: 'AABCU9603R', lut: 'AD290427000001B' });
  const invoice = await paid(await world.topup(await world.indian('buyer', '29')));
  expect(invoice.number).toMatch(/^ACM\/\d\d-\d\d\/00001$/);
  expect(invoice.supplier).toEqual({
    ...{ legal_name: 'Acme Private Limited', address, state_code: '29' },
    ...{ gstin: '29AABCU9603R1ZJ', pan: 'AABCU9603R', lut: 'AD290427000001B' },
  });
  for (const change of [
    { series: 'ACME' },
    { series: '1AB' },
    { sac: '99' },
    { address: [] },
    { gstin: null },
  ]) {
    await expect(setSupplier(staff, change)).rejects.toMatchObject({ code: 'invalid_request' });
  }
  await setSupplier(staff, { gstin: null, lut: null });
  const receipt = await paid(await world.topup(await world.indian('other', '29')));
  expect(receipt).toMatchObject({ kind: 'receipt', tax_rate_bps: 0 });
});
