// Provider keys in a real browser, by keyboard: a key is added, tried, edited, replaced and deleted. The provider is a
// real server that knows some keys and refuses others.
import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { REFUSAL, startKeyHost } from '../sim/key-host.ts';
import { withClient } from '../support/books.ts';
import { expectAccessible, lookAround, openPage, signedIn, startConsole } from './browser.ts';
import { expectFocused, expectRowsReached, pressByKeyboard, tabTo } from './keyboard.ts';

vi.setConfig({ testTimeout: 120_000 });

const host = await startKeyHost();
const { stack, browser, owner } = await startConsole({}, host.provider('keyhost', 'Key Host'));
const list = `${stack.console_url}/meridian/live/byok`;
/** Both end in the same way, so that only their middle tells them apart. */
const [BAD, GOOD] = ['sk-planted-bad-0123456789', 'sk-planted-good-0123456789'];

const statusOf = (page: Page) => page.getByRole('main').getByRole('status');

/** Opens the menu of a key and presses one of its items, as who has no mouse does. */
async function choose(page: Page, key: string, item: string): Promise<void> {
  await pressByKeyboard(page, page.getByRole('button', { name: `Actions for ${key}` }));
  const found = page.getByRole('menuitem', { name: item });
  await found.waitFor();
  for (let presses = 0; presses < 10; presses++) {
    if (await found.evaluate((it) => it === document.activeElement)) break;
    await page.keyboard.press('ArrowDown');
  }
  await page.keyboard.press('Enter');
}

/** Reaches a field by Tab and types into it. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}

test('a key is added by keyboard; the provider refuses it in its own words, which do not show the key', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await pressByKeyboard(page, page.getByRole('link', { name: 'Provider keys' }));
  await page.getByRole('heading', { name: 'No provider key yet' }).waitFor();
  await page.getByText('Here such a call costs 5% of their list price.').waitFor();
  await lookAround(page, 'byok-none');

  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  const provider = dialog.getByLabel('Provider', { exact: true });
  await expectFocused(provider);
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Add key' }));
  await dialog.getByText('Choose whose key it is.').waitFor();
  await dialog.getByText('Paste the key as the provider gave it.').waitFor();
  // The catalog's providers that take keys are offered, and no other.
  const offered = await provider.locator('option').allTextContents();
  expect(offered).toEqual(expect.arrayContaining(['Key Host', 'OpenAI', 'Anthropic']));
  expect(offered).not.toContain('beta');
  await provider.selectOption('Key Host');
  await type(page, dialog.getByLabel('Label', { exact: true }), 'research');
  const secret = dialog.getByLabel('Key', { exact: true });
  expect(await secret.getAttribute('type')).toBe('password');
  await type(page, secret, 'sk planted');
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Add key' }));
  await dialog.getByText('A key has no blanks').waitFor();
  await dialog.getByText('Such a call costs the full price, from your credits.').waitFor();
  await lookAround(page, 'byok-add');
  await type(page, secret, BAD);
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Add key' }));
  await dialog.waitFor({ state: 'detached' });
  await statusOf(page)
    .getByText(`It is stored. Key Host refuses the key research (HTTP 401). It says: “${REFUSAL}”`)
    .waitFor();
  const row = page.getByRole('row', { name: /Key Host/ });
  await row.getByText('refused').waitFor();
  expect((await row.innerText()).replaceAll(/\s+/g, ' ')).toContain(
    'Key Host research ...6789 refused the call fails never never',
  );
  expect(host.asked).toEqual([BAD]);
  await lookAround(page, 'byok-refused');
  await expectRowsReached(page, 'byok');
  await page.setViewportSize({ width: 360, height: 860 });
  await expectRowsReached(page, 'byok on a phone');
  expect(faults).toEqual([]);
});

test('a key is replaced and accepted, edited, and tried again while the provider has troubles of its own', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  host.accepted.add(GOOD);
  await page.goto(list);
  await choose(page, 'Key Host research', 'Replace the key…');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('nothing is kept of the one that ends in ...6789').waitFor();
  await type(page, dialog.getByLabel('Key', { exact: true }), GOOD);
  await lookAround(page, 'byok-replace');
  await page.keyboard.press('Enter');
  await statusOf(page)
    .getByText('It is replaced. Key Host accepts the key research. It lists 2 models for it.')
    .waitFor();
  const row = page.getByRole('row', { name: /Key Host/ });
  await row.getByText('accepted').waitFor();

  await choose(page, 'Key Host research', 'Edit…');
  await type(page, dialog.getByLabel('Label', { exact: true }), 'nightly');
  await tabTo(page, dialog.getByRole('checkbox', { name: /gateway’s keys/ }));
  await page.keyboard.press('Space');
  await lookAround(page, 'byok-edit');
  await pressByKeyboard(page, dialog.getByRole('button', { name: 'Save changes' }));
  await statusOf(page).getByText('The key was changed.').waitFor();
  await row.getByText('the gateway’s keys answer').waitFor();

  host.broken = true;
  await choose(page, 'Key Host nightly', 'Try it');
  await statusOf(page)
    .getByText(
      'Key Host could not say anything of the key nightly (HTTP 503). It says: “We are looking into it.”',
    )
    .waitFor();
  host.broken = false;
  expect(await row.getByText('accepted').count()).toBe(1);
  expect(host.asked).toEqual([BAD, GOOD, GOOD]);
  await lookAround(page, 'byok');
  expect(faults).toEqual([]);
});

test('two keys of one provider have two labels; what the API refuses stands at its field', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(list);
  await page.getByRole('row', { name: /nightly/ }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Provider', { exact: true }).selectOption('Key Host');
  await type(page, dialog.getByLabel('Label', { exact: true }), 'nightly');
  await type(page, dialog.getByLabel('Key', { exact: true }), GOOD);
  await page.keyboard.press('Enter');
  await dialog.getByText('A key for this provider already has this label.').waitFor();
  expect(await dialog.getByLabel('Label', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page, 'label taken');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(1);
  expect(faults).toEqual([]);
});

test('in the sandbox keys are read and not changed, and the way to Live is shown', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/sandbox/byok`);
  await page.getByRole('row', { name: /nightly/ }).waitFor();
  expect(await page.getByRole('button', { name: /^Actions for|^Add provider key/ }).count()).toBe(0);
  await page.keyboard.press('c');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await lookAround(page, 'byok-sandbox');
  await pressByKeyboard(page, page.getByRole('link', { name: 'Change them in Live' }));
  await page.getByRole('button', { name: 'Add provider key' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/meridian/live/byok');
  expect(faults).toEqual([]);
});

test('a key is deleted once its label is typed, and then there is none', async () => {
  const { page, faults } = await openPage(browser, {}, owner);
  await page.goto(list);
  await choose(page, 'Key Host nightly', 'Delete…');
  const dialog = page.getByRole('dialog');
  await type(page, dialog.getByLabel('Type nightly to confirm'), 'research');
  await page.keyboard.press('Enter');
  await dialog.getByText('The name does not match.').waitFor();
  await lookAround(page, 'byok-delete');
  await type(page, dialog.getByLabel('Type nightly to confirm'), 'nightly');
  await page.keyboard.press('Enter');
  await statusOf(page).getByText('The key nightly was deleted.').waitFor();
  await page.getByRole('heading', { name: 'No provider key yet' }).waitFor();
  expect(faults).toEqual([]);
});

test('a developer may do all of it, and a viewer is told that provider keys are not for the role', async () => {
  const developer = await openPage(browser, {}, await signedIn(browser, stack, stack.second));
  await developer.page.goto(list);
  await developer.page.getByRole('button', { name: 'Add provider key' }).first().waitFor();
  expect(developer.faults).toEqual([]);
  const { page, faults } = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await page.goto(list);
  await page.getByText('Your role, viewer, may not see or change provider keys.').waitFor();
  expect(await page.getByRole('button', { name: 'Add provider key' }).count()).toBe(0);
  await lookAround(page, 'byok-viewer');
  expect(faults).toEqual([]);
});

test('no key is left in the page, in its storage, in the audit log or in the logs of the programs', async () => {
  const { page } = await openPage(browser, {}, owner);
  await page.goto(list);
  await page.getByRole('heading', { name: 'No provider key yet' }).waitFor();
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog');
  await type(page, dialog.getByLabel('Key', { exact: true }), GOOD);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.body.outerHTML])',
  );
  expect(kept).not.toContain('planted');
  const audit = await withClient(stack.database_url, async (client) => {
    const { rows } = await client.query("select * from audit_entry where action like 'byok.%'");
    return JSON.stringify(rows);
  });
  for (const action of ['create', 'update', 'validate', 'delete']) expect(audit).toContain(`byok.${action}`);
  expect(audit).not.toContain('planted');
  expect(stack.output()).not.toContain('planted');
});
