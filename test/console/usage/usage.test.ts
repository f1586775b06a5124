// Usage in a real browser, by keyboard: from a bar and from a row to exactly the calls that are in it, a session over many calls,
// saved views, and what the page says when figures are late, missing or refused.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRequestLog, type RequestRow } from '@svc/core/analytics/index.ts';
import { createPool } from '@svc/core/db/index.ts';
import { newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import type { Tenant } from '../../registry/harness.ts';
import { rowOf } from '../../registry/rows.ts';
import { expectAccessible, lookAround, openPage, signedIn, startConsole } from '../browser.ts';
import { expectRowsReached, pressByKeyboard, tabTo } from '../keyboard.ts';
import { MODEL, manage } from '../stack.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const { stack, browser, owner } = await startConsole();
const address = `${stack.console_url}/meridian/live/usage`;
const HOUR_MS = 3_600_000;
const tenant = {
  org: { id: stack.full.org_id },
  live: { id: stack.full.project_id },
  key_id: stack.full.keys[0]?.key_id,
} as unknown as Tenant;

/** Writes rows of calls that began `hours` ago. */
async function write(rows: readonly (Partial<RequestRow> & { readonly hours: number })[]): Promise<void> {
  const pool = createPool(stack.database_url, { max: 2 });
  const spool_dir = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  const log = await openRequestLog({ db: pool, log: silentLog, spool_dir });
  for (const { hours, ...row } of rows) {
    shiftClock(-hours * HOUR_MS);
    const request_id = newRequestId();
    shiftClock(0);
    log.write(rowOf(tenant, { ...row, request_id, attempt_rows: [] }));
  }
  await log.close();
  await pool.end();
}
const run = { session_id: 'run <1> / ü', user_hash: 'd'.repeat(64), tags: { team: 'red' } };
await write([
  { hours: 50, ...run, cost_micro: 1_000_001, model: 'acme/first' },
  { hours: 3, ...run, cost_micro: 2_000_002, model: 'acme/second' },
  { hours: 2, ...run, cost_micro: 4_000_004, model: 'acme/third' },
]);

const table = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const chart = (page: Page) => page.getByRole('img', { name: /^Cost by/ });
/** Cost in micro-USD of each call that the list of calls shows. */
const costs = async (page: Page) => {
  const titles = await page
    .locator('.requests tbody .money')
    .evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
  return titles.map((title) => Number(/(\d+) µUSD/.exec(title)?.[1]));
};

test('a bar opens exactly its calls, and so does a row, and the address alone shows the same again', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${address}?range=7d&granularity=day&group_by=session&model=acme/second`);
  await chart(page).waitFor();
  expect(await chart(page).getAttribute('aria-label')).toContain('Cost by session. $2.00 in 8 days');
  await tabTo(page, chart(page));
  // From the newest day back to the one with the call; the reader hears what each bar is.
  const readout = page.locator('.chart-foot .sub');
  do await page.keyboard.press('ArrowLeft');
  while (!(await readout.textContent())?.includes('$2.00'));
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/requests\?/);
  await expect.poll(() => costs(page)).toEqual([2_000_002]);
  await page.goBack();
  await chart(page).waitFor();
  await pressByKeyboard(page, page.getByRole('link', { name: '1 calls of run <1> / ü' }));
  await page.waitForURL(/session=/);
  await page.getByText('Session: run <1> / ü').waitFor();
  await expect.poll(() => costs(page)).toEqual([2_000_002]);
  const { href } = new URL(page.url());
  await page.goto(href);
  await expect.poll(() => costs(page)).toEqual([2_000_002]);
  expect(faults).toEqual([]);
  await context.close();
});

test('a session shows what it has cost over all its calls, and these in their order', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${address}?range=7d&group_by=session`);
  await pressByKeyboard(page, page.getByRole('button', { name: 'Narrow to run <1> / ü' }));
  const calls = table(page, 'Calls of the session');
  await calls.getByText('acme/third').waitFor();
  const models = await calls.locator('tbody tr td:nth-child(2)').allTextContents();
  expect(models).toEqual(['acme/first', 'acme/second', 'acme/third']);
  await expect
    .poll(() => page.locator('.usage-tiles .money').getAttribute('title'))
    .toContain('7000007 µUSD');
  await page.reload();
  await calls.getByText('acme/third').waitFor();
  await expectRowsReached(page, 'usage-session');
  await lookAround(page, 'usage-session');
  expect(faults).toEqual([]);
  await context.close();
});

test('a view is saved, shared, opened by somebody else, renamed and deleted; a name that is taken is said to be', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${address}?range=7d&group_by=tag&tag=team&compare=true&timezone=Asia/Kolkata`);
  await table(page, 'Groups').getByText('red').waitFor();
  for (const again of [false, true]) {
    await pressByKeyboard(page, page.getByRole('button', { name: 'Save view' }));
    const dialog = page.getByRole('dialog', { name: 'Save this view' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Teams');
    await tabTo(page, dialog.getByRole('checkbox'));
    await page.keyboard.press('Space');
    await expectAccessible(page, 'usage-save');
    await pressByKeyboard(page, dialog.getByRole('button', { name: 'Save view' }));
    if (again) {
      await dialog.getByText('You have a view of this name.').waitFor();
      await page.keyboard.press('Escape');
    } else {
      await page.getByRole('button', { name: 'Delete view' }).waitFor();
      await page.getByRole('combobox', { name: 'Time' }).selectOption('24h');
    }
  }
  const viewer = await openPage(browser, {}, await signedIn(browser, stack, stack.viewer));
  await viewer.page.goto(address);
  await viewer.page.getByRole('combobox', { name: 'Saved views' }).selectOption({ label: 'Teams (shared)' });
  await viewer.page.waitForURL(/tag=team/);
  await table(viewer.page, 'Groups').getByText('red').waitFor();
  expect(new URL(viewer.page.url()).searchParams.get('timezone')).toBe('Asia/Kolkata');
  expect(await viewer.page.getByRole('button', { name: 'Delete view' }).count()).toBe(0);
  await viewer.context.close();
  await page.getByRole('combobox', { name: 'Saved views' }).selectOption({ label: 'Teams (shared)' });
  await pressByKeyboard(page, page.getByRole('button', { name: 'Change view' }));
  const change = page.getByRole('dialog', { name: 'Change Teams' });
  expect(await change.getByRole('checkbox').isChecked()).toBe(true);
  await change.getByRole('textbox', { name: 'Name' }).fill('Teams of India');
  await pressByKeyboard(page, change.getByRole('button', { name: 'Save view' }));
  await page.getByRole('option', { name: 'Teams of India (shared)' }).waitFor({ state: 'attached' });
  await pressByKeyboard(page, page.getByRole('button', { name: 'Delete view' }));
  await pressByKeyboard(page, page.getByRole('dialog').getByRole('button', { name: 'Delete view' }));
  await page.getByRole('button', { name: 'Save view' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a bar is an hour or a day of a week as it is chosen, and a month has days alone', async () => {
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(`${address}?range=7d`);
  const bars = page.getByRole('combobox', { name: 'Bars' });
  await bars.selectOption('hour');
  await page.waitForURL(/granularity=hour/);
  await expect.poll(() => chart(page).getAttribute('aria-label')).toMatch(/in 16\d hours/);
  await page.getByRole('combobox', { name: 'Time' }).selectOption('30d');
  await expect.poll(() => chart(page).getAttribute('aria-label')).toMatch(/in 31 days/);
  expect(await bars.count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('advice is a sentence with the way to the calls that prove it', async () => {
  const body = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] };
  const answer = await manage(stack, ['POST', '/v1/chat/completions'], body);
  const request_id = answer.headers.get('x-request-id') as string;
  // Its row is there within a second.
  await expect
    .poll(async () => (await manage(stack, ['GET', `/v1/requests?q=${request_id}`])).json(), {
      timeout: 10_000,
    })
    .toMatchObject({ data: [{ request_id, status: 'ok' }] });
  const { page, context, faults } = await openPage(browser, {}, owner);
  await page.goto(address);
  const advice = page.getByRole('region', { name: 'What could cost less' });
  await advice.getByText(/failed at acme first and moved on to beta/).waitFor();
  await pressByKeyboard(page, advice.getByRole('link', { name: 'See the calls' }));
  await page.waitForURL(/moved=true/);
  await page.getByRole('link', { name: `Call ${request_id}` }).waitFor();
  await page.goto(`${stack.console_url}/newcomer/live/usage`);
  await page.getByText('Nothing that the calls and their prices prove.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('the page says what is late, what is missing and what it cannot read, and saves what it shows', async () => {
  const { page, context } = await openPage(browser, {}, owner);
  await page.goto(`${address}?group_by=user&compare=true`);
  await table(page, 'Groups').getByText('dddddddddddd…').waitFor();
  // The rows of this file were written hours after their calls, within the last minute or so.
  await write([{ hours: 1, cost_micro: 5, model: 'acme/late' }]);
  await page.reload();
  await page.getByText(/behind: calls of that time may be missing/).waitFor();
  await lookAround(page, 'usage');
  const saving = page.waitForEvent('download');
  await pressByKeyboard(page, page.getByRole('button', { name: 'Export CSV' }));
  const saved = readFileSync(await (await saving).path(), 'utf8').split('\r\n');
  expect(saved[0]).toMatch(/^bucket_utc,group,key,requests,ok,errors,input_tokens,.*,cost_usd$/);
  const rows = saved.slice(1, -1).map((text) => text.split(','));
  const sum = rows.reduce((all, row) => all + Number(row.at(-1)?.replace('.', '')), 0);
  const calls = rows.reduce((all, row) => all + Number(row[3]), 0);
  const shown = page.locator('.usage-tiles div', { hasText: 'Calls' }).locator('dd');
  await expect.poll(() => shown.textContent()).toMatch(new RegExp(`^${calls}(?!\\d)`));
  await expect.poll(() => page.locator('.usage-tiles .money').getAttribute('title')).toContain(`${sum} µUSD`);
  await page.goto(`${address}?model=nobody`);
  await page.getByText('No call in this time').waitFor();
  await lookAround(page, 'usage-empty');
  await page.goto(`${address}?timezone=Mars/Olympus`);
  await page.getByRole('alert').waitFor();
  await lookAround(page, 'usage-refused');
  await context.close();
});
