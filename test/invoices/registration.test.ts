// Documents registered at the portal (IRN): what has to be, and what becomes of it when answers are lost, late or wrong.

import { generateKeyPairSync } from 'node:crypto';
import {
  demoApart,
  openPortal,
  PortalError,
  type RegistrationProgress,
  registerAgain,
  registerDocument,
} from '@svc/core/e-invoices/index.ts';
import {
  DEMO_SUPPLIER,
  fileOf,
  findDocument,
  type Invoice,
  type InvoiceId,
  issueCreditNote,
  refundedTax,
  setSupplier,
} from '@svc/core/invoices/index.ts';
import {
  type Id,
  newId,
  newRequestId,
  readPublicKeys,
  type Services,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { beforeEach, expect, test } from 'vitest';
import { startPortalSim } from '../sim/e-invoices/portal.ts';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from './world.ts';

const DAY_MS = 86_400_000;
const world = await startWorld();
const { rows } = world;
const portal = await startPortalSim({ seed: 20 });
atFileEnd(() => portal.close());
const contextWith = (keys: string) =>
  createContext({
    request_id: newRequestId(),
    caller: { kind: 'staff', name: 'tests', staff_id: null, roles: ['super'] },
    pool: world.pool,
    log: silentLog,
    services: {
      portal: openPortal({ url: portal.url, token: 'secret', keys: readPublicKeys(keys) }),
    } as unknown as Services,
  });
const context = contextWith(portal.public_key);
const { legal_name, address, gstin } = DEMO_SUPPLIER;
const switchTo = (e_invoicing: boolean) => setSupplier(context, { legal_name, address, gstin, e_invoicing });
await switchTo(true);

const CALM = { down: 0, lost: 0, blank: 0, altered: 0, duplicates: 'list', refuse: null } as const;
beforeEach(() => portal.turn({ ...CALM, now: Date.now }));

const buyer = await world.org('IN', { gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' });
const register = ({ id }: { id: InvoiceId }) => registerDocument(context, { invoice_id: id });
const read = async (id: InvoiceId) => (await findDocument(world.pool, id)) as Invoice;
const itemsOf = (number: string) =>
  rows<{ kind: string; details: Record<string, string>; is_open: boolean }>(
    'select kind, details, resolved_at is null as is_open from staff_item where subject = $1 order by 1',
    [number],
  );
const mailsOf = async (id: InvoiceId) =>
  (await rows<{ n: number }>('select count(*)::int as n from mail where reference = $1', [id]))[0]?.n;

/** The document that a signed text of the portal is about. */
function signed(token: string | null): Record<string, unknown> {
  const payload = JSON.parse(Buffer.from((token ?? '').split('.')[1] ?? '', 'base64url').toString());
  return JSON.parse(payload.data);
}

/** The credit note of a hundredth of a document. */
function credit(original: Invoice, inside = context): Promise<{ id: Id<'credit_note'> }> {
  const amount_minor = original.taxable_minor / 100;
  const tax = refundedTax(original, { before_minor: 0, amount_minor, at: inside.now() });
  return inside.transaction((context) =>
    issueCreditNote(context, {
      ...{ invoice_id: original.id as Id<'invoice'>, org_id: original.org_id, refund_id: newId('refund') },
      ...{ amount_minor, tax, credits_micro: 1, payment_ref: null },
    }),
  );
}

/** Asks until the portal has answered; how often. */
async function insist(document: { id: InvoiceId }, tries = 0): Promise<number> {
  try {
    await register(document);
    return tries + 1;
  } catch (error) {
    if (!(error instanceof PortalError) || tries > 100) throw error;
    return insist(document, tries + 1);
  }
}

test('a simulated portal gets documents of the demo supplier alone, and a real one none of them', async () => {
  const asked: string[] = [];
  const named = (name: string) => ({
    async register() {
      asked.push(name);
      return { kind: 'unusable', reason: 'only named' } as const;
    },
  });
  const of = (gstin: string) => ({ SellerDtls: { Gstin: gstin } }) as never;
  const demo = of(DEMO_SUPPLIER.gstin as string);
  const real = of('29AABCU9603R1ZJ');
  const both = demoApart(named('demo'), named('real'));
  await both.register(demo);
  await both.register(real);
  expect(asked).toEqual(['demo', 'real']);
  await expect(demoApart(named('demo'), null).register(real)).rejects.toThrow('SVC_EINVOICE_URL');
  await expect(demoApart(null, named('real')).register(demo)).rejects.toThrow('SVC_EINVOICE_DEMO_URL');
  expect(asked).toHaveLength(2);
});

test.each([
  ['B2B', 'IN', { gstin: '29AABCU9603R1ZJ', tax_status: 'gst_registered' }, {}],
  ['B2B', 'IN', { gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' }, {}],
  ['SEZWOP', 'IN', { gstin: '29AABCU9603R1ZJ', tax_status: 'sez' }, {}],
  ['SEZWP', 'IN', { gstin: '29AABCU9603R1ZJ', tax_status: 'sez' }, { lut: null }],
  ['EXPWOP', 'DE', {}, {}],
  ['EXPWP', 'JP', {}, { lut: null }],
] as const)(
  '%s: document and credit note are registered, with number, acknowledgement and code',
  async (type, country, billing, of) => {
    const org = await world.org(country, billing);
    const sale = await world.issue(org, { supplier: { ...DEMO_SUPPLIER, ...of } });
    const note = await read((await credit(sale)).id);
    for (const [document, kind] of [
      [sale, 'INV'],
      [note, 'CRN'],
    ] as const) {
      expect(document).toMatchObject({ irn_status: 'pending', irn: null });
      expect(await register(document)).toMatchObject({ irn_status: 'generated' });
      const there = portal.documents.get(`${kind} ${document.number}`);
      expect(there?.document).toMatchObject({ TranDtls: { SupTyp: type }, DocDtls: { Typ: kind } });
      const row = await read(document.id);
      expect(row).toMatchObject({ irn: there?.irn, ack_no: String(there?.ack_no) });
      expect(row.ack_at?.getTime()).toBe(Math.floor((there?.at_ms ?? 0) / 1_000) * 1_000);
      expect(signed(row.irn_qr)).toMatchObject({ Irn: there?.irn, DocNo: document.number });
    }
  },
);

test('consumers, receipts, credit notes without tax, and everybody while it is switched off are not registered', async () => {
  const consumer = await world.org('IN', { billing_address: { state_code: '29' } });
  const unregistered = { ...DEMO_SUPPLIER, gstin: null, pan: null, lut: null };
  const old = await world.issue(buyer, { context: world.at('2025-06-01T00:00:00Z') });
  const late = await credit(old, world.at('2026-12-01T00:00:00Z'));
  await switchTo(false);
  const off = await world.issue(buyer);
  await switchTo(true);
  const none = [
    await world.issue(consumer),
    await world.issue(buyer, { supplier: unregistered }),
    off,
    await read(late.id),
  ];
  const before = portal.calls.length;
  for (const document of none) {
    expect(document).toMatchObject({ irn_status: 'not_applicable' });
    expect(await register(document)).toMatchObject({ irn_status: 'not_applicable' });
    expect(
      await rows('select 1 from workflow_start where workflow_id = $1', [`invoice-${document.id}`]),
    ).toEqual([]);
  }
  expect(portal.calls.length).toBe(before);
  const sale = await world.issue(buyer);
  expect(
    await rows('select type, args from workflow_start where workflow_id = $1', [`invoice-${sale.id}`]),
  ).toEqual([{ type: 'invoiceIssue', args: { invoice_id: sale.id, for_org: sale.org_id } }]);
});

test('a registered document gets a second file and is mailed then, once, though twenty ask at once', async () => {
  const document = await world.issue(buyer);
  const first = await fileOf(context, document);
  const all = await Promise.all(Array.from({ length: 20 }, () => register(document)));
  expect(new Set(all.map(({ irn_status }) => irn_status))).toEqual(new Set(['generated']));
  expect(await mailsOf(document.id)).toBe(1);
  const second = await fileOf(context, await read(document.id));
  expect(second.sha256).not.toBe(first.sha256);
  expect(await read(document.id)).toMatchObject({ pdf_sha256: second.sha256 });
  const kept = await rows('select registered from invoice_file where invoice_id = $1 order by 1', [
    document.id,
  ]);
  expect(kept).toEqual([{ registered: false }, { registered: true }]);
});

test.each(['list', 'object', 'neither'] as const)(
  'a lost answer: the duplicate (%s) is looked up and adopted, and nothing is registered twice',
  async (duplicates) => {
    const document = await world.issue(buyer);
    portal.turn({ lost: 100, duplicates });
    await expect(register(document)).rejects.toThrow(PortalError);
    expect(await read(document.id)).toMatchObject({ irn_status: 'pending', irn: null });
    portal.turn(CALM);
    portal.turn({ duplicates });
    await register(document);
    const { irn } = portal.documents.get(`INV ${document.number}`) ?? {};
    expect(await read(document.id)).toMatchObject({ irn_status: 'generated', irn });
  },
);

test('a lost answer, and more than two days later nothing is shown any more: failed, and before the staff', async () => {
  const document = await world.issue(buyer);
  portal.turn({ lost: 100 });
  await expect(register(document)).rejects.toThrow(PortalError);
  portal.turn({ lost: 0, now: () => Date.now() + 2 * DAY_MS + 60_000 });
  expect(await register(document)).toMatchObject({ irn_status: 'failed' });
  expect(await read(document.id)).toMatchObject({ irn: null, irn_qr: null, ack_no: null });
  const { irn } = portal.documents.get(`INV ${document.number}`) ?? {};
  expect(await itemsOf(document.number)).toMatchObject([
    { kind: 'irn_hidden', details: { irn, code: '2283', org_id: buyer.id }, is_open: true },
  ]);
  expect(await mailsOf(document.id)).toBe(1);
});

test('a refused document waits, with an item for the staff that ends when the portal takes it', async () => {
  const document = await world.issue(buyer);
  portal.turn({ refuse: { code: '3028', message: 'The GSTIN is not active' } });
  const asked: RegistrationProgress[] = [await register(document), await register(document)];
  expect(asked).toMatchObject([{ irn_status: 'pending', is_refused: true }, { is_refused: true }]);
  expect(await itemsOf(document.number)).toMatchObject([
    { kind: 'irn_refused', details: { code: '3028', message: 'The GSTIN is not active' }, is_open: true },
  ]);
  portal.turn({ refuse: null });
  expect(await register(document)).toMatchObject({ irn_status: 'generated' });
  expect(await itemsOf(document.number)).toMatchObject([{ kind: 'irn_refused', is_open: false }]);
});

test('what another key has signed is not taken over: the document waits, before the staff, until the keys are right', async () => {
  const document = await world.issue(buyer);
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const under = (pem: string) => registerDocument(contextWith(pem), { invoice_id: document.id });
  expect(await under(other)).toMatchObject({ irn_status: 'pending', is_refused: true });
  // The portal has it now; the duplicate that it shows is not believed either.
  expect(await under(other)).toMatchObject({ irn_status: 'pending', is_refused: true });
  expect(await itemsOf(document.number)).toMatchObject([
    { kind: 'irn_refused', details: { code: 'signature' } },
  ]);
  expect(await under(`${other}${portal.public_key}`)).toMatchObject({ irn_status: 'generated' });
  expect(() => readPublicKeys('no key')).toThrow('no public key');
});

test('a failed registration is tried again by staff, ends its items, and the document goes once more with its number', async () => {
  const document = await world.issue(buyer);
  const again = () =>
    registerAgain(context, { number: document.number, reason: 'the portal shows it again' });
  await expect(again()).rejects.toMatchObject({ code: 'state_conflict', details: { state: 'pending' } });
  portal.turn({ lost: 100 });
  await expect(register(document)).rejects.toThrow(PortalError);
  portal.turn({ lost: 0, now: () => Date.now() + 3 * DAY_MS });
  expect(await register(document)).toMatchObject({ irn_status: 'failed' });
  portal.turn({ now: Date.now });
  expect(await again()).toMatchObject({ irn_status: 'pending' });
  const starts = await rows('select args from workflow_start where workflow_id like $1', [
    `invoice-${document.id}-%`,
  ]);
  expect(starts).toEqual([{ args: { invoice_id: document.id, for_org: document.org_id } }]);
  expect(await register(document)).toMatchObject({ irn_status: 'generated' });
  expect(await itemsOf(document.number)).toMatchObject([{ kind: 'irn_hidden', is_open: false }]);
  expect(await mailsOf(document.id)).toBe(1);
  expect(
    await rows('select count(*)::int as n from mail where reference = $1', [`${document.id}-registered`]),
  ).toEqual([{ n: 1 }]);
  await expect(again()).rejects.toMatchObject({ details: { state: 'generated' } });
  await expect(registerAgain(context, { number: 'INV/26-27/99999', reason: 'x' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('no program can note a registration that lacks a part, or one number for two documents', async () => {
  const [one, two] = [await world.issue(buyer), await world.issue(buyer)];
  await register(one);
  const { irn, ack_no, ack_at, irn_qr } = await read(one.id);
  const note = (values: unknown[]) =>
    rows(
      `update invoice set irn_status = 'generated', irn = $2, ack_no = $3, ack_at = $4, irn_qr = $5 where id = $1`,
      [two.id, ...values],
    );
  await expect(note([irn, ack_no, ack_at, irn_qr])).rejects.toThrow('invoice_irn_once');
  const other = 'a'.repeat(64);
  for (const values of [
    [other, '', ack_at, irn_qr],
    [other, ack_no, null, irn_qr],
    [other, ack_no, ack_at, ''],
    ['', ack_no, ack_at, irn_qr],
  ]) {
    await expect(note(values)).rejects.toThrow('invoice_registered_has_everything');
  }
});

test('a thousand documents while one call in five goes wrong: one number each, none blank, none with other totals', async () => {
  const bulk = await world.org('IN', { gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' });
  // In one transaction, because a thousand commits say nothing more.
  await context.transaction(async (context) => {
    for (let i = 0; i < 800; i++) await world.issue(bulk, { amount_minor: 100_000 + i * 300, context });
  });
  const sales = await rows<Invoice>('select * from invoice where org_id = $1 order by number', [bulk.id]);
  const notes = await context.transaction(async (inner) => {
    const made: { id: InvoiceId }[] = [];
    for (const sale of sales.slice(0, 200)) made.push(await credit(sale, inner));
    return made;
  });
  const documents: readonly { id: InvoiceId }[] = [...sales, ...notes];
  const before = new Set(portal.documents.keys());
  portal.turn({ down: 5, lost: 10, blank: 3, altered: 2, duplicates: 'in turn' });
  const waiting = [...documents];
  const ask = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await insist(next);
  };
  await Promise.all(Array.from({ length: 10 }, ask));

  const registered = [...portal.documents].filter(([key]) => !before.has(key));
  expect(registered).toHaveLength(1_000);
  expect(portal.altered.size).toBeGreaterThan(5);
  const ids = documents.map(({ id }) => id);
  const found = await rows<Invoice>('select * from invoice where id = any ($1)', [ids]);
  const failed = found.filter(({ irn_status }) => irn_status === 'failed');
  expect(new Set(failed.map(({ number }) => number))).toEqual(portal.altered);
  for (const { number, irn } of failed) {
    expect(irn).toBeNull();
    expect(await itemsOf(number)).toMatchObject([
      { kind: 'irn_differs', details: { fields: 'ValDtls.TotInvVal, QR.TotInvVal' } },
    ]);
  }
  const generated = found.filter(({ irn_status }) => irn_status === 'generated');
  expect(generated.length + failed.length).toBe(1_000);
  expect(new Set(generated.map(({ irn }) => irn)).size).toBe(generated.length);
  for (const row of generated) {
    const kind = row.kind === 'credit_note' ? 'CRN' : 'INV';
    const there = portal.documents.get(`${kind} ${row.number}`);
    expect([row.irn, row.ack_no]).toEqual([there?.irn, String(there?.ack_no)]);
    expect(signed(row.irn_qr)).toMatchObject({ Irn: row.irn, TotInvVal: row.total_minor / 100 });
  }
  const mails = await rows<{ n: number }>('select count(*)::int as n from mail where reference = any ($1)', [
    ids,
  ]);
  expect(mails).toEqual([{ n: 1_000 }]);
}, 120_000);
