// The page about apps in a real browser, by keyboard: an app is shown to everybody, its badge is copied, and a name that is somebody
// else's is said to be so.
import { now } from '@svc/core/kernel/index.ts';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../../support/books.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  fourLooks,
  openPage,
  picture,
  signedIn,
  startConsole,
} from '../browser.ts';
import { pressByKeyboard, tabTo } from '../keyboard.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();
const address = `${stack.console_url}/meridian/live/apps`;
const exec = (text: string, values: readonly unknown[] = []) =>
  withClient(stack.database_url, (client) => client.query(text, [...values]));
const { org_id } = stack.full;
for (const [slug, requests] of [
  ['notes', 1_204],
  ['desk', 17],
] as const) {
  await exec(`insert into app (slug, org_id, name, first_seen_at, updated_at) values ($1, $2, $1, $3, $3)`, [
    slug,
    org_id,
    now(),
  ]);
  await exec(
    `insert into app_day (day, org_id, app_id, model, requests, tokens, first_at)
     values (($1::timestamptz at time zone 'UTC')::date, $2, $3, 'openai/gpt-4o', $4::int, $4::int * 1000, $1)`,
    [now(), org_id, slug, requests],
  );
}
await exec(
  `insert into app_day (day, org_id, app_id, model, requests, tokens, first_at)
   values (($1::timestamptz at time zone 'UTC')::date, $2, 'popular', 'openai/gpt-4o', 3, 9, $1)`,
  [now(), org_id],
);

const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });
const publicPage = (slug: string) => fetch(`${stack.gateway_url}/v1/apps/${slug}/public`);

test('an app is shown to everybody and taken back, and its badge is there to copy', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(address);
  await row(page, 'notes').waitFor();
  expect(await row(page, 'notes').textContent()).toContain('1,204');
  expect((await publicPage('notes')).status).toBe(404);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Edit notes' }));
  const dialog = page.getByRole('dialog', { name: 'Edit notes' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Notes <b>');
  await dialog.getByRole('textbox', { name: 'Address' }).fill('javascript:alert(1)');
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Save changes' }));
  await dialog.getByRole('alert').first().waitFor();
  await dialog.getByRole('textbox', { name: 'Address' }).fill('https://notes.example/');
  await dialog.getByRole('textbox', { name: 'Category' }).fill('Writing');
  await tabTo(page, dialog.getByRole('checkbox'));
  await page.keyboard.press('Space');
  await expectAccessible(page, 'app-form');
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Save changes' }));
  await page.getByText('Everybody sees Notes <b> now.').waitFor();
  expect(await (await publicPage('notes')).json()).toMatchObject({
    ...{ name: 'Notes <b>', category: 'writing', url: 'https://notes.example/', requests_30d: 1_204 },
  });
  await pressByKeyboard(page, page.getByRole('button', { name: 'Badge of Notes <b>' }));
  const badge = page.getByRole('dialog', { name: 'Badge of Notes <b>' });
  await expectAccessible(page, 'app-badge');
  await pressByKeyboard(page, badge.getByRole('button', { name: 'Copy the badge' }));
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied).toBe(
    `[![Notes <b>](${stack.gateway_url}/v1/apps/notes/badge)](${stack.console_url}/rankings/apps/notes)`,
  );
  await page.keyboard.press('Escape');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Edit Notes <b>' }));
  await tabTo(page, page.getByRole('dialog').getByRole('checkbox'));
  await page.keyboard.press('Space');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Save changes' }));
  await page.getByText('is seen by your organisation alone.').waitFor();
  expect((await publicPage('notes')).status).toBe(404);
  // What was not meant to change stayed.
  await page.getByRole('button', { name: 'Edit Notes <b>' }).click();
  expect(await page.getByRole('dialog').getByRole('textbox', { name: 'Category' }).inputValue()).toBe(
    'writing',
  );
  expect(faults).toEqual([]);
  await context.close();
});

test('a name that is taken is said to be so and cannot be edited; a viewer and the sandbox change nothing', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  await page.goto(address);
  expect(await row(page, 'popular').textContent()).toContain('name taken');
  expect(await page.getByRole('button', { name: 'Edit popular' }).count()).toBe(0);
  await page.getByText('choose another name').waitFor();
  await page.goto(`${stack.console_url}/meridian/sandbox/apps`);
  await page.getByText('they are not changed here').waitFor();
  expect(await page.getByRole('button', { name: /^Edit/ }).count()).toBe(0);
  await context.close();
  const viewer = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await viewer.page.goto(address);
  await row(viewer.page, 'desk').waitFor();
  expect(await viewer.page.getByRole('button', { name: /^Edit/ }).count()).toBe(0);
  await viewer.context.close();
});

test.each(fourLooks)('the page is accessible and keeps to its width, $scheme at $width', async (look) => {
  const { page, context, faults } = await openPage(browser, look, owner);
  const where = `apps-${look.scheme}-${look.width}`;
  await page.goto(address);
  await row(page, 'desk').waitFor();
  await picture(page, where);
  await expectNoSidewaysScroll(page, where);
  await expectAccessible(page, where);
  await page.goto(`${stack.console_url}/newcomer/live/apps`);
  await page.getByText('No app yet').waitFor();
  await expectNoSidewaysScroll(page, `${where}-empty`);
  await expectAccessible(page, `${where}-empty`);
  expect(faults).toEqual([]);
  await context.close();
});
