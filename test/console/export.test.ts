// The export of an organisation in a real browser, by keyboard: an owner makes one and downloads it, and finds out when it is too many.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { unpack } from '../support/programs/unpack.ts';
import { expectAccessible, lookAround, openPage, signedIn, startConsole } from './browser.ts';
import { expectRowsReached, pressByKeyboard, tabTo } from './keyboard.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();
const card = (page: Page) => page.getByRole('region', { name: 'Export', exact: true });

test('an owner makes an export and saves it by keyboard; the sixth of a day is refused, and one that is over says so', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/settings`);
  await card(page).getByText('No export was made').waitFor();
  await lookAround(page, 'export-none');

  const make = card(page).getByRole('button', { name: 'Make an export' });
  await pressByKeyboard(page, make);
  await card(page)
    .getByText(/It can be downloaded for 24 hours/)
    .waitFor();
  const rows = card(page).getByRole('row');
  await expect.poll(() => rows.count()).toBe(2);
  await rows.nth(1).getByText('you').waitFor();
  await expectRowsReached(page, 'exports');
  await lookAround(page, 'export-one');

  const link = card(page).getByRole('link', { name: /^Download oex_/ });
  await tabTo(page, link);
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(file.suggestedFilename()).toMatch(/^export-meridian-\d{4}-\d\d-\d\d\.zip$/);
  const files = await unpack(await readFile(await file.path()));
  const manifest = JSON.parse(files.get('manifest.json')?.toString() ?? '') as { org: { slug: string } };
  expect(manifest.org.slug).toBe('meridian');
  expect(files.get('members.ndjson')?.toString()).toContain(stack.owner.email);

  for (let made = 2; made <= 5; made++) {
    await make.click();
    await expect.poll(() => rows.count()).toBe(made + 1);
  }
  await make.click();
  await card(page).getByText('An organization can be exported 5 times in 24 hours.').waitFor();
  await lookAround(page, 'export-refused');
  await withClient(stack.database_url, (client) =>
    client.query(
      `update org_export set created_at = created_at - interval '2 days', expires_at = now() - interval '1 day'`,
    ),
  );
  await page.reload();
  await card(page).getByText('over').first().waitFor();
  expect(
    await card(page)
      .getByRole('link', { name: /^Download/ })
      .count(),
  ).toBe(0);
  await make.click();
  await expect
    .poll(() =>
      card(page)
        .getByRole('link', { name: /^Download/ })
        .count(),
    )
    .toBe(1);
  // The oldest is on the next page now.
  await card(page).getByRole('button', { name: 'Load older' }).click();
  await expect.poll(() => rows.count()).toBe(7);
  expect(faults).toEqual([]);
});

test('a list that does not come can be asked for again, and only owners see the card', async () => {
  const { page } = await openPage(browser, {}, owner);
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('OrgExports') ? route.abort() : route.continue(),
  );
  await page.goto(`${stack.console_url}/meridian/live/settings`);
  await card(page).getByRole('alert').waitFor();
  await expectAccessible(page, 'exports that did not come');
  await page.unroute('**/graphql');
  await pressByKeyboard(page, card(page).getByRole('button', { name: 'Try again' }));
  await card(page).getByRole('table').waitFor();

  const viewer = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await viewer.page.goto(`${stack.console_url}/meridian/live/settings`);
  await viewer.page.getByText('Owners and admins change these.').waitFor();
  expect(await card(viewer.page).count()).toBe(0);
});

test('the owner of a closed organisation makes an export and saves it', async () => {
  await withClient(stack.database_url, (client) =>
    client.query(`update org set status = 'closed', closed_at = now() where slug = 'newcomer'`),
  );
  const { page } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/newcomer/live/settings`);
  await card(page).getByRole('button', { name: 'Make an export' }).click();
  const link = card(page).getByRole('link', { name: /^Download oex_/ });
  await link.waitFor();
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  const files = await unpack(await readFile(await file.path()));
  expect(files.get('organization.ndjson')?.toString()).toContain('"status":"closed"');
});
