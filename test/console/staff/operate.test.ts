// The pages Operations and Prices of the console of staff, by keyboard, and for roles that see one of them.
import { createPool } from '@svc/core/db/index.ts';
import { expect, test, vi } from 'vitest';
import { launchChromium } from '../../support/chromium.ts';
import { staffContext } from '../../support/provision.ts';
import { expectAccessible, openPage } from '../browser.ts';
import { startStack } from '../stack.ts';
import { makeMember, memberState, writeWorkflows } from './member.ts';

vi.setConfig({ testTimeout: 90_000 });
const stack = await startStack();
const browser = await launchChromium();
const pool = createPool(stack.database_url, { max: 1, application: 'svc-test' });
await writeWorkflows(staffContext(pool));
await pool.end();

const signedIn = async (email: string, role: 'support' | 'catalog' | 'compliance') =>
  memberState(browser, stack, await makeMember(stack, email, [role]));

test('a failing workflow is found by its kind, and prices by their model, by keyboard alone', async () => {
  const { page, context, faults } = await openPage(
    browser,
    {},
    await signedIn('sara@svc.example', 'support'),
  );
  // On Find the field has the focus, and keys are text.
  await page.goto(`${stack.staff_url}/queue`);
  await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  const kinds = page.getByRole('region', { name: 'Kinds of workflows' });
  await kinds.getByRole('row', { name: /^Refunds 1 0 0/ }).waitFor();
  await kinds.getByRole('row', { name: /^Erasures of end users 0 0 1/ }).waitFor();
  const open = page.getByRole('region', { name: 'Open workflows' });
  // What fails comes first.
  await expect.poll(() => open.getByRole('row').nth(1).innerText()).toMatch(/failing[\s\S]*attempt 7/);
  await page.getByRole('link', { name: 'Refunds' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/operations?type=refund');
  await expect.poll(() => open.getByRole('row').count()).toBe(2);
  await page.keyboard.press('x');
  await expect.poll(() => open.getByRole('row').count()).toBe(4);
  await page
    .getByRole('region', { name: 'Queues' })
    .getByRole('row', { name: /^Workflows to start 1/ })
    .waitFor();

  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByLabel('Part of a model’s id').focus();
  await page.keyboard.type('gpt-4o-mini');
  await page.keyboard.press('Enter');
  const prices = page.getByRole('region', { name: 'Prices of endpoints' });
  await expect.poll(() => prices.getByRole('row').nth(1).innerText()).toContain('gpt-4o-mini');
  const rates = page.getByRole('region', { name: 'Rates of the day' });
  await rates.getByRole('row', { name: 'INR 88.70' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('who may not see a page is told so, and who sees prices alone sees them', async () => {
  const catalog = await openPage(browser, {}, await signedIn('cato@svc.example', 'catalog'));
  await catalog.page.goto(`${stack.staff_url}/prices`);
  await catalog.page.getByText('it holds').first().waitFor();
  await catalog.page.goto(`${stack.staff_url}/operations`);
  await catalog.page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  const shown = catalog.page.getByRole('region', { name: 'Open workflows' });
  await expect.poll(() => shown.count()).toBe(0);
  await expectAccessible(catalog.page, 'operations refused');
  await catalog.context.close();
});
