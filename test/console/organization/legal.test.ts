// The page of legal documents in a real browser: what waits and what that stops, the acceptance, and what is saved.
import { createPool, writeSetting } from '@svc/core/db/index.ts';
import { takeShipped } from '@svc/core/legal/index.ts';
import { expect, test, vi } from 'vitest';
import { withClient } from '../../support/books.ts';
import { staffContext } from '../../support/provision.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  signedIn,
  startConsole,
} from '../browser.ts';

vi.setConfig({ testTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();
const legal_url = `${stack.console_url}/meridian/live/legal`;

/** The texts of the release, in force for twenty days in which nobody has accepted them, with staff insisting. */
async function publishAndWait(): Promise<void> {
  const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
  const then = new Date(Date.now() - 20 * 86_400_000);
  try {
    await takeShipped(staffContext(pool));
    const value = { grievance_officer: 'Officer', dpo_email: 'dpo@svc.example', enforced_at: then };
    await writeSetting(pool, { name: 'legal', value, at: then });
  } finally {
    await pool.end();
  }
  await withClient(stack.database_url, async (client) => {
    await client.query(`update org set created_at = $1`, [then]);
    await client.query(`update legal_version set published_at = $1, effective_at = $1`, [then]);
  });
}
await publishAndWait();

test('terms that wait are said on every page, stop new keys, and are accepted by keyboard, with who signed', async () => {
  const { page, context, faults } = await openPage(browser, { width: 360, scheme: 'dark' }, owner);
  await page.goto(`${stack.console_url}/meridian/live/keys`);
  const note = page.getByRole('status').filter({ hasText: 'Waits to be accepted:' });
  await note.waitFor();
  await picture(page, 'legal-note');
  await expectAccessible(page, 'legal note');
  await expectNoSidewaysScroll(page, 'legal note');
  const dialog = page.getByRole('dialog');
  const makeKey = async (name: string) => {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('button', { name: 'Create key' }).click();
  };
  await makeKey('refused');
  await dialog.getByText('The terms in force have not been accepted.').waitFor();
  await page.keyboard.press('Escape');

  await note.getByRole('link', { name: 'Legal' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/meridian/live/legal');
  const row = page.getByRole('row', { name: /waits to be accepted/ });
  await row.first().waitFor();
  const waiting = await row.count();
  expect(waiting).toBeGreaterThan(0);
  for (let left = waiting; left > 0; left--) {
    const accept = row.first().getByRole('button', { name: /^Accept .* \d{4}-\d{2}-\d{2}$/ });
    const [, title] = /^Accept (.*) \S+$/.exec((await accept.getAttribute('aria-label')) ?? '') ?? [];
    await accept.focus();
    await page.keyboard.press('Enter');
    await dialog.getByText(/Version \d{4}-\d{2}-\d{2}, for meridian/).waitFor();
    if (left === waiting) {
      await page.keyboard.press('Enter');
      await dialog.getByText('Say who accepts.').waitFor();
      await picture(page, 'legal-accept');
      await expectAccessible(page, 'acceptance');
      await expectNoSidewaysScroll(page, 'acceptance');
    }
    await dialog.getByLabel('Your name').fill('Asha Rao');
    await dialog.getByLabel('Your title').fill('Owner');
    await page.keyboard.press('Enter');
    await page.getByText(`${title} is accepted.`).waitFor();
    await expect.poll(() => row.count()).toBe(left - 1);
  }
  await note.waitFor({ state: 'hidden' });
  await page.getByText(`by ${stack.owner.email}`).first().waitFor();
  await picture(page, 'legal-accepted');

  await page.goto(`${stack.console_url}/meridian/live/keys`);
  await expect
    .poll(async () => {
      await page.reload();
      await makeKey('after');
      return dialog
        .getByText(/^svc-live-/)
        .or(dialog.getByRole('alert'))
        .first()
        .textContent();
    })
    .toMatch(/^svc-live-/);
  const kept = await withClient(stack.database_url, async (client) => {
    const { rows } = await client.query(
      `select distinct signer_name, signer_title, method from legal_acceptance where org_id = $1`,
      [stack.full.org_id],
    );
    return rows;
  });
  expect(kept).toEqual([{ signer_name: 'Asha Rao', signer_title: 'Owner', method: 'click_through' }]);
  expect(faults).toEqual([]);
  await context.close();
});

test('the texts made for an organisation are saved; the text of a version is what the gateway serves', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(legal_url);
  for (const [label, name] of [
    ['Agreement on processing (PDF)', 'dpa.pdf'],
    ['Record of processing (CSV)', 'ropa.csv'],
  ] as const) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: label }).click(),
    ]);
    expect(file.suggestedFilename()).toBe(name);
  }
  const text = page.getByRole('region', { name: 'Documents' }).getByRole('link').first();
  const answer = await fetch((await text.getAttribute('href')) as string);
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain((await text.textContent()) as string);
  expect(faults).toEqual([]);
  await context.close();
});

test('who makes an organisation accepts the terms with it, and they do not wait there', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/newcomer/live/home`);
  await page.getByRole('button', { name: /Organisation .* switch/ }).click();
  await page.getByRole('menuitem', { name: 'New organisation' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Accepting');
  await dialog.getByLabel('Billing country').fill('us');
  await dialog.getByLabel(/^I accept the terms/).check();
  await expectAccessible(page, 'new organisation with terms');
  await dialog.getByRole('button', { name: 'Make the organisation' }).click();
  await page.waitForURL('**/accepting/live/home');
  await page.goto(`${stack.console_url}/accepting/live/legal`);
  await page.getByRole('row', { name: /Terms of [Ss]ervice.*accepted/ }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a viewer reads the documents with their versions and accepts none, in both themes and at 360 px', async () => {
  const viewer = await signedIn(browser, stack, stack.viewer);
  for (const look of fourLooks) {
    const { page, context, faults } = await openPage(browser, look, viewer);
    await page.goto(legal_url);
    await page
      .getByRole('row', { name: /accepted/ })
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: /^Accept/ }).count()).toBe(0);
    expect(await page.getByRole('button', { name: /Record of processing/ }).count()).toBe(0);
    const where = `legal-${look.scheme}-${look.width}`;
    await picture(page, where);
    await expectNoSidewaysScroll(page, where);
    await expectAccessible(page, where);
    expect(faults).toEqual([]);
    await context.close();
  }
});
