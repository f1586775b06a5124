// The PDF of every kind of document: valid PDF/A, readable by programs, always the same bytes.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { resolveTool } from '@svc/cli/tools/tools.ts';
import { eInvoice } from '@svc/core/invoices/e-invoice.ts';
import { fileOf } from '@svc/core/invoices/file.ts';
import type { Invoice } from '@svc/core/invoices/index.ts';
import { render } from '@svc/core/invoices/pdf/render.ts';
import { extractText, getDocumentProxy } from 'unpdf';
import { expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';
import { makeTopup } from '../registry/topup-rows.ts';
import { atFileEnd } from '../support/ends.ts';
import { sampleDocuments } from './samples.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const documents = await sampleDocuments(world);
const dir = mkdtempSync(join(tmpdir(), 'svc-documents-'));
atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
const files = new Map<string, Buffer>();
for (const [name, document] of documents) {
  const pdf = await render(document);
  files.set(name, pdf);
  writeFileSync(join(dir, `${name.replaceAll(/\W+/g, '-')}.pdf`), pdf);
}

async function textOf(name: string): Promise<string[]> {
  const bytes = new Uint8Array(files.get(name) as Buffer);
  const { text } = await extractText(bytes, { mergePages: false });
  return text.map((page) => page.replaceAll(/\s+/g, ' '));
}

/** What the types of the reader leave out. */
interface Attached {
  getAttachmentContent(name: string): Promise<Uint8Array>;
}

interface Verdict {
  readonly report: {
    readonly jobs: readonly {
      readonly itemDetails: { readonly name: string };
      readonly validationResult: readonly {
        readonly compliant: boolean;
        readonly details: {
          readonly ruleSummaries: readonly { readonly clause: string; readonly description: string }[];
        };
      }[];
    }[];
  };
}

/** What the validator says of every file under `flavour`: the rules that each one breaks. */
async function validate(flavour: string): Promise<Map<string, string[]>> {
  const { path } = await resolveTool('verapdf');
  const args = ['--flavour', flavour, '--format', 'json', dir];
  // It ends with 1 when a file breaks a rule.
  const { stdout } = await promisify(execFile)(path, args, { maxBuffer: 2 ** 26 }).catch((fault) => fault);
  const { report } = JSON.parse(stdout) as Verdict;
  return new Map(
    report.jobs.map(({ itemDetails, validationResult: [result] }) => [
      itemDetails.name,
      result?.details.ruleSummaries.map(({ clause, description }) => `${clause} ${description}`) ?? [
        'not judged',
      ],
    ]),
  );
}

test('every kind of document is PDF/A-3a', async () => {
  const verdicts = await validate('3a');
  expect(verdicts.size).toBe(documents.size);
  expect([...verdicts].filter(([, broken]) => broken.length > 0)).toEqual([]);
}, 240_000);

test('people who hear documents are served: of PDF/UA only the identifier is missing', async () => {
  const verdicts = await validate('ua1');
  expect(verdicts.size).toBe(documents.size);
  for (const [, broken] of verdicts) expect(broken).toEqual([expect.stringContaining('Identification')]);
}, 240_000);

test('its text can be copied out: parties, numbers, taxes, totals in figures and words', async () => {
  const [page] = await textOf('one state');
  for (const words of [
    'Tax invoice',
    documents.get('one state')?.number as string,
    '21 November 2026',
    'Demo Supplier Private Limited',
    'GSTIN 29AAACD0000A1ZR',
    'PAN AAACD0000A',
    'LUT AD290426000000A',
    'Acme Analytics LLP',
    'GSTIN 29AABCU9603R1ZJ',
    '29-Karnataka',
    'Reverse charge No',
    '998315',
    'CGST 9% ₹90.00',
    'SGST 9% ₹90.00',
    '₹1,180.00',
    'Rupees One Thousand One Hundred Eighty Only',
    'Page 1 of 1',
    documents.get('one state')?.payment_ref as string,
  ]) {
    expect(page).toContain(words);
  }
});

test.each([
  ['two states', ['IGST 18% ₹180.00', '27-Maharashtra']],
  ['union territory', ['UTGST 9% ₹90.00', 'GSTIN: Unregistered', '35-Andaman and Nicobar Islands']],
  ['special economic zone', ['bond or letter of undertaking', 'LUT AD290426000000A', 'Total ₹1,000.00']],
  ['special economic zone, taxed', ['on payment of integrated tax', 'IGST 18% ₹180.00']],
  [
    'abroad',
    [
      'Export invoice',
      '96-Other country',
      '€50.00',
      'Euros Fifty Only',
      'Equivalent in Indian rupees: ₹4,435.00',
    ],
  ],
  ['abroad, taxed', ['IGST 18% $4.50', 'taxable value ₹2,217.50, tax ₹399.15']],
  ['pounds, other letters', ['£1,000.00', 'Чехов', 'Αθήνα', 'Pounds Sterling One Thousand Only']],
  ['yen', ['¥5,000', 'Japanese Yen Five Thousand Only']],
  ['receipt', ['Receipt', 'not registered for GST', 'Total ₹1,000.00']],
  ['the least', ['₹0.01', 'One Paisa Only']],
  [
    'the most, long names',
    ['₹99,99,99,999.99', 'Ninety-Nine Crore', 'next to the old water tower', 'of Southern India'],
  ],
  ['credit note', ['Credit note', 'Original document', 'Total credited']],
  ['registered', ['a5c12dca80e743321740b001fd70953e8738d109865d28ba4013750f2046f229', '112610012345678']],
])('%s: what distinguishes it stands on it', async (name, words) => {
  const text = (await textOf(name)).join(' ');
  for (const one of words) expect(text).toContain(one);
});

test('a long document goes on: every line once, headings on each page, pages counted', async () => {
  const pages = await textOf('two pages');
  expect(pages).toHaveLength(2);
  for (const [i, page] of pages.entries()) {
    expect(page).toContain(`Page ${i + 1} of 2`);
    expect(page).toContain('Description SAC Taxable value');
  }
  const text = pages.join(' ');
  for (let i = 1; i <= 40; i++) expect(text.split(`Line ${i} of`)).toHaveLength(2);
});

test('its own data is attached as JSON in the form of e-invoices', async () => {
  for (const [name, document] of documents) {
    const pdf = await getDocumentProxy(new Uint8Array(files.get(name) as Buffer));
    const attached = [...((await pdf.getAttachments()) as unknown as Map<string, object>).keys()];
    expect(attached).toEqual([`${document.number.replaceAll('/', '-')}.json`]);
    const content = await (pdf as unknown as Attached).getAttachmentContent(attached[0] as string);
    expect(JSON.parse(Buffer.from(content).toString())).toEqual(eInvoice(document));
  }
});

test('the same document gives the same bytes, and keeps them: drawn once for all who ask', async () => {
  const document = documents.get('one state') as Invoice;
  expect(await render(document)).toEqual(files.get('one state'));
  const asked = await Promise.all(Array.from({ length: 5 }, () => fileOf(world.context, document)));
  expect(new Set(asked.map(({ sha256 }) => sha256)).size).toBe(1);
  expect(asked[0]?.pdf.equals(files.get('one state') as Buffer)).toBe(true);
  const [row] = await world.rows('select pdf_sha256 from invoice where id = $1', [document.id]);
  expect(row).toEqual({
    pdf_sha256: createHash('sha256')
      .update(files.get('one state') as Buffer)
      .digest('hex'),
  });
  for (const text of ['update invoice_file set pdf = $1', 'delete from invoice_file where sha256 = $1']) {
    await expect(world.rows(text, ['x'])).rejects.toMatchObject({ code: '42501' });
  }
});

test('GET /v1/invoices/{id}/pdf gives the file to those who may read the document, and nobody else', async () => {
  const harness = await startHarness({ url: world.url });
  const [ours, theirs] = [await harness.makeTenant('ours'), await harness.makeTenant('theirs')];
  const { invoice_id } = await makeTopup(world.context, ours);
  const get = (key: string, id: string = invoice_id) =>
    harness.call('GET', `/v1/invoices/${id}/pdf`, { key });
  const reply = await get(ours.key);
  expect(reply.statusCode).toBe(200);
  expect(reply.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': expect.stringMatching(/^attachment; filename="INV-\d\d-\d\d-\d{5}\.pdf"$/),
  });
  const bytes = reply.rawPayload;
  expect(bytes.subarray(0, 8).toString()).toBe('%PDF-1.7');
  const view = await harness.call('GET', `/v1/invoices/${invoice_id}`, { key: ours.key });
  expect(view.json().pdf_sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  for (const [key, id] of [
    [theirs.key, invoice_id],
    [ours.key, 'inv_01KACZ3V8S6T5R4Q3P2N1M0K9J'],
    [ours.key, '%00'],
  ] as const) {
    expect((await get(key, id)).statusCode).toBe(404);
  }
});
