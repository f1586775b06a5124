// The page about privacy in a real browser, by keyboard: the data policy is changed, and redaction is tried out with what is typed.
import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  openPage,
  picture,
  signedIn,
  startConsole,
} from './browser.ts';
import { pressByKeyboard, tabTo } from './keyboard.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

const { stack, browser, owner } = await startConsole();
const address = `${stack.console_url}/meridian/live/privacy`;

async function rest(method: string, path: string, body?: object) {
  const answer = await fetch(`${stack.gateway_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${stack.full.live_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.ok, `${method} ${path}`).toBe(true);
  return answer;
}
const policy = async () =>
  ((await (await rest('GET', `/v1/orgs/${stack.full.org_id}`)).json()) as { data_policy: object })
    .data_policy;

const states = ['light', 'dark'].flatMap((scheme) => [1320, 360].map((width) => ({ scheme, width })));
async function look(page: Page, where: string): Promise<void> {
  for (const { scheme, width } of states) {
    await page.emulateMedia({ colorScheme: scheme as 'light' | 'dark' });
    await page.setViewportSize({ width, height: 860 });
    await picture(page, `${where}-${scheme}-${width}`);
    await expectNoSidewaysScroll(page, `${where} ${scheme} ${width}`);
    await expectAccessible(page, `${where} ${scheme} ${width}`);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1320, height: 860 });
}

/** Writes over what stands in a field, as who has no mouse does. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}
async function tick(page: Page, box: Locator): Promise<void> {
  await tabTo(page, box);
  await page.keyboard.press('Space');
}

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('a policy is typed and tried before it is saved; a fault stands at its field, and what saving does is said', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${stack.console_url}/meridian/live/home`);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  const [form, preview] = [card(page, 'Data policy'), card(page, 'Redaction preview')];
  const before = await policy();
  const save = form.getByRole('button', { name: 'Save the policy' });
  await pressByKeyboard(page, save);
  await form.getByText('Nothing was changed.').waitFor();

  await tick(page, form.getByLabel('Store what calls say'));
  await form.getByText('What calls say is stored from now on, redacted, for 30 days.').waitFor();
  await type(page, form.getByLabel('Stored for, days'), '366');
  await tick(page, form.getByLabel('E-mail addresses'));
  await type(page, form.getByLabel('Patterns of your own'), 'PRJ-\\d+\n(a)\\1');
  await pressByKeyboard(page, save);
  await form.getByText('A whole number from 0 to 365.').waitFor();

  const sample = preview.getByLabel('Sample text');
  await pressByKeyboard(page, preview.getByRole('button', { name: 'Show what is left' }));
  await preview.getByText('Type or paste a text.').waitFor();
  await type(page, sample, 'Write to planted4711@b.co about PRJ-7 and PRJ-8.');
  await pressByKeyboard(page, preview.getByRole('button', { name: 'Show what is left' }));
  await preview.getByText('A pattern is refused; its field says why.').waitFor();
  await form
    .getByRole('alert')
    .getByText(/^\(a\)\\1: This is not a pattern in RE2 syntax/)
    .waitFor();
  await look(page, 'privacy-refused');

  await type(page, form.getByLabel('Patterns of your own'), 'PRJ-\\d+');
  await pressByKeyboard(page, preview.getByRole('button', { name: 'Show what is left' }));
  await preview.getByText('3 places replaced.').waitFor();
  expect(await preview.getByRole('region', { name: 'Text after redaction' }).innerText()).toBe(
    'Write to [REDACTED:email] about [REDACTED:pattern_1] and [REDACTED:pattern_1].',
  );
  expect(
    await preview.getByRole('list', { name: 'What was found' }).getByRole('listitem').allInnerTexts(),
  ).toEqual([expect.stringMatching(/^E-mail addresses\s+1$/), expect.stringMatching(/^PRJ-\\d\+\s+2$/)]);
  await look(page, 'privacy-preview');
  expect(await policy()).toEqual(before);
  await tick(page, form.getByLabel('Card numbers'));
  await preview.getByText('The text or the policy has changed since.').waitFor();

  await type(page, form.getByLabel('Stored for, days'), '7');
  await tick(page, form.getByLabel('Only endpoints that do not train on calls'));
  await form.getByText('A call for which no endpoint is left is refused.').waitFor();
  await type(page, form.getByLabel('Regions that calls may go to'), 'eu');
  await pressByKeyboard(page, save);
  await form.getByText('Saved. Every gateway follows within a second.').waitFor();
  const after = {
    ...{ logging: 'on', retention_days: 7, zdr: false, no_train: true, regions: ['eu'] },
    redact: { presets: ['email', 'card'], patterns: ['PRJ-\\d+'] },
  };
  expect(await policy()).toEqual(after);
  await page.reload();
  expect(await form.getByLabel('Stored for, days').inputValue()).toBe('7');
  expect(await form.getByLabel('Patterns of your own').inputValue()).toBe('PRJ-\\d+');
  expect(await form.getByLabel('E-mail addresses').isChecked()).toBe(true);
  expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
    'planted4711',
  );
  expect(faults).toEqual([]);
  await context.close();
});

test('a pattern that saving refuses is named at its field, and nothing of the policy is changed', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(address);
  const form = card(page, 'Data policy');
  const before = await policy();
  await type(page, form.getByLabel('Stored for, days'), '0');
  await form.getByText('With 0 days nothing is stored, and what is stored is deleted.').waitFor();
  await type(page, form.getByLabel('Patterns of your own'), 'PRJ-\\d+\n\nx*');
  await pressByKeyboard(page, form.getByRole('button', { name: 'Save the policy' }));
  await form.getByRole('alert').getByText('x*: A pattern must not match the empty string.').waitFor();
  expect(await form.getByLabel('Patterns of your own').getAttribute('aria-invalid')).toBe('true');
  expect(await policy()).toEqual(before);
  expect(faults).toEqual([]);
  await context.close();
});

test('a viewer reads the policy and tries redaction out', async () => {
  const { page, context, faults } = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await page.goto(address);
  const [form, preview] = [card(page, 'Data policy'), card(page, 'Redaction preview')];
  await form.getByText('owners and admins change it').waitFor();
  expect(await form.getByLabel('Store what calls say').isDisabled()).toBe(true);
  expect(await form.getByLabel('Stored for, days').getAttribute('readonly')).not.toBeNull();
  expect(await page.getByRole('button', { name: 'Save the policy' }).count()).toBe(0);
  await type(page, preview.getByLabel('Sample text'), 'nothing to see');
  await pressByKeyboard(page, preview.getByRole('button', { name: 'Show what is left' }));
  await preview.getByText('Nothing was found: it would leave as it is.').waitFor();
  await expectAccessible(page, 'privacy-viewer');
  expect(faults).toEqual([]);
  await context.close();
});
