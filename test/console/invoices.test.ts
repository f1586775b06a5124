// The page of invoices in a browser: what must be booked, the PDF of each document, and sending it again.
import { readFileSync } from 'node:fs';
import { issueCreditNote, markRegistered, refundedTax } from '@svc/core/invoices/index.ts';
import { type Id, newId } from '@svc/core/kernel/index.ts';
import { findOrg, type Org, setBilling } from '@svc/core/orgs/index.ts';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../invoices/world.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from './browser.ts';

const IRN = '0f'.repeat(32);
const { stack, browser, owner } = await startConsole();

/** Two invoices of meridian, one of crores, and a credit note of the other. */
async function sell(world: World, org: Org): Promise<void> {
  await setBilling(world.pool, { org_id: org.id, at: new Date(), billing_email: 'books@meridian.example' });
  const first = await world.issue(org, { amount_minor: 250_000 });
  const second = await world.issue(org, { amount_minor: 99_999_999_999 });
  const waiting = `update invoice set irn_status = 'pending' where id = $1`;
  await world.rows(waiting, [first.id]);
  await world.rows(waiting, [second.id]);
  await markRegistered(world.pool, {
    ...{ id: second.id, irn: IRN, ack_no: '112610000000017', ack_at: new Date(), qr: 'a.b.c' },
  });
  const tax = refundedTax(first, { before_minor: 0, amount_minor: 100_000, at: new Date() });
  await world.context.transaction((context) =>
    issueCreditNote(context, {
      invoice_id: first.id as Id<'invoice'>,
      org_id: org.id,
      ...{ refund_id: newId('refund'), amount_minor: 100_000, tax, credits_micro: 1, payment_ref: 're_1' },
    }),
  );
}

beforeAll(async () => {
  const world = await startWorld(stack.database_url);
  const [row] = await world.rows<{ id: Id<'org'> }>(`select id from org where slug = 'meridian'`);
  await sell(world, (await findOrg(world.pool, row?.id as Id<'org'>)) as Org);
});

const open = async (page: Page, path: string) => {
  await page.goto(`${stack.console_url}/${path}`);
  await page.getByRole('heading', { name: 'Invoices' }).waitFor();
};

test('documents are listed newest first, a credit note names its invoice, and one kind can be chosen', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('link', { name: 'Invoices' }).click();
  const list = page.getByRole('region', { name: 'List of invoices' });
  const note = list.getByRole('row').filter({ hasText: 'Credit note' });
  await note.getByText('of INV/').waitFor();
  expect(await note.textContent()).toContain('−$1,000.00');
  expect(await list.getByRole('row').count()).toBe(4);
  // Where a document is registered its number can be copied whole; one that waits says so.
  await list.getByRole('button', { name: `Copy ${IRN}` }).waitFor();
  await list.getByText('waits for its IRN').waitFor();
  await page.getByLabel('Kind').selectOption({ label: 'Credit note' });
  await page.waitForURL('**/invoices?kind=credit_note');
  await expect.poll(() => list.getByRole('row').count()).toBe(2);
  await page.getByLabel('Kind').selectOption({ label: 'Receipt' });
  await page.getByText('No receipt').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('the PDF is saved under its number, and a document is sent again to whom one names', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await open(page, 'meridian/live/invoices');
  const [download] = await Promise.all([
    page.waitForEvent('download', { timeout: 60_000 }),
    page.getByRole('button', { name: /^PDF of CINV/ }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^CINV-\d\d-\d\d-00001\.pdf$/);
  expect(
    readFileSync(await download.path())
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-');
  await page.getByRole('button', { name: /^Send CINV.* again$/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('To').fill('nobody');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByRole('alert').first().waitFor();
  await dialog.getByLabel('To').fill('accounts@meridian.example');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await dialog.getByText('On its way to accounts@meridian.example.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(faults).toEqual([]);
  await context.close();
});

const looks = [
  { name: 'light-wide', scheme: 'light', width: 1440 },
  { name: 'dark-wide', scheme: 'dark', width: 1440 },
  { name: 'light-narrow', scheme: 'light', width: 360 },
  { name: 'dark-narrow', scheme: 'dark', width: 360 },
] as const;

test.each(looks)(
  'the page and its dialog are accessible and keep to their width, $name',
  async (look) => {
    const { page, context, faults } = await openPage(browser, look, owner);
    await open(page, 'meridian/live/invoices');
    await page.getByRole('cell', { name: /^CINV.*of INV/ }).waitFor();
    await picture(page, `invoices-${look.name}`);
    await expectNoSidewaysScroll(page, 'invoices');
    // The list itself keeps to its width too: a row is a card, and no number is cut.
    const list = page.getByRole('region', { name: 'List of invoices' });
    await list.getByText('$999,999,999.99').first().waitFor();
    const cut = await list.evaluate((region) =>
      [region, ...region.querySelectorAll('td')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map(({ textContent }) => textContent),
    );
    expect(cut).toEqual([]);
    await expectAccessible(page, 'invoices');
    await page.getByRole('button', { name: /^Send CINV/ }).click();
    await page.getByRole('dialog').getByLabel('To').waitFor();
    await picture(page, `invoices-send-${look.name}`);
    await expectAccessible(page, 'sending an invoice');
    await page.goto(`${stack.console_url}/newcomer/live/invoices`);
    await page.getByText('No invoice yet').waitFor();
    await picture(page, `invoices-empty-${look.name}`);
    await expectAccessible(page, 'no invoices');
    expect(faults).toEqual([]);
    await context.close();
  },
  120_000,
);
