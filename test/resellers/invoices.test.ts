// Who sells to a customer of a reseller, under which number and with which tax; and that the reseller and its customer read the
// same document.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trialBalance } from '@svc/core/accounting/index.ts';
import { type Invoice, type InvoiceView, setSupplier } from '@svc/core/invoices/index.ts';
import {
  type Context,
  type FileAnswer,
  newRequestId,
  now,
  shiftClock,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { countAccruals, type StatementView } from '@svc/core/resellers/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { extractText } from 'unpdf';
import { afterEach, expect, test } from 'vitest';
import { freshDataDir } from '../support/gateway.ts';
import { runSvcctl } from '../support/programs/svcctl.ts';
import { eventsA } from '../topups/world.ts';
import { identityOf, startSales } from './sales.ts';
import { expectStatement } from './statement.ts';

const world = await startSales();
const northwind = await world.reseller('northwind');
const fabrikam = await world.reseller('fabrikam');
afterEach(() => shiftClock(0));

const DAY_MS = 86_400_000;
const put = (org: Org, identity: object) =>
  world.run<{ pan: string | null; state_name: string; series: string }>(
    org,
    'reseller.invoicing.set',
    identity,
  );
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: { code: string; param?: string; details?: { reason?: string } }) =>
      [error.code, error.param, error.details?.reason].filter((part) => (part ?? '') !== '').join(' '),
  );
const documentOf = async (topup: { id: string }) =>
  (
    await world.rows<Invoice>(`select * from invoice where topup_id = $1 and kind <> 'credit_note'`, [
      topup.id,
    ])
  )[0]!;
const listed = async (org: Org, name: string, input: object = {}) =>
  (await world.run<{ data: InvoiceView[] }>(org, name, input)).data;

test('an identity is refused where GSTIN, state and PAN disagree, and a series that is or may be another supplier’s', async () => {
  const refused = (more: object) => refusal(put(northwind, identityOf('NWC', more)));
  expect(await refusal(world.run(northwind, 'reseller.invoicing.get'))).toBe('not_found');
  expect(await refused({ gstin: '27AAPFU0939F1ZX', state_code: '27' })).toBe('invalid_gstin gstin check');
  expect(await refused({ gstin: '27AAPFU0939F1ZV' })).toBe('invalid_gstin gstin state_code');
  expect(await refused({ pan: 'AAPFU0939F' })).toBe('invalid_gstin gstin pan');
  expect(await refused({ gstin: '29aabcu9603r1zj' })).toBe('invalid_gstin gstin form');
  expect(await refused({ gstin: null, lut: 'AD290426000001A' })).toBe('invalid_request lut');
  expect(await refused({ gstin: null, state_code: '25' })).toBe('invalid_request state_code');
  expect(await refused({ email: 'a@b, c@d.example' })).toBe('invalid_request email');
  expect(await refused({ website: 'javascript:alert(1)' })).toBe('invalid_request website');
  // The platform's, and what its credit notes would be if it were longer.
  expect(await refused({ series: 'INV' })).toBe('already_exists series');
  expect(await world.rows('select * from reseller_invoicing')).toEqual([]);
  expect(await world.rows(`select series from invoice_series where supplier <> 'platform'`)).toEqual([]);

  expect(await put(northwind, identityOf('NW'))).toMatchObject({
    pan: 'AABCU9603R',
    state_name: 'Karnataka',
  });
  // `CNW` numbers the credit notes of `NW`.
  expect(await refusal(put(fabrikam, identityOf('CNW')))).toBe('already_exists series');
  expect(await refusal(put(fabrikam, identityOf('NW')))).toBe('already_exists series');
  const staff = createContext({
    ...{ request_id: newRequestId(), pool: world.pool, log: silentLog, services: world.context.services },
    caller: { kind: 'staff', name: 'tests', staff_id: null, roles: ['super'] },
  });
  const address = ['1 Example Road', 'Bengaluru 560001'];
  expect(
    await refusal(
      setSupplier(staff, { legal_name: 'X', address, state_code: '29', gstin: null, series: 'NW' }),
    ),
  ).toBe('already_exists series');
  expect(
    await world.rows(
      `select after from audit_entry where action = 'reseller.invoicing.set' and org_id = $1`,
      [northwind.id],
    ),
  ).toMatchObject([{ after: { series: 'NW', enabled: true } }]);
});

test('a series that was never used is given up and free again; one that was used stays until the next financial year', async () => {
  expect(await put(northwind, identityOf('NWC'))).toMatchObject({ series: 'NWC' });
  await put(fabrikam, identityOf('NW', { gstin: null, enabled: false }));
  const buyer = await world.customer(northwind, 'first-buyer', '29');
  expect(await documentOf(await world.rupees(buyer))).toMatchObject({
    number: expect.stringMatching(/^NWC\//),
  });
  expect(await refusal(put(northwind, identityOf('NWD')))).toBe('in_use series');
  // Everything else can change.
  await put(northwind, identityOf('NWC', { address: ['4 Mill Lane', 'Bengaluru 560003'] }));
  shiftClock(366 * DAY_MS);
  await put(northwind, identityOf('NWD'));
  // Used, so that it stays theirs.
  expect(await refusal(put(fabrikam, identityOf('NWC')))).toBe('already_exists series');
  await put(northwind, identityOf('NWC'));
});

test('customers of a reseller that sells in its own name have its documents; others those of the platform', async () => {
  const outsider = await world.indian('outsider');
  const theirs = await world.customer(fabrikam, 'not-yet', '29');
  expect(await documentOf(await world.rupees(outsider))).toMatchObject({ supplier_id: 'platform' });
  // Its identity is not enabled.
  expect(await documentOf(await world.rupees(theirs))).toMatchObject({ supplier_id: 'platform' });

  const buyer = await world.customer(northwind, 'second-buyer', '27');
  const { id, number } = await documentOf(await world.rupees(buyer));
  const [own] = await listed(buyer, 'invoices.list');
  expect(own).toMatchObject({
    ...{ id, number, kind: 'tax_invoice', supplier_reseller_id: northwind.id, irn_status: 'not_applicable' },
    ...{ supplier_gstin: '29AABCU9603R1ZJ', place_of_supply: '27-Maharashtra', currency: 'INR' },
    ...{ taxable_minor: 100_000, igst_minor: 18_000, cgst_minor: 0, total_minor: 118_000, hsn_sac: '998315' },
    recipient: { org_id: buyer.id, name: 'second-buyer', country: 'IN', state_code: '27' },
    lines: [{ kind: 'credits', sac: '998315', quantity: 1, unit_minor: 100_000, amount_minor: 100_000 }],
  });
  expect(await world.run(northwind, 'reseller.invoices.get', { id })).toEqual(own);
  expect((await listed(northwind, 'reseller.invoices.list', { child_org_id: buyer.id }))[0]).toEqual(own);
  // Another reseller, and the platform's own documents.
  expect(await listed(fabrikam, 'reseller.invoices.list')).toEqual([]);
  expect(await refusal(world.run(fabrikam, 'reseller.invoices.get', { id }))).toBe('not_found');
  const platforms = await world.rows<{ id: string }>(`select id from invoice where supplier_id = 'platform'`);
  for (const one of platforms)
    expect(await refusal(world.run(northwind, 'reseller.invoices.get', { id: one.id }))).toBe('not_found');
});

test('the file is the same for the customer and its reseller, names the reseller, and nothing of the platform', async () => {
  await put(
    northwind,
    identityOf('NWC', { email: 'gst@northwind.example', website: 'https://northwind.example' }),
  );
  const buyer = await world.customer(northwind, 'file-buyer', '29');
  const { id } = await documentOf(await world.rupees(buyer));
  const files = [
    await world.run<FileAnswer>(northwind, 'reseller.invoices.pdf', { id }),
    await world.run<FileAnswer>(buyer, 'invoices.pdf', { id }),
  ];
  const [theirs, own] = files.map(({ body }) => Buffer.from(body as Uint8Array));
  expect(theirs?.equals(own as Buffer)).toBe(true);
  const { text } = await extractText(new Uint8Array(own as Buffer), { mergePages: true });
  for (const words of [
    'Seller NWC Private Limited',
    '3 Mill Lane',
    'GSTIN 29AABCU9603R1ZJ',
    'https://northwind.example',
  ])
    expect(text).toContain(words);
  expect(`${text}${(own as Buffer).toString('latin1')}`).not.toMatch(/Demo Supplier|29AAACD0000A1ZR|svc/);
});

test('the tax is that between the reseller and its customer, by state, registration and country', async () => {
  const rows: [object, string | null, object][] = [
    [{}, '29', { kind: 'tax_invoice', cgst_minor: 9_000, sgst_minor: 9_000, igst_minor: 0 }],
    [{}, '07', { kind: 'tax_invoice', cgst_minor: 0, sgst_minor: 0, igst_minor: 18_000 }],
    [{ gstin: null }, '29', { kind: 'receipt', total_minor: 100_000 }],
    [{}, null, { kind: 'export_invoice', igst_minor: 450, total_minor: 2_950, currency: 'USD' }],
    [{ lut: 'AD290426000001A' }, null, { kind: 'export_invoice', igst_minor: 0, total_minor: 2_500 }],
  ];
  for (const [at, [identity, state, expected]] of rows.entries()) {
    await put(northwind, identityOf('NWC', identity));
    const buyer = await world.customer(northwind, `taxed-${at}`, state);
    const topup = state === null ? await world.paid(2_500, buyer) : await world.rupees(buyer);
    expect(await documentOf(topup)).toMatchObject({ supplier_id: northwind.id, ...expected });
  }
});

test('of bookings at once and some that fail halfway each reseller has the numbers 1, 2, 3… under one series', async () => {
  await put(northwind, identityOf('NWC'));
  await put(fabrikam, identityOf('FAB'));
  const open = await Promise.all(
    Array.from({ length: 24 }, async (_, at) => {
      const buyer = await world.customer(at % 2 === 0 ? northwind : fabrikam, `many-${at}`, '29');
      return world.topup(buyer);
    }),
  );
  const broken = open.slice(0, 4).map((topup) =>
    refusal(
      world.context.transaction(async (context: Context) => {
        const { bookPaid } = await import('@svc/core/topups/booking.ts');
        await bookPaid(context, topup, { payment_ref: 'lost', method: 'upi', amount_minor: 0 } as never);
        throw Object.assign(new Error('the process died'), { code: 'died' });
      }),
    ),
  );
  // A change of the series has to wait for those that use it, and then comes too late.
  const changed = refusal(put(northwind, identityOf('NWX')));
  const booked = open.slice(4).map((topup) => world.deliverA(eventsA.captured(topup)));
  expect(await Promise.all(broken)).toEqual(Array(4).fill('died'));
  expect(await changed).toBe('in_use series');
  await Promise.all(booked);
  for (const [topup, supplier] of [
    [open[4], northwind],
    [open[5], fabrikam],
  ] as const)
    expect(await documentOf(topup!)).toMatchObject({ supplier_id: supplier.id });
  const numbers = await world.rows<{ supplier_id: string; numbers: number[] }>(
    `select supplier_id, array_agg(right(number, 5)::int order by number) as numbers from invoice
      where supplier_id <> 'platform' and kind <> 'credit_note' group by supplier_id`,
  );
  expect(numbers.length).toBe(2);
  for (const { numbers: found } of numbers) expect(found).toEqual(found.map((_, at) => at + 1));
  await world.expectBooks();
});

test('a series changes before a document uses it or not at all, whichever comes first', async () => {
  const seen = new Set<string>();
  for (let at = 0; at < 8; at++) {
    const reseller = await world.reseller(`racer-${at}`);
    await put(reseller, identityOf(`R${at}`));
    const topup = await world.topup(await world.customer(reseller, `raced-${at}`, '29'));
    const [change] = await Promise.all([
      refusal(put(reseller, identityOf(`S${at}`))),
      world.deliverA(eventsA.captured(topup)),
    ]);
    seen.add(change);
    const expected = change === 'accepted' ? `S${at}` : `R${at}`;
    expect([change, (await documentOf(topup)).number]).toEqual([
      change,
      `${expected}/${(await documentOf(topup)).fy}/00001`,
    ]);
  }
  expect([...seen].filter((change) => change !== 'accepted' && change !== 'in_use series')).toEqual([]);
});

test('a price that was told keeps its supplier and its tax; the number is of the series when it is paid', async () => {
  const reseller = await world.reseller('contoso');
  await put(reseller, identityOf('CTO'));
  const buyer = await world.customer(reseller, 'slow-buyer', '27');
  const topup = await world.topup(buyer);
  await put(reseller, identityOf('CTX', { gstin: null, enabled: false }));
  await world.deliverA(eventsA.captured(topup));
  expect(await documentOf(topup)).toMatchObject({
    ...{ supplier_id: reseller.id, number: expect.stringMatching(/^CTX\//), igst_minor: 18_000 },
    supplier: { gstin: '29AABCU9603R1ZJ' },
  });
  // The next one is the platform's again.
  expect(await documentOf(await world.rupees(buyer))).toMatchObject({ supplier_id: 'platform' });
});

test('a statement has each entry and each document in its own month, and adds up with the ledger and the numbers', async () => {
  const reseller = await world.reseller('stated');
  await put(reseller, identityOf('STD'));
  const buyer = await world.customer(reseller, 'stated-buyer', '27');
  const abroad = await world.customer(reseller, 'stated-abroad');
  const at = (time: string) => shiftClock(Date.parse(time) - Date.now());
  // 31 January in London is 1 February in Kolkata: money is counted by the one, documents by the other.
  at('2027-01-31T23:59:50Z');
  await world.rupees(reseller, 1_000_000);
  await world.rupees(buyer);
  at('2027-02-10T10:00:00Z');
  const topup = await world.paid(5_000, abroad);
  const allocation = await world.run<{ id: string }>(reseller, 'reseller.allocations.create', {
    ...{ id: buyer.id, amount_micro_usd: 3_000_000, note: '' },
  });
  expect(await world.spend({ book_id: buyer.live_book_id } as Topup, 1_000_003)).toBe(true);
  await world.refund(topup, 2_000);
  await world.deliverNews();
  at('2027-03-02T10:00:00Z');
  await world.run(reseller, 'reseller.allocations.reclaim', { id: buyer.id, allocation: allocation.id });
  await countAccruals(world.context);

  const of = (month: string) => world.run<StatementView>(reseller, 'reseller.statement', { month });
  const parts = { reseller, children: [buyer, abroad] };
  const months = [await of('2027-01'), await of('2027-02'), await of('2027-03')];
  for (const statement of months) await expectStatement(world, statement, parts);
  expect(months.map(({ totals }) => totals.sold_micro > 0)).toEqual([true, true, false]);
  expect(months.map(({ totals }) => totals.given_micro)).toEqual([0, 3_000_000, 0]);
  expect(months.map(({ account }) => account.closing_micro - account.opening_micro)).toEqual(
    months.map(({ account: a }) => a.allocated_micro + a.reclaimed_micro + a.accruals_micro + a.other_micro),
  );
  expect(months.map(({ documents }) => documents)).toEqual([
    [],
    [
      {
        ...{
          currency: 'INR',
          invoices: 1,
          credit_notes: 0,
          taxable_minor: 100_000,
          cgst_minor: 0,
          sgst_minor: 0,
        },
        ...{ igst_minor: 18_000, total_minor: 118_000 },
      },
      {
        ...{
          currency: 'USD',
          invoices: 1,
          credit_notes: 1,
          taxable_minor: 3_000,
          cgst_minor: 0,
          sgst_minor: 0,
        },
        ...{ igst_minor: 540, total_minor: 3_540 },
      },
    ],
    [],
  ]);
  const table = async (part: string) => {
    const input = { month: '2027-02', format: 'csv', part };
    const { body } = await world.run<FileAnswer>(reseller, 'reseller.statement', input);
    return String(body)
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
  };
  const [head = [], ...rows] = await table('customers');
  const column = head.indexOf('given_micro');
  expect(rows.map((row) => [row[0], row[column]]).sort()).toEqual(
    [
      [buyer.id, '3000000'],
      [abroad.id, '0'],
      ['total', '3000000'],
    ].sort(),
  );
  expect((await table('documents')).slice(1).map(([number]) => number)).toEqual([
    ...['STD/26-27/00001', 'STD/26-27/00002', 'CSTD/26-27/00001'],
  ]);
});

test('staff export the returns of a reseller by hand, and ours without its documents', async () => {
  const reseller = await world.reseller('filed');
  await put(reseller, identityOf('FIL'));
  const { number } = await documentOf(
    await world.rupees(await world.customer(reseller, 'filed-buyer', '27')),
  );
  const month = new Date(now().getTime() + 5.5 * 3_600_000).toISOString().slice(0, 7);
  const folder = freshDataDir();
  const numbersOf = async (...more: string[]) => {
    const out = join(folder, `${more.length}`);
    const args = ['invoices', 'export', '--month', month, '--out', out, ...more];
    const { code, err } = await runSvcctl(args, {
      SVC_DATABASE_URL: world.url,
      SVC_DATA_DIR: '/nonexistent',
    });
    expect([code, err]).toEqual([0, '']);
    const [, ...lines] = readFileSync(join(out, 'documents.csv'), 'utf8').trim().split('\r\n');
    return lines.map((line) => line.split(',')[0] as string);
  };
  expect(await numbersOf('--org', 'filed')).toEqual([number]);
  const ours = await numbersOf();
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((one) => !one.startsWith('INV/'))).toEqual([]);
});

test('a refund is a credit note of the reseller, and its tax is not the platform’s', async () => {
  await put(northwind, identityOf('NWC'));
  const buyer = await world.customer(northwind, 'refunded-buyer');
  const topup = await world.paid(5_000, buyer);
  const original = await documentOf(topup);
  expect(original).toMatchObject({ igst_minor: 900 });
  await world.refund(topup, 2_000);
  await world.deliverNews();
  const [note] = await listed(northwind, 'reseller.invoices.list', { kind: 'credit_note' });
  expect(note).toMatchObject({
    ...{ number: expect.stringMatching(/^CNWC\/\d\d-\d\d\/00001$/), supplier_reseller_id: northwind.id },
    ...{ original_number: original.number, taxable_minor: 2_000, igst_minor: 360, org_id: buyer.id },
  });
  expect((await listed(buyer, 'invoices.list', { kind: 'credit_note' }))[0]).toEqual(note);
  const { lines, ok } = await trialBalance(world.pool, {
    ...{ from: null, to: new Date(now().getTime() + 1_000 * DAY_MS), current: true },
  });
  expect(ok).toBe(true);
  const owed = lines.filter(({ account }) => account === 'reseller_tax');
  const [sums] = await world.rows<{ usd: number; inr: number }>(
    `select sum(tax) filter (where currency = 'USD')::int as usd, sum(tax) filter (where currency = 'INR')::int as inr
       from (select currency, case kind when 'credit_note' then -1 else 1 end * (total_minor - taxable_minor) as tax
               from invoice where supplier_id <> 'platform') documents`,
  );
  expect(Object.fromEntries(owed.map(({ currency, closing }) => [currency, closing]))).toEqual({
    ...{ USD: BigInt(-(sums?.usd ?? 0)) * 10_000n, INR: BigInt(-(sums?.inr ?? 0)) * 10_000n },
  });
  await world.expectBooks();
});
