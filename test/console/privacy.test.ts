// The page about privacy in a real browser, by keyboard: the data policy is changed, redaction is tried out with what is typed, and
// end users are exported and erased.
import { readFile } from 'node:fs/promises';
import { digestOfIds } from '@svc/core/privacy/index.ts';
import type { Locator, Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { startWorkerProgram } from '../support/programs/worker.ts';
import { startTemporal } from '../support/temporal.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  lookAround,
  openPage,
  signedIn,
  startConsole,
} from './browser.ts';
import { expectFocused, expectFramesHold, expectRowsReached, pressByKeyboard, tabTo } from './keyboard.ts';
import { MODEL, manage } from './stack.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

const { stack, browser, owner } = await startConsole();
const address = `${stack.console_url}/meridian/live/privacy`;

const rest = (method: string, path: string, body?: object) => manage(stack, [method, path], body);
const policy = async () =>
  ((await (await rest('GET', `/v1/orgs/${stack.full.org_id}`)).json()) as { data_policy: object })
    .data_policy;

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
  await lookAround(page, 'privacy-refused');

  await type(page, form.getByLabel('Patterns of your own'), 'PRJ-\\d+');
  await pressByKeyboard(page, preview.getByRole('button', { name: 'Show what is left' }));
  await preview.getByText('3 places replaced.').waitFor();
  expect(await preview.getByRole('region', { name: 'Text after redaction' }).innerText()).toBe(
    'Write to [REDACTED:email] about [REDACTED:pattern_1] and [REDACTED:pattern_1].',
  );
  expect(
    await preview.getByRole('list', { name: 'What was found' }).getByRole('listitem').allInnerTexts(),
  ).toEqual([expect.stringMatching(/^E-mail addresses\s+1$/), expect.stringMatching(/^PRJ-\\d\+\s+2$/)]);
  await lookAround(page, 'privacy-preview');
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

test('a viewer reads the policy and tries redaction out, and sees no request about end users', async () => {
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
  expect(await card(page, 'End users').count()).toBe(0);
  await expectAccessible(page, 'privacy-viewer');
  expect(faults).toEqual([]);
  await context.close();
});

const USER = 'planted-user-0815';

/** Two calls of the end user, with their content stored. */
async function called(): Promise<string[]> {
  const ids: string[] = [];
  for (const content of ['One', 'Two']) {
    const body = { model: MODEL, user: USER, messages: [{ role: 'user', content }] };
    const answer = await rest('POST', '/v1/chat/completions', body);
    await answer.text();
    ids.push(answer.headers.get('x-request-id') as string);
  }
  const stored = () =>
    withClient(stack.database_url, async (client) => {
      const found = await client.query('select 1 from request_payload where request_id = any($1)', [ids]);
      return found.rows.length;
    });
  await expect.poll(stored, { timeout: 20_000 }).toBe(2);
  return ids;
}

const rowsOf = (page: Page) =>
  page.getByRole('region', { name: 'Requests about end users' }).locator('tbody tr');

test('an end user is exported to a file and erased once the id is typed twice; the receipt proves which calls', async () => {
  const temporal = await startTemporal();
  atFileEnd(() => temporal.stop());
  const ids = await called();
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(address);
  const users = card(page, 'End users');
  await users.getByRole('heading', { name: 'Nobody has asked yet' }).waitFor();
  await expectAccessible(page, 'privacy-none');

  await pressByKeyboard(page, users.getByRole('button', { name: 'Export an end user' }));
  const dialog = page.getByRole('dialog');
  await expectFocused(dialog.getByLabel('Your id of the end user'));
  await page.keyboard.press('Enter');
  await dialog.getByText('Enter the id.').waitFor();
  await page.keyboard.insertText(USER);
  await expectAccessible(page, 'privacy-export');
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  await users.getByText('Saved a file with 2 calls.').waitFor();
  expect(file.suggestedFilename()).toBe('end-user-meridian.ndjson');
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { request_id: string }).request_id)).toEqual(
    ids.toReversed(),
  );
  await rowsOf(page).getByText('Export').waitFor();

  await pressByKeyboard(page, users.getByRole('button', { name: 'Erase an end user' }));
  await expectFocused(dialog.getByLabel('Your id of the end user'));
  await page.keyboard.insertText(USER);
  await type(page, dialog.getByLabel('Type the id again to erase'), 'planted-user-0816');
  await page.keyboard.press('Enter');
  await dialog.getByText('This is not the id above.').waitFor();
  await lookAround(page, 'privacy-erase');
  await type(page, dialog.getByLabel('Type the id again to erase'), USER);
  await page.keyboard.press('Enter');
  // Nobody works yet: after ten seconds the page says so, and follows the erasure to its end by itself.
  await users.getByText('The erasure goes on by itself; its receipt will be below.').waitFor();
  await rowsOf(page).getByText('received').waitFor();
  await expectAccessible(page, 'privacy-received');
  await startWorkerProgram({
    SVC_DATABASE_URL: stack.database_url,
    SVC_TEMPORAL_ADDRESS: temporal.address,
    SVC_DATA_DIR: stack.data_dir,
    ...{ SVC_METRICS_PORT: '0', SVC_LOG_LEVEL: 'info' },
  });
  await rowsOf(page).first().getByText('completed').waitFor({ timeout: 60_000 });
  await lookAround(page, 'privacy-completed');
  await expectRowsReached(page, 'privacy');

  await pressByKeyboard(page, users.getByRole('button', { name: /^Receipt of dsr_/ }));
  await dialog.getByText(digestOfIds(ids)).waitFor();
  expect(await dialog.getByRole('definition').allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringMatching(/^dsr_/), '2']),
  );
  await lookAround(page, 'privacy-receipt');
  await tabTo(page, dialog.getByRole('button', { name: 'Save the receipt' }));
  const [receipt] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(receipt.suggestedFilename()).toMatch(/^receipt-dsr_\w{26}\.json$/);
  const saved = JSON.parse(await readFile(await receipt.path(), 'utf8')) as { id: string };
  expect(saved).toMatchObject({
    ...{ kind: 'erasure', status: 'completed', records: 2 },
    receipt: { records: 2, payloads_deleted: 2, digest: digestOfIds(ids) },
  });
  expect(saved).toEqual(await (await rest('GET', `/v1/privacy/requests/${saved.id}`)).json());
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });

  await pressByKeyboard(page, users.getByRole('button', { name: 'Erase an end user' }));
  await expectFocused(dialog.getByLabel('Your id of the end user'));
  await page.keyboard.insertText(USER);
  await type(page, dialog.getByLabel('Type the id again to erase'), USER);
  await page.keyboard.press('Enter');
  await users.getByText('Done: no call of this end user was found.').waitFor();
  expect(await page.content()).not.toContain(USER);
  expect(page.url()).not.toContain(USER);
  expect(faults).toEqual([]);
  await context.close();
});

test('of many requests the older ones are read by a press', async () => {
  for (let n = 0; n < 20; n++)
    await (await rest('POST', '/v1/privacy/export', { user_id: `nobody-${n}` })).text();
  const { page, context, faults } = await openPage(browser, { width: 360, scheme: 'dark' }, owner);
  await page.goto(address);
  await expect.poll(() => rowsOf(page).count()).toBe(20);
  await expectFramesHold(page, 'twenty requests');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Load older' }));
  await expect.poll(() => rowsOf(page).count()).toBe(23);
  await expectNoSidewaysScroll(page, 'all requests');
  await expectAccessible(page, 'all requests');
  expect(faults).toEqual([]);
  await context.close();
});
