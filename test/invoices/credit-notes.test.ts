// Credit notes in the books: numbers, limits, and that nothing issued ever changes.
import { type Invoice, issueCreditNote, refundedTax } from '@svc/core/invoices/index.ts';
import { type Context, type Id, newId } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { rows } = world;
const maharashtra = await world.org('IN', { gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' });

/** The credit note of a refund of `amount_minor` of `original`, in a transaction of its own. */
function credit(
  original: Invoice,
  amount_minor: number,
  more: { before_minor?: number; refund_id?: Id<'refund'>; context?: Context } = {},
) {
  const { before_minor = 0, refund_id = newId('refund'), context = world.context } = more;
  const tax = refundedTax(original, { before_minor, amount_minor, at: context.now() });
  return context.transaction((context) =>
    issueCreditNote(context, {
      invoice_id: original.id as Id<'invoice'>,
      org_id: original.org_id,
      ...{ refund_id, amount_minor, tax },
      credits_micro: 3_702_412,
      payment_ref: `rfnd_${refund_id}`,
    }),
  );
}

test('a credit note says what goes back of which document, under the same tax terms, and is announced', async () => {
  const original = await world.issue(maharashtra);
  const refund_id = newId('refund');
  const made = await credit(original, 33_333, { refund_id });
  expect(made).toMatchObject({
    number: expect.stringMatching(/^CINV\/\d\d-\d\d\/00001$/),
    total_minor: 39_333,
  });
  expect(await world.read(maharashtra, made.id)).toMatchObject({
    id: expect.stringMatching(/^cn_/),
    kind: 'credit_note',
    ...{ taxable_minor: 33_333, cgst_minor: 0, sgst_minor: 0, igst_minor: 6_000, total_minor: 39_333 },
    tax_rate_bps: 1_800,
    place_of_supply: '27-Maharashtra',
    supplier: original.supplier,
    recipient: original.recipient,
    lines: [{ description: 'Refund of prepaid API credits', unit_minor: 33_333, amount_minor: 33_333 }],
    fx_rate: original.fx_rate,
    credits_micro: 3_702_412,
    topup_id: original.topup_id,
    refund_id,
    payment_ref: `rfnd_${refund_id}`,
    original_invoice_id: original.id,
    original_number: original.number,
    endorsement: '',
  });
  const [event] = await rows<{ payload: object }>(
    `select payload from outbox where topic = 'invoice.issued' and payload ->> 'invoice_id' = $1`,
    [made.id],
  );
  expect(event?.payload).toMatchObject({
    number: made.number,
    kind: 'credit_note',
    refund_id,
    total_minor: 39_333,
  });
});

test('credit notes of a document never exceed it, in sum and in each part, also when twenty are issued at once', async () => {
  const original = await world.issue(maharashtra);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => credit(original, 33_333)));
  const refused = results.filter((one) => one.status === 'rejected');
  expect(refused).toHaveLength(17);
  for (const { reason } of refused) expect(String(reason)).toContain('would exceed it');
  await expect(credit(original, 2)).rejects.toThrow('would exceed it');
  await credit(original, 1);
  const [sum] = await rows(
    `select sum(taxable_minor)::int as taxable, sum(igst_minor)::int as igst from invoice where original_invoice_id = $1`,
    [original.id],
  );
  expect(sum).toEqual({ taxable: 100_000, igst: 18_000 });
});

test('a refund has one credit note, and a note is neither of nothing nor of another note nor of a stranger', async () => {
  const original = await world.issue(maharashtra);
  const refund_id = newId('refund');
  const note = await credit(original, 1_000, { refund_id });
  await expect(credit(original, 1_000, { refund_id, before_minor: 1_000 })).rejects.toThrow(
    'invoice_refund_once',
  );
  await expect(credit(original, 0)).rejects.toThrow('a credit note of nothing');
  await expect(credit(await world.read(maharashtra, note.id), 1)).rejects.toThrow('no document');
  const stranger = await world.org('IN', { billing_address: { state_code: '29' } });
  await expect(credit({ ...original, org_id: stranger.id }, 1)).rejects.toThrow('no document');
});

test('from December after the financial year a credit note gives back no tax and says why', async () => {
  const original = await world.issue(maharashtra, { context: world.at('2025-06-01T00:00:00Z') });
  const early = await credit(original, 10_000, { context: world.at('2026-11-30T18:29:59Z') });
  expect(early.total_minor).toBe(11_800);
  const late = await credit(original, 10_000, {
    before_minor: 10_000,
    context: world.at('2026-11-30T18:30:00Z'),
  });
  expect(await world.read(maharashtra, late.id)).toMatchObject({
    ...{ taxable_minor: 10_000, igst_minor: 0, total_minor: 10_000, tax_rate_bps: 0 },
    endorsement: expect.stringContaining('section 34(2)'),
  });
});

/** A busy database gives no connection within 5 s; whoever settles a refund tries again. */
async function credited(original: Invoice): ReturnType<typeof credit> {
  for (let tries = 1; ; tries++) {
    try {
      return await credit(original, 1);
    } catch (error) {
      if (tries === 10 || !/timeout exceeded when trying to connect/.test(String(error))) throw error;
    }
  }
}

test('two hundred credit notes at once, one in ten rolled back, are numbered without gap or twin', async () => {
  const [{ last_no: start = 0 } = {}] = await rows<{ last_no: number }>(
    `select last_no from invoice_counter where series = 'CINV' order by fy desc`,
  );
  const original = await world.issue(maharashtra);
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, i) => {
      if (i % 10 !== 0) return credited(original);
      return world.context.transaction(async (context) => {
        await credit(original, 1, { context });
        throw new Error('rolled back');
      });
    }),
  );
  const numbers = results.flatMap((one) =>
    one.status === 'fulfilled' ? [Number(one.value.number.slice(-5))] : [],
  );
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 180 }, (_, i) => start + i + 1));
}, 120_000);

test('the database keeps credit notes apart: their id, and their tax in equal halves or for two states', async () => {
  const karnataka = await world.org('IN', { billing_address: { state_code: '29' } });
  const original = await world.issue(karnataka, { amount_minor: 50_005 });
  const first = await credit(original, 20_000);
  const second = await credit(original, 30_005, { before_minor: 20_000 });
  expect([first.total_minor, second.total_minor]).toEqual([23_600, 35_405]);
  expect(await world.read(karnataka, second.id)).toMatchObject({ cgst_minor: 2_700, sgst_minor: 2_700 });
  for (const text of [
    'update invoice set total_minor = 1 where id = $1',
    'update invoice set original_invoice_id = null where id = $1',
    'delete from invoice where id = $1',
  ]) {
    await expect(rows(text, [first.id])).rejects.toMatchObject({ code: '42501' });
  }
  const copy = (id: string) =>
    rows(
      `insert into invoice select (jsonb_populate_record(i, jsonb_build_object('id', $2::text, 'number', 'X', 'refund_id', null))).*
         from invoice i where id = $1`,
      [first.id, id],
    );
  await expect(copy(newId('invoice'))).rejects.toThrow('invoice_id_says_credit_note');
});
