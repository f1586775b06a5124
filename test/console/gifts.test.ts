// Check-ins, codes, gifts and the plan in a real browser.
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { expectAccessible, expectNoSidewaysScroll, openPage, picture, startConsole } from './browser.ts';

vi.setConfig({ testTimeout: 90_000 });

const { stack, browser, owner } = await startConsole();

/** The amount that a page shows as "$1,284.37", in cents. */
async function centsAt(page: Page, label: string): Promise<number> {
  const text = await page.getByRole('region', { name: label }).locator('.balance-value').innerText();
  return Number(text.replaceAll(/[$,.]/g, ''));
}

/** Lets the next mutation of this name be done, and loses its answer. */
async function loseNextAnswer(page: Page, mutation: string): Promise<void> {
  let is_lost = false;
  await page.route('**/graphql', async (route) => {
    if (is_lost || !route.request().postData()?.includes(`"${mutation}"`)) return route.fallback();
    is_lost = true;
    await route.fetch();
    await route.abort('connectionreset');
  });
}

test('a check-in and a gift move the balance, a code that does not exist is refused, a cancelled gift comes back', async () => {
  await withClient(stack.database_url, async (client) => {
    await client.query(
      `insert into settings (name, value, updated_at) values ('checkin', '{"enabled":true,"needs_topup":false}', now())`,
    );
    // Paid credit that is old enough to be given away.
    await client.query(
      `select ledger.credit($1, $2, 50000000, false, 'infinity', 2::smallint, 'topup', 'tup_old', now())`,
      [stack.full.live_book_id, `lot_${'0'.repeat(26)}`],
    );
    await client.query(
      `update ledger.lot set created_at = created_at - interval '9 days' where lot_id = $1`,
      [`lot_${'0'.repeat(26)}`],
    );
  });
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/credits?view=gifts`);
  const checkins: string[] = [];
  page.on('request', (request) => {
    if (request.postData()?.includes('"CheckIn"')) checkins.push(request.url());
  });
  // Both presses come before the page has drawn itself anew.
  await page.getByRole('button', { name: 'Check in' }).evaluate((it) => {
    const button = it as HTMLElement;
    button.click();
    button.click();
  });
  await page.getByText('Checked in today.').waitFor();
  expect(checkins).toHaveLength(1);
  const before = await centsAt(page, 'Available credit');
  await page.getByRole('button', { name: 'Make a gift' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill('hackathon');
  await loseNextAnswer(page, 'CreateGift');
  await dialog.getByRole('button', { name: 'Make the gift' }).click();
  await dialog.getByText('No answer from the server.').waitFor();
  // The gift was made; pressing again finds it and makes no second one.
  await dialog.getByRole('button', { name: 'Make the gift' }).click();
  await page.getByRole('dialog', { name: 'Copy the code now' }).waitFor();
  const code = await dialog.locator('.secret code').innerText();
  await dialog.getByRole('button', { name: 'Copy the code' }).click();
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(code);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => centsAt(page, 'Available credit')).toBe(before - 1_000);
  await page.getByRole('textbox', { name: 'Code' }).fill(code.toLowerCase());
  await page.getByRole('button', { name: 'Redeem' }).click();
  await page.getByText('An organization cannot redeem its own gift.').waitFor();
  await page.getByRole('textbox', { name: 'Code' }).fill('cr00000000000000ol');
  await page.getByRole('button', { name: 'Redeem' }).click();
  await page.getByText('There is no such code.').waitFor();
  await page.getByRole('button', { name: /Cancel the gift/ }).click();
  await page.getByText('given back').waitFor();
  await expect.poll(() => centsAt(page, 'Available credit')).toBe(before);
  // Of the answer that was lost.
  expect(faults).toEqual(['Failed to load resource: net::ERR_CONNECTION_RESET']);
  await context.close();
});

test('a card is saved at the rail, automatic top-up is switched on and changed, and the card is removed', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/credits`);
  const card = page.getByRole('region', { name: 'Automatic top-up' });
  await card.getByText('It is switched off.').waitFor();
  expect(await card.getByRole('button', { name: 'Switch on' }).isDisabled()).toBe(true);
  await picture(page, 'auto-topup-none');
  await card.getByRole('button', { name: 'Use a card' }).click();
  await page.getByRole('button', { name: 'Save a card that pays' }).click();
  await page.waitForURL(/outcome=done/);
  await card.getByText('Your card may be debited, up to $5,000.00 at a time.').waitFor();
  await card.getByRole('button', { name: 'Change' }).click();
  const dialog = page.getByRole('dialog', { name: 'Automatic top-up' });
  await dialog.getByLabel('When the balance falls below, in USD').fill('5');
  await dialog.getByLabel('Add, in USD').fill('6000');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('The mandate does not allow so much in one debit.').waitFor();
  await dialog.getByLabel('Add, in USD').fill('50');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await card.getByText('When the balance falls below $5.00, add $50.00 by card.').waitFor();
  await card.getByRole('button', { name: 'Switch on' }).click();
  await card.getByText('The balance is watched.').waitFor();
  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [1440, 360]) {
      const seen = await openPage(browser, { scheme, width }, owner);
      await seen.page.goto(`${stack.console_url}/meridian/live/credits`);
      await seen.page.getByText('The balance is watched.').waitFor();
      await expectNoSidewaysScroll(seen.page, `automatic top-up, ${scheme} ${width}`);
      await expectAccessible(seen.page, `automatic top-up, ${scheme} ${width}`);
      await picture(seen.page, `auto-topup-${scheme}-${width}`);
      await seen.context.close();
    }
  }
  await card.getByRole('button', { name: 'Remove' }).click();
  await card.getByText('The payment method was removed, so it was switched off.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a plan is changed once its price was shown, a smaller one follows, and an unpaid fee says until when', async () => {
  const { full } = stack;
  const setPlan = (values: string) =>
    withClient(stack.database_url, (client) =>
      client.query(`update org set ${values} where id = $1`, [full.org_id]),
    );
  await setPlan(`plan_id = 'payg', plan_since = now()`);
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/credits?view=plan`);
  await page.getByRole('button', { name: 'Upgrade: Team' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change to Team' });
  await dialog.getByText('Its limits apply at once.').waitFor();
  const fee = await dialog.getByRole('definition').first().innerText();
  await picture(page, 'plan-upgrade');
  const before = await centsAt(page, 'Available credit');
  await dialog.getByRole('button', { name: /^Pay \$[0-9.]+ and change$/ }).click();
  const team = page.getByRole('region', { name: 'Team', exact: true });
  await team.getByText('$49.00 a month').waitFor();
  const { rows } = await withClient(stack.database_url, (client) =>
    client.query<{ fee: number; included: number }>(
      `select fee_micro::int as fee, included_micro::int as included from plan_charge where org_id = $1`,
      [full.org_id],
    ),
  );
  const [{ fee: micro, included }] = rows as [{ fee: number; included: number }];
  expect(fee).toBe(`$${(micro / 1e6).toFixed(6)}`);
  await expect
    .poll(() => centsAt(page, 'Available credit'))
    .toBeGreaterThan(before - (micro - included) / 10_000 - 2);
  await page.getByRole('button', { name: 'Change: Pay as you go' }).click();
  await page.getByText('Nothing is given back.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Change to Pay as you go' }).click();
  await team.getByText('Pay as you go').waitFor();
  await picture(page, 'plan-follows');
  await page.getByRole('button', { name: 'Stay: Team' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Keep Team' }).click();
  await team.getByText('Pay as you go').waitFor({ state: 'detached' });
  await withClient(stack.database_url, (client) =>
    client.query(
      `insert into plan_charge (org_id, period, no, plan_id, fee_micro, included_micro, status, tries, grace_until, created_at)
       values ($1, date_trunc('month', now()), 0, 'team', 49000000000000, 0, 'grace', 1, now() + interval '2 days', now())`,
      [full.org_id],
    ),
  );
  await page.reload();
  await page.getByText('fee not paid').waitFor();
  await page.getByRole('button', { name: 'Try again: Team' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Try the fee again' }).click();
  await page.getByRole('alert').getByText('There are not enough credits').waitFor();
  await picture(page, 'plan-grace');
  expect(faults).toEqual([]);
  await context.close();
});

test('people of a suspended organisation read why above every page, see what is there, and change nothing', async () => {
  const suspend = (suspended_for: string | null) =>
    withClient(stack.database_url, (client) =>
      client.query(`update org set status = 'suspended', suspended_for = $2 where id = $1`, [
        stack.full.org_id,
        suspended_for,
      ]),
    );
  await suspend('payment_hold');
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/credits?view=gifts`);
  await page.getByText('a payment was lost in a dispute after its credits were spent').waitFor();
  await expect.poll(() => centsAt(page, 'Available credit')).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Make a gift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make the gift' }).click();
  await page.getByRole('dialog').getByText('The organization is suspended').waitFor();
  for (const [scheme, width] of [
    ['light', 1440],
    ['dark', 360],
  ] as const) {
    const seen = await openPage(browser, { scheme, width }, owner);
    for (const path of ['credits', 'invoices', 'home', 'keys', 'members']) {
      await seen.page.goto(`${stack.console_url}/meridian/live/${path}`);
      await seen.page.getByText('Suspended:').waitFor();
      await seen.page.getByRole('heading', { level: 1 }).waitFor();
      await expectNoSidewaysScroll(seen.page, `suspended ${path}, ${scheme} ${width}`);
      await picture(seen.page, `suspended-${path}-${scheme}-${width}`);
    }
    await expectAccessible(seen.page, `suspended, ${scheme} ${width}`);
    expect(await seen.page.getByText('is closed or suspended').count()).toBe(0);
    await seen.context.close();
  }
  await suspend(null);
  await page.reload();
  await page.getByText('Write to support to find out').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});
