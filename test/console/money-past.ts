// Money of every kind for the screens that show it, made as people make it where that is short.
import { createPool } from '@svc/core/db/index.ts';
import { issueCreditNote, refundedTax } from '@svc/core/invoices/index.ts';
import { type Id, loadRootKey, newId } from '@svc/core/kernel/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { changeSheet, putOnPlan } from '@svc/core/plans/index.ts';
import { riseBegins, tellRises } from '@svc/core/plans/notice.ts';
import { makeBatch } from '@svc/core/redeem/index.ts';
import type { Browser, Page } from 'playwright-core';
import { atTime, startWorld } from '../invoices/world.ts';
import { withClient } from '../support/books.ts';
import { staffContext } from '../support/provision.ts';
import { openPage } from './browser.ts';
import type { Stack } from './stack.ts';
import { writeMatters } from './staff/member.ts';

const DAY_MS = 86_400_000;

/** An invoice of crores, one of less, and a credit note of it. */
async function sell({ database_url, full }: Stack): Promise<void> {
  const world = await startWorld(database_url);
  const org = (await findOrg(world.pool, full.org_id)) as Org;
  await world.issue(org, { amount_minor: 99_999_999_999 });
  const sold = await world.issue(org, { amount_minor: 250_000 });
  const tax = refundedTax(sold, { before_minor: 0, amount_minor: 100_000, at: new Date() });
  await world.context.transaction((context) =>
    issueCreditNote(context, {
      ...{
        invoice_id: sold.id as Id<'invoice'>,
        org_id: org.id,
        refund_id: newId('refund'),
        amount_minor: 100_000,
        tax,
      },
      ...{ credits_micro: 1, payment_ref: 're_1' },
    }),
  );
}

/** A code of a batch, as staff hand it out. */
async function codeOf(stack: Stack): Promise<string> {
  const pool = createPool(stack.database_url, { max: 2, application: 'svc-test' });
  try {
    const context = staffContext(pool);
    const made = await makeBatch(context, loadRootKey(`${stack.data_dir}/keyring.json`), {
      ...{ name: 'welcome', amount_micro_usd: 5_000_000, codes: 2, credit_days: 90, country: null },
      ...{ valid_until: new Date(context.now().getTime() + 30 * DAY_MS), new_org_only: false },
    });
    return /CR(?:-[0-9A-Z]{4}){4}/.exec(made.csv)?.[0] as string;
  } finally {
    await pool.end();
  }
}

/** The plan Team, whose fee rises in some weeks, which was told. */
async function raise(stack: Stack): Promise<void> {
  const pool = createPool(stack.database_url, { max: 2, application: 'svc-test' });
  try {
    const context = staffContext(pool);
    const { org_id } = stack.full;
    await putOnPlan(context, org_id, { plan_id: 'team', applies: 'now', free_months: 0, reason: 'agreed' });
    const from = riseBegins(context.now());
    const fee = { monthly_minor: 5_900, included_micro: 55_000_000 };
    await changeSheet(context, { plan_id: 'team', reason: 'the price list', from, ...fee });
    await tellRises(atTime(context, new Date(Date.parse(from) - 40 * DAY_MS)));
  } finally {
    await pool.end();
  }
}

async function topUp(page: Page, { console_url, rails }: Stack): Promise<void> {
  await page.goto(`${console_url}/meridian/live/credits?add=true`);
  await page.getByRole('dialog').getByRole('button', { name: 'Pay $25.00' }).click();
  await page.waitForURL(`${rails.url}/**`);
  await page.getByRole('button', { name: 'Pay $25.00' }).click();
  await page.getByText('$25.00 of credit added').waitFor();
}

async function saveCard(page: Page, { console_url }: Stack): Promise<void> {
  await page.goto(`${console_url}/meridian/live/credits`);
  const card = page.getByRole('region', { name: 'Automatic top-up' });
  await card.getByRole('button', { name: 'Use a card' }).click();
  await page.getByRole('button', { name: 'Save a card that pays' }).click();
  await page.waitForURL(/outcome=done/);
  await card.getByText('Your card may be debited').waitFor();
}

async function give(page: Page, { console_url }: Stack, code: string): Promise<void> {
  await page.goto(`${console_url}/meridian/live/credits?view=gifts`);
  await page.getByRole('button', { name: 'Make a gift' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill('for the team that won the hackathon in Bengaluru');
  await dialog.getByRole('button', { name: 'Make the gift' }).click();
  await dialog.locator('.secret code').waitFor();
  await dialog.getByRole('button', { name: 'Copy the code' }).click();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('textbox', { name: 'Code' }).fill(code);
  await page.getByRole('button', { name: 'Redeem' }).click();
  await page.getByText('of credit added. It ends').waitFor();
}

async function ask(page: Page, { console_url }: Stack): Promise<void> {
  await page.goto(`${console_url}/meridian/live/tickets`);
  await page.getByRole('heading', { name: 'No ticket yet' }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('About').selectOption('INVOICE_CORRECTION');
  await dialog.getByLabel('Subject').fill('The invoice of the top-up in November has our old address');
  await dialog.getByLabel('Your words').fill('We have moved to Pune.');
  await dialog.getByRole('button', { name: 'Send' }).click();
  await page.getByText('waits for support').waitFor();
}

/** Everything that meridian can have of money. */
export async function writeMoney(
  stack: Stack,
  browser: Browser,
  owner: Parameters<typeof openPage>[2],
): Promise<void> {
  await sell(stack);
  const code = await codeOf(stack);
  const lot = `lot_${'0'.repeat(26)}`;
  await withClient(stack.database_url, async (client) => {
    // Paid credit that is old enough to be given away.
    await client.query(
      `select ledger.credit($1, $2, 50000000, false, 'infinity', 2::smallint, 'topup', 'tup_old', now())`,
      [stack.full.live_book_id, lot],
    );
    await client.query(
      `update ledger.lot set created_at = created_at - interval '9 days' where lot_id = $1`,
      [lot],
    );
  });
  const { page, context } = await openPage(browser, {}, owner);
  await topUp(page, stack);
  await saveCard(page, stack);
  await give(page, stack, code);
  await ask(page, stack);
  await context.close();
  // Whose payment is disputed can give nothing away.
  await writeMatters(stack);
  await raise(stack);
}
